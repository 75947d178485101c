"""Variables of the device, the device's reset in the middle of a program, and ends of programs other than by return."""

from .state import LEGACY, Memory, Ranges


class Ends:
    device_variables = ()
    was_reset = False

    def device_variable(self):
        """A __device__ array: kernels add to it and read it, the host writes and reads it."""
        rng = self.rng
        pair = self.pair(64)
        if not pair or self.said is not None:
            return False
        source, target = pair
        if self.device_variables and rng.random() < 0.6:
            variable = rng.choice(self.device_variables)
        else:
            words = rng.choice([1, 8, 64, 3000])
            first = ", ".join(str(rng.randint(0, 999)) for _ in range(min(words, rng.choice([0, 1, 8]))))
            variable = Memory(f"table{self.count()}", words, "variable")
            self.globals.append(f"static __device__ uint32_t {variable.text}[{words}] = {{{first}}};\nRESTORABLE({variable.text})\n")
            variable.allocated = True
            variable.defined = Ranges([(0, words)])
            self.device_variables = [*self.device_variables, variable]
        # Kernels that use it, and copies, all go through the default stream and are waited for.
        words, name = variable.words, variable.text
        self.device_waits()
        style = rng.choice(["add", "add", "read", "write", "print", "address"])
        if style == "add":
            kernel = self.kernel("count_in", "const uint32_t *in, int n",
                                 "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n"
                                 f"    atomicAdd(&{name}[in[i] % {words}], in[i] | 1);\n")
            n = min(source[2], self.scaled(50_000))
            self.launch(kernel, f"({n} + 127) / 128, 128", f"{self.pointer(*source[:2])}, {n}",
                        [(source[0], source[1], source[1] + n, "r")], LEGACY)
            self.device_waits()
        elif style == "read":
            kernel = self.kernel("from_device", "const uint32_t *in, uint32_t *out, int n",
                                 "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n"
                                 f"    out[i] = in[i] + {name}[i % {words}];\n")
            self.launch(kernel, f"({target[2]} + 127) / 128, 128",
                        f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {target[2]}",
                        [(source[0], source[1], source[1] + target[2], "r"), self.use(target, "d")], LEGACY)
            self.device_waits()
        elif style == "write":
            local, some = f"values{self.count()}", rng.randint(1, words)
            self.emit(f"const uint32_t {local}[{some}] = {{{rng.randint(0, 999)}}};")
            self.emit(f"CHECK(cudaMemcpyToSymbol({name}, {local}, sizeof({local}), {rng.randint(0, words - some)} * 4));")
        elif style == "print":
            self.print_variable(variable)
        else:
            local = f"address{self.count()}"
            some = min(words, source[2])
            self.emit(f"uint32_t *{local} = nullptr;")
            self.emit(f"CHECK(cudaGetSymbolAddress((void **)&{local}, {name}));")
            self.perform(LEGACY, [(source[0], source[1], source[1] + some, "r")])
            self.emit(f"CHECK(cudaMemcpy({local}, {self.pointer(*source[:2])}, {some} * 4, cudaMemcpyDeviceToDevice));")
            self.device_waits()
        return True

    def print_variable(self, variable):
        local = f"values{self.count()}"
        self.emit(f"uint32_t {local}[{variable.words}];")
        self.emit(f"CHECK(cudaMemcpyFromSymbol({local}, {variable.text}, sizeof({local})));")
        self.say(f"sum({local}, {variable.words})")

    def reset(self):
        """cudaDeviceReset, and all that there was is made again; __device__ variables are as at the beginning."""
        rng = self.rng
        if self.depth or self.said is not None or self.unreachable or rng.random() < 0.4:
            return False
        if any(m.home == "owner" for m in self.memories):
            return False
        if self.was_reset:
            return False
        self.was_reset = True
        ready = [m for m in self.memories if m.allocated and m.kind in ("device", "async", "managed", "pinned")]
        if rng.random() < 0.5:
            for memory in ready:
                if memory.defined.ranges and memory.on_device and rng.random() < 0.5:
                    self.attempt(self.store_of, memory)
        self.device_waits()
        for memory in ready:
            # The reset takes what is left.
            if memory.kind in ("async", "pinned") or rng.random() < 0.5:
                self.free(memory)
        self.device_waits()
        self.emit("CHECK(cudaDeviceReset());")
        for stream in self.streams:
            self.order.retire(stream)
            self.order.begin(stream, stream in self.blocking_streams)
            name = self.stream_names[stream]
            self.emit(f"CHECK(cudaStreamCreate(&{name}));" if stream in self.blocking_streams else
                      f"CHECK(cudaStreamCreateWithFlags(&{name}, cudaStreamNonBlocking));")
        for event in self.events:
            self.emit(f"CHECK(cudaEventCreate(&{event}));")
        for variable in self.device_variables:
            if rng.random() < 0.7:
                self.print_variable(variable)
        for memory in ready:
            memory.allocated, memory.defined, memory.uses = False, Ranges(), []
        for memory in ready:
            if memory.kind == "pinned":
                self.emit(f"CHECK(cudaMallocHost(&{memory.text}, (size_t){memory.words} * 4));")
                memory.allocated, memory.home = True, "pinned"
            elif memory.group not in self.groups or memory.group is None:
                if rng.random() < 0.9:
                    self.allocate(memory)
            elif memory is memory.group[0] and rng.random() < 0.9:
                self.allocate_group(memory.group)
        return True

    def end_of_program(self):
        """The last lines."""
        rng = self.rng
        style = rng.choice(["return", "exit", "thread", "thread"]) if "ends" in self.features else "return"
        if style == "thread":
            self.emit("std::thread([&] {")
            self.streams_left()
        if rng.random() < (0.6 if style == "return" else 0.9):
            self.emit("fclose(in);")
        self.emit("REQUIRE(fclose(out) == 0);")
        if style == "return":
            self.emit("return 0;")
        elif style == "exit":
            self.streams_left()
            self.emit("exit(0);")
        else:
            self.emit(self.rng.choice(["exit(0);", "exit(0);", "fflush(stdout);\n  _exit(0);"]))
            self.emit("}).join();")
            self.emit("return 0;")

    def streams_left(self):
        """Work of a stream that nobody waits for, into memory that nobody looks at any more."""
        ready = [m for m in self.memories if m.kind == "device" and m.allocated and m.home != "owner"]
        if not ready or self.rng.random() < 0.4:
            return
        memory = self.rng.choice(ready)
        self.emit("cudaStream_t left;")
        self.emit("CHECK(cudaStreamCreate(&left));")
        self.emit(f"CHECK(cudaMemsetAsync({memory.text}, 1, (size_t){memory.words} * 4, left));")
        self.emit(self.elementwise("scramble(in[i])")(memory.text, memory.text, memory.words).replace(">>>", ", 0, left>>>", 1))
