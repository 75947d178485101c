"""Managed memory where the kernel reads and writes it: in system calls, and in the libraries that make them."""

from .state import HOST, Memory


class Managed:
    READS = {
        "fread": ["REQUIRE(fseek(in, {offset}, SEEK_SET) == 0);", "REQUIRE(fread({to}, 4, {n}, in) == {n});"],
        "pread": ["REQUIRE(pread(fileno(in), {to}, (size_t){n} * 4, {offset}) == (ssize_t){n} * 4);"],
        "read": ["int {file} = open(inputPath, O_RDONLY);", "REQUIRE(lseek({file}, {offset}, SEEK_SET) == {offset});",
                 "REQUIRE(read({file}, {to}, (size_t){n} * 4) == (ssize_t){n} * 4);", "close({file});"],
        "readv": ["int {file} = open(inputPath, O_RDONLY);", "iovec {file}Parts[2] = {{{{{to}, {half} * 4}}, "
                  "{{{to} + {half}, ({n} - {half}) * 4}}}};", "REQUIRE(lseek({file}, {offset}, SEEK_SET) == {offset});",
                  "REQUIRE(readv({file}, {file}Parts, 2) == (ssize_t){n} * 4);", "close({file});"],
        "preadv": ["iovec {file}[2] = {{{{{to}, {half} * 4}}, {{{to} + {half}, ({n} - {half}) * 4}}}};",
                   "REQUIRE(preadv(fileno(in), {file}, 2, {offset}) == (ssize_t){n} * 4);"],
        "stream": ["std::ifstream {file}(inputPath, std::ios::binary);", "{file}.seekg({offset});",
                   "{file}.read((char *)({to}), (std::streamsize){n} * 4);", "REQUIRE({file}.good());"],
    }
    WRITES = {
        "fwrite": ["REQUIRE(fwrite({to}, 4, {n}, out) == {n});"],
        "write": ["REQUIRE(fflush(out) == 0);", "REQUIRE(write(fileno(out), {to}, (size_t){n} * 4) == (ssize_t){n} * 4);",
                  "REQUIRE(fseek(out, 0, SEEK_END) == 0);"],
        "writev": ["REQUIRE(fflush(out) == 0);", "iovec {file}[2] = {{{{{to}, {half} * 4}}, {{{to} + {half}, ({n} - {half}) * 4}}}};",
                   "REQUIRE(writev(fileno(out), {file}, 2) == (ssize_t){n} * 4);", "REQUIRE(fseek(out, 0, SEEK_END) == 0);"],
        "pipe": ["int {file}[2];", "REQUIRE(pipe({file}) == 0);", "REQUIRE(write({file}[1], {to}, {n} * 4) == {n} * 4);",
                 "std::vector<uint32_t> {file}Words({n});", "REQUIRE(read({file}[0], {file}Words.data(), {n} * 4) == {n} * 4);",
                 "REQUIRE(fwrite({file}Words.data(), 4, {n}, out) == {n});", "close({file}[0]);", "close({file}[1]);"],
    }

    def managed_file(self):
        """A file is read into managed memory, or written from there."""
        rng = self.rng
        if self.said is not None or self.rounds > 4:
            return False
        ready = [m for m in self.memories if m.kind == "managed" and m.allocated and not m.shared]
        if not ready or rng.random() < 0.3:
            return self.managed_for_a_moment()
        self.device_waits()
        memory = rng.choice(ready)
        low, high = memory.defined.longest() or (0, 0)
        if high - low < 2 or rng.random() < 0.6:
            return self.read_into(memory)
        self.write_from(memory, low, high - low)
        return True

    def managed_for_a_moment(self):
        """Read, through a kernel, and out."""
        target = self.target()
        if not target or target[2] < 64:
            return False
        words, name = target[2], f"m_{self.count()}"
        memory = Memory(name, words, "managed")
        self.memories.append(memory)
        self.emit("{")
        self.emit(f"uint32_t *{name};")
        self.allocate(memory)
        if self.read_into(memory, words) is False:
            return False
        launch, stream = self.elementwise(self.some_expression()), self.any_stream()
        self.perform(stream, [(memory, 0, words, "r"), self.use(target, "d")])
        self.emit(launch(name, self.pointer(*target[:2]), self.number(words), stream))
        if self.rng.random() < 0.5:
            self.device_waits()
            self.write_from(memory, 0, words)
        self.free(memory)
        self.emit("}")
        self.memories.remove(memory)
        return True

    def read_into(self, memory, words=None):
        rng = self.rng
        if memory.words < 2:
            return False
        words = words or rng.choice([memory.words, rng.randint(2, memory.words)])
        words = min(words, memory.words)
        first = rng.choice([0, rng.randint(0, memory.words - words)])
        offset = rng.choice([0, rng.randint(0, 40_000)])
        self.inputs = max(self.inputs, offset + 4 * words)
        self.perform(HOST, [(memory, first, first + words, "d")])
        self.file_call(self.READS[rng.choice(list(self.READS))], memory, first, words, offset)
        return True

    def write_from(self, memory, first, words):
        style = self.rng.choice(list(self.WRITES))
        words = min(words, 16_000 if style == "pipe" else self.scaled(300_000))
        self.perform(HOST, [(memory, first, first + words, "r")])
        self.file_call(self.WRITES[style], memory, first, words, 0)

    def file_call(self, lines, memory, first, words, offset):
        file, to = f"file{self.count()}", self.pointer(memory, first)
        to = f"({to})" if "+" in to else to
        self.emit("{")
        for line in lines:
            self.emit(line.format(file=file, to=to, n=words, half=max(1, words // 3), offset=offset))
        self.emit("}")
