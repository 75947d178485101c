"""Kernels of other shapes: two-dimensional, with barriers, with other element types, several words to a thread, on the same
or shifted words, with fewer threads than words."""


class Shapes:
    def plane(self):
        """A five-point stencil over rows and columns."""
        pair = self.pair(4096)
        if not pair:
            return False
        source, target = pair
        cols = self.rng.randint(16, 700)
        rows = target[2] // cols
        if rows < 1:
            return False
        x, y = self.rng.choice([(16, 16), (32, 8), (64, 2), (8, 4)])
        name = self.kernel("plane", "const uint32_t *in, uint32_t *out, int rows, int cols",
                           "  int c = blockIdx.x * blockDim.x + threadIdx.x;\n  int r = blockIdx.y * blockDim.y + threadIdx.y;\n"
                           "  if (r >= rows || c >= cols)\n    return;\n  int at = r * cols + c;\n  uint32_t sum = in[at] * 4;\n"
                           "  if (r > 0)\n    sum += in[at - cols];\n  if (r < rows - 1)\n    sum += in[at + cols];\n"
                           "  if (c > 0)\n    sum += in[at - 1];\n  if (c < cols - 1)\n    sum += in[at + 1];\n"
                           "  out[at] = sum;\n")
        self.launch(name, f"dim3(({cols} + {x - 1}) / {x}, ({rows} + {y - 1}) / {y}), dim3({x}, {y})",
                    f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {rows}, {cols}",
                    [(source[0], source[1], source[1] + rows * cols, "r"),
                     (target[0], target[1], target[1] + rows * cols, "d")])
        return True

    def transpose(self):
        pair = self.pair(4096)
        if not pair:
            return False
        source, target = pair
        cols = self.rng.randint(16, 900)
        rows = target[2] // cols
        if rows < 1:
            return False
        index = self.rng.choice(["(size_t)col * rows + row", "col * rows + row"])
        name = self.kernel("transpose", "const uint32_t *in, uint32_t *out, int rows, int cols",
                           "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
                           f"  if (row < rows && col < cols)\n    out[{index}] = in[row * cols + col];\n")
        self.launch(name, f"dim3(({cols} + 15) / 16, ({rows} + 15) / 16), dim3(16, 16)",
                    f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {rows}, {cols}",
                    [(source[0], source[1], source[1] + rows * cols, "r"),
                     (target[0], target[1], target[1] + rows * cols, "d")])
        return True

    def rows(self):
        """A thread to a row."""
        pair = self.pair(64)
        if not pair:
            return False
        source, target = pair
        cols = min(self.rng.randint(3, 600), target[2])
        rows = target[2] // cols
        name = self.kernel("rows", "const uint32_t *in, uint32_t *out, int rows, int cols",
                           "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= rows)\n    return;\n"
                           "  uint32_t sum = 0;\n  for (int c = 0; c < cols; ++c) {\n"
                           "    sum = sum * 3 + in[row * cols + c];\n    out[row * cols + c] = sum;\n  }\n")
        self.launch(name, f"({rows} + 63) / 64, 64",
                    f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {rows}, {self.number(cols)}",
                    [(source[0], source[1], source[1] + rows * cols, "r"),
                     (target[0], target[1], target[1] + rows * cols, "d")])
        return True

    def pieces(self):
        """Some adjoining words to a thread, by a pointer that walks."""
        pair = self.pair()
        if not pair:
            return False
        source, target = pair
        length = self.rng.choice([2, 3, 33])
        name = self.kernel("pieces", "const uint32_t *in, uint32_t *out, long n",
                           f"  long first = {length} * ((long)blockIdx.x * blockDim.x + threadIdx.x);\n"
                           "  const uint32_t *from = in + first;\n"
                           f"  for (long i = first; i < first + {length} && i < n; ++i)\n    out[i] = *from++ ^ 0x55;\n")
        threads = (target[2] + length - 1) // length
        self.launch(name, self.grid("exact", threads),
                    f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {self.number(target[2])}",
                    [(source[0], source[1], source[1] + target[2], "r"), self.use(target, "d")])
        return True

    def product(self):
        """out = left * right, matrices of words."""
        rng = self.rng
        depth, cols = rng.randint(1, 12), rng.randint(4, 64)
        left, right = self.source(depth * 16), self.source(depth * cols)
        if not left or not right:
            return False
        rows = min(left[2] // depth, 8000)
        target = self.target(rows * cols, [left[0], right[0]])
        if not target:
            return False
        name = self.kernel("product", "const uint32_t *left, const uint32_t *right, uint32_t *out, int rows, int cols, int depth",
                           "  int c = blockIdx.x * blockDim.x + threadIdx.x;\n  int r = blockIdx.y * blockDim.y + threadIdx.y;\n"
                           "  if (r < rows && c < cols) {\n    uint32_t sum = 0;\n    for (int k = 0; k < depth; ++k)\n"
                           "      sum += left[r * depth + k] * right[k * cols + c];\n    out[r * cols + c] = sum;\n  }\n")
        self.launch(name, f"dim3(({cols} + 15) / 16, ({rows} + 7) / 8), dim3(16, 8)",
                    f"{self.pointer(*left[:2])}, {self.pointer(*right[:2])}, {self.pointer(*target[:2])}, {rows}, {cols}, {depth}",
                    [(left[0], left[1], left[1] + rows * depth, "r"), (right[0], right[1], right[1] + depth * cols, "r"),
                     self.use(target, "d")])
        return True

    def first_block(self):
        """What one block or one thread alone writes."""
        target = self.target()
        if not target or target[2] < 128:
            return False
        name = self.kernel("first_block", "uint32_t *out, int n",
                           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (blockIdx.x == 0)\n"
                           "    out[threadIdx.x] = i + 11;\n  if (i == n - 1)\n    out[i] = 12;\n")
        memory, first, words = target
        self.launch(name, f"({words} + 63) / 64, 64", f"{self.pointer(memory, first)}, {words}",
                    [(memory, first, first + words, "w"), (memory, first, first + 64, "d")])
        return True

    def aliased(self):
        """One buffer is read and written: the same words, or others."""
        source = self.source(2)
        if not source:
            return False
        memory, first, words = source
        if self.rng.random() < 0.5:
            target = source
        else:
            low, words = first, words // 2
            source, target = (memory, low, words), (memory, low + words, words)
            if self.rng.random() < 0.5:
                source, target = target, source
        # Never with __restrict__: the pointers may be equal.
        self.launch_over("aliased", "const uint32_t* in, uint32_t* out", "    out[i] = in[i] * 5 + 1;\n",
                         lambda n: f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {n}", words,
                         [self.use(source, "r"), self.use(target, "w")])
        return True

    def behind(self):
        """Words in front of where the pointer points."""
        pair = self.pair(4096)
        if not pair:
            return False
        source, target = pair
        by = self.rng.choice([1, 64, 4000])
        words = target[2] - by
        self.launch_over("behind", "const uint32_t *in, uint32_t *out", f"    out[i] = in[(long)i - {by}] ^ in[i];\n",
                         lambda n: f"{self.pointer(source[0], source[1] + by)}, {self.pointer(*target[:2])}, {n}", words,
                         [(source[0], source[1], source[1] + target[2], "r"), (target[0], target[1], target[1] + words, "d")])
        return True

    def short(self):
        """Fewer threads than there are elements, or none of them at work."""
        target = self.target()
        if not target:
            return False
        memory, first, words = target
        block = self.rng.choice([64, 256])
        blocks = self.rng.randint(1, max(1, words // block))
        done = min(words, blocks * block)
        n = self.number(words) if self.rng.random() < 0.8 else f"(argc > 7 ? {words} : 0)"
        if n.startswith("(") and self.rng.random() < 0.5:
            n = "0"
        name = self.kernel("short_grid", "uint32_t *out, int n",
                           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n    out[i] = i * 3;\n")
        none = n == "0" or n.startswith("(")
        self.launch(name, f"{blocks}, {block}", f"{self.pointer(memory, first)}, {n}",
                    [(memory, first, first + done, "w" if none else "d")])
        return True

    # Other types. ---------------------------------------------------------------------------------------------------

    def aligned(self, region, by):
        memory, first, words = region
        up = (-first) % by
        return memory, first + up, (words - up) // by * by

    def as_type(self, family, kind, by, body):
        pair = self.pair(64)
        if not pair:
            return False
        source, target = self.aligned(pair[0], by), self.aligned(pair[1], by)
        words = min(source[2], target[2])
        if words < by:
            return False
        self.launch_over(family, f"const {kind} *in, {kind} *out", body,
                         lambda n: f"(const {kind} *)({self.pointer(*source[:2])}), ({kind} *)({self.pointer(*target[:2])}), {n}",
                         int(words // by) if by else words,
                         [(source[0], source[1], source[1] + words, "r"), (target[0], target[1], target[1] + words, "d")])
        return True

    def vector(self):
        return self.as_type("vector", "uint4", 4, "    uint4 v = in[i];\n    out[i] = make_uint4(v.w, v.x + 1, v.y, v.z ^ v.w);\n")

    def longs(self):
        return self.as_type("longs", "unsigned long long", 2, "    out[i] = in[i] * 0x9e3779b97f4a7c15ull >> 7;\n")

    def bytes(self):
        """Some bytes of some words."""
        target = self.source()
        if not target:
            return False
        memory, first, words = target
        words = min(words, self.scaled(1 << 20))
        self.launch_over("bytes", "unsigned char *out", "    if (i % 4 != 1)\n      out[i] = (unsigned char)(i * 7);\n",
                         lambda n: f"(unsigned char *)({self.pointer(memory, first)}), {n}", words * 4,
                         [(memory, first, first + words, "w")])
        return True

    # With barriers: phases, between which all threads of the block wait. -----------------------------------------------

    def barrier_kernel(self, family, parameters, shared, phases, halving=None):
        """phases: texts of one thread's work; halving: a phase run for s = 64, 32, ... 1 after the first of them."""
        cuda, model = [], []
        for at, phase in enumerate(phases):
            cuda.append(f"  {{\n{phase}  }}\n")
            model.append(f"  FOR_THREADS {{\n{phase}  }}\n")
            if at + 1 < len(phases):
                cuda.append("  __syncthreads();\n")
            if at == 0 and halving:
                loop = "  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {\n"
                cuda.append(f"{loop}{halving}    __syncthreads();\n  }}\n")
                model.append(f"{loop}    FOR_THREADS {{\n{halving}    }}\n  }}\n")
        return self.kernel(family, parameters, f"  __shared__ {shared}\n" + "".join(cuda), f"  {shared}\n" + "".join(model))

    def tile(self):
        pair = self.pair()
        if not pair:
            return False
        source, target = pair
        name = self.barrier_kernel(
            "tile", "const uint32_t *in, uint32_t *out, int n", "uint32_t tile[128];",
            ["    int i = blockIdx.x * 128 + threadIdx.x;\n    tile[threadIdx.x] = i < n ? in[i] : 7;\n",
             "    int i = blockIdx.x * 128 + threadIdx.x;\n    uint32_t sum = 0;\n    for (int k = 0; k < 128; k += 9)\n"
             "      sum += tile[(threadIdx.x + k) % 128];\n    if (i < n)\n      out[i] = sum;\n"])
        self.launch(name, f"({self.number(target[2])} + 127) / 128, 128",
                    f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {self.number(target[2])}",
                    [(source[0], source[1], source[1] + target[2], "r"), self.use(target, "d")])
        return True

    def reduce(self):
        """One word for each block, or all of them added up in one."""
        source = self.source(256, self.scaled(400_000))
        if not source:
            return False
        blocks = (source[2] + 127) // 128
        total = self.rng.random() < 0.5
        target = self.source(1, 1, [source[0]]) if total else self.target(blocks, [source[0]])
        if not target:
            return False
        name = self.barrier_kernel(
            "reduce", "const uint32_t *in, uint32_t *out, long n", "uint32_t part[128];",
            ["    long i = blockIdx.x * 128L + threadIdx.x;\n    part[threadIdx.x] = i < n ? in[i] : 0;\n",
             "    if (threadIdx.x == 0)\n      " + ("atomicAdd(out, part[0]);\n" if total else "out[blockIdx.x] = part[0];\n")],
            halving="    if (threadIdx.x < s)\n      part[threadIdx.x] += part[threadIdx.x + s];\n")
        self.launch(name, f"{blocks}, 128", f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {self.number(source[2])}",
                    [self.use(source, "r"), self.use(target, "w" if total else "d")])
        return True

    def histogram(self):
        source, target = self.source(256, self.scaled(400_000)), self.source(64, 64)
        if not source or not target or source[0] is target[0]:
            return False
        name = self.barrier_kernel(
            "histogram", "const uint32_t *in, uint32_t *out, int n", "uint32_t bins[64];",
            ["    bins[threadIdx.x] = 0;\n",
             "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
             "      atomicAdd(&bins[in[i] % 64], 1u);\n",
             "    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);\n"])
        self.launch(name, f"{self.rng.randint(1, 40)}, 64",
                    f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {source[2]}",
                    [self.use(source, "r"), self.use(target, "w")])
        return True
