"""Building random programs, some hundreds to an executable, and comparing what they do with what the model says.

Each program runs alone in a process, so that what goes wrong is its own. Against the model, which knows nothing of
dragon-cc, stand
  tight   strict and poison mode with a few chunks of device and host memory: three programs of four; one of five of them
          has two other devices with two chunks each (docs/peers.md)
  checked the same with DRAGON_CHECK, which names the directive that is wrong: the others, all of an executable
  plain   no budgets, files read and written by the program itself: one in eight
  roomy   strict and poison mode without budgets: one in eight
  bare    as tight, built without directives, staging and slicing: the programs of one executable in ten
"""

import os
import random
import re
import shutil
import subprocess
import tempfile

from .features import Selection
from .program import Program
from .render import alone, together
from .server import Failure, Server
from .style import BUDGETS

INPUTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Inputs")
WITHOUT = ["-fno-dragon-lifetime", "-fno-dragon-staging", "-fno-dragon-wavefront", "-fno-dragon-slicing"]
TRACED = ["-fdragon-trace-accesses"]
POISON = {"DRAGON_POISON": "1"}
STRICT = {"DRAGON_STRICT": "1", **POISON}


def command(arguments, limit=600, **more):
    try:
        return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit, **more)
    except subprocess.TimeoutExpired:
        raise Failure(f"takes more than {limit:g} s") from None


def build(arguments):
    result = command(arguments)
    if result.returncode != 0:
        raise Failure(f"does not compile: {' '.join(arguments)}\n" + result.stderr.decode(errors="replace")[-3000:])


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class Runner:
    def __init__(self, options):
        self.options = options
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("DRAGON_") and k != "FILL"}
        self.selection = Selection(options.only, options.without, options.full_size or bool(options.pack or options.prebuilt))
        self.runs = {}
        self.servers = None  # while the programs of a batch run
        self.contents, self.changed = b"", False  # of the input

    def compile(self, source, program, options, targets="cpu"):
        build([self.options.dragon_cc, "-std=c++17", "-arch=sm_90", f"--dragon-targets={targets}", *options, f"-I{INPUTS}", source,
               "-o", program])

    def compile_model(self, directory):
        """Its kernels with optimisation, where they are a file of their own."""
        path = lambda name: os.path.join(directory, name)
        compiler = [self.options.clang, "-w", "-std=c++17", "-fno-exceptions", "-DMODEL", f"-I{INPUTS}"]
        objects = []
        for name, level in (("model", "-O0"), ("kernels", "-O1")):
            if os.path.exists(path(f"{name}.cpp")):
                build([*compiler, level, "-c", path(f"{name}.cpp"), "-o", path(f"{name}.o")])
                objects.append(path(f"{name}.o"))
        build([self.options.clang, "-static-libstdc++", *objects, "-o", path("model")])

    def input(self, directory, seed, size):
        self.contents = random.Random(seed).randbytes(size)
        self.write_input(directory)

    def write_input(self, directory):
        with open(os.path.join(directory, "in.bin"), "wb") as file:
            file.write(self.contents)
        self.changed = False

    def outcome(self, directory, name, program, place, settings):
        """What it printed and wrote."""
        if self.changed:
            self.write_input(directory)
        self.changed = program.changes_input
        output = os.path.join(directory, "out.bin")
        if os.path.exists(output):
            os.remove(output)  # where a file is emptied and written anew, some file systems wait for the disk
        if self.servers is not None:
            if name not in self.servers:
                self.servers[name] = Server(directory, name, self.environment)
            printed = self.servers[name].run(place, settings, self.options.limit)
        else:
            result = command([f"./{name}", "in.bin", "out.bin", str(place)], self.options.limit, cwd=directory,
                             env={**self.environment, **settings})
            if result.returncode != 0:
                raise Failure(f"ends with {result.returncode}: {result.stderr.decode(errors='replace')[-1500:]}")
            printed = result.stdout
        with open(output, "rb") as file:
            return printed, file.read()

    @staticmethod
    def memory(program, device_part, host_part):
        size = lambda chunks: f"{chunks * program.chunk >> 10}K"
        return {"DRAGON_DEVICE_MEMORY": size(device_part), "DRAGON_HOST_MEMORY": size(host_part), "DRAGON_CHUNK_SIZE": size(1)}

    def settings(self, program, bare, checked):
        """(name, executable, environment)"""
        seed = program.seed
        device = {"DRAGON_QUIET": "1", "DRAGON_BACKEND": "vmm" if self.options.prebuilt else "cpu"}
        strict = {} if self.options.prebuilt else POISON if program.many_small else STRICT
        device_part, host_part, more = BUDGETS[seed % len(BUDGETS)]
        # Kernels reach three quarters of the host's part.
        chunk = program.chunk
        room = (device_part + host_part * 3 // 4) * chunk
        # The smallest slice, one block, must lie in device memory where not all of the launch fits: a few words of it
        # that begin in one chunk and end in the next one are two chunks.
        if program.need + chunk > room or any(all_of_it + chunk > room and slice_of_it > device_part * chunk
                                              for all_of_it, slice_of_it in program.launches):
            host_part = max(32, 2 + (program.need // chunk - device_part) * 4 // 3)
        budget = {**device, **strict, **more, **self.memory(program, device_part, host_part)}
        # Launches run together wherever they may, in most programs.
        if seed % 4:
            budget["DRAGON_WAVEFRONT"] = "always"
        if seed % 5 == 1 and not self.options.prebuilt:
            budget |= {"DRAGON_CPU_DEVICES": "3", "DRAGON_PEERS": "auto", "DRAGON_PEER_MEMORY": f"{2 * program.chunk >> 10}K"}
        if seed % 7 == 2:
            budget["DRAGON_UNPINNED"] = "always"
        if checked:
            yield "checked", "program", {**budget, "DRAGON_CHECK": "1"}
        else:
            yield "tight", "program", budget
        if seed % 8 == 0:
            yield "plain", "program", {**device, "DRAGON_ELIDE": "0"}
        if seed % 8 == 3:
            yield "roomy", "program", {**device, **strict}
        if bare:
            # What is not sliced is reached in host memory.
            yield "bare", "bare", {**budget, **self.memory(program, device_part, max(32, host_part))}

    def check(self, directory, program, place, bare, checked=False):
        """None, or what is wrong with a program."""
        try:
            expected = self.outcome(directory, "model", program, place, {})
        except Failure as failure:
            return f"the model {failure}"
        for name, executable, settings in self.settings(program, bare, checked):
            settings.update(setting.split("=", 1) for setting in self.options.set)
            self.runs[name] = self.runs.get(name, 0) + 1
            how = " ".join(f"{k}={v}" for k, v in settings.items())
            try:
                got = self.outcome(directory, executable, program, place, settings)
            except Failure as failure:
                return f"{name} run ({how}) {failure}"
            if got == expected:
                continue
            if self.outcome(directory, "model", program, place, {"FILL": "171"}) != expected:
                return "the program reads what it has not written: a mistake of the generator"
            if got[0] != expected[0]:
                return f"{name} run ({how}) differs in what it prints"
            first = next((i for i, (a, b) in enumerate(zip(got[1], expected[1])) if a != b), min(len(got[1]), len(expected[1])))
            return f"{name} run ({how}) differs, first at byte {first} of {len(expected[1])}"
        return None

    def compile_all(self, directory, options, bare, checked):
        """The folder's sources, for each of the runs."""
        path = lambda name: os.path.join(directory, name)
        self.compile_model(directory)
        self.compile(path("program.cu"), path("program"), [*options, *(TRACED if checked else [])])
        if bare:
            self.compile(path("program.cu"), path("bare"), [*options, *WITHOUT])

    def build_alone(self, directory, program, level, bare, checked=False):
        path = lambda name: os.path.join(directory, name)
        write(path("program.cu"), alone(program))
        write(path("model.cpp"), alone(program, model=True))
        self.input(directory, program.seed, program.inputs)
        self.compile_all(directory, [level, *program.style.options], bare, checked)

    def keep(self, seed, problem, level, checked):
        """Leaves the program by itself in a folder of its own, with its input; tells whether it fails there too."""
        directory = os.path.join(self.options.work, f"seed{seed}")
        os.makedirs(directory, exist_ok=True)
        program = Program(seed, self.selection)
        text = f"seed {seed}{self.selection.options} ({level}): {problem}"
        servers, self.servers, contents = self.servers, None, self.contents
        try:
            self.build_alone(directory, program, level, True, checked)
            found = [self.check(directory, program, 0, True, checked) for _ in range(self.options.again)]
            failed = list(filter(None, found))
            text += f"\n  alone: {len(failed)} of {len(found)} fail" + (f", such as: {failed[0]}" if failed else "")
        except Failure as failure:
            text += f"\n  alone: {failure}"
        self.servers, self.contents, self.changed = servers, contents, True
        write(os.path.join(directory, "problem.txt"), text + "\n")
        return f"{text}\n  kept in {directory}"

    def sources(self, directory, seeds):
        programs = [Program(seed, self.selection) for seed in seeds]
        text, _ = together(programs)
        write(os.path.join(directory, "program.cu"), text)
        for name, text in zip(("model.cpp", "kernels.cpp"), together(programs, model=True)):
            write(os.path.join(directory, name), text)
        return programs

    def batch(self, seeds):
        """(number of programs, problems) of the programs of one executable."""
        os.makedirs(self.options.work, exist_ok=True)
        directory = tempfile.mkdtemp(prefix=f"batch{seeds[0]}-", dir=self.options.work)
        rng = random.Random(seeds[0] * 7 + 1)
        level, bare = rng.choice(["-O0", "-O0", "-O1", "-O1", "-O2", "-O3"]), rng.random() < 0.1
        checked = (rng.random() < 0.25 or self.options.checked) and not self.options.prebuilt
        try:
            programs = self.sources(directory, seeds)
            self.compile_all(directory, [level, *programs[0].style.options], bare, checked)
        except Failure as failure:
            # Which one it is, one by one, unless that is all there is.
            if len(seeds) == 1:
                shutil.rmtree(directory)
                return 1, [self.keep(seeds[0], failure, level, checked)]
            shutil.rmtree(directory)
            half = len(seeds) // 2
            results = [self.batch(seeds[:half]), self.batch(seeds[half:])]
            problems = results[0][1] + results[1][1]
            return len(seeds), problems or [f"seeds {seeds[0]}-{seeds[-1]}: only together: {failure}"]
        self.input(directory, seeds[0], max(program.inputs for program in programs))
        problems, self.servers, kinds = [], {}, set()
        for place, program in enumerate(programs):
            problem = self.check(directory, program, place, bare, checked)
            if not problem:
                continue
            # What fails as another one has failed already is told, but not built again by itself.
            kind = re.sub(r"0x[0-9a-f]+|\d+", "", problem.partition(") ")[2] or problem)
            problems.append(f"seed {program.seed}{self.selection.options} ({level}): {problem}" if kind in kinds else
                            self.keep(program.seed, problem, level, checked))
            kinds.add(kind)
        for server in self.servers.values():
            server.close()
        self.servers = None
        shutil.rmtree(directory)
        return len(seeds), problems

    # For a machine with a GPU, and without LLVM. --------------------------------------------------------------------

    def pack(self, seeds):
        directory = os.path.join(self.options.pack, f"batch{seeds[0]}")
        os.makedirs(directory, exist_ok=True)
        path = lambda name: os.path.join(directory, name)
        programs = self.sources(directory, seeds)
        self.compile(path("program.cu"), path("program"), ["-O2", *programs[0].style.options_of_language], "cuda,cpu")
        self.compile_model(directory)
        return len(seeds), []

    def packed(self, seeds):
        directory = os.path.join(self.options.prebuilt, f"batch{seeds[0]}")
        libraries = [self.options.prebuilt, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        self.environment["LD_LIBRARY_PATH"] = os.pathsep.join(libraries)
        programs = [Program(seed, self.selection) for seed in seeds]
        self.input(directory, seeds[0], max(program.inputs for program in programs))
        problems = [(program.seed, self.check(directory, program, place, False)) for place, program in enumerate(programs)]
        return len(seeds), [f"seed {seed}: {problem}" for seed, problem in problems if problem]
