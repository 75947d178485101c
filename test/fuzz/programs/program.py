"""One random program: its memory, its statements, and what may be done where."""

import random
import re
from contextlib import contextmanager

from .ends import Ends
from .features import chosen
from .files import Files
from .kernels import Kernels
from .loop_shapes import LoopShapes
from .loops import Loops
from .near_loops import NearLoops
from .managed import Managed
from .patterns import Patterns
from .processes import Processes
from .shapes import Shapes
from .signals import Signals
from .state import HOST, LEGACY, Impossible, Order, State
from .steps import Steps
from .streams import Streams
from .style import CHUNK, Style
from .tables import Tables
from .threads import Threads
from .variables import Variables
from .walks import Walks


class Program(Kernels, Shapes, Steps, Files, Patterns, Variables, Threads, Streams, Managed, Processes, Signals, Tables,
              Ends, Loops, Walks, LoopShapes, NearLoops):
    """features: the names of those that it may have, or None for some by chance. left_out: steps, by their paths, that it
    does without; the others are made of the same random numbers."""

    WORK = 40_000_000  # words that all steps together may touch, so that no program takes long

    def __init__(self, seed, selection=None, left_out=()):
        self.rng = random.Random(seed)
        self.seed = seed
        self.left_out, self.path, self.children, self.paths = set(left_out), "", 0, []
        self.features, self.more_outer, self.more_inner = chosen(seed, selection)
        self.style = Style(seed, bool(selection and selection.full_size))
        self.chunk = self.scaled(CHUNK)
        self.said = None  # in a thread: what it has to say, for others to print
        self.changes_input = False
        self.many_small = False  # buffers that share chunks, but not in strict mode
        self.kernels, self.block_kernels, self.cache = [], set(), {}
        self.structures, self.globals, self.helpers = {}, [], []
        self.declarations, self.out = [], []
        # Local ones: name -> how to give them to a function.
        self.variables = {"in": "FILE *{0}", "out": "FILE *{0}"}
        self.changed_by = {}  # functions that change it
        self.numbers = {}
        self.counter = 0
        self.launching = False  # what is picked now is for a kernel
        self.need = 0  # bytes that some launch cannot do without
        self.launches = set()  # (bytes of all, bytes of one block at the worst)
        self.inputs = 4  # bytes of the input file that it reads
        self.work, self.rounds, self.depth, self.loops = 0, 1, 0, []
        self.unreachable = []  # buffers that the steps of now know nothing of
        self.memories, self._groups = [], []
        self.declare_streams()
        self.order = Order(self.streams, self.blocking_streams)
        self.order.memories = self.memories
        self.state = State(self.memories, self.order)
        self.declare_memory()
        for _ in range(self.rng.randint(4, 11)):
            self.step()
        self.finish()

    # Text. ----------------------------------------------------------------------------------------------------------

    def count(self):
        self.counter += 1
        return self.counter

    def emit(self, line):
        self.out.append(line)

    def number(self, value):
        """A literal, a constant, or what is known at run time only."""
        if value in self.numbers:
            return self.numbers[value]
        style = self.rng.random()
        if style < 0.6 or value < 2:
            return str(value)
        name = f"n{self.count()}"
        self.variables[name] = "long {0}"
        self.numbers[value] = name
        self.declarations.append(f"const long {name} = {value};" if style < 0.75
                                 else f"long {name} = argc > 9 ? atol(argv[9]) : {value};")
        return name

    def pointer(self, memory, offset):
        if offset == 0:
            return memory.text
        where = self.number(offset)
        return f"&{memory.text}[{where}]" if self.rng.random() < 0.2 else f"{memory.text} + {where}"

    def scaled(self, size):
        return size // self.style.scale

    # What happens, and in which order. --------------------------------------------------------------------------------

    def perform(self, agent, uses):
        """uses: (memory, low, high, mode); waits for whatever must have ended."""
        for memory, low, high, mode in uses:
            assert memory.allocated and 0 <= low <= high <= memory.words, memory.text
            if memory.shared and mode != "r":
                raise Impossible
            assert mode != "r" or memory.defined.covers(low, high), f"{memory.text}[{low}:{high}] is undefined"
        if agent != HOST or not any(m.kind == "managed" for m, *_ in uses):
            self.work += self.rounds * sum(high - low for _, low, high, _ in uses)
        plain = [(memory, low, high, mode != "r") for memory, low, high, mode in uses]
        for other in sorted(self.order.races(agent, plain), key=str):
            if other in self.order.races(agent, plain):
                self.wait_for(agent, other)
        self.order.perform(agent, plain)
        for memory, low, high, mode in uses:
            if mode == "d":
                memory.defined.add(low, high)

    def wait_for(self, agent, other):
        style = self.rng.random()
        if self.order.is_gone(other):
            return self.device_waits()
        if agent != HOST and self.events and style < 0.6:
            event = self.rng.choice(self.events)
            self.emit(f"CHECK(cudaEventRecord({event}, {self.stream_text(other)}));")
            self.emit(f"CHECK(cudaStreamWaitEvent({self.stream_text(agent)}, {event}, 0));")
            self.order.stream_waits(agent, other)
        elif style < 0.85:
            self.host_waits(other)
        else:
            self.device_waits()

    def say(self, value):
        """Prints it; a thread leaves that to who has joined it."""
        self.emit(f'printf("%u\\n", {value});' if self.said is None else f"{self.said}.push_back({value});")

    def host_waits(self, stream):
        self.emit(f"CHECK(cudaStreamSynchronize({self.stream_text(stream)}));")
        self.order.host_waits(stream)

    def device_waits(self):
        self.emit("CHECK(cudaDeviceSynchronize());")
        self.order.host_waits_for_all()

    # Parts of the program that see other memory and streams than the rest: threads. -----------------------------------

    def scope(self):
        return self.memories, self.streams, self.blocking_streams, self.stream_names, self.events, self._groups, self.said, self.prefer

    def enter(self, scope):
        (self.memories, self.streams, self.blocking_streams, self.stream_names, self.events, self._groups,
         self.said, self.prefer) = scope
        self.order.memories = self.state.memories = self.memories

    def launch(self, name, grid, arguments, uses, stream=None):
        stream = self.any_stream() if stream is None else stream
        self.perform(stream, uses)
        chunks = [self.chunks(use[:3]) for use in uses]
        self.launches.add((sum(chunks) * self.chunk, sum(min(count, 2) for count in chunks) * self.chunk))
        config = grid
        if stream != LEGACY:
            config += f", 0, {self.stream_text(stream)}"
        self.emit(f"{name}<<<{config}>>>({arguments});")
        if self.rng.random() < 0.1:
            self.emit("CHECK(cudaGetLastError());")

    # Control flow. ----------------------------------------------------------------------------------------------------

    def attempt(self, make, *arguments):
        """Whether make() made something; if not, all is as before."""
        saved, log = self.state.save(), self.order.log
        length, logged, work, paths = len(self.out), len(log or ()), self.work, len(self.paths)
        out, depth, rounds, count, loops = self.out, self.depth, self.rounds, len(self.memories), list(self.loops)
        random_numbers, scope = (self.rng, self.path, self.left_out), self.scope()
        try:
            if make(*arguments) is not False:
                return True
        except Impossible:
            pass
        self.rng, self.path, self.left_out = random_numbers
        self.enter(scope)
        del self.paths[paths:]
        self.out, self.depth, self.rounds, self.work, self.order.log, self.loops = out, depth, rounds, work, log, loops
        del self.out[length:]
        if log is not None:
            del log[logged:]
        del self.memories[count:]
        self.state.restore(saved)
        return False

    @contextmanager
    def out_of_reach(self, memories):
        """Steps that know nothing of these: they may be in functions of their own, where these have no names."""
        for memory in memories:
            self.memories.remove(memory)
        self.unreachable += memories
        try:
            yield
        finally:
            self.memories += memories
            del self.unreachable[len(self.unreachable) - len(memories):]

    def gather_lines(self, make, *arguments):
        """The lines that make() emits. make may return False."""
        outer, self.out = self.out, []
        made = make(*arguments)
        lines, self.out = self.out, outer
        if made is False:
            raise Impossible
        return lines

    def loop(self, header, rounds, make, always=True, footer="}"):
        """A loop around what make() emits. always: it runs at least once."""
        before, outer = self.state.save(), self.order.log
        self.order.log = []
        self.rounds *= rounds
        self.depth += 1
        self.loops.append(header)
        lines = self.gather_lines(make)
        self.loops.pop()
        self.depth -= 1
        self.rounds //= rounds
        log, self.order.log = self.order.log, outer
        for memory, allocated, defined, _ in before[0]:
            if memory.allocated != allocated or defined.meet(memory.defined) != defined:
                raise Impossible
        if any(m.allocated for m in self.memories[len(before[0]):]):
            raise Impossible
        if outer is not None:
            outer.extend(log)
        after, logged = self.state.save(), len(outer or ())
        if not self.order.again(log):
            self.state.restore(after)
            if outer is not None:
                del outer[logged:]
            lines.append("CHECK(cudaDeviceSynchronize());")
            self.order.host_waits_for_all()
            if not self.order.again(log):
                raise Impossible
        else:
            lines = self.leave_early(lines, self.rng.choice(["continue", "break"]))
        if not always:
            self.state.join(before)
        self.out += [header, *lines, footer]
        return True

    def branch(self, condition, then, otherwise=None):
        before, outer = self.state.save(), self.order.log
        self.depth += 1
        self.order.log = [] if outer is not None else None
        first, then_log = self.gather_lines(then), self.order.log
        after = self.state.save()
        if len(after[0]) != len(before[0]):
            raise Impossible
        self.state.restore(before)
        self.order.log = [] if outer is not None else None
        second, other_log = self.gather_lines(otherwise) if otherwise else [], self.order.log
        self.order.log = outer
        self.depth -= 1
        for memory, allocated, *_ in after[0]:
            if memory.allocated != allocated:
                raise Impossible
        self.state.join(after)
        if outer is not None:
            outer.append(("branch", then_log, other_log))
        self.out += [f"if ({condition}) {{", *first, *(["} else {", *second] if second else []), "}"]
        return True

    # Steps. -----------------------------------------------------------------------------------------------------------

    def step(self, kinds=None):
        """One more statement, or a few that belong together, maybe in a function of their own. Its random numbers are its
        own, so that other steps can be left out."""
        path = f"{self.path}.{self.children}".lstrip(".")
        self.children += 1
        if path in self.left_out:
            return True
        outer = self.rng, self.path, self.children
        self.rng, self.path = random.Random(f"{self.seed} {path}"), path
        made = self.some_step(kinds)
        self.rng, self.path, self.children = outer
        if made:
            self.paths.append(path)
        return made

    def some_step(self, kinds):
        if self.said is not None:
            kinds = kinds or self.IN_THREADS
        kinds = kinds or (self.INNER + self.more_inner if self.depth else self.OUTER + self.more_outer)
        for _ in range(40):
            if self.work > self.scaled(self.WORK):
                return False
            length, self.children = len(self.out), 0
            kind = self.rng.choice(kinds)
            self.launching = kind == "launch"
            if self.launching:
                kind = self.rng.choice(self.FAMILIES)
            if not self.attempt(getattr(self, kind)):
                continue
            if len(self.out) == length:
                continue
            if self.rng.random() < 0.15 and kind not in ("early_end", "reset"):
                self.into_function(length)
            return True
        return False

    def into_function(self, start):
        """What was emitted since goes into a function, or a lambda, that gets what it uses."""
        lines = self.out[start:]
        text = "\n".join(lines)
        if re.search(r"\b(return|argc|argv|break|continue)\b", text):
            return
        lines = self.leave_early(lines, "return")
        if self.rng.random() < 0.15:
            name = f"part{self.count()}"
            self.out[start:] = [f"auto {name} = [&] {{", *lines, "};", f"{name}();"]
            return
        function = f"part{self.count()}"
        parameters, arguments = [], []
        for name, how in self.variables.items():
            declared = re.search(rf"\b(int|long|size_t|uint32_t|cudaStream_t|cudaEvent_t|std::vector<uint32_t>) [*&]?{name}\b", text)
            if declared or not re.search(rf"\b{name}\b", text):
                continue
            changed = re.search(rf"&{name}\b|\b{name}(\.\w+)? = |swap\([^;]*\b{name}\b|dropBuffer\({name}\b", text)
            changed = changed or any(f"{part}(" in text for part in self.changed_by.get(name, ()))
            if changed:
                self.changed_by.setdefault(name, []).append(function)
            argument = name
            if how == "uint32_t *{0}" and changed and self.rng.random() < 0.5:
                parameters.append(f"uint32_t **{name}")
                lines = [self.through_pointer(name, line) for line in lines]
                argument = f"&{name}"
            elif how == "uint32_t *{0}":
                parameters.append(f"uint32_t *&{name}" if changed else f"uint32_t *{name}")
            elif how == "structure":
                kind = self.rng.choice(["&", "*"] if changed or f"&{name}." in text else ["", "&", "*"])
                parameters.append(f"{self.structure_of[name]} {kind}{name}")
                if kind == "*":
                    lines = [self.through_pointer(name, line) for line in lines]
                    argument = f"&{name}"
            elif changed and how in ("cudaStream_t {0}", "cudaEvent_t {0}"):  # made anew behind a reset
                parameters.append(how.format("&" + name))
            else:
                parameters.append(how.format(name))
            arguments.append(argument)
        self.helpers.append((f"static void {function}({', '.join(parameters)}) {{", lines))
        self.out[start:] = [f"{function}({', '.join(arguments)});"]

    @staticmethod
    def through_pointer(name, line):
        line = re.sub(rf"\b{name}\.", f"{name}->", line)
        line = re.sub(rf"&{name}\b(?!->|\[)", name + "@", line)
        line = re.sub(rf"\b{name}\b(?!->|@)", f"(*{name})", line)
        return line.replace(name + "@", name)

    def leave_early(self, lines, how):
        """A branch at the end, turned around: `if (c) { ... }` to `if (!(c)) return; ...`."""
        if self.rng.random() < 0.5 or not lines or lines[-1] != "}":
            return lines
        depth = 0
        for at in range(len(lines) - 1, -1, -1):
            depth += lines[at].startswith("}") - lines[at].endswith("{")
            if depth == 0 or depth == 1 and lines[at] == "} else {":
                break
        if depth or not lines[at].startswith("if ("):
            return lines
        return [*lines[:at], f"if (!({lines[at][4:-3]}))", f"  {how};", *lines[at + 1:-1]]

    def finish(self):
        for at, memory in enumerate(list(self.memories)):
            self.rng, path = random.Random(f"{self.seed} end {at}"), f"end{at}"
            if memory.on_device and memory.allocated and memory.defined.ranges and self.rng.random() < 0.65:
                if path not in self.left_out and self.attempt(self.store_of, memory):
                    self.paths.append(path)
        self.rng = random.Random(f"{self.seed} end")
        self.device_waits()
        self.emit("CHECK(cudaGetLastError());")
        if self.rng.random() < 0.6:
            for memory in self.memories:
                if memory.allocated:
                    self.free(memory)
        self.end_of_program()
