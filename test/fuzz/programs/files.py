"""What comes from the program's input file, goes to its output, or goes through a file of its own."""

from .state import HOST, LEGACY


class Files:
    def load(self):
        rng = self.rng
        target = self.target()
        host = target and self.host_memory(target[2])
        if not host:
            return False
        memory, first, words = target
        n = self.number(words)
        offset = rng.choice([0, 0, 4 * rng.randint(0, 10_000), rng.randint(0, 40_000)])
        self.inputs = max(self.inputs, offset + 4 * words)
        self.perform(HOST, [(host, 0, words, "d")])
        # Threads have no place in a file in common.
        style = rng.random() if self.said is None else 0.6
        if style < 0.5:
            self.emit(f"REQUIRE(fseek(in, {offset}, SEEK_SET) == 0);")
            self.emit(f"REQUIRE(fread({host.text}, 4, {n}, in) == (size_t){n});")
        elif style < 0.8:
            self.emit(f"REQUIRE(pread(fileno(in), {host.text}, (size_t){n} * 4, {offset}) == (ssize_t){n} * 4);")
        else:
            done = f"done{self.count()}"
            self.emit(f"REQUIRE(fseek(in, {offset}, SEEK_SET) == 0);")
            self.emit(f"for (size_t {done} = 0; {done} < {words};) {{")
            self.emit(f"  size_t now = std::min<size_t>(100000, {words} - {done});")
            self.emit(f"  REQUIRE(fread({host.text} + {done}, 4, now, in) == now);")
            self.emit(f"  {done} += now;")
            self.emit("}")
        roll = rng.random()
        if roll < 0.15:
            self.emit(f"{host.text}[{rng.randint(0, words - 1)}] += 5;")
        elif roll < 0.35:
            self.look_at_part(host, words)
        return self.transfer(memory, first, host, 0, words, "HostToDevice", self.maybe_stream())

    def look_at_part(self, host, words):
        """What the host reads lies between a first and a last word, upwards or downwards, in one loop or two."""
        rng = self.rng
        low, seen, at = rng.randint(0, words - 1), f"part{self.count()}", f"at{self.count()}"
        high = rng.randint(low + 1, words)
        self.emit(f"uint32_t {seen} = 0;")
        style, step = rng.random(), rng.choice([1, 1, 3, 64])
        add = f"{seen} = {seen} * 31 + {host.text}"
        if style < 0.4:
            self.emit(f"for (size_t {at} = {low}; {at} < {self.number(high)}; {at} += {step}) {add}[{at}];")
        elif style < 0.6:
            self.emit(f"for (int {at} = {high}; {at}-- > {low};) {add}[{at}];")
        elif style < 0.8:
            columns = rng.randint(1, high - low)
            rows = (high - low) // columns
            self.emit(f"for (long {at} = 0; {at} < {rows}; ++{at})")
            self.emit(f"  for (long x = {columns // 3}; x < {columns}; ++x) {add}[{low} + {at} * {self.number(columns)} + x];")
        else:
            self.emit(f"{add}[{low}];")
        self.say(seen)

    def store(self):
        source = self.source()
        return bool(source) and self.write_out(*source)

    def store_of(self, memory):
        low, high = memory.defined.longest()
        if self.rng.random() < 0.65:
            return self.write_out(memory, low, high - low, self.rng.random() < 0.5)
        words = self.rng.randint(1, high - low)
        return self.write_out(memory, self.rng.randint(low, high - words), words)

    def write_out(self, memory, first, words, whole=False):
        rng = self.rng
        if not whole:
            words = min(words, max(1, self.scaled(400_000) // self.rounds))
        if rng.random() < 0.5:
            host = self.host_memory(words)
            if not host:
                return False
            self.transfer(host, 0, memory, first, words, "DeviceToHost")
            self.perform(HOST, [(host, 0, words, "r")])
            roll = rng.random()
            if roll < 0.15:
                self.say(f"{host.text}[{rng.randint(0, words - 1)}]")
            elif roll < 0.35:
                self.look_at_part(host, words)
            self.emit(f"REQUIRE(fwrite({host.text}, 4, {words}, out) == {words});")
            return True
        name = f"copy{self.count()}"
        self.perform(LEGACY, [(memory, first, first + words, "r")])
        self.order.host_waits(LEGACY)
        style = rng.choice(["vector", "malloc"])
        pointer = f"{name}.data()" if style == "vector" else name
        n = self.number(words)
        self.emit("{")
        self.emit(f"std::vector<uint32_t> {name}({n});" if style == "vector" else
                  f"uint32_t *{name} = (uint32_t *)malloc((size_t){n} * 4);")
        self.emit(f"CHECK(cudaMemcpy({pointer}, {self.pointer(memory, first)}, (size_t){n} * 4, cudaMemcpyDeviceToHost));")
        self.emit(f"REQUIRE(fwrite({pointer}, 4, {n}, out) == (size_t){n});")
        if style == "malloc" and rng.random() < 0.8:
            self.emit(f"free({name});")
        self.emit("}")
        return True

    def through_file(self):
        """Out to a file of its own, and in again from somewhere in it."""
        rng = self.rng
        source = self.source(64)
        host = source and self.host_memory(source[2])
        if not host or self.rounds > 4:
            return False
        memory, first, words = source
        file = f"scratch{self.count()}"
        self.emit("{")
        self.emit(f"FILE *{file} = tmpfile();")
        self.emit(f"REQUIRE({file} != nullptr);")
        self.transfer(host, 0, memory, first, words, "DeviceToHost")
        self.perform(HOST, [(host, 0, words, "r")])
        self.emit(f"REQUIRE(fwrite({host.text}, 4, {words}, {file}) == {words});")
        if rng.random() < 0.3:
            self.perform(HOST, [(host, 0, words // 2, "d")])
            self.emit(f"memset({host.text}, 0, {words // 2 * 4});")
        target = self.target()
        if not target:
            return False
        count = min(words, target[2])
        at = rng.choice([0, rng.randint(0, words - count)])
        self.perform(HOST, [(host, 0, count, "d")])
        if rng.random() < 0.5:
            self.emit(f"REQUIRE(fseek({file}, {at} * 4, SEEK_SET) == 0);")
            self.emit(f"REQUIRE(fread({host.text}, 4, {count}, {file}) == {count});")
        else:
            self.emit(f"REQUIRE(fflush({file}) == 0);")
            self.emit(f"REQUIRE(pread(fileno({file}), {host.text}, (size_t){count} * 4, {at} * 4) == (ssize_t){count} * 4);")
        self.transfer(target[0], target[1], host, 0, count, "HostToDevice")
        self.emit(f"fclose({file});")
        self.emit("}")
        return True
