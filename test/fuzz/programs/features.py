"""What random programs have beside buffers, launches and copies in one thread. A program takes some of these by chance,
because two that meet find more than all of them at once do; --only and --without choose them."""

import random

# name: (how often each step is in the list at the outermost level, how often inside of others, steps)
FEATURES = {
    "threads": (3, 1, ["threads", "handoff", "under_lock"]),
    "streams": (4, 3, ["brief_stream", "brief_streams"]),
    "callbacks": (6, 4, ["host_function"]),
    "managed-files": (6, 4, ["managed_file"]),
    "forks": (5, 2, ["forked"]),
    "children": (4, 1, ["child_program"]),
    "signals": (3, 1, ["own_fault_handler", "raised", "blocked", "alarms"]),
    "tables": (5, 1, ["small_buffers"]),
    "variables": (5, 3, ["device_variable"]),
    "reset": (5, 0, ["reset"]),
    "ends": (0, 0, []),
    "own-host": (6, 2, ["own_host"]),
    "loops": (10, 2, ["data_loops"]),
}
SHARE = 0.3


class Selection:
    """only: names of features that every program has, and no others; without: those that none has; full_size: none has an
    eighth of the memory."""

    def __init__(self, only=(), without=(), full_size=False):
        unknown = (set(only) | set(without)) - FEATURES.keys() - {"none"}
        if unknown:
            raise ValueError(f"no feature '{min(unknown)}'; there are {', '.join(FEATURES)}, and --only none")
        self.only, self.without, self.full_size = set(only), set(without), full_size

    @property
    def options(self):
        return "".join(f" {name} {','.join(sorted(names))}" for name, names in
                       (("--only", self.only), ("--without", self.without)) if names) + " --full-size" * self.full_size


def chosen(seed, selection=None):
    """(names, steps at the outermost level, steps inside of others) of a program."""
    rng = random.Random(f"{seed} features")
    names = {name for name in FEATURES if rng.random() < SHARE}
    if selection:
        names = (selection.only & FEATURES.keys() if selection.only else names) - selection.without
    outer, inner = [], []
    for name in FEATURES:
        if name in names:
            many, few, steps = FEATURES[name]
            outer += many * steps
            inner += few * steps
    return names, outer, inner
