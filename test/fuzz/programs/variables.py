"""Where a random program keeps its pointers: in variables, globals, arrays, structures, vectors and owning classes."""

from .state import HOST, LEGACY, Impossible, Memory, Ranges


class Variables:
    def declare_streams(self):
        rng = self.rng
        count = rng.choice([0, 0, 0, 1, 2, 3])
        self.streams = list(range(1, count + 1))
        self.blocking_streams = [s for s in self.streams if rng.random() < 0.5]
        self.events = []
        array = rng.random() < 0.5
        self.stream_names = {}
        if count:
            if array:
                self.declarations.append(f"cudaStream_t streams[{count}];")
                self.variables["streams"] = "cudaStream_t *{0}"
            for s in self.streams:
                name = f"streams[{s - 1}]" if array else f"stream{s}"
                self.stream_names[s] = name
                if not array:
                    self.declarations.append(f"cudaStream_t {name};")
                    self.variables[name] = "cudaStream_t {0}"
                self.declarations.append(f"CHECK(cudaStreamCreate(&{name}));" if s in self.blocking_streams else
                                         f"CHECK(cudaStreamCreateWithFlags(&{name}, cudaStreamNonBlocking));")
            for k in range(rng.randint(1, 2)):
                name = f"event{k}"
                self.events.append(name)
                self.variables[name] = "cudaEvent_t {0}"
                self.declarations.append(f"cudaEvent_t {name};")
                self.declarations.append(rng.choice([f"CHECK(cudaEventCreate(&{name}));",
                                                     f"CHECK(cudaEventCreateWithFlags(&{name}, cudaEventDisableTiming));"]))

    def stream_text(self, stream):
        return self.stream_names[stream] if stream != LEGACY else self.rng.choice(["0", "nullptr"])

    def any_stream(self):
        if self.prefer is not None and self.rng.random() < 0.7:
            return self.prefer
        return self.rng.choice(self.streams) if self.streams and self.rng.random() < 0.6 else LEGACY

    # Memory. ----------------------------------------------------------------------------------------------------------

    def declare_memory(self):
        rng = self.rng
        sizes = [self.scaled(rng.choice([rng.randint(1 << 17, 1 << 20), rng.randint(300_000, 1_500_000), 1 << rng.randint(17, 20)]))
                 for _ in range(2)]
        size = lambda: (rng.choice(sizes) if rng.random() < 0.8 else self.scaled(rng.randint(70_000, 1_200_000))
                        if rng.random() < 0.7 else rng.randint(1, self.scaled(20_000)))
        kind = lambda: rng.choice(["device"] * 6 + ["async", "managed"])
        total = 0
        while total < rng.randint(2, 5):
            style = rng.choice(["local", "local", "local", "global", "array", "structure", "layers", "vector", "owner"])
            if style == "local" or style == "global":
                if style == "global" and rng.random() < 0.6:
                    continue
                name = f"d_{'abcdefgh'[total]}"
                if style == "local":
                    self.variables[name] = "uint32_t *{0}"
                    self.declarations.append(f"uint32_t *{name}{rng.choice(['', ' = nullptr', ' = NULL'])};")
                else:
                    self.globals.append(f"static uint32_t *{name};\n")
                self.add_memory(name, size(), kind())
                total += 1
            elif style == "owner":
                name, words = f"owner{self.count()}", size()
                self.variables[name] = "Owner<uint32_t> &{0}"
                memory = self.add_memory(f"{name}.get()", words, "device")
                memory.home = "owner"
                memory.allocated = True
                self.emit(f"Owner<uint32_t> {name}({self.number(words)});")
                total += 1
            else:
                total += self.declare_group(style, size(), kind())
        for k in range(rng.randint(1, 2)):
            self.declare_host(f"h{k}", max([m.words for m in self.memories]))
        for memory in self.memories:
            if memory.on_device and not memory.allocated and rng.random() < 0.75:
                self.allocate(memory)

    def add_memory(self, text, words, kind):
        memory = Memory(text, words, kind)
        self.memories.append(memory)
        return memory

    def declare_group(self, style, words, kind):
        rng = self.rng
        count = rng.randint(2, 3)
        number = self.count()
        if style == "array":
            name = f"array{number}"
            self.declarations.append(f"uint32_t *{name}[{count}];")
            self.variables[name] = rng.choice([f"uint32_t *{{0}}[{count}]", f"uint32_t *(&{{0}})[{count}]"])
            texts = [f"{name}[{k}]" for k in range(count)]
            form = name + "[@]"
        elif style == "vector":
            name = f"vector{number}"
            self.declarations.append(f"std::vector<uint32_t *> {name}({count});")
            self.variables[name] = "std::vector<uint32_t *> &{0}"
            texts = [f"{name}[{k}]" for k in range(count)]
            form = name + "[@]"
        elif style == "layers":
            name = f"layers{number}"
            kind_name = f"Layer{number}"
            self.structures[kind_name] = f"struct {kind_name} {{\n  uint32_t *data;\n  long words;\n}};\n"
            if rng.random() < 0.5:
                self.declarations.append(f"{kind_name} {name}[{count}];")
                self.variables[name] = f"{kind_name} *{{0}}"
            else:
                self.declarations.append(f"std::vector<{kind_name}> {name}({count});")
                self.variables[name] = f"std::vector<{kind_name}> &{{0}}"
            texts = [f"{name}[{k}].data" for k in range(count)]
            form = name + "[@].data"
        else:
            name = f"net{number}"
            kind_name = f"Net{number}"
            fields = ["weights", "gradients", "work"][:count]
            self.structures[kind_name] = (f"struct {kind_name} {{\n  int layers;\n  uint32_t *" + ", *".join(fields)
                                          + ";\n};\n")
            if rng.random() < 0.3:
                self.declarations.append(f"{kind_name} *{name} = new {kind_name}();")
                self.variables[name] = f"{kind_name} *{{0}}"
                texts = [f"{name}->{field}" for field in fields]
            else:
                self.declarations.append(f"{kind_name} {name} = {{}};")
                self.variables[name] = "structure"
                self.structure_of[name] = kind_name
                texts = [f"{name}.{field}" for field in fields]
            form = None
        group = [self.add_memory(text, words, kind) for text in texts]
        for memory in group:
            memory.group = group
        if form:
            self.forms[id(group)] = form
            self.groups.append(group)
            if rng.random() < 0.7:
                self.allocate_group(group)
        return count

    @property
    def structure_of(self):
        return self.__dict__.setdefault("_structure_of", {})

    @property
    def forms(self):
        return self.__dict__.setdefault("_forms", {})

    @property
    def groups(self):
        return self._groups

    def declare_host(self, name, words):
        style = self.rng.choice(["malloc", "malloc", "calloc", "new", "vector", "pinned", "pinned", "hostalloc"])
        self.variables[name] = "uint32_t *{0}"
        n = self.number(words)
        memory = Memory(name, words, "pinned" if style in ("pinned", "hostalloc") else "host")
        memory.home, memory.allocated = style, True
        if style == "malloc":
            self.declarations.append(f"uint32_t *{name} = (uint32_t *)malloc({n} * sizeof(uint32_t));")
        elif style == "calloc":
            self.declarations.append(f"uint32_t *{name} = (uint32_t *)calloc({n}, 4);")
        elif style == "new":
            self.declarations.append(f"uint32_t *{name} = new uint32_t[{n}];")
        elif style == "vector":
            self.declarations.append(f"std::vector<uint32_t> {name}({n});")
            self.variables[name] = "std::vector<uint32_t> &{0}"
            memory.text = f"{name}.data()"
        else:
            self.declarations.append(f"uint32_t *{name} = nullptr;")
            call = "cudaMallocHost(&{0}, {1})" if style == "pinned" else "cudaHostAlloc(&{0}, {1}, cudaHostAllocDefault)"
            self.declarations.append(f"CHECK({call.format(name, f'(size_t){n} * 4')});")
        if style in ("calloc", "vector"):
            memory.defined = Ranges([(0, words)])
        self.memories.append(memory)

    def allocate(self, memory, text=None):
        text = text or memory.text
        n = self.number(memory.words)
        if memory.kind == "managed":
            self.emit(f"CHECK(cudaMallocManaged(&{text}, (size_t){n} * 4));")
        elif memory.kind == "async":
            stream = self.any_stream()
            memory.allocated = True
            self.perform(stream, [(memory, 0, memory.words, "w")])
            self.emit(f"CHECK(cudaMallocAsync(&{text}, (size_t){n} * 4, {self.stream_text(stream)}));")
        else:
            self.emit(self.rng.choice([f"CHECK(cudaMalloc(&{text}, (size_t){n} * 4));",
                                       f"CHECK(cudaMalloc((void **)&{text}, {n} * sizeof(uint32_t)));",
                                       f"{text} = deviceAlloc<uint32_t>({n});",
                                       f"makeBuffer(&{text}, {n});"]))
        memory.allocated = True
        memory.defined = Ranges()

    def allocate_group(self, group):
        """In a loop over the array."""
        if any(m.allocated for m in group):
            return False
        if group[0].kind == "async":
            for memory in group:
                self.allocate(memory)
            return True
        form, variable = self.forms[id(group)], f"i{self.count()}"
        self.emit(f"for (int {variable} = 0; {variable} < {len(group)}; ++{variable}) {{")
        self.allocate(group[0], form.replace("@", variable))
        self.emit("}")
        for memory in group:
            memory.allocated, memory.defined = True, Ranges()
        return True

    def free(self, memory):
        """All that used it has ended then, or is in the same stream."""
        if memory.home == "owner":
            return
        if memory.shared:
            raise Impossible
        if memory.kind == "async":
            stream = self.any_stream()
            self.perform(stream, [(memory, 0, memory.words, "w")])
            self.emit(f"CHECK(cudaFreeAsync({memory.text}, {self.stream_text(stream)}));")
        else:
            # cudaFree waits for the default stream.
            for other in sorted(self.order.races(HOST, [(memory, 0, memory.words, True)]) - {LEGACY}, key=str):
                self.wait_for(HOST, other)
            if memory.on_device:
                self.emit(self.rng.choice([f"CHECK(cudaFree({memory.text}));", f"dropBuffer({memory.text});"]))
            elif memory.home in ("malloc", "calloc"):
                self.emit(f"free({memory.text});")
            elif memory.home == "new":
                self.emit(f"delete[] {memory.text};")
            elif memory.home in ("pinned", "hostalloc"):
                self.emit(f"CHECK(cudaFreeHost({memory.text}));")
            else:
                return
        memory.allocated = False
        memory.defined = Ranges()
        memory.uses = [u for u in memory.uses if memory.kind == "async"]
