"""Loops through all of the data by a grid's threads, without barriers: how they go, and what goes on in them."""


class Walk:
    """A loop over words [low, n) of a buffer, each once: its text, and what a launch of it gives. start and step are where a
    thread begins and how it goes on, where the loop has such."""

    def __init__(self, kind, blocks, threads):
        self.kind, self.grid, self.count = kind, f"{blocks}, {threads}", blocks * threads
        self.front, self.head, self.tail, self.close = "", "", "", "  }\n"
        self.start, self.step, self.low = None, None, 0
        self.parameters, self.arguments = [], []
        self.twice = False  # each block goes over all of it


class Walks:
    WAYS = ["for", "for", "argument", "front", "first", "while", "down", "counted", "rows", "flat", "block"]

    def some_walk(self, n):
        rng = self.rng
        blocks, threads = self.some_shape()
        kinds = self.style.index_types if rng.random() < 0.7 else ["int", "unsigned", "long"]
        walk = Walk(rng.choice(kinds), blocks, threads)
        style = self.style.mostly(rng, self.style.walks, self.WAYS)
        self.describe(walk, style, n, blocks, threads)
        walk.parameters.insert(0, f"{walk.kind} n")
        walk.arguments.insert(0, self.number(n))
        return walk

    def describe(self, walk, style, n, blocks, threads):
        rng, kind = self.rng, walk.kind
        walk.start, walk.step = f"({kind})blockIdx.x * blockDim.x + threadIdx.x", f"({kind})gridDim.x * blockDim.x"
        if style == "argument":
            walk.parameters, walk.arguments, walk.step = [f"{kind} step"], [str(walk.count)], "step"
        elif style == "front":
            walk.front, walk.step = f"  const {kind} step = {walk.step};\n", "step"
        elif style == "first":
            walk.low = rng.choice([1, 64, min(n // 2, rng.randint(1, 70000))])
            walk.low = min(walk.low, n - 1)
            walk.parameters, walk.arguments = [f"{kind} first"], [str(walk.low)]
            walk.start = f"first + {walk.start}"
        elif style == "flat":
            x, y = rng.randint(1, 4), rng.randint(1, 5)
            walk.grid, walk.count = f"dim3({x}, {y}), {threads}", x * y * threads
            walk.start = f"(({kind})blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x"
            walk.step = f"({kind})gridDim.y * gridDim.x * blockDim.x"
        elif style == "block":
            # Not many: each goes through everything.
            walk.grid, walk.count, walk.twice = f"{1 + blocks % 2}, {threads}", (1 + blocks % 2) * threads, blocks % 2 == 1
            walk.start, walk.step = "threadIdx.x", "blockDim.x"
        walk.head = f"  for ({kind} i = {walk.start}; i < n; i += {walk.step}@) {{\n"
        if style == "while":
            walk.front, walk.head = f"  {kind} i = {walk.start};\n", "  while (i < n) {\n"
            walk.tail = f"    i += {walk.step};\n"
        elif style == "down" and kind in ("int", "long"):
            walk.start, walk.step = f"n - 1 - ({kind})({walk.start})", f"-({kind})({walk.step})"
            walk.head = f"  for ({kind} i = {walk.start}; i >= 0; i += {walk.step}@) {{\n"
        elif style == "counted":
            walk.parameters, walk.arguments = ["int rounds"], [self.number((n + walk.count - 1) // walk.count)]
            walk.head = (f"  for (int k = 0; k < rounds; ++k) {{\n    const {kind} i = k * ({walk.step}) + {walk.start};\n"
                         "    if (i < n) {\n")
            walk.close = "    }\n  }\n"
        elif style == "rows":
            self.by_rows(walk, n)
        if "@" not in walk.head:
            walk.start = None

    def by_rows(self, walk, n):
        """In two dimensions; the last row may be a part of one."""
        rng = self.rng
        cols = rng.choice([64, 100, 1000, rng.randint(20, 3000)])
        x, y, tx, ty = rng.randint(1, 4), rng.randint(1, 4), rng.choice([16, 32]), rng.choice([2, 4])
        walk.grid, walk.count = f"dim3({x}, {y}), dim3({tx}, {ty})", x * y * tx * ty
        walk.parameters, walk.arguments = [f"{walk.kind} cols"], [str(cols)]
        kind = walk.kind
        walk.head = (f"  for ({kind} r = ({kind})blockIdx.y * blockDim.y + threadIdx.y; r * cols < n;\n"
                     "       r += gridDim.y * blockDim.y)\n"
                     f"    for ({kind} c = ({kind})blockIdx.x * blockDim.x + threadIdx.x; c < cols && r * cols + c < n;\n"
                     f"         c += gridDim.x * blockDim.x) {{\n      const {kind} i = r * cols + c;\n")

    # front, body, behind. out: results; V: the value at i.
    SUMS = {
        "sum": ("  uint32_t sum = 0;\n", "    sum += V * ((uint32_t)i | 1);\n", "  atomicAdd(out, sum);\n"),
        "wide": ("  unsigned long long sum = 0;\n", "    sum += (unsigned long long)V * V;\n",
                 "  atomicAdd((unsigned long long *)(out + 2), sum);\n"),
        "several": ("  uint32_t sum = 0, mix = 0, least = 0xffffffffu, most = 0;\n",
                    "    const uint32_t v = V;\n    sum += v;\n    mix ^= v + (uint32_t)i;\n    least = min(least, v);\n"
                    "    most = v > most ? v : most;\n",
                    "  atomicAdd(out + 4, sum);\n  atomicXor(out + 5, mix);\n  atomicMin(out + 6, least);\n"
                    "  atomicMax(out + 7, most);\n"),
        "flag": ("  uint32_t least = 0, last = 0;\n  bool any = false;\n",
                 "    const uint32_t v = V;\n    least = any && least < v ? least : v;\n    any = true;\n    last = v;\n",
                 "  if (any) {\n    atomicMin(out + 8, least);\n    atomicXor(out + 9, last);\n  }\n"),
        "words": ("  uint32_t sums[7] = {0, 0, 0, 0, 0, 0, 0};\n", "    const uint32_t v = V;\n    sums[v % 7] += v;\n",
                  "  for (int r = 0; r < 7; ++r)\n    atomicAdd(&out[10 + r], sums[r]);\n"),
        "many": ("  uint32_t sums[24] = {1, 2, 3};\n", "    const uint32_t v = V;\n    sums[v % 24] = sums[v % 24] * 3 + v;\n",
                 "  for (int r = 0; r < 24; ++r)\n    atomicAdd(&out[10 + r % 7], sums[r] >> r % 3);\n"),
        "bytes": ("  unsigned char counts[5] = {1, 2, 3, 4, 5};\n  unsigned short last[3] = {0, 0, 0};\n",
                  "    const uint32_t v = V;\n    ++counts[v % 5];\n    last[v % 3] = (unsigned short)(last[v % 3] * 3 + v);\n",
                  "  for (int r = 0; r < 5; ++r)\n    atomicAdd(&out[18], (uint32_t)counts[r] << r);\n"
                  "  for (int r = 0; r < 3; ++r)\n    atomicXor(&out[19 + r], (uint32_t)last[r]);\n"),
        "hash": ("  uint32_t hash = threadIdx.x;\n", "    hash = hash * 31 + V;\n", "  atomicXor(out + 22, hash);\n"),
        "scatter": ("", "    atomicAdd(&out[24 + V % 32], (uint32_t)i);\n", ""),
        "inner": ("  uint32_t sum = 1;\n", "    const uint32_t v = V;\n    for (uint32_t k = 0; k < 2 + v % 3; ++k)\n"
                  "      sum = sum * 5 + (v >> k);\n", "  atomicAdd(out + 23, sum);\n"),
        "some": ("  short count = 0;\n  uint32_t sum = 0;\n",
                 "    const uint32_t v = V;\n    if (v % 3 != 1) {\n      sum += v;\n"
                 "      if (v % 7 == 2)\n        ++count;\n    }\n",
                 "  atomicAdd(out + 56, sum);\n  atomicAdd(out + 57, (uint32_t)count);\n"),
        "pair": ("  struct {\n    uint32_t sum;\n    unsigned char odd;\n  } own[2] = {{0, 0}, {7, 1}};\n",
                 "    const uint32_t v = V;\n    own[v & 1].sum += v;\n    own[v >> 1 & 1].odd ^= v & 4;\n",
                 "  atomicAdd(out + 58, own[0].sum - own[1].sum);\n"
                 "  atomicAdd(out + 59, (uint32_t)(own[0].odd + own[1].odd));\n"),
    }

    def value_in(self, walk, data):
        """(text of the value at i, code in front, more steps of the loop, more parameters, arguments, uses), with an
        addition by chance; uses are of few, or of the words of small that hold results."""
        rng = self.rng
        value, front, more, parameters, arguments, uses = "x[i]", "", "", [], [], []
        if walk.start and rng.random() < 0.25:
            value, more = "*p", f", p += {walk.step}"
            front = f"  const uint32_t *p = x + ({walk.start});\n"
        addition = rng.choice(["none"] * 5 + ["loaded", "loaded", "weights", "returns", "aliased"])
        if addition in ("loaded", "aliased"):
            memory = data.few if addition == "loaded" else data.small
            at = rng.randint(0, 3) if addition == "loaded" else 128
            front += rng.choice(["  const uint32_t by = coef[blockIdx.x % 4];\n",
                                 "  uint32_t by = coef[0];\n  for (int k = 1; k < 5; ++k)\n    by = by * 3 + coef[k];\n",
                                 "  const uint32_t by = coef[threadIdx.x % 32] + threadIdx.y;\n"])
            value = f"({value} * by)"
            parameters, arguments, uses = ["const uint32_t *coef"], [self.pointer(memory, at)], [(memory, at, at + 32, "r")]
        elif addition == "weights":
            numbers = ", ".join(str(rng.randint(1, 99)) for _ in range(4))
            value = f"({value} + w.at[i & 3])"
            parameters, arguments = ["Weights w"], [f"Weights{{{{{numbers}}}}}"]
        elif addition == "returns":
            front = "  if (threadIdx.x % 5 == 4)\n    return;\n" + front
        return value, front, more, parameters, arguments, uses

    def walk_kernel(self, family, data, walk, own, pointers, parts):
        """parts: front, body, behind of the kernel. own: as value_in gives it."""
        value, front, more, parameters, arguments, uses = own
        before, body, behind = (part.replace("V", value) for part in parts)
        text = front + before + walk.front + walk.head.replace("@", more) + body + walk.tail + walk.close + behind
        name = self.kernel(family, ", ".join([*pointers, *walk.parameters, *parameters]), text)
        return name, [*walk.arguments, *arguments], uses

    @staticmethod
    def can_be_cut(data, uses):
        """Nothing in front of the loop is read where the kernel writes."""
        return not any(use[0] is data.small for use in uses)

    def walk(self, data):
        """Sums and the like."""
        part = self.part_of(data.x, 64)
        if not part:
            return False
        memory, first, n = part
        walk = self.some_walk(n)
        own = self.value_in(walk, data)
        name, arguments, uses = self.walk_kernel("walk", data, walk, own, ["const uint32_t *x", "uint32_t *out"],
                                                 self.SUMS[self.style.mostly(self.rng, self.style.walk_sums, sorted(self.SUMS))])
        self.launch_loop(name, walk.grid, [self.pointer(memory, first), data.small.text, *arguments],
                         [(memory, first + walk.low, first + n, "r"), (data.small, 0, data.RESULTS, "w"), *uses],
                         cut=self.can_be_cut(data, uses))

    def elementwise_walk(self, data):
        """Each word, to another buffer or in place, with something that goes on or without."""
        rng = self.rng
        part = self.part_of(data.x, 64)
        if not part:
            return False
        memory, first, n = part
        walk = self.some_walk(n)
        if walk.twice:
            return self.walk(data)
        own = self.value_in(walk, data)
        kept = rng.choice(["", "", "sum", "before"])
        front = {"sum": "  uint32_t sum = 0;\n", "before": "  uint32_t before = 9;\n"}.get(kept, "")
        body = {"sum": "    sum += V;\n    y[i] = sum;\n",
                "before": "    const uint32_t v = V;\n    y[i] = v ^ before;\n    before = v;\n",
                "": "    y[i] = V * 3 + (uint32_t)i;\n"}[kept]
        uses = [(memory, first + walk.low, first + n, "r")]
        pointers, buffers = ["const uint32_t *x", "uint32_t *y"], [self.pointer(memory, first)]
        at = min(first, data.y.words - n)
        returns = "return" in own[1]
        if rng.random() < 0.25:
            pointers, body, front = ["uint32_t *x"], body.replace("y[i]", "x[i]"), front
            uses = [(memory, first + walk.low, first + n, "w")]
        else:
            buffers.append(self.pointer(data.y, at))
            mode = "w" if returns else "d"
            uses.append((data.y, at + walk.low, at + n, mode))
        name, arguments, more = self.walk_kernel("each", data, walk, own, pointers, (front, body, ""))
        self.launch_loop(name, walk.grid, [*buffers, *arguments], [*uses, *more],
                         cut=self.can_be_cut(data, more))

    def two_walks(self, data):
        """Two loops, one after the other; what the first one finds out, the second one needs."""
        rng = self.rng
        part = self.part_of(data.x, 64)
        if not part:
            return False
        memory, first, n = part
        walk = self.some_walk(n)
        style = rng.choice(["both", "store", "writes_first", "few", "few", "few_first", "few_first"])
        few = "  for (int j = 0; j < 200; ++j)\n    sum = sum * 3 + coef[j];\n"
        if style.startswith("few"):
            before, body, behind = "  uint32_t sum = 1;\n", "    sum += V;\n", "  atomicAdd(out, sum);\n"
            before, behind = (before + few, behind) if style == "few_first" else (before, few + behind)
            own = ("x[i]", "", "", ["const uint32_t *coef"], [data.few.text], [(data.few, 0, 200, "r")])
            pointers = ["const uint32_t *x", "uint32_t *out"]
            name, arguments, _ = self.walk_kernel("two", data, walk, own, pointers, (before, body, behind))
            self.launch_loop(name, walk.grid, [self.pointer(memory, first), data.small.text, *arguments],
                             [(memory, first + walk.low, first + n, "r"), (data.small, 0, 1, "w"), *own[5]])
            return True
        # The second loop's data must be there in the last part.
        if walk.twice or "y" in walk.grid or walk.low or "blockIdx.y" in walk.head:
            return self.elementwise_walk(data)
        at = min(first, data.y.words - n)
        again = "  for (long j = blockIdx.x * (long)blockDim.x + threadIdx.x; j < n; j += (long)gridDim.x * blockDim.x)\n"
        before, body, behind = "  uint32_t sum = 1;\n", "    sum += V;\n", f"{again}    y[j] = x[j] * sum;\n"
        if style == "both":
            behind += "  atomicAdd(out, sum);\n"
        elif style == "writes_first":
            before, body, behind = f"{before}{again}    y[j] = x[j] + 1;\n", "    sum += V * 3;\n", "  atomicAdd(out, sum);\n"
        own = ("x[i]", "", "", [], [], [])
        pointers = ["const uint32_t *x", "uint32_t *y", "uint32_t *out"]
        name, arguments, _ = self.walk_kernel("two", data, walk, own, pointers, (before, body, behind))
        self.launch_loop(name, walk.grid, [self.pointer(memory, first), self.pointer(data.y, at), data.small.text, *arguments],
                         [(memory, first, first + n, "r"), (data.y, at, at + n, "d"), (data.small, 0, 1, "w")], cut=False)
        return True

    def slots(self, data):
        """What goes on lies in memory, a word for each thread."""
        part = self.part_of(data.x, 64)
        if not part:
            return False
        memory, first, n = part
        walk = self.some_walk(n)
        thread = ("((blockIdx.y * gridDim.x + blockIdx.x) * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x")
        parts = ("", "    own[t] = own[t] * 3 + V;\n", "")
        if self.rng.random() < 0.4:
            parts = ("  uint32_t sum = 5;\n", "    sum = sum * 3 + V;\n", "  own[t] = sum;\n")
        own = self.value_in(walk, data)
        name, arguments, uses = self.walk_kernel("slots", data, walk, own, ["const uint32_t *x", "uint32_t *own"],
                                                 (parts[0] + f"  const unsigned t = {thread};\n", *parts[1:]))
        low = data.SLOTS
        self.launch_loop(name, walk.grid, [self.pointer(memory, first), self.pointer(data.small, low), *arguments],
                         [(memory, first + walk.low, first + n, "r"), (data.small, low, low + walk.count, "w"), *uses],
                         cut=self.can_be_cut(data, uses))
