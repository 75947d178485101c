"""The programs that test/fuzz/walk-faults runs: the examples, and end-to-end tests that check what they are told.

Each goes over its data in a few chunks, so that every tier takes part and a run makes some hundreds of calls. `inputs` are
files of random bytes, or what the example's generator makes of `generate`. Arguments that end in .out are outputs.
"""

from dataclasses import dataclass, field


@dataclass
class Program:
    name: str
    source: str
    arguments: list
    inputs: dict = field(default_factory=dict)  # name: bytes
    generate: list = None
    generated: list = field(default_factory=list)
    device: str = "8M"
    host: str = "8M"
    settings: dict = field(default_factory=dict)
    options: list = field(default_factory=list)
    whole: bool = False  # a kernel needs all that it touches at once: it may give up where memory is refused

    @property
    def outputs(self):
        return [word for word in self.arguments if word.endswith(".out")]


def example(name, generate, generated, arguments, **rest):
    return Program(f"example-{name}", f"examples/{name}/{name}.cu", arguments, generate=generate, generated=generated, **rest)


def test(name, arguments, inputs, **rest):
    label = rest.pop("label", name)
    return Program(label, f"test/e2e/{name}.cu", arguments, inputs=inputs, **rest)


M = 1 << 20
PROGRAMS = [
    example("vectorAdd", ["2M", "a.bin", "b.bin"], ["a.bin", "b.bin"], ["2M", "a.bin", "b.bin", "c.out"]),
    example("hotspot", ["767", "1031", "temp.bin", "power.bin"], ["temp.bin", "power.bin"],
            ["767", "1031", "3", "temp.bin", "power.bin", "grid.out"]),
    example("pathfinder", ["41", "62255", "wall.bin"], ["wall.bin"], ["41", "62255", "wall.bin", "way.out"]),
    example("BlackScholes", ["768K", "stock.bin", "strike.bin", "years.bin"], ["stock.bin", "strike.bin", "years.bin"],
            ["768K", "stock.bin", "strike.bin", "years.bin", "call.out", "put.out"], device="12M"),
    example("backprop", ["20000", "samples.bin", "targets.bin", "weights.bin"],
            ["samples.bin", "targets.bin", "weights.bin"],
            ["20000", "1", "samples.bin", "targets.bin", "weights.bin", "outputs.out", "trained.out"], device="16M",
            host="32M"),
    test("input-modified", ["in.bin", "result.out"], {"in.bin": 30 * M}),
    test("fread-pieces", ["whole", "in.bin", "result.out"], {"in.bin": 25000004}),
    test("exchanged-buffers", ["in.bin", "result.out", "1", "3"], {"in.bin": 12 * M}, device="16M", host="64M"),
    test("streams", ["in.bin", "result.out"], {"in.bin": 24 * M}),
    test("threads", ["in", "result.out"], {f"in.{i}": 8 * M for i in range(4)}, device="16M", host="32M"),
    test("managed-memory", [], {}),
    test("memset-and-copies", ["in.bin", "result.out"], {"in.bin": 18000001}, device="16M", host="64M"),
    test("outputs-appended", ["in.bin", "result.out"], {"in.bin": 6 * M}),
    test("posix-io", ["stream", "in.bin", "result.out"], {"in.bin": 20 * M}),
    test("batches", ["in.bin", "result.out"], {"in.bin": 40 * M}),
    test("deferred-copies", ["changed"], {}, label="copies-deferred", device="6M", host="32M"),
    test("protected-copies", ["changed"], {}, label="copies-protected", device="6M", host="32M"),
    test("protected-copies", ["freed"], {}, label="copies-of-freed-memory", device="6M", host="32M"),
    test("paged-kernels", ["2"], {}, host="64M", whole=True, settings={"DRAGON_PAGING": "always"}),
    test("output-read-back", ["same", "in.bin", "result.out"], {"in.bin": 12 * M}),
]
