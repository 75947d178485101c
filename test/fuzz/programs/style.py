"""What the programs of one executable have in common, so that they take less time to compile or to run; by chance, most have
the cheaper of two."""

import random

TOGETHER = 500  # programs in one executable
CHUNK = 2 << 20  # the smallest of GPUs
BUDGETS = [  # chunks of device and host memory, of which a program has those of its seed
    (8, 8, {}),
    (12, 4, {"DRAGON_IO_URING": "0"}),
    (6, 32, {"DRAGON_DIRECT_IO": "off"}),
    (4, 4, {}),
    (5, 6, {"DRAGON_CPU_THREADS": "1"}),
]
QUICK_CODE = [word for option in ("-fast-isel", "-optimize-regalloc=0", "-regalloc=fast") for word in ("-mllvm", option)]


class Style:
    def __init__(self, seed, full_size=False):
        rng = random.Random(f"{seed // TOGETHER} style")
        # Indices have two types, and kernels go over them in two ways, so that programs have many kernels in common.
        self.index_types = [rng.choice(["int", "int", "int", "unsigned", "size_t", "long"]) for _ in range(2)]
        self.index_styles = [rng.random() for _ in range(2)]
        # std::thread and std::async, or threads as C starts them.
        self.standard_threads = rng.random() < 1 / 8
        # Results are checked where a call stands, as by most people's macros, or by a function that is called there.
        self.checks_in_place = rng.random() < 1 / 3
        # Where a destructor is to run, a call that may throw has two ways out.
        self.exceptions = rng.random() < 1 / 3
        # LLVM's code generator does all that it can for host code.
        self.best_code = rng.random() < 1 / 8
        # Chunks as large as on GPUs, or all memory is an eighth of that.
        self.scale = 1 if rng.random() < 1 / 8 or full_size else 8
        # Loops through all of the data go in two or three ways, mostly, and something of three kinds goes on in them.
        self.walks, self.walk_sums = rng.sample(range(100), 3), rng.sample(range(100), 3)

    def mostly(self, rng, numbers, choices):
        """One of the choices, mostly of those that the executable's numbers stand for."""
        return choices[rng.choice(numbers) % len(choices)] if rng.random() < 0.7 else rng.choice(choices)

    @property
    def options_of_language(self):
        return ["-fno-exceptions"] * (not self.exceptions) + ["-DCHECKS_IN_PLACE"] * self.checks_in_place

    @property
    def options(self):
        return self.options_of_language + ([] if self.best_code else QUICK_CODE)
