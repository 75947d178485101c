"""What programs do again and again: steps between two buffers that change places, chains over arrays of buffers, windows
that slide, iteration until nothing changes, pipelines over streams, buffers for a moment, a file in pieces."""

from .state import HOST, LEGACY, Memory


class Patterns:
    def elementwise(self, expression):
        """A kernel out = f(in) by elements, and the text of a launch over n words."""
        kind, text, style = self.over(f"    out[i] = {expression};\n")
        name = self.kernel("step", f"const uint32_t *in, uint32_t *out, {kind} n", text)
        block = self.rng.choice([64, 128, 256])
        return lambda source, target, n, stream=LEGACY: (
            f"{name}<<<({n} + {block - 1}) / {block}, {block}"
            + (f", 0, {self.stream_text(stream)}" if stream != LEGACY else "") + f">>>({source}, {target}, {n});")

    def some_expression(self):
        return self.rng.choice(["scramble(in[i])", "in[i] * 3 + (uint32_t)i", "in[i] + in[n - 1 - i]",
                                "in[i] ^ in[i > 0 ? i - 1 : 0]"])

    def equals(self):
        """Memories of one size, allocated, with their group."""
        found = [m for m in self.memories if m.on_device and m.allocated and m.home != "owner"]
        pairs = [(a, b) for a in found for b in found if a is not b and a.words == b.words and a.kind == b.kind]
        return self.rng.choice(pairs) if pairs else None

    def ping_pong(self):
        """Steps from one to the other, which change places."""
        pair = self.equals()
        if not pair or not pair[0].full():
            return False
        a, b = pair
        variable = f"r{self.count()}"
        rounds = self.rng.randint(1, 4)
        launch = self.elementwise(self.some_expression())
        stream = self.any_stream()
        n = self.number(a.words)
        if not b.full():
            # After the first round both are defined; the model of the generator wants them so before.
            self.perform(LEGACY, [(b, 0, b.words, "d")])
            self.emit(f"CHECK(cudaMemset({b.text}, 1, (size_t){n} * 4));")

        def body():
            self.perform(stream, [(a, 0, a.words, "r"), (b, 0, b.words, "d")])
            self.emit(launch(a.text, b.text, n, stream))
            if self.rng.random() < 0.3:
                self.step()
            self.exchange(a, b)
        self.variables[variable] = "int {0}"
        return self.loop(f"for (int {variable} = 0; {variable} < {self.number(rounds)}; ++{variable}) {{", rounds, body)

    def group(self):
        ready = [g for g in self.groups if all(m.allocated for m in g) and all(m.words == g[0].words for m in g)]
        return self.rng.choice(ready) if ready else None

    def element(self, group, index):
        return self.forms[id(group)].replace("@", index)

    def ping_pong_index(self):
        """array[r & 1] to array[(r + 1) & 1]."""
        group = self.group()
        if not group or not group[0].full():
            return False
        variable, rounds = f"r{self.count()}", self.rng.randint(2, 5)
        launch, stream, words = self.elementwise(self.some_expression()), self.any_stream(), group[0].words
        pair = group[:2]
        if not pair[1].full():
            self.perform(stream, [(pair[0], 0, words, "r"), (pair[1], 0, words, "d")])
            self.emit(launch(pair[0].text, pair[1].text, words, stream))
        from_index, to_index = self.rng.choice([("{0} & 1", "({0} + 1) & 1"), ("{0} % 2", "1 - {0} % 2")])

        def body():
            self.perform(stream, [(m, 0, words, mode) for m in pair for mode in "rd"])
            self.emit(launch(self.element(group, from_index.format(variable)), self.element(group, to_index.format(variable)),
                             self.number(words), stream))
        self.variables[variable] = "int {0}"
        return self.loop(f"for (int {variable} = 0; {variable} < {rounds}; ++{variable}) {{", rounds, body)

    def chain(self):
        """Forward over an array of buffers, and back."""
        group = self.group()
        if not group or not group[0].full():
            return False
        words, stream = group[0].words, self.any_stream()
        n = self.number(words)
        forward, count = self.elementwise(self.some_expression()), len(group)
        variable = f"l{self.count()}"
        for before, memory in zip(group, group[1:]):
            self.perform(stream, [(before, 0, words, "r"), (memory, 0, words, "d")])
        self.emit(f"for (int {variable} = 1; {variable} < {count}; ++{variable})")
        self.emit("  " + forward(self.element(group, f"{variable} - 1"), self.element(group, variable), n, stream))
        if self.rng.random() < 0.6:
            variable = f"l{self.count()}"
            back = self.elementwise(self.some_expression())
            for memory, after in zip(group[-2::-1], group[:0:-1]):
                self.perform(stream, [(after, 0, words, "r"), (memory, 0, words, "d")])
            self.emit(f"for (int {variable} = {count - 2}; {variable} >= 0; --{variable})")
            self.emit("  " + back(self.element(group, f"{variable} + 1"), self.element(group, variable), n, stream))
        return True

    def over_group(self):
        """The same for each buffer of an array."""
        group = self.group()
        source = group and self.source(group[0].words, group[0].words, group)
        if not source:
            return False
        words, stream = group[0].words, self.any_stream()
        launch, variable = self.elementwise(self.some_expression()), f"k{self.count()}"
        self.perform(stream, [(source[0], source[1], source[1] + words, "r"), *((m, 0, words, "d") for m in group)])
        self.emit(f"for (int {variable} = 0; {variable} < {len(group)}; ++{variable})")
        self.emit("  " + launch(self.pointer(*source[:2]), self.element(group, variable), words, stream))
        return True

    def sliding(self):
        """Windows of one buffer, one after the other, with what follows them; into windows of another."""
        source = self.source(4096)
        target = source and self.target(source[2], [source[0]])
        if not target:
            return False
        words = source[2]
        width = self.rng.randint(max(64, words // 12), words)
        halo = self.rng.choice([0, 0, 16, 3000])
        if halo >= words:
            return False
        at, now = f"at{self.count()}", f"now{self.count()}"
        kind, text, style = self.over("    uint32_t sum = in[i];\n    for (int k = 1; k <= 3; ++k)\n"
                                      f"      sum = sum * 3 + in[i + k * {halo // 3}];\n    out[i] = sum;\n")
        name = self.kernel("fir", f"const uint32_t *in, uint32_t *out, {kind} n", text)
        stream, n = self.any_stream(), self.number(words - halo)
        memory, first, _ = target
        self.perform(stream, [(source[0], source[1], source[1] + words, "r"), (memory, first, first + words - halo, "d")])
        self.emit(f"for (long {at} = 0; {at} < {n}; {at} += {width}) {{")
        self.emit(f"long {now} = std::min<long>({width}, {n} - {at});")
        config = f"({now} + 127) / 128, 128" + (f", 0, {self.stream_text(stream)}" if stream != LEGACY else "")
        self.emit(f"{name}<<<{config}>>>({self.pointer(*source[:2])} + {at}, {self.pointer(memory, first)} + {at}, {now});")
        self.emit("}")
        return True

    def converge(self):
        """Until a flag that a kernel sets stays as it is."""
        source = self.source(64)
        flag = source and self.source(1, 1, [source[0]])
        if not flag:
            return False
        limit, host = self.rng.choice([1 << 28, 1 << 30, 1 << 31]), f"more{self.count()}"
        kind, text, style = self.over(f"    if (data[i] >= {limit}u) {{\n      data[i] = data[i] / 3;\n"
                                      "      atomicOr(flag, 1u);\n    }\n")
        name = self.kernel("converge", f"uint32_t *data, uint32_t *flag, {kind} n", text)
        counter = f"r{self.count()}"
        self.emit(f"uint32_t {host} = 1;")
        self.emit(f"int {counter} = 0;")
        self.variables[counter] = "int &{0}"

        def body():
            self.perform(LEGACY, [(flag[0], flag[1], flag[1] + 1, "d")])
            self.emit(f"CHECK(cudaMemset({self.pointer(*flag[:2])}, 0, 4));")
            self.launch(name, self.grid(style, source[2]), f"{self.pointer(*source[:2])}, {self.pointer(*flag[:2])}, "
                        f"{self.number(source[2])}", [self.use(source, "w"), self.use(flag, "w")])
            self.perform(LEGACY, [(flag[0], flag[1], flag[1] + 1, "r")])
            self.emit(f"CHECK(cudaMemcpy(&{host}, {self.pointer(*flag[:2])}, 4, cudaMemcpyDeviceToHost));")
            self.order.host_waits(LEGACY)
        return self.loop(f"while ({host} && {counter}++ < 4) {{", 3, body)

    def pipeline(self):
        """Parts of one buffer in, through a kernel, and out, each in a stream of its own."""
        if len(self.streams) < 2:
            return False
        hosts = [m for m in self.memories if m.kind in ("pinned", "host") and m.allocated and m.defined.longest()]
        target = self.target()
        if not hosts or not target:
            return False
        host, (memory, first, words) = self.rng.choice(hosts), target
        low, high = host.defined.longest()
        words = min(words, high - low)
        parts = len(self.streams)
        part = words // parts
        if part < 64:
            return False
        variable, launch = f"s{self.count()}", self.elementwise("scramble(in[i]) + 1")
        other = self.target(words, [memory])
        if not other:
            return False
        array = "streams" in self.variables
        back = self.rng.random() < 0.5
        self.device_waits()
        lines = []
        for k, stream in enumerate(self.streams):
            a, b, h = first + k * part, other[1] + k * part, low + k * part
            self.perform(stream, [(host, h, h + part, "r"), (memory, a, a + part, "d")])
            text = self.stream_text(stream) if not array else f"streams[{variable}]"
            at = f"{k} * {part}" if not array else f"{variable} * {part}"
            line = [f"CHECK(cudaMemcpyAsync({memory.text} + {first} + {at}, {host.text} + {low} + {at}, (size_t){part} * 4, "
                    f"cudaMemcpyHostToDevice, {text}));"]
            self.perform(stream, [(memory, a, a + part, "r"), (other[0], b, b + part, "d")])
            line.append(launch(f"{memory.text} + {first} + {at}", f"{other[0].text} + {other[1]} + {at}", part, stream)
                        .replace(self.stream_names[stream], text))
            if back:
                self.perform(stream, [(other[0], b, b + part, "r"), (host, h, h + part, "d")])
                line.append(f"CHECK(cudaMemcpyAsync({host.text} + {low} + {at}, {other[0].text} + {other[1]} + {at}, "
                            f"(size_t){part} * 4, cudaMemcpyDeviceToHost, {text}));")
            lines.append(line)
        if array:
            self.emit(f"for (int {variable} = 0; {variable} < {parts}; ++{variable}) {{")
            self.out += lines[0]
            self.emit("}")
        else:
            for line in lines:
                self.out += line
        return True

    def temporary(self):
        """A buffer for a moment: filled, used, freed."""
        rng = self.rng
        pair = self.pair(64)
        if not pair:
            return False
        source, target = pair
        words, name = target[2], f"t_{self.count()}"
        kind = rng.choice(["device", "device", "async", "managed"])
        memory = Memory(name, words, kind)
        self.memories.append(memory)
        self.emit("{")
        if rng.random() < 0.2:
            memory.kind, memory.home, memory.allocated = "device", "owner", True
            memory.text = f"{name}.get()"
            self.emit(f"Owner<uint32_t> {name}({self.number(words)});")
        else:
            self.emit(f"uint32_t *{name};")
            self.allocate(memory)
        first, second = self.elementwise(self.some_expression()), self.elementwise(self.some_expression())
        stream = self.any_stream()
        self.perform(stream, [(source[0], source[1], source[1] + words, "r"), (memory, 0, words, "d")])
        self.emit(first(self.pointer(*source[:2]), memory.text, self.number(words), stream))
        self.perform(stream, [(memory, 0, words, "r"), self.use(target, "d")])
        self.emit(second(memory.text, self.pointer(*target[:2]), self.number(words), stream))
        if memory.home == "owner":
            self.device_waits()
            memory.allocated = False
        else:
            self.free(memory)
        self.emit("}")
        self.memories.remove(memory)
        return True

    def own_host(self):
        """Host memory for a moment: what is in it goes to the device, results come to it, and meanwhile it changes and ends."""
        rng = self.rng
        target = self.target()
        if not target or self.depth > 1:
            return False
        device, first, words = target
        name = f"h_{self.count()}"
        memory = Memory(name, words, "host")
        memory.home = "owner"  # nobody else frees it
        n, form = self.number(words), rng.choice(["malloc", "malloc", "new", "vector", "pinned"])
        self.emit("{")
        if form == "vector":
            memory.text = f"{name}.data()"
            self.emit(f"std::vector<uint32_t> {name}({n});")
        elif form == "pinned":
            memory.kind = "pinned"
            self.emit(f"uint32_t *{name};")
            self.emit(f"CHECK(cudaMallocHost(&{name}, {n} * sizeof(uint32_t)));")
        else:
            self.emit(f"uint32_t *{name} = " + (f"new uint32_t[{n}];" if form == "new" else
                                                 f"(uint32_t *)malloc({n} * sizeof(uint32_t));"))
        memory.allocated = True
        self.memories.append(memory)

        def fill(low, high, factor):
            self.perform(HOST, [(memory, low, high, "d")])
            self.emit(f"for (size_t i = {low}; i < {high}; ++i)")
            self.emit(f"  {memory.text}[i] = (uint32_t)i * {factor} + {rng.randint(0, 99)};")

        def some_steps(most):
            with self.out_of_reach([memory] if memory.allocated else []):
                for _ in range(rng.randint(0, most)):
                    self.step()
        fill(0, words, 7)
        for _ in range(rng.randint(1, 2)):
            there = device.allocated and first + words <= device.words  # the steps between may have freed it
            if there and rng.random() < 0.7 and not self.transfer(device, first, memory, 0, words, "HostToDevice",
                                                                  self.maybe_stream()):
                return False
            some_steps(2)
            if rng.random() < 0.5:
                low = rng.choice([0, rng.randint(0, words - 1)])
                fill(low, rng.choice([words, rng.randint(low + 1, words)]), 11)
            some_steps(1)
            source = self.source()
            if source and rng.random() < 0.6:
                count = min(source[2], words)
                if not self.transfer(memory, 0, source[0], source[1], count, "DeviceToHost", self.maybe_stream()):
                    return False
                self.perform(HOST, [(memory, 0, count, "r")])
                self.say(f"sum({memory.text}, {count})")
        self.perform(HOST, [(memory, 0, words, "w")])
        if form != "vector":
            self.emit({"malloc": f"free({name});", "new": f"delete[] {name};",
                       "pinned": f"CHECK(cudaFreeHost({name}));"}[form])
        memory.allocated = False
        self.memories.remove(memory)
        self.emit("}")
        some_steps(1)
        return True

    def some_of(self, expression):
        """As elementwise, but some of the target stays as it is."""
        kind, text, style = self.over(f"    if (i % 3 != 1)\n      out[i] = {expression};\n")
        name = self.kernel("part", f"const uint32_t *in, uint32_t *out, {kind} n", text)
        return lambda source, target, n, stream=LEGACY: (
            f"{name}<<<({n} + 127) / 128, 128" + (f", 0, {self.stream_text(stream)}" if stream != LEGACY else "")
            + f">>>({source}, {target}, {n});")

    def settle(self):
        """Two or three buffers for a moment that change places, maybe not always; one or two of them are looked at then."""
        rng = self.rng
        pair = self.pair(64)
        if not pair or self.depth > 1:
            return False
        source, target = pair
        words, stream = target[2], LEGACY if rng.random() < 0.6 else self.any_stream()
        n, number = self.number(words), self.count()
        locals_ = [Memory(f"{name}_{number}", words, "device") for name in "xyz"[:rng.choice([2, 2, 3])]]
        self.memories += locals_
        self.emit("{")
        for k, memory in enumerate(locals_):
            self.emit(f"uint32_t *{memory.text};")
            self.allocate(memory)
            self.perform(stream, [(source[0], source[1], source[1] + words, "r"), (memory, 0, words, "d")])
            if k == 0 or rng.random() < 0.4:
                self.emit(self.elementwise(self.some_expression())(self.pointer(*source[:2]), memory.text, n, stream))
            else:
                self.emit(f"CHECK(cudaMemsetAsync({memory.text}, {k}, (size_t){n} * 4, {self.stream_text(stream)}));")
        names = [m.text for m in locals_]
        if rng.random() < 0.5:
            for name in names:
                self.emit(f"uint32_t *to_{name} = {name};")
            names = [f"to_{name}" for name in names]
        self.perform(stream, [(m, 0, words, mode) for m in locals_ for mode in "rd"])
        step = rng.choice([self.elementwise, self.some_of])(self.some_expression())
        variable, often = f"r{self.count()}", f"often_{number}"
        self.emit(f"int {often} = {self.number(rng.randint(0, 5))};")
        self.emit(f"for (int {variable} = 0; {variable} < {often}; ++{variable}) {{")
        if len(names) == 2 and rng.random() < 0.2:
            self.emit(step(f"({variable} % 2 ? {names[0]} : {names[1]})", f"({variable} % 2 ? {names[1]} : {names[0]})", n, stream))
        else:
            self.emit(step(*rng.sample(names, 2), n, stream))
        sometimes = rng.random() < 0.4
        if sometimes:
            self.emit(f"if ({variable} % {rng.randint(2, 3)} == {rng.randint(0, 1)}) {{")
        if rng.random() < 0.5:
            self.emit(f"uint32_t *first_{number} = {names[0]};")
            for here, there in zip(names, names[1:]):
                self.emit(f"{here} = {there};")
            self.emit(f"{names[-1]} = first_{number};")
        else:
            self.emit(f"std::swap({', '.join(rng.sample(names, 2))});")
        if sometimes:
            self.emit("}")
        if rng.random() < 0.3:
            self.perform(stream, [(m, 0, words, "r") for m in locals_] + [(target[0], target[1], target[1] + words, "w")])
            self.emit(self.some_of(self.some_expression())(names[0], self.pointer(*target[:2]), n, stream))
        self.emit("}")
        for _ in range(rng.choice([1, 1, 2])):
            last = rng.choice(names)
            if rng.random() < 0.3:
                last = f"({often} % 2 ? {rng.choice(names)} : {rng.choice(names)})"
            self.perform(stream, [*((m, 0, words, "r") for m in locals_), (target[0], target[1], target[1] + words, "w")])
            self.emit(rng.choice([self.elementwise, self.some_of])(self.some_expression())(
                last, self.pointer(*target[:2]), n, stream))
        for memory in rng.sample(locals_, len(locals_)):
            self.free(memory)
        self.emit("}")
        for memory in locals_:
            self.memories.remove(memory)
        return True

    def batches(self):
        """A file, piece by piece, through a buffer and back to another file."""
        rng = self.rng
        target = self.target()
        other = target and self.target(target[2], [target[0]])
        host = target and self.host_memory(target[2])
        if not other or not host:
            return False
        rounds, variable = rng.randint(2, 4), f"b{self.count()}"
        words = min(target[2], self.scaled(300_000))
        launch = self.elementwise(self.some_expression())
        self.inputs = max(self.inputs, rounds * words * 4)
        n = self.number(words)
        self.emit("rewind(in);")

        def body():
            self.perform(HOST, [(host, 0, words, "d")])
            self.emit(f"REQUIRE(fread({host.text}, 4, {n}, in) == (size_t){n});")
            self.transfer(target[0], target[1], host, 0, words, "HostToDevice")
            self.perform(LEGACY, [(target[0], target[1], target[1] + words, "r"), (other[0], other[1], other[1] + words, "d")])
            self.emit(launch(self.pointer(*target[:2]), self.pointer(*other[:2]), n))
            self.transfer(host, 0, other[0], other[1], words, "DeviceToHost")
            self.perform(HOST, [(host, 0, words, "r")])
            if rng.random() < 0.8:
                self.emit(f"REQUIRE(fwrite({host.text}, 4, {n}, out) == (size_t){n});")
        self.variables[variable] = "int {0}"
        return self.loop(f"for (int {variable} = 0; {variable} < {rounds}; ++{variable}) {{", rounds, body)
