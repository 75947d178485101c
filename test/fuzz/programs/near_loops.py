"""Loops through all of the data that look as if launches could run some iterations at a time, and cannot, or not so."""


class NearLoops:
    THREAD = "  const int t = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;\n"
    GO = "for (int i = t; i < n; i += step)"
    SUM, KEEP = "  uint32_t sum = 0;\n", "  own[t] = sum;\n"
    TAKE = "    sum = sum * 3 + x[i];\n"

    def near(self, family, data, body, parameters="", arguments=(), uses=()):
        """A launch of (x, own, n, more) where own has a word for each thread: all of it is needed at once, for all we know."""
        part = self.part_of(data.x, 64)
        if not part:
            return False
        memory, first, n = part
        blocks, threads = self.some_shape(8)
        # Never with __restrict__: some pointers are equal.
        name = self.kernel(family, f"const uint32_t* x, uint32_t* own, int n{parameters}", self.THREAD + body)
        low = data.SLOTS
        self.launch_loop(name, f"{blocks}, {threads}",
                         [self.pointer(memory, first), self.pointer(data.small, low), self.number(n), *arguments],
                         [(memory, first, first + n, "r"), (data.small, low, low + blocks * threads, "w"), *uses], cut=False)
        return True

    def early_out(self, data):
        """Left in the middle, by what is read."""
        how = self.rng.choice(["break", "return", "goto out"])
        leave = f"    if (x[i] % 997 == 5)\n      {how};\n"
        body = leave + self.TAKE if self.rng.random() < 0.5 else self.TAKE + leave
        label = "out:\n" if "goto" in how else ""
        return self.near("early_out", data, f"{self.SUM}  {self.GO} {{\n{body}  }}\n{label}{self.KEEP}")

    def loaded_limit(self, data):
        """The condition reads memory, or the data themselves."""
        body = self.rng.choice([
            f"{self.SUM}  for (int i = t; i < n && i < (int)(*limit % n); i += step)\n{self.TAKE}{self.KEEP}",
            f"{self.SUM}  int i = t;\n  while (i < n && x[i] % 1000 != limit[0] % 1000) {{\n"
            f"{self.TAKE}    i += step;\n  }}\n{self.KEEP}",
            "  own[t] = 3;\n  for (int i = t; i < n && own[t] != 0; i += step)\n"
            "    own[t] = own[t] % 1021 ? own[t] * 3 + x[i] + limit[0] : 0;\n"])
        return self.near("limit", data, body, ", const uint32_t* limit", [self.pointer(data.few, 3)], [(data.few, 3, 4, "r")])

    def do_while(self, data):
        return self.near("do_while", data, f"{self.SUM}  int i = t;\n  if (i >= n)\n    return;\n  do {{\n"
                         f"{self.TAKE}    i += step;\n  }} while (i < n);\n  own[t] += sum;\n")

    def store_in_front(self, data):
        """What is in front would happen several times: a store of something new, or an atomic."""
        front = self.rng.choice(["  own[t] += 1;\n", "  own[t] = own[t] * 3 + 1;\n", "  atomicAdd(&own[t], 5u);\n",
                                 "  for (int k = 0; k < 2; ++k)\n    own[t] += k + 7;\n",
                                 "  if (t % 2)\n    own[t] ^= 0x55555u;\n"])
        behind = self.rng.choice([f"  {self.GO}\n    own[t] += x[i];\n",
                                  f"  uint32_t sum = own[t];\n  {self.GO}\n{self.TAKE}{self.KEEP}"])
        return self.near("front", data, front + behind)

    def own_accumulator(self, data):
        """What is loaded in front of the loop is written in it or behind it: through the same pointer, or another one."""
        one = self.rng.random() < 0.4
        body = self.rng.choice([f"  {self.GO}\n    own[t] += x[i] * by;\n",
                                f"  uint32_t sum = by;\n  {self.GO} {{\n    sum = sum * by + x[i];\n    own[t] = sum;\n  }}\n",
                                f"  uint32_t sum = 1;\n  {self.GO}\n    sum += x[i] * by;\n{self.KEEP}"])
        if one:
            return self.near("accumulator", data, f"  const uint32_t by = own[t];\n{body}")
        # The same words, those of the threads.
        low = data.SLOTS
        return self.near("accumulator", data, f"  const uint32_t by = scale[t];\n{body}", ", const uint32_t* scale",
                         [self.pointer(data.small, low)], [(data.small, low, low + 2048, "r")])

    def far_reads(self, data):
        """Reads anywhere, so that all of it is needed for any iteration; or steps of a length that the data say."""
        go = self.rng.choice([f"{self.GO}\n    sum = sum * 3 + x[x[i] % n];\n",
                              f"for (int i = t; i < n; i += (1 + x[i] % 3) * step)\n{self.TAKE}",
                              f"{self.GO} {{\n{self.TAKE}    if (sum % 5 == 1)\n      i += step;\n  }}\n"])
        return self.near("far", data, f"{self.SUM}  {go}{self.KEEP}")

    def pointers_kept(self, data):
        """A thread keeps addresses, in an array of its own or in a variable. Such a launch may touch all that there is, which
        nobody counts while threads run."""
        if self.threads_run:
            return False
        self.require_all(2)
        body = self.rng.choice([
            f"  const uint32_t* from[2] = {{x + t % n, x}};\n{self.SUM}  {self.GO} {{\n    sum = sum * 3 + *from[x[i] & 1];\n"
            f"    from[i & 1] = x + i;\n  }}\n{self.KEEP}",
            f"  const uint32_t* best = x;\n  {self.GO}\n    if (x[i] > *best)\n      best = x + i;\n"
            "  own[t] = *best + (uint32_t)(best - x);\n",
            f"  uint32_t two[2] = {{1, 2}};\n  uint32_t* to = two;\n  {self.GO} {{\n    *to += x[i];\n"
            "    to = two + (x[i] & 1);\n  }\n  own[t] = two[0] * 3 + two[1];\n"])
        return self.near("pointers", data, body)

    def planes_in_place(self, data):
        """Marching planes that are written where they were read."""
        volume = self.volume(data)
        if not volume:
            return False
        memory, first, nx, ny, nz = volume
        body = ("  long at = (long)y * nx + x, plane = (long)nx * ny;\n  uint32_t below = in[at], here = in[at + plane];\n"
                "  for (int z = 1; z < nz - 1; ++z) {\n    uint32_t above = in[(z + 1) * plane + at];\n"
                "    out[z * plane + at] = below + 2 * here + above;\n    below = here;\n    here = above;\n  }\n")
        # The same buffer through two pointers, shifted by a plane or by none.
        shift = self.rng.choice([0, 0, -1])
        low = first + (0 if shift == 0 else nx * ny)
        nz -= shift != 0
        name = self.kernel("planes_at", "const uint32_t* in, uint32_t* out, int nx, int ny, int nz",
                           self.AT + self.guarded("x < nx && y < ny", body, self.rng.random() < 0.5))
        pointer = self.pointer(memory, low)
        self.launch_loop(name, f"dim3(({nx} + 31) / 32, ({ny} + 3) / 4), dim3(32, 4)",
                         [pointer, f"{pointer} - {nx * ny}" if shift else pointer, str(nx), str(ny), str(nz)],
                         [(memory, first, low + nx * ny * nz, "w")], cut=False)
        return True

    def shifted_walk(self, data):
        """Each thread reads what it wrote an iteration before, through another pointer into the same buffer."""
        part = self.part_of(data.x, 16384)
        if not part:
            return False
        memory, first, n = part
        blocks, threads = self.some_shape(16)
        apart = self.rng.choice([1, 1, 2]) * blocks * threads
        text = f"  {self.GO}\n    out[i] = in[i] * 3 + (uint32_t)i;\n"
        if self.rng.random() < 0.3:
            text = f"  uint32_t sum = in[t];\n  {self.GO} {{\n    sum = sum * 3 + in[i];\n    out[i] = sum;\n  }}\n"
        name = self.kernel("shifted", "const uint32_t* in, uint32_t* out, int n", self.THREAD + text)
        pointers = [self.pointer(memory, first), self.pointer(memory, first + apart)]
        if self.rng.random() < 0.3:
            pointers.reverse()
        self.launch_loop(name, f"{blocks}, {threads}", [*pointers, str(n - apart)], [(memory, first, first + n, "w")], cut=False)
        return True

    def ticket(self, data):
        """Threads take numbers in front of the loop, from an atomic in shared memory: each time others, perhaps."""
        text = ("  [[\n    if (threadIdx.x == 0)\n      next = 0;\n  ]]\n  [[\n    const int mine = atomicAdd(&next, 1u);\n"
                "    uint32_t sum = 0;\n    for (int i = blockIdx.x * blockDim.x + mine; i < n; i += gridDim.x * blockDim.x)\n"
                "      sum += x[i] * (mine + 1);\n    atomicAdd(out + 62, sum);\n  ]]\n")
        name = self.phased("ticket", "const uint32_t *x, uint32_t *out, int n", ["uint32_t next"], {}, text)
        return self.over_x(data, name, f"{self.rng.randint(1, 12)}, 64", cut=False)

    def out_of_block(self, data):
        """Some threads of a block with shared memory do not come to the loop."""
        text = ("  [[\n    own[threadIdx.x] = threadIdx.x;\n  ]]\n  [[\n    if (threadIdx.x % 3 != 1) {\n"
                f"      uint32_t sum = 0;\n      {self.STRIDE} {{\n        sum += x[i] * own[threadIdx.x];\n"
                "        own[threadIdx.x] ^= x[i];\n      }\n      atomicAdd(out + 63, sum);\n    }\n  ]]\n")
        name = self.phased("out_of_block", "const uint32_t *x, uint32_t *out, long n", ["uint32_t own[64]"], {}, text)
        return self.over_x(data, name, f"{self.rng.randint(1, 12)}, 64", cut=False)
