"""Host threads. Each has memory and streams of its own and reads what others read, too, so that the order in which they
come does not matter; or they take turns, which orders them.

A thread's body is made like the rest of the program, by the same steps, but sees only what is its own and what is
shared: threads are disjoint, so what the generator concludes from one after the other holds for all at once."""

from .state import HOST, LEGACY, Impossible, Memory


class Threads:
    IN_THREADS = (["launch"] * 9 + ["fill", "copy_device", "copy_device", "copy_out", "copy_in", "copy_pitched", "host_work",
                  "host_work", "again", "temporary", "temporary", "settle", "sliding", "ping_pong", "data_branch", "through_file",
                  "converge", "some_loop", "touch_managed", "load"])
    threads_run = False

    def threads(self):
        """Two to four threads at once; the program itself may work on something else meanwhile."""
        if self.depth > 1 or self.rounds > 4 or self.said is not None or self.threads_run:
            return False
        self.threads_run = True
        try:
            return self.some_threads()
        finally:
            self.threads_run = False

    def some_threads(self):
        rng = self.rng
        number, count = self.count(), rng.randint(2, 4)
        self.emit("{")
        shared = self.share_some()
        said, threads = f"said{number}", f"threads{number}"
        self.emit(f"std::vector<uint32_t> {said}[{count}];")
        bodies = 1 if rng.random() < 0.6 else count
        self.order.threads_begin()
        for k in range(bodies):
            self.rounds *= count if bodies == 1 else 1
            self.thread_body(f"work{number}_{k}", said, shared, bodies == 1)
            self.rounds //= count if bodies == 1 else 1
        names = [f"work{number}_{min(k, bodies - 1)}" for k in range(count)]
        style = rng.choice(["vector", "vector", "array", "async"])
        if style == "async":
            self.emit(f"std::future<void> {threads}[{count}];")
            self.out += [f"{threads}[{k}] = std::async(std::launch::async, {name}, {k});" for k, name in enumerate(names)]
        elif style == "vector" and bodies == 1:
            self.emit(f"std::vector<std::thread> {threads};")
            self.emit(f"for (int t = 0; t < {count}; ++t)")
            self.emit(f"  {threads}.emplace_back({names[0]}, t);")
        else:
            self.emit(f"std::thread {threads}[{count}];")
            self.out += [f"{threads}[{k}] = std::thread({name}, {k});" for k, name in enumerate(names)]
        self.order.threads_run()
        if rng.random() < 0.4:
            self.meanwhile(shared)
        self.order.threads_end()
        self.emit(f"for (auto &thread : {threads})")
        self.emit(f"  thread.{'get' if style == 'async' else 'join'}();")
        self.emit(f"for (const auto &words : {said})")
        self.emit("  for (uint32_t word : words)")
        self.emit('    printf("%u\\n", word);')
        self.emit("}")
        return True

    def share_some(self):
        """Memory that the threads read and nobody writes while they run."""
        ready = [m for m in self.memories if m.on_device and m.kind != "async" and m.allocated and m.defined.ranges
                 and m.home != "owner" and not m.shared]
        shared = self.rng.sample(ready, min(len(ready), self.rng.choice([0, 1, 1, 2])))
        for memory in shared:
            self.perform(HOST, [(memory, low, high, "r") for low, high in memory.defined.ranges])
        return shared

    def meanwhile(self, shared):
        """Steps of the program itself while its threads run."""
        was = [m.shared for m in shared]
        for memory in shared:
            memory.shared = True
        self.depth += 1
        try:
            for _ in range(self.rng.randint(1, 2)):
                self.step([k for k in self.INNER if k not in ("touch_managed",)])
        finally:
            self.depth -= 1
            for memory, before in zip(shared, was):
                memory.shared = before

    def thread_body(self, name, said, shared, many):
        """auto name = [&](int t) {...}: some rounds over memory of its own; many: of several threads at once."""
        rng, outer = self.rng, self.scope()
        was = [m.shared for m in shared]
        for memory in shared:
            memory.shared = True
        number = self.count()
        self.enter((list(shared), [], [], {}, [], [], f"mine{number}", None))
        self.variables[self.said] = "std::vector<uint32_t> &{0}"
        try:
            self.emit(f"auto {name} = [&](int t) {{")
            self.emit(f"std::vector<uint32_t> &{self.said} = {said}[t];")
            if "signals" in self.features and rng.random() < 0.3:
                self.emit("blockSignals();")
            own = self.thread_memory(number)
            rounds, variable = rng.randint(1, 3), f"round{number}"
            self.variables[variable] = "int {0}"
            made = self.loop(f"for (int {variable} = 0; {variable} < {rounds}; ++{variable}) {{", rounds,
                             lambda: self.one_round(own, variable, many))
            if not made:
                raise Impossible
            for memory in own:
                self.free(memory)
            self.emit("};")
        finally:
            self.enter(outer)
            for memory, before in zip(shared, was):
                memory.shared = before

    def thread_memory(self, number):
        rng, own = self.rng, []
        words = self.scaled(rng.choice([rng.randint(2000, 20_000), rng.randint(70_000, 600_000), 1 << rng.randint(14, 19)]))
        for name in "ab" if rng.random() < 0.6 else "abc":
            memory = Memory(f"{name}_{number}", words if rng.random() < 0.8 else self.scaled(rng.randint(1000, 300_000)),
                            rng.choice(["device"] * 5 + ["managed"]))
            self.variables[memory.text] = "uint32_t *{0}"
            self.emit(f"uint32_t *{memory.text};")
            self.memories.append(memory)
            self.allocate(memory)
            own.append(memory)
        host = Memory(f"h_{number}", max(m.words for m in self.memories), "host")
        host.allocated, host.home = True, rng.choice(["malloc", "vector", "pinned"])
        if host.home == "vector":
            self.variables[host.text] = "std::vector<uint32_t> &{0}"
            self.emit(f"std::vector<uint32_t> {host.text}({host.words});")
            host.defined.add(0, host.words)
            host.text += ".data()"
        else:
            self.variables[host.text] = "uint32_t *{0}"
            if host.home == "malloc":
                self.emit(f"uint32_t *{host.text} = (uint32_t *)malloc({host.words} * sizeof(uint32_t));")
            else:
                host.kind = "pinned"
                self.emit(f"uint32_t *{host.text};")
                self.emit(f"CHECK(cudaMallocHost(&{host.text}, (size_t){host.words} * 4));")
        self.memories.append(host)
        own.append(host)
        return own

    def one_round(self, own, variable, many):
        """Its own stream, or another; fill, steps, wait, destroy, look."""
        rng = self.rng
        style = rng.choice(["new", "new", "new", "new", "default", "per thread"])
        if style == "new":
            stream = self.new_stream()
        elif style == "per thread":
            stream = self.next_stream()
            self.streams, self.stream_names = [*self.streams, stream], {**self.stream_names, stream: "cudaStreamPerThread"}
            self.order.begin(stream, True)
        else:
            stream = LEGACY
        self.prefer = stream
        first = own[0]
        name = self.kernel("begin", "uint32_t *out, int n, uint32_t by",
                           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n    out[i] = scramble(i) + by;\n")
        by = f"{variable} * 17 + t" if many or rng.random() < 0.5 else f"{variable}"
        self.launch(name, f"({first.words} + 127) / 128, 128", f"{first.text}, {first.words}, {by}",
                    [(first, 0, first.words, "d")], stream)
        for other in own[1:-1]:
            self.perform(stream, [(other, 0, other.words, "d")])
            self.emit(f"CHECK(cudaMemsetAsync({other.text}, {rng.randint(0, 255)}, (size_t){other.words} * 4, "
                      f"{self.stream_text(stream)}));")
        for _ in range(rng.randint(1, 4)):
            self.step()
        last = rng.choice(own[:-1])
        if rng.random() < 0.6:
            self.host_waits(stream)
        if style != "default":
            # Some stay until the program ends.
            self.destroy_stream(stream, style == "new" and rng.random() < 0.9)
        self.prefer = None
        words = min(last.words, own[-1].words)
        self.transfer(own[-1], 0, last, 0, words, "DeviceToHost")
        self.perform(HOST, [(own[-1], 0, words, "r")])
        self.say(f"sum({own[-1].text}, {words})")
        # The next round begins with nothing of this one under way.
        if rng.random() < 0.5:
            self.device_waits()

    # Taking turns. ------------------------------------------------------------------------------------------------------

    def handoff(self):
        """Threads that pass a buffer on, each with an event that the next one's stream waits for."""
        rng = self.rng
        pair = self.pair(64)
        if not pair or self.depth > 1 or self.said is not None:
            return False
        source, target = pair
        words, number, count = target[2], self.count(), rng.randint(2, 4)
        if words > self.scaled(400_000):
            return False
        part, ready, baton, work = (f"{name}{number}" for name in ("part", "ready", "baton", "work"))
        launch = self.elementwise(self.some_expression())
        self.perform(HOST, [(source[0], source[1], source[1] + words, "r"), (target[0], target[1], target[1] + words, "d")])
        self.work += self.rounds * count * words
        text = [f"uint32_t *{part}[{count + 1}];", f"cudaEvent_t {ready}[{count}];", f"Baton {baton};",
                f"{part}[0] = {self.pointer(*source[:2])};", f"{part}[{count}] = {self.pointer(*target[:2])};",
                f"for (int t = 1; t < {count}; ++t)", f"  CHECK(cudaMalloc(&{part}[t], (size_t){words} * 4));",
                f"for (cudaEvent_t &event : {ready})", "  CHECK(cudaEventCreate(&event));",
                f"auto {work} = [&](int t) {{", "cudaStream_t mine;",
                "CHECK(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));"]
        wait = [f"{baton}.await(t);", "if (t > 0)", f"  CHECK(cudaStreamWaitEvent(mine, {ready}[t - 1], 0));"]
        step = [launch(f"{part}[t]", f"{part}[t + 1]", words).replace(">>>", ", 0, mine>>>", 1)]
        done = [f"CHECK(cudaEventRecord({ready}[t], mine));", f"{baton}.pass(t + 1);"]
        text += wait + step + done
        if rng.random() < 0.3:
            text.append("CHECK(cudaStreamSynchronize(mine));")
        text += ["CHECK(cudaStreamDestroy(mine));", "};", f"std::vector<std::thread> turns{number};",
                 f"for (int t = {count - 1}; t >= 0; --t)" if rng.random() < 0.5 else f"for (int t = 0; t < {count}; ++t)",
                 f"  turns{number}.emplace_back({work}, t);"]
        last = rng.choice([f"CHECK(cudaEventSynchronize({ready}[{count - 1}]));", "CHECK(cudaDeviceSynchronize());"])
        join = [f"for (std::thread &turn : turns{number})", "  turn.join();"]
        # Only who has the last baton knows that the last event is recorded.
        text += [f"{baton}.await({count});", last, *join] if rng.random() < 0.5 else [*join, last]
        text += [f"for (cudaEvent_t event : {ready})", "  CHECK(cudaEventDestroy(event));",
                 f"for (int t = 1; t < {count}; ++t)", f"  CHECK(cudaFree({part}[t]));"]
        self.out += ["{", *text, "}"]
        return True

    def under_lock(self):
        """Threads that add to the same words, each while it has the lock."""
        rng = self.rng
        target = self.source()
        if not target or self.depth > 1 or self.said is not None or target[0].shared:
            return False
        memory, first, words = target
        words, number, count = min(words, self.scaled(300_000)), self.count(), rng.randint(2, 4)
        rounds = rng.randint(1, 3)
        self.perform(HOST, [(memory, first, first + words, "w")])
        self.work += self.rounds * count * rounds * words
        name = self.kernel("add", "uint32_t *data, int n, uint32_t by",
                           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n    data[i] += scramble(i + by);\n")
        launch = f"{name}<<<({words} + 255) / 256, 256, 0, mine>>>({self.pointer(memory, first)}, {words}, t * 10 + round);"
        create = ["cudaStream_t mine;", "CHECK(cudaStreamCreate(&mine));"]
        lock = rng.choice([f"std::lock_guard<std::mutex> hold(lock{number});", f"std::unique_lock<std::mutex> hold(lock{number});"])
        wait = rng.choice(["CHECK(cudaStreamSynchronize(mine));", "CHECK(cudaDeviceSynchronize());"])
        destroy = ["CHECK(cudaStreamDestroy(mine));"]
        inside = rng.random() < 0.5
        text = [f"std::mutex lock{number};", f"auto add{number} = [&](int t) {{"]
        text += [] if inside else create
        text += [f"for (int round = 0; round < {rounds}; ++round) {{", *(create if inside else []), lock, launch, wait,
                 *(destroy if inside else []), "}"]
        text += [] if inside else destroy
        text += ["};", f"std::vector<std::thread> adders{number};", f"for (int t = 0; t < {count}; ++t)",
                 f"  adders{number}.emplace_back(add{number}, t);", f"for (std::thread &adder : adders{number})",
                 "  adder.join();"]
        self.out += ["{", *text, "}"]
        return True
