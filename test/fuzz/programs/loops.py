"""Kernels each block of which goes through all of the data, in a loop, over more data than the device has memory: what the
compiler can cut along that loop, and what it must not. They have buffers of their own, which live for a few launches."""

from .state import LEGACY, Memory
from .style import BUDGETS


class Data:
    """The buffers of a step: x and y are large, small holds results and what threads have for themselves, and few holds
    numbers that kernels read in front of a loop."""

    RESULTS = 64  # words at the beginning of small, for results of all threads
    SLOTS = 1024  # where words begin that each thread, or column, has for itself
    SMALL = 8192
    FEW = 256

    def __init__(self, number, words, kind):
        self.x, self.y = (Memory(f"{name}_{number}", words, kind) for name in "xy")
        self.small, self.few = Memory(f"s_{number}", self.SMALL, "device"), Memory(f"c_{number}", self.FEW, "device")
        self.all = [self.x, self.y, self.small, self.few]


class Loops:
    # What may run by loop, without and with y, and what must not or cannot.
    OVER_X = ["walk", "walk", "walk", "walk", "slots", "shared_bins", "shared_bins", "tree_sum", "staged", "columns", "columns",
              "ring", "exchanged", "prepared"]
    OVER_BOTH = ["elementwise_walk", "elementwise_walk", "two_walks", "two_walks", "planes", "planes", "column_scan", "tiles"]
    NOT_CUT = ["early_out", "loaded_limit", "do_while", "store_in_front", "own_accumulator", "far_reads", "planes_in_place",
               "shifted_walk", "ticket", "out_of_block", "pointers_kept"]

    def data_loops(self):
        rng = self.rng
        if self.depth > 1 or self.said is not None:
            return False
        families = [rng.choice(rng.choice([self.OVER_X, self.OVER_X, self.OVER_BOTH, self.OVER_BOTH, self.NOT_CUT]))
                    for _ in range(rng.choice([1, 1, 2, 3]))]
        with_y = any(family in self.OVER_BOTH for family in families)
        words = self.words_beyond(2 if with_y else 1)
        data = Data(self.count(), words, rng.choice(["device"] * 6 + ["async", "managed"]))
        kept = [m for m in data.all if with_y or m is not data.y]
        self.emit("{")
        for memory in kept:
            self.emit(f"uint32_t *{memory.text};")
            self.allocate(memory)
        self.memories += kept
        for memory in (data.x, data.small, data.few):
            self.fill_by_number(memory)
        for family in families:
            if getattr(self, family)(data) is False:
                return False
            if with_y and rng.random() < 0.3:
                self.exchange(data.x, data.y)
            if rng.random() < 0.2:
                with self.out_of_reach(kept):
                    self.step()
        self.read_results(data.small, data.SMALL)
        for memory in (data.x, data.y):
            if memory.allocated and (memory is data.y or rng.random() < 0.3) and memory.defined.longest():
                self.read_back(memory)
        for memory in rng.sample(kept, len(kept)):
            self.free(memory)
        self.emit("}")
        for memory in kept:
            self.memories.remove(memory)
        return True

    def words_beyond(self, buffers):
        """So many words that they exceed the device's memory, mostly also what kernels reach of the host's."""
        device_part, host_part, _ = BUDGETS[self.seed % len(BUDGETS)]
        room = device_part + host_part * 3 // 4
        least = room + 0.3 if room < 20 and self.rng.random() < 0.6 else device_part + 0.2
        chunks = least + self.rng.uniform(0, 1.8)
        return int(chunks * self.chunk / 4 / buffers)

    def fill_by_number(self, memory):
        stream, n = self.any_stream(), self.number(memory.words)
        name = self.kernel("numbers", "uint32_t *out, uint32_t add, long n",
                           "  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n"
                           "    out[i] = scramble((uint32_t)i + add) >> 3;\n")
        self.launch(name, f"({n} + 255) / 256, 256", f"{memory.text}, {self.rng.randint(0, 99)}, {n}",
                    [(memory, 0, memory.words, "d")], stream)

    def read_results(self, memory, words):
        """Without other memory of the host: into a variable."""
        host = f"seen{self.count()}"
        self.perform(LEGACY, [(memory, 0, words, "r")])
        self.emit(f"static uint32_t {host}[{words}];")
        self.emit(f"CHECK(cudaMemcpy({host}, {memory.text}, sizeof({host}), cudaMemcpyDeviceToHost));")
        self.order.host_waits(LEGACY)
        self.say(f"sum({host}, {words})")

    def read_back(self, memory):
        low, high = memory.defined.longest()
        host = f"all{self.count()}"
        self.perform(LEGACY, [(memory, low, high, "r")])
        self.emit(f"std::vector<uint32_t> {host}({high - low});")
        self.emit(f"CHECK(cudaMemcpy({host}.data(), {self.pointer(memory, low)}, (size_t){high - low} * 4, "
                  "cudaMemcpyDeviceToHost));")
        self.order.host_waits(LEGACY)
        self.say(f"sum({host}.data(), {high - low})")

    # What kernels are made of. ------------------------------------------------------------------------------------------

    def part_of(self, memory, least=1):
        """(memory, first word, words) that are defined: mostly all."""
        low, high = memory.defined.longest() or (0, 0)
        if high - low < least:
            return None
        if self.rng.random() < 0.75:
            return memory, low, high - low
        words = self.rng.randint(max(least, (high - low) * 2 // 3), high - low)
        return memory, self.rng.randint(low, high - words), words

    def launch_loop(self, name, grid, arguments, uses, cut=True, iteration=0, shared=0):
        """cut: the launch can run by loop, an iteration of which needs so many chunks more than two of each buffer."""
        stream = self.any_stream()
        self.perform(stream, uses)
        # What threads keep in between is a chunk at most.
        chunks = [self.chunks(use[:3]) for use in uses]
        least = sum(min(count, 2) for count in chunks) + 1 + iteration
        self.launches.add((sum(chunks) * self.chunk, least * self.chunk))
        if not cut:
            # All of each buffer, where nobody knows which parts.
            self.require([(use[0], 0, use[0].words) for use in uses], 1)
        config = grid
        if shared or stream != LEGACY:
            config += f", {shared}" + (f", {self.stream_text(stream)}" if stream != LEGACY else "")
        self.emit(f"{name}<<<{config}>>>({', '.join(arguments)});")

    def some_shape(self, most_blocks=24):
        """(blocks, threads of a block)"""
        return self.rng.randint(1, most_blocks), self.rng.choice([32, 64, 64, 96, 128, 256])

    def phased(self, family, parameters, shared, registers, text, dynamic=False):
        """A kernel of a one-dimensional or a two-dimensional grid with barriers. text: code of one thread between '[[' and
        ']]', which is a barrier, and code that all threads run alike around it. registers: {name: type}, of a thread, 0 at
        first, written $name in the text. shared: declarations, of an array of no size if dynamic."""
        thread = "[threadIdx.y * blockDim.x + threadIdx.x]"
        cuda, model = "", ""
        for declaration in shared:
            cuda += f"  {'extern ' if dynamic else ''}__shared__ {declaration};\n"
            model += f"  {declaration.replace('[]', '[4096]')};\n"
        for name, kind in registers.items():
            cuda += f"  {kind} {name} = 0;\n"
            model += f"  {kind} {name}[256] = {{}};\n"
        body = text
        for name in registers:
            body = body.replace(f"${name}", f"{name}@")
        cuda += body.replace("@", "").replace("[[", "{").replace("]]", "}\n  __syncthreads();")
        model += body.replace("@", thread).replace("[[", "FOR_THREADS {").replace("]]", "}")
        return self.kernel(family, parameters, cuda, model)
