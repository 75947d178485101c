"""Steps other than launches: copies, fills, host code, freeing and allocating again, and control flow."""

import re

from .state import HOST, LEGACY, Impossible


class Steps:
    OUTER = (["launch"] * 11 + ["load"] * 3 + ["store", "fill", "fill", "copy_device", "copy_device", "copy_out", "copy_in",
              "copy_pitched", "copy_pitched", "host_work", "again", "touch_managed", "some_loop", "some_loop",
              "data_branch", "data_branch", "swap", "early_end", "ping_pong", "ping_pong_index", "chain", "over_group",
              "sliding", "converge", "pipeline", "through_file", "temporary", "temporary", "settle", "settle", "batches", "allocate_later", "free_for_good"])
    INNER = (["launch"] * 9 + ["fill", "copy_device", "copy_out", "copy_in", "copy_pitched", "host_work", "touch_managed",
              "data_branch", "data_branch", "swap", "some_loop", "temporary", "again", "sliding", "ping_pong", "store",
              "load", "chain", "chain", "over_group", "ping_pong_index", "converge", "through_file", "settle"])

    # Host memory. -----------------------------------------------------------------------------------------------------

    def host_memory(self, words):
        ready = [m for m in self.memories if m.on_host and m.kind != "managed" and m.allocated and m.words >= words]
        return self.rng.choice(ready) if ready else None

    def host_source(self, most):
        ready = [(m, r) for m in self.memories if m.kind in ("host", "pinned") and m.allocated for r in m.defined.ranges]
        if not ready:
            return None
        memory, (low, high) = self.rng.choice(ready)
        words = min(most, high - low)
        if self.rng.random() < 0.4:
            words = self.rng.randint(1, words)
        return memory, self.rng.choice([low, self.rng.randint(low, high - words)]), words

    def host_work(self):
        """Loops and library calls over host memory."""
        rng = self.rng
        style = rng.choice(["fill", "fill", "change", "change", "print", "memset", "memcpy"])
        if style in ("fill", "memset"):
            memory = self.host_memory(1)
            if not memory:
                return False
            words = rng.choice([memory.words, rng.randint(1, memory.words)])
            first = rng.choice([0, rng.randint(0, memory.words - words)])
            self.perform(HOST, [(memory, first, first + words, "d")])
            if style == "memset":
                self.emit(f"memset({self.pointer(memory, first)}, {rng.randint(0, 255)}, (size_t){words} * 4);")
            else:
                self.emit(f"for (size_t i = 0; i < {words}; ++i)")
                self.emit(f"  {memory.text}[{first} + i] = scramble((uint32_t)i + {rng.randint(0, 999)});")
            return True
        source = self.host_source(self.scaled(1 << 20))
        if not source:
            return False
        memory, first, words = source
        if style == "change":
            words = min(words, self.scaled(300_000))
            self.perform(HOST, [(memory, first, first + words, "w")])
            self.emit(f"for (size_t i = 0; i < {words}; ++i)")
            self.emit(f"  {memory.text}[{first} + i] += 3;")
        elif style == "print":
            self.perform(HOST, [(memory, first, first + words, "r")])
            self.say(f"sum({self.pointer(memory, first)}, {words})")
        else:
            to = self.host_memory(words)
            if not to or to is memory:
                return False
            at = rng.randint(0, to.words - words)
            self.perform(HOST, [(memory, first, first + words, "r"), (to, at, at + words, "d")])
            self.emit(f"memcpy({self.pointer(to, at)}, {self.pointer(memory, first)}, (size_t){words} * 4);")
        return True

    def touch_managed(self):
        """Host code reads or writes managed memory."""
        rng = self.rng
        ready = [m for m in self.memories if m.kind == "managed" and m.allocated]
        if not ready:
            return False
        memory = rng.choice(ready)
        self.device_waits()
        low, high = memory.defined.longest() or (0, 0)
        if high - low < 1 or rng.random() < 0.4:
            words = rng.choice([memory.words, rng.randint(1, memory.words)])
            first = rng.randint(0, memory.words - words)
            self.perform(HOST, [(memory, first, first + words, "d")])
            self.emit(f"for (size_t i = 0; i < {words}; ++i)")
            self.emit(f"  {memory.text}[{first} + i] = (uint32_t)i * 5 + {rng.randint(0, 99)};")
        elif rng.random() < 0.5:
            stride = rng.choice([1, 1000, 5000])
            self.perform(HOST, [(memory, low, high, "w")])
            self.emit(f"for (size_t i = {low}; i < {high}; i += {stride})")
            self.emit(f"  {memory.text}[i] ^= 1;")
        else:
            self.perform(HOST, [(memory, low, high, "r")])
            self.say(f"sum({self.pointer(memory, low)}, {high - low})")
        return True

    # Copies. ------------------------------------------------------------------------------------------------------------

    def transfer(self, to, to_at, source, from_at, words, kind, stream=None):
        """One copy; synchronous unless a stream is given."""
        if to is source and max(to_at, from_at) < min(to_at, from_at) + words:
            return False
        agent = LEGACY if stream is None else stream
        self.perform(agent, [(source, from_at, from_at + words, "r"), (to, to_at, to_at + words, "d")])
        n = self.number(words)
        there, here = self.pointer(to, to_at), self.pointer(source, from_at)
        if self.rng.random() < 0.1:
            kind = "Default"
        if stream is not None:
            self.emit(f"CHECK(cudaMemcpyAsync({there}, {here}, (size_t){n} * 4, cudaMemcpy{kind}, {self.stream_text(stream)}));")
            return True
        if kind in ("HostToDevice", "DeviceToHost") and self.rng.random() < 0.2:
            self.emit(f"{'toDevice' if kind == 'HostToDevice' else 'toHost'}({there}, {here}, {n});")
        else:
            self.emit(f"CHECK(cudaMemcpy({there}, {here}, (size_t){n} * 4, cudaMemcpy{kind}));")
        if kind in ("HostToDevice", "DeviceToHost"):
            self.order.host_waits(LEGACY)
        elif kind == "Default":
            self.device_waits()
        return True

    def maybe_stream(self):
        return self.any_stream() if self.rng.random() < (0.5 if self.streams else 0.1) else None

    def copy_in(self):
        target = self.target()
        source = target and self.host_source(target[2])
        return bool(source) and self.transfer(target[0], target[1], source[0], source[1], source[2], "HostToDevice",
                                              self.maybe_stream())

    def copy_out(self):
        source = self.source()
        host = source and self.host_memory(source[2])
        if not host:
            return False
        at = self.rng.choice([0, self.rng.randint(0, host.words - source[2])])
        return self.transfer(host, at, *source, "DeviceToHost", self.maybe_stream())

    def copy_device(self):
        if self.rng.random() < 0.15:
            return self.copy_within()
        pair = self.pair()
        return bool(pair) and self.transfer(pair[1][0], pair[1][1], *pair[0][:2], pair[1][2], "DeviceToDevice",
                                            self.maybe_stream())

    def copy_within(self):
        source = self.source(2)
        if not source or not source[0].on_device:
            return False
        memory, first, words = source
        half, away = words // 2, words - words // 2
        there, here = self.rng.choice([(first, first + away), (first + away, first)])
        return self.transfer(memory, there, memory, here, half, "DeviceToDevice", self.maybe_stream())

    def copy_pitched(self):
        """Some words of each row, between memories whose rows are of different lengths; or a fill of them."""
        rng = self.rng
        width, height = rng.randint(1, 600), rng.randint(1, 300)
        to_pitch, from_pitch = width + rng.choice([0, rng.randint(1, 900)]), width + rng.choice([0, rng.randint(1, 900)])
        to_words, from_words = to_pitch * (height - 1) + width, from_pitch * (height - 1) + width
        kind = rng.choice(["HostToDevice", "DeviceToHost", "DeviceToDevice", "Fill"])
        if kind == "DeviceToHost":
            to = self.host_memory(to_words)
            to = to and (to, 0, to_words)
        else:
            to = self.target(to_words)
        if not to:
            return False
        mode = "d" if to_pitch == width else "w"
        to_uses = [(to[0], to[1], to[1] + to_words, mode), (to[0], to[1], to[1] + width, "d")]
        if kind == "Fill":
            self.perform(LEGACY, to_uses)
            self.emit(f"CHECK(cudaMemset2D({self.pointer(*to[:2])}, {to_pitch * 4}, {rng.randint(0, 255)}, {width * 4}, {height}));")
            return True
        source = self.host_source(from_words) if kind == "HostToDevice" else self.source(from_words, from_words, [to[0]])
        if not source or source[2] < from_words:
            return False
        stream = self.maybe_stream()
        self.perform(LEGACY if stream is None else stream, [(source[0], source[1], source[1] + from_words, "r"), *to_uses])
        arguments = (f"{self.pointer(*to[:2])}, {to_pitch * 4}, {self.pointer(*source[:2])}, {from_pitch * 4}, {width * 4}, "
                     f"{height}, cudaMemcpy{kind}")
        if stream is None:
            self.emit(f"CHECK(cudaMemcpy2D({arguments}));")
            if kind != "DeviceToDevice":
                self.order.host_waits(LEGACY)
        else:
            self.emit(f"CHECK(cudaMemcpy2DAsync({arguments}, {self.stream_text(stream)}));")
        return True

    def fill(self):
        target = self.target()
        if not target:
            return False
        memory, first, words = target
        stream = self.maybe_stream()
        self.perform(LEGACY if stream is None else stream, [(memory, first, first + words, "d")])
        arguments = f"{self.pointer(memory, first)}, {self.rng.randint(0, 255)}, (size_t){self.number(words)} * 4"
        self.emit(f"CHECK(cudaMemset({arguments}));" if stream is None else
                  f"CHECK(cudaMemsetAsync({arguments}, {self.stream_text(stream)}));")
        return True

    # Lifetimes. -----------------------------------------------------------------------------------------------------------

    def changeable(self):
        return [m for m in self.memories if m.on_device and m.home != "owner"]

    def again(self):
        """Freed, allocated and filled again."""
        ready = [m for m in self.changeable() if m.allocated]
        if not ready or self.rng.random() < 0.3:
            return False
        memory = self.rng.choice(ready)
        self.free(memory)
        self.allocate(memory)
        if self.depth:
            self.perform(LEGACY, [(memory, 0, memory.words, "d")])
            self.emit(f"CHECK(cudaMemset({memory.text}, {self.rng.randint(0, 255)}, (size_t){memory.words} * 4));")
        return True

    def allocate_later(self):
        ready = [m for m in self.changeable() if not m.allocated]
        if not ready:
            return False
        memory = self.rng.choice(ready)
        if memory.group in self.groups and self.rng.random() < 0.6 and not any(m.allocated for m in memory.group):
            return self.allocate_group(memory.group)
        self.allocate(memory)
        return True

    def free_for_good(self):
        ready = [m for m in self.changeable() if m.allocated]
        if len(ready) < 3 or self.rng.random() < 0.5:
            return False
        self.free(self.rng.choice(ready))
        return True

    def swap(self):
        """Two pointers change places; maybe, who knows."""
        rng = self.rng
        pairs = [(a, b) for a in self.memories for b in self.memories
                 if a is not b and a.words == b.words and a.kind == b.kind and a.on_device and a.allocated and b.allocated
                 and a.home == b.home and (a.home == "owner") <= (b.home == "owner")]
        if not pairs:
            return False
        a, b = rng.choice(pairs)
        self.exchange(a, b)
        return True

    def exchange(self, a, b):
        if a.shared or b.shared:
            raise Impossible
        if self.depth:
            a.defined, b.defined = a.defined.meet(b.defined), b.defined.meet(a.defined)
        else:
            a.defined, b.defined = b.defined, a.defined
        self.order.share([a, b])
        if a.home == "owner":
            self.emit(f"swap({a.text[:-6]}, {b.text[:-6]});")
        elif self.rng.random() < 0.5:
            self.emit(f"std::swap({a.text}, {b.text});")
        else:
            self.emit("{")
            self.emit(f"uint32_t *other = {a.text};")
            self.emit(f"{a.text} = {b.text};")
            self.emit(f"{b.text} = other;")
            self.emit("}")

    # Control flow. ----------------------------------------------------------------------------------------------------------

    def some_steps(self):
        made = 0
        for _ in range(self.rng.randint(1, 3)):
            made += self.step()
        if not made:
            return False

    def some_loop(self):
        rng = self.rng
        if self.depth > 1:
            return False
        rounds, variable = rng.randint(1, 4), f"r{self.count()}"
        self.variables[variable] = "int {0}"
        count = self.number(rounds) if rng.random() < 0.5 else f"argc > 8 ? atoi(argv[8]) : {rounds}"
        if "argc" in count:
            name = f"n{self.count()}"
            self.declarations.append(f"int {name} = {count};")
            self.variables[name] = "int {0}"
            count = name
        style, always = rng.random(), rng.random() < 0.5 or self.depth > 0
        if style < 0.6:
            return self.loop(f"for (int {variable} = 0; {variable} < {count}; ++{variable}) {{", rounds, self.some_steps, always)
        if style < 0.8:
            self.emit(f"int {variable} = 0;")
            return self.loop(f"while ({variable}++ < {count}) {{", rounds, self.some_steps, always)
        self.emit(f"int {variable} = 0;")
        return self.loop("do {", rounds, self.some_steps, True, f"}} while (++{variable} < {count});")

    def look(self):
        """A word of device memory, in a variable of the host."""
        source = self.source(1, 1)
        if not source:
            return None
        name = f"seen{self.count()}"
        memory, first, _ = source
        self.perform(LEGACY, [(memory, first, first + 1, "r")])
        self.emit(f"uint32_t {name} = 0;")
        self.emit(f"CHECK(cudaMemcpy(&{name}, {self.pointer(memory, first)}, 4, cudaMemcpyDeviceToHost));")
        self.order.host_waits(LEGACY)
        return name

    def data_branch(self):
        if self.depth > 2:
            return False
        variables = [match[1] for match in (re.match(r"for \(int (r\d+) = 0", header) for header in self.loops) if match]
        if variables and self.rng.random() < 0.6:
            name = self.rng.choice(variables)
            condition = self.rng.choice([f"{name} == 0", f"{name} > 0", f"{name} % 2 == 1"])
        elif self.rng.random() < 0.15:
            condition = self.rng.choice(["in != nullptr", "in == nullptr"])
        else:
            name = self.look()
            if not name:
                return False
            by = self.rng.randint(2, 3)
            condition = f"{name} % {by} == {self.rng.randint(0, by - 1)}"
        return self.branch(condition, self.some_steps, self.some_steps if self.rng.random() < 0.5 else None)

    def early_end(self):
        """The program may end here, with its buffers freed or not."""
        name = self.look()
        if not name or self.rng.random() < 0.5:
            return False
        before = self.state.save()
        body = self.gather_lines(self.end_early)
        self.state.restore(before)
        self.out += [f"if ({name} % 7 == {self.rng.randint(0, 6)}) {{", *body, "}"]
        return True

    def end_early(self):
        self.store()
        if self.rng.random() < 0.6:
            for memory in self.memories:
                if memory.allocated:
                    self.free(memory)
        self.emit(self.rng.choice(["return 0;", "return 0;", "exit(0);"]))
