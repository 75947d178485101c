"""What bench/link/run and bench/paging/run have in common: they build programs for every method that can run them, run each, and
print a row a run."""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

FOLDER = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "include")
TOO_LONG = "stopped at --limit"
WARM_MS = 300  # of work before each program's clock starts: GPUs take a while to reach their own
RATES_LIMIT = 100  # seconds, whatever --limit says of the programs
MANAGED_MIB = 240  # footprints are rounded up, and must stay below 256 MiB


class Program:
    """A row's name, its source, what it is called with, and what it has besides plain CUDA: a ring (of Methods.h), a twin that
    maps files with the API of DRAGON's artifact (bench/artifact), files for inputs and results."""

    def __init__(self, name, folder=FOLDER, source=None, arguments=(), ring=False, maps=False, files=True):
        self.name, self.folder, self.arguments = name, folder, list(arguments)
        self.source = source or name
        self.ring, self.maps, self.files = ring, maps, files


def note(text):
    print(f"-- {text}", file=sys.stderr, flush=True)


def has_gpu(options):
    return options.backend != "cpu" and any(map(os.path.exists, ["/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"]))


def has_plain(options):
    """Whether there are programs that run without dragon-cc's directives."""
    return has_gpu(options) or options.emulate


def require(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(f"error: {' '.join(command)}: exit code {result.returncode}\n{result.stdout}")
    return result.stdout


# -- Building ---------------------------------------------------------------


def plain_compiler(options, main, flags, output):
    """nvcc where there is one, else clang."""
    if options.emulate:
        return our_compiler(options, main, [*flags, "-fno-dragon-lifetime", "-fno-dragon-staging"], output)
    common = ["-O2", "-std=c++17", "-I", FOLDER, "-I", INCLUDE, *flags, main, os.path.join(options.objects, "Bench.o")]
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if nvcc:
        return [nvcc, f"-arch={options.arch}", "-fmad=false", *common, "-Xlinker", "-s", "-o", output]
    cuda = os.environ.get("CUDA_PATH", "/usr/local/cuda")
    return [options.clang, "-x", "cuda", f"--cuda-path={cuda}", f"--cuda-gpu-arch={options.arch}", "-Wno-unknown-cuda-version",
            "-ffp-contract=off", *common[:-1], "-x", "none", common[-1], f"-L{cuda}/lib64", "-lcudart_static", "-ldl", "-lrt",
            "-pthread", "-s", "-o", output]


def our_compiler(options, main, flags, output):
    return [options.dragon_cc, "-O2", "-std=c++17", f"-arch={options.arch}", "-fmad=false", "-I", FOLDER, "-I", INCLUDE, *flags,
            *options.flags, main, os.path.join(options.objects, "Bench.o"), "-Xlinker", "-rpath", "-Xlinker", "$ORIGIN", "-o", output]


def build(options, folder, alone=()):
    """All programs of options.only, and those called `alone`, which know neither sources nor methods."""
    os.makedirs(folder, exist_ok=True)
    options.objects = folder
    require([options.cxx, "-O2", "-std=c++17", "-pthread", "-I", INCLUDE, "-c", os.path.join(FOLDER, "Bench.cpp"), "-o",
             os.path.join(folder, "Bench.o")])
    plain = options.pack or has_plain(options)
    builds = {}  # the output's name -> source, how, flags

    def add(source, main, name, flags, plain_flags):
        builds[f"{source}-ours{name}"] = main, our_compiler, flags
        if plain:
            builds[f"{source}-plain{name}"] = main, plain_compiler, flags + plain_flags

    for program in options.only:
        main = os.path.join(program.folder, program.source + ".cu")
        for source, flags in [("host", []), ("files", ["-DLINK_FILES"])]:
            if source in options.sources and (program.files or source == "host"):
                add(program.source, main, "-" + source, flags, ["-DLINK_METHODS"])
        if program.maps and "ours-maps" in options.methods:
            builds[f"{program.source}-maps-files"] = (os.path.join(os.path.dirname(FOLDER), "artifact", program.source + ".cu"), our_compiler,
                                                      ["-I", os.path.join(INCLUDE, "dragon", "compat")])
    for name in alone:
        add(name, os.path.join(FOLDER, name + ".cu"), "", [], [])
    commands = [compiler(options, main, flags, os.path.join(folder, name)) for name, (main, compiler, flags) in builds.items()]
    note(f"building {len(commands)} programs")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(require, commands))
    os.remove(os.path.join(folder, "Bench.o"))
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(options.dragon_cc))), "lib", "libdragonrt.so")
    shutil.copy(library, folder)


# -- Running ----------------------------------------------------------------


def numbers_of(path, separator):
    """The lines 'name: number ...' of a file of the kernel; none if it cannot be read."""
    try:
        with open(path) as file:
            pairs = [line.split(separator, 1) for line in file]
    except OSError:
        return {}
    return {name: int(rest.split()[0]) for name, rest in pairs if rest.split() and rest.split()[0].isdigit()}


class Watch(threading.Thread):
    """The most memory that a process and its control group had, and that was in use on the device."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.ended = pid, threading.Event()
        self.peaks = {}  # bytes
        self.start()

    def see(self, name, value):
        self.peaks[name] = max(self.peaks.get(name, 0), value)

    def run(self):
        while not self.ended.wait(0.5):
            status = numbers_of(f"/proc/{self.pid}/status", ":")
            for name in ["VmHWM", "RssAnon", "RssShmem", "VmPin", "VmLck"]:
                self.see(f"process's {name}", status.get(name, 0) << 10)
            group = numbers_of("/sys/fs/cgroup/memory.stat", " ")
            for name in ["anon", "shmem", "kernel", "file"]:
                self.see(f"group's {name}", group.get(name, 0))
            if shutil.which("nvidia-smi"):
                text = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                                      stdout=subprocess.PIPE, text=True).stdout.split()
                if text and text[0].isdigit():
                    self.see("whole device", int(text[0]) << 20)


def run(options, name, arguments, settings=None, watch=False, limit=None):
    """The program's result line and its statistics, or (None, what went wrong)."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DRAGON_")}
    environment.update(DRAGON_QUIET="1", CUDA_MODULE_LOADING="EAGER")
    if options.backend:
        environment["DRAGON_BACKEND"] = options.backend
    if options.strict:
        environment.update(DRAGON_STRICT="1", DRAGON_POISON="1")
    environment.update(settings or {})
    with tempfile.NamedTemporaryFile(suffix=".json") as stats:
        environment["DRAGON_STATS"] = stats.name
        process = subprocess.Popen([os.path.join(options.folder, name), *map(str, arguments)], env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        watcher = Watch(process.pid) if watch else None
        try:
            output, _ = process.communicate(timeout=limit or options.limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None, TOO_LONG
        if watcher:
            watcher.ended.set()
            watcher.join()
        lines = output.strip().splitlines()
        results = [line for line in lines if line.startswith("{")]
        if process.returncode != 0 or not results:
            return None, f"exit code {process.returncode}: " + " | ".join(line for line in lines if line not in results)[-400:]
        result = json.loads(results[-1])
        text = open(stats.name).read()
        result["stats"] = json.loads(text) if text else None
        if watcher:
            result["peaks"] = watcher.peaks
        return result, ""


def best(options, name, arguments, settings=None, trace=None):
    """The quickest of --repeat runs; the first one that fails, if one does."""
    outcomes = []
    for _ in range(options.repeat):
        if trace and options.traces:
            settings = dict(settings or {}, DRAGON_TRACE=os.path.join(os.path.abspath(options.traces), trace + ".json"))
        outcomes.append(run(options, name, arguments, settings))
        if outcomes[-1][0] is None:
            return outcomes[-1]
    return min(outcomes, key=lambda outcome: outcome[0]["seconds"]["total"])


def limit(rates, to_device, from_device, read=0, written=0):
    """The seconds that these bytes take at best, all moving side by side; 0 if no rates were measured."""
    if not rates:
        return 0
    times = [to_device / rates["to_device"], from_device / rates["from_device"], (to_device + from_device) / rates["both_ways"],
             read / rates["disk_read"], written / rates["disk_write"], (read + written) / rates["disk_both"]]
    return max(times)


def known(value, form, width):
    """A column: empty where there is nothing to say."""
    return f"{format(value, form) if value else '':>{width}}"


class Table:
    """One run a row. A suite's own has HEAD, the titles, and line(row), the text behind the first five columns; `compared` is what
    a run's result is beside the others of its program."""

    HEAD = f"{'program':15} {'method':11} {'from':5} {'MiB':>6} {'over':>4} "

    def __init__(self, options, rates):
        self.options, self.rates = options, rates
        self.rows, self.sums, self.in_core, self.nvcc = [], {}, {}, {}
        self.failed = False
        print(self.HEAD, flush=True)

    def add(self, program, method, source, over, outcome):
        result, trouble = outcome
        if result is None:
            self.failed |= method.startswith("ours") or trouble != TOO_LONG
            self.rows.append({"program": program, "method": method, "from": source, "over": over, "failed": trouble})
            print(f"{program:15} {method:11} {source:5} {'':6} {over:4g}  {'' if trouble == TOO_LONG else 'FAILED: '}{trouble}", flush=True)
            return
        row = dict(result, program=program, method=method, over=over, **self.compared(program, method, source, over, result))
        print(f"{program:15} {method:11} {source:5} {result['footprint'] >> 20:6} {over:4g} {self.line(row)}", flush=True)
        self.rows.append(row)

    def compared(self, program, method, source, over, result):
        total, size = result["seconds"]["total"], result["footprint"]
        key = program, method, source, size
        if method.startswith("ours") and over == 1:
            self.in_core[key] = total
        if method == "nvcc":
            self.nvcc[program, source, size] = total
        faster = self.nvcc.get((program, source, size), 0) / total if method != "nvcc" else 0
        moved = result.get("moved")
        if moved:  # from file, to device, from device, to file
            read, to_device, from_device, written = (sum(phase[i] for phase in moved.values()) for i in range(4))
            part = limit(self.rates, moved["compute"][1], moved["compute"][2])
        else:
            to_device, from_device = result["input"], result["output"]
            read, written = (to_device, from_device) if source == "files" else (0, 0)
            part = 0 if method.startswith(("nvcc", "managed")) else limit(self.rates, to_device, from_device)
        least = limit(self.rates, to_device, from_device, read, written)
        first = self.sums.setdefault((program, size), result["checksum"])
        self.failed |= first != result["checksum"]
        verdict = "right" if first == result["checksum"] else f"DIFFERS: {result['checksum']}, not {first}"
        if source == "files" and result["cached"]:
            verdict += f", {result['cached'] / result['input']:.0%} of the inputs were cached"
        return {"slower": total / self.in_core[key] if key in self.in_core else None, "faster": faster or None,
                "to_device": to_device, "from_device": from_device, "limit": least, "share": least / total if total else None,
                "kernel_share": part / result["seconds"]["compute"] if part and result["seconds"]["compute"] else None, "verdict": verdict}


def settings_of(options, method, over):
    settings = dict(setting.split("=", 1) for setting in options.set)
    if method == "ours-single":
        settings["DRAGON_WAVEFRONT"] = "off"
    if method == "ours-peers":
        settings["DRAGON_PEERS"] = "auto"
    if over > 1:  # whole megabytes, chunks of 2
        settings["DRAGON_DEVICE_MEMORY"] = f"{max(4, int(options.size / over))}M"
    return settings


def make_files(options, program, arguments):
    note(f"making the files of {program.name}")
    environment = dict(os.environ, **({"DRAGON_BACKEND": options.backend} if options.backend else {}))
    command = [os.path.join(options.folder, f"{program.source}-ours-files"), *map(str, arguments), "--make", "files"]
    return subprocess.run(command, env=environment).returncode == 0


def remove_files(options, program):
    for name in os.listdir(options.data):
        if name.startswith(program.source + ".") and name.endswith((".in", ".out")):
            os.remove(os.path.join(options.data, name))


def run_program(options, table, program):
    common = ["--folder", options.data, *program.arguments] + (["--steps", options.steps] if options.steps else [])
    if has_gpu(options):
        common += ["--warm", WARM_MS]
    arguments = common + ["--size", options.size]
    small = common + ["--size", min(options.size, MANAGED_MIB)]
    for source in options.sources:
        if source == "files" and not program.files:
            continue
        if source == "files" and not make_files(options, program, arguments):
            table.add(program.name, "files", source, 1, (None, "the files cannot be made"))
            continue
        for method in options.methods:
            memory = ["--memory", "pinned"] if method.endswith("-pinned") else []
            built = "maps" if method == "ours-maps" else "ours"
            if built == "maps" and (source == "host" or not program.maps):
                continue
            if method.startswith("ours") and (source == "host" or not memory):
                for over in options.over if source == "host" else options.files_over:
                    table.add(program.name, method, source, over, best(options, f"{program.source}-{built}-{source}", arguments + memory, settings_of(options, method, over),
                                                                  f"{program.name}-{source}-{over:g}"))
            elif not has_plain(options) or (source == "files" and method != "nvcc") or (method == "ring" and not program.ring):
                continue
            elif method == "managed":
                for name, real in [("nvcc", "plain"), ("managed", "managed")]:
                    table.add(program.name, name, source, 1, best(options, f"{program.source}-plain-host", small + ["--method", real]))
            else:
                real = "plain" if method.startswith("nvcc") else method
                table.add(program.name, method, source, 1, best(options, f"{program.source}-plain-{source}", arguments + memory + ["--method", real]))
        remove_files(options, program)


def numbers(text):
    return [float(number) for number in text.split(",")]


def parser(description, programs, methods, more_methods=(), sources="host,files", size="4096", limit="100", rates=4096):
    """The options of a suite, which may add its own; chosen() makes of their texts what the functions here expect."""
    also = f"; also {', '.join(more_methods)}" if more_methods else ""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dragon-cc", default=shutil.which("dragon-cc"))
    parser.add_argument("--pack", metavar="DIR", help="only build, into DIR")
    parser.add_argument("--prebuilt", metavar="DIR", help="run what --pack built")
    parser.add_argument("--arch", default="sm_90", help="the GPU's architecture (default: %(default)s)")
    parser.add_argument("--size", type=int, help=f"footprint in MiB (default: {size})")
    parser.add_argument("--steps", type=int, help="time steps or iterations (default: each program's)")
    parser.add_argument("--only", default=",".join(programs), help=f"programs: {', '.join(programs)} (default: all)")
    parser.add_argument("--methods", default=",".join(methods), help=f"methods (default: %(default)s{also})")
    parser.add_argument("--sources", default=sources, help="where data come from (default: %(default)s)")
    parser.add_argument("--over", help="oversubscriptions from host memory (default: 1,2,4)")
    parser.add_argument("--files-over", help="and from files (default: 1,4, or --over where that is given)")
    parser.add_argument("--json", metavar="FILE", help="write all rows with all that is known of them")
    parser.add_argument("--data", metavar="DIR", default=tempfile.gettempdir(), help="where files are made (default: %(default)s)")
    parser.add_argument("--limit", type=int, help=f"seconds that one run may take (default: {limit})")
    parser.add_argument("--repeat", type=int, default=1, help="runs for each row, of which the quickest counts (default: %(default)s)")
    parser.add_argument("--traces", metavar="DIR", help="keep a trace of each of our runs, for ui.perfetto.dev")
    parser.add_argument("--set", action="append", default=[], metavar="VARIABLE=VALUE", help="a setting for our runs")
    parser.add_argument("--rates", type=int, default=rates, help="MiB that rates are measured with, 0 for no rates (default: %(default)s)")
    parser.add_argument("--backend", help="DRAGON_BACKEND of the runs")
    parser.add_argument("--strict", action="store_true", help="strict mode and poison (the cpu device)")
    parser.add_argument("--emulate", action="store_true", help="without a GPU: the other methods, too, built by dragon-cc")
    parser.add_argument("--targets", help="--dragon-targets of the builds (default: dragon-cc's)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilations at a time")
    parser.add_argument("--cxx", default=shutil.which("c++") or "clang++-22", help="host compiler (default: %(default)s)")
    parser.add_argument("--clang", default=shutil.which("clang++-22") or "clang++", help="for nvcc where there is none (default: %(default)s)")
    return parser


def chosen(options, parser, programs, methods):
    for name, known in [("only", list(programs)), ("methods", methods), ("sources", ["host", "files"])]:
        setattr(options, name, getattr(options, name).split(","))
        unknown = [one for one in getattr(options, name) if one not in known]
        if unknown:
            parser.error(f"--{name}: '{unknown[0]}' is none of {', '.join(known)}")
    options.only = [programs[name] for name in options.only]
    options.files_over = numbers(options.files_over or options.over or "1,4")
    options.over = numbers(options.over or "1,2,4")
    options.flags = [f"--dragon-targets={options.targets}"] if options.targets else []
    if options.traces:
        os.makedirs(options.traces, exist_ok=True)
    return options


def main(options, measure, alone=()):
    """Builds what is to be built, and calls measure(options) unless only --pack was asked for. The exit code."""
    temporary = None
    if options.pack or not options.prebuilt:
        if not options.dragon_cc:
            sys.exit("error: dragon-cc is not in PATH: give --dragon-cc")
        temporary = None if options.pack else tempfile.mkdtemp(prefix="dragon-bench-")
        options.folder = os.path.abspath(options.pack or temporary)
        build(options, options.folder, alone + (("rates",) if options.rates else ()))
        if options.pack:
            return 0
    else:
        options.folder = os.path.abspath(options.prebuilt)
    options.data = tempfile.mkdtemp(prefix="dragon-bench-", dir=options.data)
    try:
        if not has_plain(options):
            note("no GPU: the host processor is the device, and of the methods there is ours")
        return measure(options)
    finally:
        shutil.rmtree(options.data)
        if temporary:
            shutil.rmtree(temporary)


def measure_rates(options):
    rates, trouble = run(options, "rates-plain" if has_plain(options) else "rates-ours", [options.data, options.rates, options.rates],
                         {"DRAGON_STRICT": "0"}, limit=max(options.limit, RATES_LIMIT))
    if rates is None:
        sys.exit(f"error: the rates cannot be measured: {trouble}")
    kind = subprocess.run(["stat", "-f", "-c", "%T", options.data], stdout=subprocess.PIPE, text=True).stdout.strip()
    print(f"{rates['device']}, {rates['processors']} processors, files on {kind or '?'}; GB/s: link to the device {rates['to_device'] / 1e9:.1f}, "
          f"from it {rates['from_device'] / 1e9:.1f}, both ways {rates['both_ways'] / 1e9:.1f}; disk read {rates['disk_read'] / 1e9:.2f}, "
          f"write {rates['disk_write'] / 1e9:.2f}, both {rates['disk_both'] / 1e9:.2f}{'' if rates['direct'] else ' (without O_DIRECT)'}", flush=True)
    return rates
