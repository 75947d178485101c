"""Many small buffers, which kernels reach through a table of pointers in device memory."""

from .state import LEGACY


class Tables:
    def small_buffers(self):
        """Allocated one by one, filled from one buffer, changed, and gathered into another."""
        rng = self.rng
        if self.depth > 1 or self.rounds > 2 or self.threads_run:
            return False
        count = rng.choice([rng.randint(20, 200), rng.randint(100, 600), rng.randint(100, 600), rng.randint(600, 5000)])
        count = min(count, self.scaled(8000))
        each = rng.choice([4, 16, 64, rng.randint(4, 256), rng.choice([512, 1024])])
        each = min(each, self.scaled(600_000) // count)
        words = count * each
        source, target = self.source(words, words), self.target(words)
        if not source or not target or source[0] is target[0]:
            return False
        stream, number = self.any_stream(), self.count()
        small, table = f"small{number}", f"table{number}"
        self.emit("{")
        self.emit(f"std::vector<uint32_t *> {small}({count});")
        self.emit(f"uint32_t **{table};")
        managed = rng.random() < 0.15
        self.emit(f"for (uint32_t *&one : {small})")
        self.emit(f"  CHECK({'cudaMallocManaged' if managed else 'cudaMalloc'}(&one, {each} * sizeof(uint32_t)));")
        self.emit(f"CHECK(cudaMalloc(&{table}, {count} * sizeof(uint32_t *)));")
        self.emit(f"CHECK(cudaMemcpy({table}, {small}.data(), {count} * sizeof(uint32_t *), cudaMemcpyHostToDevice));")
        head = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= count * each)\n    return;\n"
        configuration = f"({words} + 127) / 128, 128"
        out = self.kernel("spread", "uint32_t *const *list, const uint32_t *in, int count, int each",
                          f"{head}  list[i / each][i % each] = in[i] * 3;\n")
        self.launch(out, configuration, f"{table}, {self.pointer(*source[:2])}, {count}, {each}", [self.use(source, "r")], stream)
        if rng.random() < 0.6:
            style = rng.choice(["block", "thread"])
            body = ("  uint32_t *mine = list[blockIdx.x];\n  for (int i = threadIdx.x; i < each; i += blockDim.x)\n"
                    "    mine[i] = scramble(mine[i]);\n" if style == "block" else
                    f"{head}  uint32_t *mine = list[i % count];\n  mine[i / count] += i;\n")
            name = self.kernel("small", "uint32_t *const *list, int count, int each", body)
            self.launch(name, f"{count}, 32" if style == "block" else configuration, f"{table}, {count}, {each}", [], stream)
        lists = rng.randint(0, 2)
        for _ in range(lists):
            self.one_small(small, count, each, stream)
        back = self.kernel("collect", "uint32_t *const *list, uint32_t *out, int count, int each",
                           f"{head}  out[i] = list[i / each][i % each];\n")
        self.launch(back, configuration, f"{table}, {self.pointer(*target[:2])}, {count}, {each}", [self.use(target, "d")], stream)
        if stream != LEGACY:
            self.host_waits(stream)
        self.emit(f"for (uint32_t *one : {small})")
        self.emit("  CHECK(cudaFree(one));")
        self.emit(f"CHECK(cudaFree({table}));")
        self.emit("}")
        self.many_small = True
        # All small buffers together are one launch's; so is what its pointers may reach besides. They share chunks, with gaps
        # and with the table, but for the first ones that are managed.
        self.require_all(count * (each * 4 // 512 + 1) * 512 // self.chunk + 3 + (4 if managed else 0))
        return True

    def one_small(self, small, count, each, stream):
        """Looks at, or fills, one of them from the host."""
        which, rng = self.rng.randrange(count), self.rng
        if rng.random() < 0.5:
            self.emit(f"CHECK(cudaMemsetAsync({small}[{which}], {rng.randint(0, 255)}, {each} * 4, {self.stream_text(stream)}));")
            return
        name = f"some{self.count()}"
        self.host_waits(stream)
        self.emit(f"uint32_t {name}[{each}];")
        self.emit(f"CHECK(cudaMemcpy({name}, {small}[{which}], sizeof({name}), cudaMemcpyDeviceToHost));")
        self.say(f"sum({name}, {each})")
