"""Loops through all of the data of other shapes: histograms and more in shared memory, columns, planes, tiles."""


class LoopShapes:
    STRIDE = "for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)"
    AT = ("  int x = blockIdx.x * blockDim.x + threadIdx.x;\n  int y = blockIdx.y * blockDim.y + threadIdx.y;\n")
    COLUMN = "  int c = blockIdx.x * blockDim.x + threadIdx.x;\n"
    GO_DOWN = {"up": "for (int r = 0; r < rows; ++r)", "down": "for (int r = rows - 1; r >= 0; --r)",
               "long": "for (long r = 0; r < rows; ++r)", "odd": "for (int r = 1; r < rows; r += 2)",
               "pointer": "for (const uint32_t *p = m + c; p < m + (long)rows * cols; p += cols)"}

    def over_x(self, data, name, grid, coef=False, cut=True, shared=0):
        """A launch (x, out, coef, n) of all or most of x."""
        part = self.part_of(data.x, 64)
        if not part:
            return False
        memory, first, n = part
        arguments = [self.pointer(memory, first), data.small.text, *([data.few.text] if coef else []), self.number(n)]
        uses = [(memory, first, first + n, "r"), (data.small, 0, data.RESULTS, "w")]
        if coef:
            uses.append((data.few, 0, data.FEW, "r"))
        self.launch_loop(name, grid, arguments, uses, cut, shared=shared)
        return True

    # Shared memory. ---------------------------------------------------------------------------------------------------

    def shared_bins(self, data):
        """In shared memory, static or dynamic; of words or of bytes; some of it set up from memory."""
        rng = self.rng
        bins, dynamic, coef = rng.choice([16, 64, 200]), rng.random() < 0.5, rng.random() < 0.3
        threads = rng.choice([32, 64, 128])
        name_of = "some_words" if dynamic else "bins"
        value = rng.choice(["x[i]", "(x[i] >> 5)", "(x[i] + (uint32_t)i)"])
        first = "coef[b]" if coef else rng.choice(["0", "b % 3"])
        more = "const uint32_t *coef, " if coef else ""
        text = (f"  [[\n    for (int b = threadIdx.x; b < {bins}; b += blockDim.x)\n      {name_of}[b] = {first};\n  ]]\n"
                f"  [[\n    {self.STRIDE}\n      atomicAdd(&{name_of}[{value} % {bins}], 1u);\n  ]]\n"
                f"  [[\n    for (int b = threadIdx.x; b < {bins}; b += blockDim.x)\n"
                f"      atomicAdd(&out[b % 64], {name_of}[b]);\n  ]]\n")
        name = self.phased("histogram", f"const uint32_t *x, uint32_t *out, {more}long n",
                           [f"uint32_t {name_of}[]" if dynamic else f"uint32_t {name_of}[{bins}]"], {}, text, dynamic)
        bytes_of = (bins * 4 + rng.choice([0, 4, 20])) if dynamic else 0
        # The compiler may take the loop over coef for the one that is worth most.
        return self.over_x(data, name, f"{rng.randint(1, 20)}, {threads}", coef, shared=bytes_of)

    def tree_sum(self, data):
        """Sums in registers, which the block adds up."""
        rng = self.rng
        kind = rng.choice(["uint32_t", "unsigned long long"])
        text = (f"  [[\n    {self.STRIDE}\n      $sum += ({kind})x[i] * ((uint32_t)i | 1);\n    part[threadIdx.x] = $sum;\n  ]]\n"
                "  for (unsigned s = blockDim.x / 2; s; s /= 2) {\n    [[\n      if (threadIdx.x < s)\n"
                "        part[threadIdx.x] += part[threadIdx.x + s];\n    ]]\n  }\n"
                "  [[\n    if (threadIdx.x == 0)\n      atomicAdd(out, (uint32_t)(part[0] ^ part[0] >> 7));\n  ]]\n")
        name = self.phased("tree", "const uint32_t *x, uint32_t *out, long n", [f"{kind} part[64]"], {"sum": kind}, text)
        return self.over_x(data, name, f"{rng.randint(1, 30)}, 64")

    def staged(self, data):
        """All of the data through a tile in shared memory, in each block."""
        rng = self.rng
        part = self.part_of(data.x, 256)
        if not part:
            return False
        memory, first, n = part
        text = ("  for (int base = 0; base < n; base += 128) {\n"
                "    [[\n      tile[threadIdx.x] = base + threadIdx.x < n ? x[base + threadIdx.x] : 7;\n    ]]\n"
                "    [[\n      for (int k = 0; k < 128; k += 41)\n        $sum = $sum * 3 + tile[(threadIdx.x + k) % 128];\n"
                "    ]]\n  }\n"
                "  [[\n    own[blockIdx.x * blockDim.x + threadIdx.x] = $sum;\n  ]]\n")
        name = self.phased("staged", "const uint32_t *x, uint32_t *own, int n", ["uint32_t tile[128]"], {"sum": "uint32_t"}, text)
        blocks, low = rng.randint(1, 2), data.SLOTS
        self.launch_loop(name, f"{blocks}, 128", [self.pointer(memory, first), self.pointer(data.small, low), self.number(n)],
                         [(memory, first, first + n, "r"), (data.small, low, low + blocks * 128, "d")])
        return True

    def ring(self, data):
        """The last few values in shared memory, without barriers in the loop."""
        depth = self.rng.choice([2, 4])
        text = (f"  [[\n    for (int k = 0; k < {depth}; ++k)\n      ring[k][threadIdx.x] = k * 5;\n    int at = 0;\n"
                f"    uint32_t sum = 1;\n    {self.STRIDE} {{\n      sum = sum * 3 + ring[at][threadIdx.x];\n"
                f"      ring[at][threadIdx.x] = x[i];\n      at = (at + 1) % {depth};\n    }}\n"
                "    atomicXor(out + 60, sum);\n  ]]\n")
        name = self.phased("ring", "const uint32_t *x, uint32_t *out, long n", [f"uint32_t ring[{depth}][64]"], {}, text)
        return self.over_x(data, name, f"{self.rng.randint(1, 16)}, 64")

    def prepared(self, data):
        """What stands in front of the loop is put in shared memory, from memory or by a small sum."""
        first = self.rng.choice(["coef[threadIdx.x]", "coef[threadIdx.x] + coef[blockIdx.x % 8]", "threadIdx.x * 3 + 1"])
        behind = self.rng.choice(["", "      own[threadIdx.x] += 1;\n"])
        text = (f"  [[\n    own[threadIdx.x] = {first};\n  ]]\n  [[\n    {self.STRIDE} {{\n"
                f"      $sum += x[i] * own[threadIdx.x];\n{behind}    }}\n    atomicAdd(out + 61, $sum);\n  ]]\n")
        name = self.phased("prepared", "const uint32_t *x, uint32_t *out, const uint32_t *coef, long n", ["uint32_t own[128]"],
                           {"sum": "uint32_t"}, text)
        return self.over_x(data, name, f"{self.rng.randint(1, 16)}, {self.rng.choice([32, 128])}", coef=True)

    def exchanged(self, data):
        """Threads of a block hand on values through memory, with barriers."""
        part = self.part_of(data.x, 64 * 32)
        if not part:
            return False
        memory, first, n = part
        blocks = self.rng.randint(1, 4)
        rounds = n // (64 * blocks)
        text = ("  uint32_t *own = slots + blockIdx.x * 64;\n  for (int k = 0; k < rounds; ++k) {\n"
                "    [[\n      own[threadIdx.x] = x[(k * gridDim.x + blockIdx.x) * 64 + threadIdx.x] + $sum;\n    ]]\n"
                "    [[\n      $sum += own[(threadIdx.x + 1) % 64] >> 1;\n    ]]\n  }\n"
                "  [[\n    own[threadIdx.x] = $sum;\n  ]]\n")
        name = self.phased("exchange", "const uint32_t *x, uint32_t *slots, int rounds", [], {"sum": "uint32_t"}, text)
        low = data.SLOTS
        self.launch_loop(name, f"{blocks}, 64",
                         [self.pointer(memory, first), self.pointer(data.small, low), self.number(rounds)],
                         [(memory, first, first + rounds * 64 * blocks, "r"), (data.small, low, low + 64 * blocks, "d")])
        return True

    # Columns, planes, tiles. ----------------------------------------------------------------------------------------------

    def matrix(self, data):
        part = self.part_of(data.x, 8192)
        if not part:
            return None
        memory, first, n = part
        cols = self.rng.choice([48, 64, 100, 256, 1000, 2048])
        return memory, first, n // cols, cols

    @staticmethod
    def guarded(condition, body, early):
        """In threads for which it holds: by an early end of the others or a branch."""
        if early:
            return f"  if (!({condition}))\n    return;\n{body}"
        return f"  if ({condition}) {{\n{body}  }}\n"

    def columns(self, data):
        """A thread for each column, whose sum is in a register or in memory."""
        rng = self.rng
        matrix = self.matrix(data)
        if not matrix:
            return False
        memory, first, rows, cols = matrix
        way = rng.choice(sorted(self.GO_DOWN))
        value = "*p" if way == "pointer" else rng.choice(["m[(long)r * cols + c]", "m[r * cols + c]"])
        if rng.random() < 0.5:
            body = f"  uint32_t sum = 0;\n  {self.GO_DOWN[way]}\n    sum = sum * 3 + {value};\n  own[c] = sum;\n"
        else:
            body = f"  {self.GO_DOWN[way]}\n    own[c] {rng.choice(['+= ', '= own[c] * 3 + '])}{value};\n"
        name = self.kernel("columns", "const uint32_t *m, uint32_t *own, int rows, int cols",
                           self.COLUMN + self.guarded("c < cols", body, rng.random() < 0.5))
        low = data.SLOTS
        self.launch_loop(name, f"({cols} + 63) / 64, 64",
                         [self.pointer(memory, first), self.pointer(data.small, low), self.number(rows), str(cols)],
                         [(memory, first, first + rows * cols, "r"), (data.small, low, low + cols, "w")])
        return True

    def column_scan(self, data):
        """Each column's sums so far."""
        rng = self.rng
        matrix = self.matrix(data)
        if not matrix:
            return False
        memory, first, rows, cols = matrix
        at = min(first, data.y.words - rows * cols)
        place = rng.choice(["(long)r * cols + c", "r * cols + c"])
        style = rng.choice(["sum", "sum", "above", "in_place"])
        body = {"sum": "  uint32_t sum = 0;\n  for (int r = 0; r < rows; ++r) {\n"
                       f"    sum = sum * 3 + m[{place}];\n    y[{place}] = sum;\n  }}\n",
                "above": f"  for (int r = 0; r < rows; ++r)\n    y[{place}] = m[{place}] + (r ? y[{place} - cols] : 0);\n",
                "in_place": f"  for (int r = 1; r < rows; ++r)\n    y[{place}] += y[{place} - cols] * 3;\n"}[style]
        parameters = ["const uint32_t *m", "uint32_t *y", "int rows", "int cols"]
        arguments = [self.pointer(memory, first), self.pointer(data.y, at), self.number(rows), str(cols)]
        uses = [(memory, first, first + rows * cols, "r"), (data.y, at, at + rows * cols, "d")]
        if style == "in_place":
            parameters, arguments = parameters[1:], [arguments[0], *arguments[2:]]
            uses = [(memory, first, first + rows * cols, "w")]
        name = self.kernel("scan", ", ".join(parameters), self.COLUMN + self.guarded("c < cols", body, rng.random() < 0.5))
        self.launch_loop(name, f"({cols} + 63) / 64, 64", arguments, uses)
        return True

    def volume(self, data):
        """(memory, first word, nx, ny, nz)"""
        part = self.part_of(data.x, 40_000)
        if not part:
            return None
        nx, ny = self.rng.choice([(32, 8), (64, 16), (40, 30), (128, 16), (33, 7)])
        return (*part[:2], nx, ny, part[2] // (nx * ny))

    def planes(self, data):
        """Through the planes of a volume, with two or three of their values."""
        rng = self.rng
        volume = self.volume(data)
        if not volume:
            return False
        memory, first, nx, ny, nz = volume
        plane, at = nx * ny, min(first, data.y.words - nx * ny * nz)
        start = "  long at = (long)y * nx + x, plane = (long)nx * ny;\n"
        inside, guarded = "x < nx && y < ny", rng.random() < 0.5
        if rng.random() < 0.3:
            # All threads march, and those that have nothing to do stay where they are.
            body = (f"{start}  const bool active = {inside};\n  uint32_t here = active ? in[at] : 0;\n"
                    "  for (int z = 1; z < nz - 1; ++z)\n    if (active) {\n      at += plane;\n"
                    "      const uint32_t next = in[at];\n"
                    "      if (z != 5)\n        out[at] = here * 5 + next;\n      else\n        out[at] = next;\n"
                    "      here = next;\n    }\n")
            low, high, inside = 1, nz - 1, "true"
        elif rng.random() < 0.6:
            body = (f"{start}  uint32_t below = in[at], here = in[at + plane];\n  for (int z = 1; z < nz - 1; ++z) {{\n"
                    "    uint32_t above = in[(z + 1) * plane + at];\n    out[z * plane + at] = below + 2 * here + above;\n"
                    "    below = here;\n    here = above;\n  }\n")
            low, high = 1, nz - 1
        else:
            body = (f"{start}  uint32_t a = in[at], b = in[at + plane], c = in[at + 2 * plane];\n"
                    "  for (int z = 3; z < nz; ++z) {\n    uint32_t d = in[z * plane + at];\n"
                    "    out[z * plane + at] = a ^ b * 3 ^ c * 5 ^ d;\n    a = b;\n    b = c;\n    c = d;\n  }\n")
            low, high = 3, nz
        name = self.kernel("planes", "const uint32_t *in, uint32_t *out, int nx, int ny, int nz",
                           self.AT + self.guarded(inside, body, guarded))
        self.launch_loop(name, f"dim3(({nx} + 31) / 32, ({ny} + 3) / 4), dim3(32, 4)",
                         [self.pointer(memory, first), self.pointer(data.y, at), str(nx), str(ny), self.number(nz)],
                         [(memory, first, first + plane * nz, "r"), (data.y, at + plane * low, at + plane * high, "d")],
                         iteration=2)
        return True

    def tiles(self, data):
        """A product of matrices by tiles: few rows, and a right factor that is large."""
        rng = self.rng
        left, right = self.part_of(data.x, 8192), self.part_of(data.y, 8192)
        if not left or not right:
            return self.elementwise_walk(data)
        cols, rows = rng.choice([16, 32]), 8
        inner = min(right[2] // cols, left[2] // rows) // 8 * 8
        x, y = "threadIdx.x", "threadIdx.y"
        text = ("  for (int k = 0; k < inner; k += 8) {\n    [[\n"
                f"      left[{y}][{x}] = a[(blockIdx.y * 8 + {y}) * inner + k + {x}];\n"
                f"      right[{y}][{x}] = b[(k + {y}) * cols + blockIdx.x * 8 + {x}];\n    ]]\n"
                f"    [[\n      for (int i = 0; i < 8; ++i)\n        $sum += left[{y}][i] * right[i][{x}];\n    ]]\n  }}\n"
                f"  [[\n    c[(blockIdx.y * 8 + {y}) * cols + blockIdx.x * 8 + {x}] = $sum;\n  ]]\n")
        name = self.phased("tiles", "const uint32_t *a, const uint32_t *b, uint32_t *c, int inner, int cols",
                           ["uint32_t left[8][8], right[8][8]"], {"sum": "uint32_t"}, text)
        low = data.SLOTS
        pointers = [self.pointer(*left[:2]), self.pointer(*right[:2]), self.pointer(data.small, low)]
        self.launch_loop(name, f"dim3({cols} / 8, {rows} / 8), dim3(8, 8)", [*pointers, str(inner), str(cols)],
                         [(left[0], left[1], left[1] + rows * inner, "r"), (right[0], right[1], right[1] + inner * cols, "r"),
                          (data.small, low, low + rows * cols, "d")], iteration=8)
        return True
