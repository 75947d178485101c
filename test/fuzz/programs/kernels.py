"""Kernels of random programs, and the launches of them: each method of Kernels picks what it works on, and launches.

No kernel has two threads touch one word, one of them writing, other than by integer atomics whose results are not
used, or between barriers. A launch says which words it reads (r), may write (w), surely writes before reading (d).
"""


class Kernels:
    FAMILIES = ["map", "map", "map", "in_place", "in_place", "stencil", "plane", "strided", "reverse", "gather", "follow",
                "scatter", "conditional", "window", "transpose", "rows", "tile", "reduce", "histogram", "vector",
                "bytes", "view", "pack", "two_outputs", "template", "product", "pieces", "broadcast", "choice", "rotate",
                "longs", "first_block", "constant", "table", "aliased", "aliased", "behind", "short", "hashed", "updates",
                "unrolled", "search"]

    def kernel(self, family, parameters, body, blocks=None, prefix=""):
        """Emits a kernel, or finds the same one. blocks: how it is written block by block for the model."""
        known = self.cache.get((parameters, body))
        if known and self.rng.random() < 0.7:
            return known
        name = f"{family}{self.count()}"
        if not blocks and self.rng.random() < 0.2:
            parameters = parameters.replace(" *", " *__restrict__ ")
        self.kernels.append((name, f"{prefix}__global__ void @({parameters}) {{\n{body}}}\n",
                             f"{prefix}static void @({parameters}) {{\n{blocks or body}}}\n"))
        if blocks:
            self.block_kernels.add(name)
        self.cache[(parameters, body)] = name
        return name

    def over(self, body):
        """(type of n, kernel body, style) for body being run for each i in [0, n). See Style."""
        kind, style = self.rng.choice(self.style.index_types), self.rng.choice(self.style.index_styles)
        if style < 0.25:
            return kind, (f"  for ({kind} i = ({kind})blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
                          f"       i += ({kind})gridDim.x * blockDim.x) {{\n{body}  }}\n"), "stride"
        index = {"int": "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n",
                 "unsigned": "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n",
                 "long": "  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;\n",
                 "size_t": "  const size_t i = threadIdx.x + (size_t)blockDim.x * blockIdx.x;\n"}[kind]
        if style < 0.6:
            return kind, index + f"  if (i < n) {{\n{body}  }}\n", "exact"
        return kind, index + f"  if (i >= n)\n    return;\n{body}", "exact"

    def grid(self, style, n):
        rng = self.rng
        block = rng.choice([32, 64, 128, 192, 256, 512])
        if style == "stride":
            return f"{rng.randint(1, 300)}, {block}"
        count = (n + block - 1) // block
        text = self.number(n)
        return rng.choice([f"{count}, {block}", f"({text} + {block - 1}) / {block}, {block}",
                           f"dim3(({text} + {block - 1}) / {block}), dim3({block})"])

    def launch_over(self, family, parameters, body, arguments, n, uses, stream=None, prefix="", extra=""):
        """parameters and arguments without the trailing n, which has the type of the index."""
        kind, text, style = self.over(body)
        parameters = ", ".join(filter(None, [parameters, f"{kind} n", extra.replace("@", kind)]))
        name = self.kernel(family, parameters, text, prefix=prefix)
        if style == "stride":
            self.require([use[:3] for use in uses])
        self.launch(name, self.grid(style, n), arguments(self.number(n)), uses, stream)

    def require(self, regions, more=0):
        """One launch needs all of it at once, because each block does, and some chunks more."""
        self.need = max(self.need, (sum(map(self.chunks, regions)) + more) * self.chunk)

    def require_all(self, more=0):
        """One launch may touch every buffer that there is."""
        self.require([(m, 0, m.words) for m in self.memories + self.unreachable if m.on_device and m.allocated], more)

    def chunks(self, region):
        _, low, high = region
        return high * 4 // self.chunk - low * 4 // self.chunk + 1

    # Which words. ---------------------------------------------------------------------------------------------------

    def source(self, least=1, most=None, apart=()):
        """(memory, first word, words) that are defined, or None."""
        rng = self.rng
        kinds = ("device", "async", "managed", *(["pinned"] if self.launching and rng.random() < 0.07 else []))
        ready = [(m, r) for m in self.memories if m.kind in kinds and m.allocated and m not in apart
                 for r in m.defined.ranges if r[1] - r[0] >= least]
        if not ready:
            return None
        memory, (low, high) = rng.choice(ready)
        room = min(high - low, most or high - low)
        words = room if rng.random() < 0.6 else rng.randint(least, room)
        first = low if rng.random() < 0.6 else rng.randint(low, high - words)
        return memory, first, words

    def target(self, words=None, apart=()):
        """(memory, first word, words) of any device memory; words: exactly so many."""
        rng = self.rng
        ready = [m for m in self.memories if m.on_device and m.allocated and m not in apart and m.words >= (words or 1)]
        if not ready:
            return None
        undefined = [m for m in ready if not m.full()]
        memory = rng.choice(undefined if undefined and rng.random() < 0.4 else ready)
        if words is None:
            words = memory.words if rng.random() < 0.75 else rng.randint(1, memory.words)
        room = memory.words - words
        return memory, rng.choice([0, 0, room, rng.randint(0, room)]), words

    def pair(self, least=1):
        """A source and a target of as many words in another memory; often all of it."""
        memories = [m for m in self.memories if m.on_device and m.allocated]
        whole = [(a, b) for a in memories for b in memories if a is not b and a.words >= b.words >= least and a.full()]
        if whole and self.rng.random() < 0.4:
            memory, to = self.rng.choice(whole)
            return (memory, self.rng.choice([0, memory.words - to.words]), to.words), (to, 0, to.words)
        source = self.source(least)
        if not source:
            return None
        memory, first, words = source
        targets = [m for m in self.memories if m.on_device and m.allocated and m is not memory and m.words >= least]
        if not targets:
            return None
        to = self.rng.choice(targets)
        words = min(words, to.words)
        room = to.words - words
        return (memory, first, words), (to, self.rng.choice([0, 0, room, self.rng.randint(0, room)]), words)

    @staticmethod
    def use(region, mode):
        memory, first, words = region
        return memory, first, first + words, mode

    # The kernels. ---------------------------------------------------------------------------------------------------

    def map(self):
        rng = self.rng
        target = self.target()
        if not target:
            return False
        sources = [s for s in (self.source(target[2], target[2], [target[0]]) for _ in range(rng.randint(0, 3))) if s]
        style = rng.choice(["pointer"] * 5 + ["shift"])
        terms, pointers = [], []
        for k, source in enumerate(sources):
            shift = source[1] if style == "shift" else 0
            pointers.append(self.pointer(source[0], source[1] - shift))
            terms.append(f"scramble(in{k}[i + {shift}])" if shift else f"scramble(in{k}[i])")
        shift = target[1] if style == "shift" else 0
        pointers.append(self.pointer(target[0], target[1] - shift))
        value = rng.choice([" + ", " ^ "]).join(terms) or f"scramble((uint32_t)i + {rng.choice([0, 17])})"
        parameters = ", ".join([f"const uint32_t *in{k}" for k in range(len(sources))] + ["uint32_t *out"])
        self.launch_over("map", parameters, f"    out[i + {shift}] = {value};\n" if shift else f"    out[i] = {value};\n",
                         lambda n: ", ".join(pointers + [n]), target[2],
                         [self.use(s, "r") for s in sources] + [self.use(target, "d")])
        return True

    def in_place(self):
        source = self.source()
        if not source:
            return False
        body = self.rng.choice(["    data[i] = scramble(data[i]) ^ (uint32_t)i;\n", "    data[i] += (uint32_t)i;\n",
                                "    uint32_t x = data[i];\n    if (x & 1)\n      data[i] = x * 3 + 1;\n"])
        self.launch_over("in_place", "uint32_t *data", body, lambda n: f"{self.pointer(*source[:2])}, {n}", source[2],
                         [self.use(source, "w")])
        return True

    def simple(self, family, body, least=1, mode="d", extra=None, parameters=None):
        pair = self.pair(least)
        if not pair or mode != "d" and not pair[1][0].defined.covers(pair[1][1], pair[1][1] + pair[1][2]):
            return False
        source, target = pair
        self.launch_over(family, "const uint32_t *in, uint32_t *out" + (parameters or ""), body,
                         lambda n: f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}{extra or ''}, {n}",
                         source[2] if source[2] < target[2] else target[2],
                         [self.use((source[0], source[1], target[2]), "r"), self.use(target, mode)])
        return True

    def stencil(self):
        reach = self.rng.choice([1, 2, 1000, self.scaled(70001)])
        return self.simple("stencil", f"    long low = (long)i - {reach}, high = (long)i + {reach};\n"
                           "    low = low < 0 ? 0 : low;\n    high = high < (long)n ? high : (long)n - 1;\n"
                           "    out[i] = in[low] * 3 + in[i] * 5 + in[high] * 7;\n")

    def reverse(self):
        return self.simple("reverse", "    out[n - 1 - i] = in[i];\n")

    def conditional(self):
        return self.simple("conditional", "    if (in[i] % 3 == 0)\n      out[i] = (uint32_t)i;\n", mode="w")

    def rotate(self):
        shift = self.rng.choice([1, 64, 1000])
        return self.simple("rotate", f"    out[i] = in[(i + {shift}) % n] + 1;\n")

    def broadcast(self):
        return self.simple("broadcast", "    out[i] = in[0] + in[n - 1] * (uint32_t)i;\n")

    def template(self):
        pair = self.pair()
        if not pair:
            return False
        source, target = pair
        kind, text, style = self.over("    out[i] = in[i] >> BITS | (uint32_t)i << (32 - BITS);\n")
        name = self.kernel("rotated", f"const uint32_t *in, uint32_t *out, {kind} n", text, prefix="template <int BITS> ")
        if style == "stride":
            self.require([(m, 0, m.words) for m in (source[0], target[0])])
        self.launch(f"{name}<{self.rng.randint(1, 31)}>", self.grid(style, target[2]),
                    f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {self.number(target[2])}",
                    [self.use((source[0], source[1], target[2]), "r"), self.use(target, "d")])
        return True

    def strided(self):
        pair = self.pair(64)
        if not pair:
            return False
        source, (to, first, words) = pair
        stride = self.rng.choice([2, 3, 8, 33])
        start = self.rng.choice([0, stride - 1])
        n = min(source[2], (words - start - 1) // stride)
        if n < 1:
            return False
        self.launch_over("strided", "const uint32_t *in, uint32_t *out", f"    out[i * {stride} + {start}] = in[i] + 1;\n",
                         lambda n: f"{self.pointer(*source[:2])}, {self.pointer(to, first)}, {n}", n,
                         [self.use((source[0], source[1], n), "r"), (to, first, first + words, "w")])
        return True

    def gather(self):
        pair, table = self.pair(), self.source(1)
        if not pair or not table or table[0] is pair[1][0]:
            return False
        indices, target = pair
        self.launch_over("gather", "const uint32_t *in, const uint32_t *indices, uint32_t *out, unsigned words",
                         "    out[i] = in[indices[i] % words];\n",
                         lambda n: f"{self.pointer(*table[:2])}, {self.pointer(*indices[:2])}, {self.pointer(*target[:2])}, "
                         f"{table[2]}u, {n}", target[2],
                         [self.use(table, "r"), self.use((indices[0], indices[1], target[2]), "r"), self.use(target, "d")])
        return True

    def follow(self):
        """As rows of a sparse matrix: where each begins, and how long it is, stands in an array."""
        pair, table = self.pair(), self.source(8)
        if not pair or not table or table[0] is pair[1][0]:
            return False
        indices, target = pair
        where = self.rng.choice(["indices[i] % words", "indices[i] / 64 % words", "(uint32_t)(i * 5 + indices[i] % 9) % words",
                                 "(indices[i] & 0xfff) < words ? indices[i] & 0xfff : 0"])
        when = self.rng.choice(["", "", "    if (indices[i] % 5 != 3)\n  "])
        length = self.rng.choice(["3", "indices[i] % 4", "((indices[i] >> 9) & 7)"])
        self.launch_over("follow", "const uint32_t *in, const uint32_t *indices, uint32_t *out, unsigned words",
                         f"    uint32_t at = {where}, sum = 1;\n"
                         f"{when}    for (uint32_t k = 0; k < {length} && at + k < words; ++k)\n      sum += in[at + k];\n"
                         "    out[i] = sum;\n",
                         lambda n: f"{self.pointer(*table[:2])}, {self.pointer(*indices[:2])}, {self.pointer(*target[:2])}, "
                         f"{table[2]}u, {n}", target[2],
                         [self.use(table, "r"), self.use((indices[0], indices[1], target[2]), "r"), self.use(target, "d")])
        return True

    def search(self):
        """Rows as those of follow, but for those alone that are marked; it takes the marks away, so nobody reads them before."""
        pair = self.pair()
        table = pair and self.source(8, apart=[pair[1][0]])
        marks = table and self.source(apart=[pair[0][0], pair[1][0], table[0]])
        if not marks:
            return False
        indices, target = pair
        n = min(target[2], marks[2])
        where = self.rng.choice(["(uint32_t)(i * 5 + indices[i] % 9) % words", "(uint32_t)(i * 3 + (indices[i] & 63)) % words",
                                 "indices[i] % words"])
        of, step = self.rng.choice([(1, 0), (2, 1), (5, 3), (64, 7), (1024, 0)]), self.rng.choice([1, 1, 64])
        length = self.rng.choice(["3", "indices[i] % 8", "32"])
        self.launch_over("search", "const uint32_t *in, const uint32_t *indices, uint32_t *marks, uint32_t *out, unsigned words",
                         f"    uint32_t sum = 1;\n    if (marks[i] / {step} % {of[0]} == {of[1]}) {{\n"
                         f"      const uint32_t at = {where};\n"
                         f"      for (uint32_t k = 0; k < {length} && at + k < words; ++k)\n        sum += in[at + k];\n"
                         "      marks[i] = sum;\n    }\n    out[i] = sum;\n",
                         lambda n: f"{self.pointer(*table[:2])}, {self.pointer(*indices[:2])}, {self.pointer(*marks[:2])}, "
                         f"{self.pointer(*target[:2])}, {table[2]}u, {n}", n,
                         [self.use(table, "r"), self.use((indices[0], indices[1], n), "r"), self.use((marks[0], marks[1], n), "w"),
                          self.use((target[0], target[1], n), "d")])
        return True

    def scatter(self):
        source, target = self.source(most=60000), self.source()
        if not source or not target or source[0] is target[0]:
            return False
        operation = self.rng.choice(["atomicAdd", "atomicXor", "atomicMax"])
        self.launch_over("scatter", "const uint32_t *in, uint32_t *out, unsigned words",
                         f"    {operation}(&out[in[i] % words], (uint32_t)i);\n",
                         lambda n: f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {target[2]}u, {n}", source[2],
                         [self.use(source, "r"), self.use(target, "w")])
        return True

    def hashed(self):
        """Where it reads is computed, and anywhere."""
        table, target = self.source(8), self.target()
        if not table or not target or table[0] is target[0]:
            return False
        place = self.rng.choice(["scramble((uint32_t)i)", "(uint32_t)i * 2654435761u", "(uint32_t)((uint64_t)i * 40503 % 65521)",
                                 "((uint32_t)i ^ (uint32_t)i >> 3 ^ (uint32_t)i << 7)"])
        self.launch_over("hashed", "const uint32_t *in, uint32_t *out, unsigned words",
                         f"    out[i] = in[{place} % words] + 1;\n",
                         lambda n: f"{self.pointer(*table[:2])}, {self.pointer(*target[:2])}, {table[2]}u, {n}", target[2],
                         [self.use(table, "r"), self.use(target, "d")])
        return True

    def updates(self):
        """Each thread has a generator of random numbers, and updates as many words as it is told."""
        target = self.source()
        if not target:
            return False
        operation = self.rng.choice(["atomicAdd", "atomicXor", "atomicMax"])
        steps = self.rng.choice([1, 3, 16, 50])
        self.launch_over("updates", "uint32_t *out, unsigned words, int steps",
                         "    uint32_t random = (uint32_t)i * 747796405u + 1;\n"
                         "    for (int k = 0; k < steps; ++k) {\n      random = random * 1664525u + 1013904223u;\n"
                         f"      {operation}(&out[(random >> 3) % words], random);\n    }}\n",
                         lambda n: f"{self.pointer(*target[:2])}, {target[2]}u, {self.number(steps)}, {n}",
                         self.rng.randint(1, 4000), [self.use(target, "w")])
        return True

    def unrolled(self):
        """Loops through all of the data that are unrolled by hand: one for the rest begins where they stop."""
        pair = self.pair(64)
        if not pair or pair[1][2] < 32:
            return False
        source, (to, first, words) = pair
        blocks = self.rng.randint(1, min(8, words // 32))
        kind = self.rng.choice(self.style.index_types)
        more = self.rng.randint(1, 4)
        found = self.rng.random() < 0.3
        body = (f"  const {kind} step = ({kind})gridDim.x * blockDim.x;\n"
                f"  {kind} i = ({kind})blockIdx.x * blockDim.x + threadIdx.x;\n"
                f"  const {kind} thread = i;\n  uint32_t sum = 1;\n"
                f"  for (; i + {more} * step < n; i += {more + 1} * step)\n"
                f"    sum = sum * 3 + in[i] {''.join(f' + in[i + {k} * step] * {k + 3}' for k in range(1, more + 1))};\n")
        if found:
            body += "  for (; i < n; i += step) {\n    if (in[i] % 64 == 5)\n      break;\n    sum += in[i];\n  }\n  sum += (uint32_t)i;\n"
        else:
            body += "  for (; i < n; i += step)\n    sum = sum * 5 + in[i];\n"
        body += "  out[thread] = sum;\n"
        name = self.kernel("unrolled", f"const uint32_t *in, uint32_t *out, {kind} n", body)
        n = self.rng.randint(1, source[2])
        uses = [self.use((source[0], source[1], n), "r"), self.use((to, first, blocks * 32), "d")]
        self.require([use[:3] for use in uses])
        self.launch(name, f"{blocks}, 32", f"{self.pointer(*source[:2])}, {self.pointer(to, first)}, {self.number(n)}", uses)
        return True

    def window(self):
        target = self.target()
        if not target:
            return False
        memory, first, words = target
        low = self.rng.randint(0, words)
        high = self.rng.randint(low, words)
        self.launch_over("window", "uint32_t *out", "    if (i >= low && i < high)\n      out[i] = (uint32_t)i * 9 + 1;\n",
                         lambda n: f"{self.pointer(memory, first)}, {n}, {low}, {high}", words,
                         [(memory, first, first + words, "w"), (memory, first + low, first + high, "d")],
                         extra="@ low, @ high")
        return True

    def two_outputs(self):
        first = self.target()
        second = first and self.target(first[2], [first[0]])
        source = second and self.source(first[2], first[2], [first[0], second[0]])
        if not source:
            return False
        self.launch_over("two_outputs", "const uint32_t *in, uint32_t *left, uint32_t *right",
                         "    left[i] = in[i] & 0xffff;\n    right[i] = in[i] >> 16;\n",
                         lambda n: ", ".join([self.pointer(*r[:2]) for r in (source, first, second)] + [n]), first[2],
                         [self.use(source, "r"), self.use(first, "d"), self.use(second, "d")])
        return True

    def choice(self):
        """A pointer that depends on an argument."""
        target = self.target()
        sources = target and [self.source(target[2], target[2], [target[0]]) for _ in range(2)]
        if not sources or None in sources:
            return False
        self.launch_over("choice", "const uint32_t *a, const uint32_t *b, uint32_t *out, int which",
                         "    const uint32_t *from = which ? a : b;\n    out[i] = from[i] * 3;\n",
                         lambda n: ", ".join([self.pointer(*r[:2]) for r in (*sources, target)]
                                             + [str(self.rng.randint(0, 1)), n]), target[2],
                         [self.use(s, "r") for s in sources] + [self.use(target, "d")])
        return True

    def view(self):
        """A structure of a pointer and its length, by value."""
        pair = self.pair()
        if not pair:
            return False
        source, target = pair
        name = self.kernel("view", "View in, View out",
                           "  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n  if (i < out.words)\n"
                           "    out.data[i] = scramble(in.data[i]);\n")
        n = self.number(target[2])
        self.launch(name, self.grid("exact", target[2]), f"View{{{self.pointer(*source[:2])}, {n}}}, "
                    f"View{{{self.pointer(*target[:2])}, {n}}}",
                    [self.use((source[0], source[1], target[2]), "r"), self.use(target, "d")])
        return True

    def pack(self):
        """A structure of several pointers, by value."""
        target = self.target()
        sources = target and [self.source(target[2], target[2], [target[0]]) for _ in range(3)]
        if not sources or None in sources:
            return False
        name = self.kernel("pack", "Pack p", "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= p.n)\n    return;\n"
                           "  uint32_t sum = 0;\n  for (int k = 0; k < 3; ++k)\n    sum = sum * 5 + p.in[k][i];\n"
                           "  p.out[i] = sum;\n")
        inner = ", ".join(self.pointer(*s[:2]) for s in sources)
        self.launch(name, self.grid("exact", target[2]),
                    f"Pack{{{{{inner}}}, {self.pointer(*target[:2])}, {target[2]}}}",
                    [self.use(s, "r") for s in sources] + [self.use(target, "d")])
        return True

    def constant(self):
        pair = self.pair()
        if not pair:
            return False
        source, target = pair
        name = f"table{self.count()}"
        self.globals.append(f"static __constant__ uint32_t {name}[8];\n")
        values = ", ".join(str(self.rng.randint(0, 999)) for _ in range(8))
        local = f"values{self.count()}"
        self.emit(f"const uint32_t {local}[8] = {{{values}}};")
        self.device_waits()
        self.emit(f"CHECK(cudaMemcpyToSymbol({name}, {local}, sizeof({local})));")
        self.launch_over("constant", "const uint32_t *in, uint32_t *out", f"    out[i] = in[i] * {name}[in[i] % 8];\n",
                         lambda n: f"{self.pointer(*source[:2])}, {self.pointer(*target[:2])}, {n}", target[2],
                         [self.use((source[0], source[1], target[2]), "r"), self.use(target, "d")])
        return True

    def table(self):
        """Pointers that are themselves in device memory. Such a launch may touch all that there is, which nobody counts while
        threads run."""
        if self.threads_run:
            return False
        target = self.target()
        sources = target and [self.source(target[2], target[2], [target[0]]) for _ in range(2)]
        if not sources or None in sources:
            return False
        self.require_all()
        host, table = f"pointers{self.count()}", f"list{self.count()}"
        self.emit("{")
        self.emit(f"const uint32_t *{host}[2] = {{{', '.join(self.pointer(*s[:2]) for s in sources)}}};")
        self.emit(f"const uint32_t **{table};")
        self.emit(f"CHECK(cudaMalloc((void **)&{table}, sizeof({host})));")
        self.emit(f"CHECK(cudaMemcpy({table}, {host}, sizeof({host}), cudaMemcpyHostToDevice));")
        self.launch_over("listed", "const uint32_t *const *in, uint32_t *out", "    out[i] = in[0][i] + in[1][i] * 3;\n",
                         lambda n: f"{table}, {self.pointer(*target[:2])}, {n}", target[2],
                         [self.use(s, "r") for s in sources] + [self.use(target, "d")])
        self.device_waits()
        self.emit(f"CHECK(cudaFree({table}));")
        self.emit("}")
        return True
