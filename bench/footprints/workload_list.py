"""The programs whose kernels bench/footprints/run looks at, and how each is run.

A program of test/e2e that has a kernel and is not in the list is an error where all are run, so that none is forgotten; those that are left
out on purpose are in LEFT_OUT, with the reason.
"""

import os

TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "test", "e2e")
LINK = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "link")


class Program:
    """A source, the files that it reads (name -> bytes, or the commands that make them), and its runs.

    host_sources: programs of their own; more_sources: compiled with it.

    device, host: budgets in MiB of the runs in slices; one that holds each block and is well below the footprint. chunk: KiB.
    """

    def __init__(self, source, runs, files=None, make=(), host_sources=(), more_sources=(), flags=(), device=8, host=64,
                 chunk=2048):
        self.source = source
        self.name = source.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        self.runs = [run.split() for run in runs]
        self.files = files or {}
        self.make = [command.split() for command in make]
        self.host_sources = list(host_sources)
        self.more_sources = list(more_sources)
        self.flags = list(flags)
        self.device, self.host, self.chunk = device, host, chunk


def example(name, run, make, **more):
    folder = f"examples/{name}"
    return Program(f"{folder}/{name}.cu", [run], make=[make], host_sources=[f"{folder}/gen.cpp"], **more)


def workload(name, run, **more):
    return Program(f"bench/discard/{name}.cu", [run], **more)


def link(name, size, steps=2, **more):
    return Program(f"bench/link/{name}.cu", [f"--folder . --size {size} --steps {steps}"],
                   more_sources=["bench/link/Bench.cpp"], flags=["-fmad=false"], **more)


def paging(name, size, arguments="", **more):
    return Program(f"bench/paging/{name}.cu", [f"--folder . --size {size} {arguments}"], more_sources=["bench/link/Bench.cpp"],
                   flags=["-fmad=false", "-I", LINK], **more)


def test(name, *runs, file=None, **more):
    return Program(f"test/e2e/{name}.cu", runs or [""], files={"in.bin": file} if file else None, **more)


M = 1 << 20
SEPARABLE = ["-rdc=true", "-I", os.path.join(TESTS, "Inputs", "separable")]
SHAPES = ("reverse strided transpose cube gather scatter histogram sum struct halves wrap guarded neighbours chars vector "
          "shared late columns").split()

PROGRAMS = [
    example("vectorAdd", "2M a.bin b.bin c.bin", "gen 2M a.bin b.bin"),
    example("BlackScholes", "1M stock.bin strike.bin years.bin call.bin put.bin", "gen 1M stock.bin strike.bin years.bin"),
    example("hotspot", "1531 1055 3 temp.bin power.bin out.bin", "gen 1531 1055 temp.bin power.bin"),
    example("pathfinder", "51 124511 wall.bin out.bin", "gen 51 124511 wall.bin"),
    example("backprop", "20000 1 samples.bin targets.bin weights.bin outputs.bin trained.bin",
            "gen 50000 samples.bin targets.bin weights.bin"),
    workload("fir", "--size 12 --windows 4"),
    workload("radixsort", "--size 6", device=2, host=16, chunk=512),
    workload("hashjoin", "--size 24 --queries 2"),
    workload("convnet", "--size 6 --iterations 1 --layers 4", device=2, host=16, chunk=512),
    link("binomialOptions", 4),
    link("srad_v2", 16),
    link("lavaMD", 1, steps=1),
    link("matmul", 8),
    link("atax", 16),
    link("stencil3d", 16),
    link("bfs", 16),
    link("nbody", 1, steps=1),
    link("attention", 8, device=2, chunk=256),
    link("gridStride", 16),
    paging("mvt", 16),
    paging("bicg", 16),
    paging("components", 16),
    paging("pagerank", 16, "--steps 2"),
    paging("spmv", 16),
    paging("embedding", 16),
    paging("query", 16, "--share 10"),
    paging("records", 16),
    test("addresses-as-numbers"),
    test("architecture"),
    test("batches", "in.bin out.bin", file=40 * M),
    test("before-main"),
    test("check-device-variables"),
    test("check-managed-in-host-memory"),
    test("children", "system copied in.bin out.bin", "fork-open read in.bin out.bin", file=8 * M),
    # The others read memory from malloc that nothing was written to: not zero, for DRAGON_CHECK, where it was freed before.
    test("copied-indices", "both", device=8, chunk=256),
    test("copies-of-nothing", "cleared", "looped", "written"),
    test("copy-directions", "in.bin", file=6 * M),
    test("counted-accesses", device=32),
    test("deferred-copies", "reread", "changed", "freed", "vector", "pinned", "partly", "copiedBack", "swapped", "extracted"),
    test("device-features"),
    test("device-reset", device=16),
    test("discard-behind", "out.txt 65536 0", "out.txt -65536 0"),
    test("discard-elements", *[f"in.bin out.bin {mode}" for mode in range(4)], file=M, device=4, host=16,
         chunk=512, flags=[f"-DWORDS={M // 4}"]),
    test("discard-numbers-change", *[f"in.bin out.bin {mode}" for mode in range(5)], file=M // 2, device=4, host=16,
         chunk=512, flags=[f"-DWORDS={M // 8}"]),
    test("discard-tested", "in.bin out.bin 0", "in.bin out.bin 1000", file=12 * M),
    test("discard-workspace", "in.bin out.bin 4 4 4 4 0", "in.bin out.bin 4 3 2 1 1", file=M // 2, device=4, host=16,
         chunk=512, flags=[f"-DWORDS={M // 8}"]),
    test("earlier-buffers", "0", "1", "2", "3"),
    test("exchanged-buffers", "in.bin out.bin 1 5", "in.bin out.bin 5 2", file=12 * M, device=16),
    test("file-range", "make in.bin", "run in.bin out.bin"),
    test("fread-pieces", "whole in.bin out.bin", file=25000004),
    test("free-before-write", "written out", "others out", "async out"),
    test("freed-staging", "out.bin"),
    test("graphs-beyond-memory"),
    test("host-function-order"),
    test("index-arrays", "all", device=8, chunk=256),
    test("input-file-changes", "none in.bin out.bin", file=20 * M),
    test("input-modified", "in.bin out.bin", file=30 * M),
    test("interrupted-calls", "in.bin out.bin", file=24 * M),
    test("judged"),
    test("kernel-shapes", *[f"{shape} in.bin out.bin" for shape in SHAPES], file=12 * M, device=16),
    test("launch-follows"),
    test("launches-together", device=4, host=16, chunk=256, flags=[f"-DWORDS={M}"]),
    test("launches-apart", "2", device=8, host=64, chunk=512),
    test("ledger", "in.bin out.bin", file=16 * M),
    test("lists-of-rows", device=8, chunk=256),
    test("long-index-arrays", "all", device=8, chunk=256),
    test("loop-chains", "1200", device=5, chunk=512),
    test("loop-ends", device=16),
    test("loop-nests", device=16),
    test("loop-slices", device=16),
    test("managed-and-signals"),
    test("managed-in-streams"),
    test("managed-in-system-calls"),
    test("managed-memory"),
    test("managed-overwritten"),
    test("managed-variables"),
    test("mapped-input", "shared out.bin"),
    test("memory-again"),
    test("memory-just-enough", device=16),
    test("memory-of-others"),
    test("memset-and-copies", "in.bin out.bin", file=18000001),
    test("not-sliced"),
    test("older-cuda", flags=["-Wno-deprecated-declarations"]),
    test("named-in-log-and-trace"),
    test("output-made-late", "nothing out.bin"),
    test("output-not-written", "good out.bin"),
    test("output-read-back", "other in.bin out.bin", file=12 * M),
    test("outputs-appended", "in.bin out.bin", file=6 * M),
    test("overlapping-buffers"),
    test("paged-in-place", "again", "changed"),
    test("peers"),
    test("peers-in-place"),
    test("peers-managed"),
    test("paged-kernels"),
    test("pointers-to-ends", "in.bin out.bin", file=16 * M),
    test("posix-io", "stream in.bin out.bin", file=20 * M),
    test("protected-copies", "reread", "changed", "freed", "neighbours", "again", "sameAgain"),
    test("result-places", "once", "inPlace", "twice", "fails", "vector", "usedBefore"),
    test("rounds", "1 3", device=8, host=64, chunk=256),
    test("sampled-slices", device=8, chunk=256),
    test("same-file", *[f"{mode} in.bin" for mode in ("reopen", "early", "update", "descriptor")], file=20 * M),
    Program("test/e2e/separable.cu", ["in.bin"], files={"in.bin": 12 * M}, flags=SEPARABLE, device=16,
            more_sources=[f"test/e2e/Inputs/separable/{unit}.cu" for unit in ("elements", "steps")]),
    Program("test/e2e/separable-shapes.cu", [""], flags=SEPARABLE, more_sources=["test/e2e/Inputs/separable/shapes.cu"], device=16),
    test("shared-device", "1 3"),
    test("short-streams"),
    test("sink-parts", "found 1234567"),
    test("sink-then-free", "out.bin"),
    test("staging-back", "3"),
    test("staging-observed", "reuse in.bin out.bin", "twice in.bin out.bin", file=16 * M),
    test("staging-order", "loop in.bin out.bin", file=12 * M),
    test("staging-part", "in.bin out.bin 2048 100 140 300 420", file=8 * M),
    test("storage-loops", "4 12"),
    test("storage-pages", "8 12"),
    test("streams", "in.bin out.bin", file=24 * M),
    test("structure-of-numbers", "640 3 7"),
    Program("test/e2e/threads.cu", ["in out"], files={f"in.{i}": 8 * M for i in range(4)}, device=16),
    test("unsupported-on-cpu", "good"),
    test("ways-to-end", "return in.bin out.bin", file=20 * M),
]

SAME = "one element to a thread, as batches"
LEFT_OUT = {
    "paging-contended": "its addresses are hashes of the thread's number, which are neither affine nor data",
    "computed-places": "the same",
    "whole-columns": "in slices it is refused: each of them needs all rows",
    "loop-surroundings": "parts of the last iterations announce what other parts of them touch",
    "loops-of-unknown-length": "one of its two launches is refused, the other one is as those of loop-slices",
    "loop-exits": "what one of its kernels writes on its way out of a loop is announced for each part of it",
    "children-disk-full": SAME,
    "fetches-go-on": SAME,
    "pinned-copies": SAME,
    "killed-statistics": "it is killed",
    "many-small-buffers": "its buffers are too many for strict mode",
    "debugger": "about debuggers",
    "check-mistakes": "its analysis is wrong on purpose",
    "errors": "its launches fail",
    "fresh-memory": "reads what it has not written, which is poison there",
    "killed": "it is killed before it tells",
    "library-arrays": "its buffers belong to code that was not compiled for it",
    "library-calls": "its buffers belong to code that was not compiled for it",
    "separable-link-time": "separable, with another option",
    "private-files": "looks at the files that too little memory makes",
    "past-the-end": "its launches fail",
    "progress": "lasts as long as somebody looks at it",
    "small-chunks": SAME,
    "start-ahead": "about the driver",
    "spaced-launches": "about what the compiler reads",
}
