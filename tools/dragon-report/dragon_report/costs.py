"""The largest costs of a run, each with its reason and its cure, after docs/slow.md.

With a trace a cost is the time of a class (timeline.py), so costs do not overlap. With statistics alone it is what the moved
bytes take, at the rates that were measured, else at those of FALLBACK. With neither, what the compiler missed is all there is.
"""

import dataclasses

from . import units, words

FALLBACK_LINK = 25e9  # bytes a second: a PCIe 4 link, what budgets.md counts on at least
FALLBACK_DISK = 1e9
LEAST_SHARE = 0.01
UNSEEN = ("KernelWithoutSummary", "NotMappedUnseen")
# What code of other files may do to a buffer.
OUTSIDE = ("NotMapped", "NotDeferredEscapes", "NotDeferredOutside", "NotToPlaceEscapes")
ELSEWHERE = "in another translation unit"  # a cause of SliceLegality.cpp


@dataclasses.dataclass
class Cost:
    seconds: float
    title: str
    kind: str
    why: list = dataclasses.field(default_factory=list)  # sentences
    cure: list = dataclasses.field(default_factory=list)
    remarks: list = dataclasses.field(default_factory=list)  # ids that the program has
    estimated: bool = False


class Facts:
    """All that costs are judged by; each part may be missing."""

    def __init__(self, stats, timeline, kernels, remarks):
        self.stats, self.timeline, self.kernels = stats, timeline, kernels
        self.ids = {}
        self.whole = any(remark.record.endswith(".opt.ld.yaml") for remark in remarks)  # compiled with -flto
        self.unseen = []  # kernels of which nothing is known where they are launched, each once
        for remark in remarks:
            self.ids[remark.id] = self.ids.get(remark.id, 0) + 1
            name = remark.get("Kernel")
            if remark.id in UNSEEN and name and name not in self.unseen:
                self.unseen.append(name)
        # Without records: dragon-info says why a kernel is not cut.
        self.unseen += [kernel.name for kernel in kernels if ELSEWHERE in kernel.why_not_sliced and kernel.name not in self.unseen]

    def has(self, *names):
        """Those of the remarks that the program has."""
        return [name for name in names if name in self.ids]

    def bytes(self, direction, cause=None):
        return self.stats.bytes(direction, cause) if self.stats else 0

    def count(self, name):
        return self.stats.count(name) if self.stats else 0

    def full(self, memory):
        """Whether as much of a memory was held as may be, or nearly."""
        return bool(self.stats) and 0.9 * self.stats.limits.get(memory, 1 << 62) <= self.stats.peaks.get(memory, 0)


def kernels_run(facts, cost):
    near = [kernel for kernel in facts.kernels if kernel.seconds > 0 and not kernel.own and not kernel.far]
    cost.title = "The kernels compute"
    if near:
        cost.why.append(
            f"Kernels ran with all their data in device memory. Most of it was '{near[0].name}', {units.time(near[0].seconds)} in "
            f"{units.count(max(1, near[0].launches), 'launch', 'launches')}.")
    if facts.stats and facts.stats.device == "cpu":
        cost.why.append("The device was the host processor in this run; a GPU takes another time.")
    cost.cure.append(
        "This is the program's own work: only a faster kernel or a faster device makes it shorter. No data movement is in it.")


def kernels_far(facts, cost):
    far = [kernel for kernel in facts.kernels if kernel.far]
    cost.title = "Kernels fetch data over the link while they run"
    for kernel in far[:2]:
        if "mixed" in kernel.ways:
            reason = "what all its parts use is more than device memory has room for"
        else:
            reason = "it was not known beforehand which part it needs"
        cost.why.append(f"'{kernel.name}' ran {words.both(kernel.ways)}, for {units.time(kernel.seconds)}: "
                        f"a part of its data was not in device memory, and {reason}.")
    cost.remarks = facts.has("NotSliced", "NotPaged", "KernelWithoutSummary", "NotLoopSliced", "AccessesCounted")
    if any("paged" in kernel.ways for kernel in far):
        cost.why.append("It fetched pages (small pieces of buffers) when it needed them.")
        cost.cure.append("More device memory (DRAGON_DEVICE_MEMORY), so that pages stay; order the data so that neighbouring "
                         "threads use neighbouring places.")
    else:
        cost.cure.append("Let the compiler see which bytes a block of threads needs: plain pointers as kernel arguments, no inline "
                         "assembly on addresses. Or give the run more device memory (DRAGON_DEVICE_MEMORY).")


def moved(cost, size, how, alone):
    """With a trace a cost is only the time in which these bytes were moved and nothing hid it."""
    cost.why.append(f"{units.size(size)} {how}" + ("." if cost.estimated else f", a part of it {alone}."))


def whole_program(facts):
    """What -flto would change: a sentence and remarks, or None. Host code takes a kernel that it does not know as one that needs all."""
    if facts.whole:
        return None
    if not facts.unseen:
        outside = facts.has(*OUTSIDE)
        places = sum(facts.ids[name] for name in outside)
        return (f"Compile each source file with -flto: at {units.count(places, 'place')} a buffer or a copy was left as it is, because "
                "code of other files may use it.", outside) if outside else None
    shown = [f"'{name}'" for name in facts.unseen[:3]]
    if len(facts.unseen) > len(shown):
        shown.append(f"{units.number(len(facts.unseen) - len(shown))} more")
    return (f"Compile each source file with -flto: what {words.both(shown)} {'does' if len(facts.unseen) == 1 else 'do'} with buffers was "
            "not known where it is launched, because its code is in another file or compiled with -rdc=true, so all of their contents "
            "count as read and written.", facts.has(*UNSEEN))


def link_in(facts, cost):
    cost.title = "Data go from host memory to the device" if cost.estimated else "The device waits for data from host memory"
    total, stats = facts.bytes("host_to_device"), facts.stats
    if total:
        moved(cost, total, "went from host memory to the device", "while no kernel ran")
    if facts.count("evictions"):
        chunk = stats.limits.get("chunk")
        pieces = f" (pieces of buffers, {units.size(chunk)} each)" if chunk else ""
        cost.why.append(f"{units.count(facts.count('evictions'), 'chunk')}{pieces} had to leave device memory to make room: "
                        "what is needed again comes a second time.")
        limit = stats.limits.get("device_memory")
        cost.cure.append("Give the run more device memory" + (f" than {units.size(limit)}" if limit else "") +
                         " (DRAGON_DEVICE_MEMORY).")
    else:
        if stats:
            cost.why.append("Nothing had to leave device memory to make room, so nothing came a second time for want of it.")
        cost.cure.append(
            "What comes once cannot be avoided. Smaller data types help, and so does work that lets a kernel run meanwhile.")
    cost.remarks = facts.has("NotTogether", "NotTogetherStreams")
    if cost.remarks:
        cost.cure.append("Launches that follow one another can share what they fetch, if nothing is called in between: take "
                         "synchronising error checks and copies out of the loop.")
    copied = facts.bytes("host_to_device", "copy")
    if total and copied > total / 2:
        cost.remarks += facts.has("NotDeferredEscapes", "NotDeferredChanged", "NotElidedEscapes", "NotElidedLooked",
                                  "NotElidedMixed")
        cost.why.append(f"{units.size(copied)} of it were the program's own copies (cudaMemcpy).")


def link_out(facts, cost):
    cost.title = "Data go from the device to host memory" if cost.estimated else "The device waits until data have left it"
    total = facts.bytes("device_to_host")
    evicted, results = facts.bytes("device_to_host", "eviction"), facts.bytes("device_to_host", "sync")
    if total:
        moved(cost, total, "went from the device to host memory", "while no kernel ran")
    if evicted:
        cost.why.append(f"{units.size(evicted)} of it left to make room for other data (eviction), because it may still be needed.")
        cost.remarks = facts.has("NotDiscarded", "NotDiscardedTest", "NotDiscardedStreams", "NotDiscardedStream",
                                 "NotDiscardedBehind")
        cost.cure.append(
            "Free scratch buffers as soon as they are not needed, so that they need not be kept; or give the run more device memory "
            "(DRAGON_DEVICE_MEMORY).")
    if results:
        cost.why.append(f"{units.size(results)} of it are results that the program asked for.")
    if not cost.cure:
        cost.cure.append("Results have to leave the device once. Copy out only what is needed, and copy while another kernel runs.")


def file_read(facts, cost):
    total, back = facts.bytes("file_to_host"), facts.bytes("swap_to_host")
    what = "swap is read" if back > total else "files are read"
    cost.title = what[0].upper() + what[1:] if cost.estimated else f"The device waits while {what}"
    if total:
        moved(cost, total, "were read from the program's files", "while nothing else ran")
    if back:
        swap(cost, f"{units.size(back)} were read back from swap")
    if total:
        cost.cure.append("The first read of an input cannot be avoided: a faster disk helps.")
        if facts.full("host_memory"):
            cost.cure.append("Host memory was full, so some may have been read again: give the run more than "
                             f"{units.size(facts.stats.limits['host_memory'])} (DRAGON_HOST_MEMORY).")
    if not cost.cure:
        cost.cure.append("A faster disk helps, or more host memory (DRAGON_HOST_MEMORY), so that less is read again.")


def file_write(facts, cost):
    total, out = facts.bytes("host_to_file"), facts.bytes("host_to_swap")
    what = "swap is written" if out > total else "files are written"
    cost.title = what[0].upper() + what[1:] if cost.estimated else f"The program waits while {what}"
    if total:
        cost.why.append(f"{units.size(total)} were written to the program's files.")
    if out:
        swap(cost, f"{units.size(out)} were written to swap")
        cost.remarks += facts.has("SinkSeveral", "SinkPart", "SinkRepeated", "SinkReadAgain", "SinkConditional", "SinkOpenedLate",
                                  "SinkFileUsed")
    if facts.timeline:
        late = facts.timeline.after(facts.timeline.last_kernel(), "file-write")
        if late > cost.seconds / 2:
            cost.why.append(f"{units.time(late)} of this was after the last kernel, so nothing hides it.")
            cost.cure.append("Write results after each step and not all at the end, so that kernels run while files are written.")
    if not cost.cure:
        cost.cure.append("A faster disk helps; so does writing each result right after the kernel that makes it.")


def swap(cost, what):
    cost.why.append(
        f"{what}: files that hold data which fit neither in device memory nor in host memory, and are in no file of the program.")
    cost.cure.append(
        "Give the run more host memory (DRAGON_HOST_MEMORY), or name a faster disk in DRAGON_SWAP_DIR. Inputs that are "
        "read from files by fread or mmap need no swap.")


HOST_CURES = [
    (("host access", ),
     "Host code touched managed memory that was on the device. Touch it before the first launch or after the last one.", ()),
    (("copy in", "copy of the program's memory", "read of the program's memory"),
     "The data are in plain host memory, from which they are copied twice. Read inputs by fread or mmap, or allocate with cudaMallocHost.",
     ("NotElidedEscapes", "NotElidedLooked", "NotElidedMixed", "NotElidedSeveral", "NotElidedStream", "NotDeferredEscapes",
      "NotDeferredChanged", "NotDeferredOutside")),
    (("copy out", "write to the program's memory"),
     "Results are copied to plain host memory. Allocate it with cudaMallocHost, or write them to files by fwrite.",
     ("NotToPlaceEscapes", "NotToPlaceUsed")),
    (("settle", ), "The program changes or frees data while a launch still needs them. Do that after the launch.",
     ("CopySettled", )),
    (("plan", "plan wavefront", "read indices"),
     "Launches that come again with the same arguments are planned once: allocate buffers once, before the "
     "loop, and keep the order of the launches.", ()),
    (("evict", "bring in", "fetch", "launch", "launches together"),
     "This is the runtime's work for each piece of data that moves: more device memory "
     "(DRAGON_DEVICE_MEMORY) or larger pieces (DRAGON_CHUNK_SIZE) make it less.", ()),
]


def host_work(facts, cost):
    cost.title = "The runtime works on the host while nothing else happens"
    inner = facts.timeline.inner() if facts.timeline else []
    for seconds, name in inner[:2]:
        cost.why.append(f"{units.time(seconds)}: {words.ZONES.get(name, name)}.")
    for names, cure, remarks in HOST_CURES:
        if inner and inner[0][1] in names:
            cost.cure.append(cure)
            cost.remarks = facts.has(*remarks)
    if not cost.cure:
        cost.cure.append("DRAGON_LOG=debug prints what the runtime does in this time.")


def nothing(facts, cost):
    cost.title = "The program's own host code runs, or waits"
    cost.why.append("The trace has nothing for this time: no kernel, no copy, no file and no work of the runtime.")
    cost.cure.append(
        "Look at what the program does between its calls of CUDA, with a profiler for host code. It is no data movement.")


def within(facts, cost):
    cost.title = "Data are copied within the device"
    peers = facts.stats.peers if facts.stats else 0
    if peers:
        cost.title = "Data are copied within the device or go to another GPU and come back"
        cost.why.append(f"{units.size(peers)} went to the spare memory of another GPU or came from it, because they did not fit on "
                        "the program's own (DRAGON_PEERS).")
        cost.cure.append("Give the run more device memory (DRAGON_DEVICE_MEMORY), so that less has to leave.")
        if not facts.bytes("device_to_device"):
            return
    cost.why.append("The program's own copies between buffers on the device and its fills (cudaMemset).")
    cost.cure.append("Swap pointers where a buffer is copied as a whole, and let kernels write what would be filled first.")


RULES = {
    "far": kernels_far,
    "kernel": kernels_run,
    "within": within,
    "link-in": link_in,
    "link-out": link_out,
    "file-read": file_read,
    "file-write": file_write,
    "host": host_work,
    "nothing": nothing
}


MOVES = ("far", "link-in", "link-out", "file-read", "file-write")  # what depends on what is known of kernels


def estimated(stats):
    """Class -> seconds that moved bytes take."""

    def of(directions, fallback):
        rows = [row for direction in directions for row in stats.moved.get(direction, {}).values()]
        return sum(seconds or size / fallback for size, seconds in rows)

    return {
        "link-in": of(["host_to_device"], FALLBACK_LINK),
        "link-out": of(["device_to_host"], FALLBACK_LINK),
        "file-read": of(["file_to_host", "swap_to_host"], FALLBACK_DISK),
        "file-write": of(["host_to_file", "host_to_swap"], FALLBACK_DISK),
        "within": of(["device_to_device", *stats.PEERS], 10 * FALLBACK_LINK)
    }


def largest(facts, most=3):
    """The largest costs, at most so many."""
    if facts.timeline:
        seconds = {kind: facts.timeline.seconds(kind) for kind in RULES}
        least = LEAST_SHARE * facts.timeline.length
    elif facts.stats:
        seconds, least = estimated(facts.stats), 0
    else:
        return []
    found = []
    for kind, rule in RULES.items():
        if seconds.get(kind, 0) > least:
            cost = Cost(seconds[kind], "", kind, estimated=facts.timeline is None)
            rule(facts, cost)
            found.append(cost)
    found = sorted(found, key=lambda cost: -cost.seconds)[:most]
    # Once, where it helps most, and first: nothing in the program has to change for it.
    whole, helped = whole_program(facts), [cost for cost in found if cost.kind in MOVES]
    if whole and helped:
        helped[0].cure.insert(0, whole[0])
        helped[0].remarks = whole[1] + [name for name in helped[0].remarks if name not in whole[1]]
    return found


def hints(facts, costs):
    """Other things that the numbers show: sentences, with the remarks that say more."""
    found, count = [], facts.count
    if not facts.stats:
        return found
    told = {cost.kind for cost in costs}
    if not told & set(MOVES) and (whole := whole_program(facts)):
        found.append(whole)
    if facts.stats.swap and not told & {"file-read", "file-write"}:
        found.append((
            f"{units.size(facts.stats.swap)} went to swap or came from it: files for data that fit in neither memory. More host memory "
            "(DRAGON_HOST_MEMORY) avoids it.", []))
    if count("launches") >= 10 and count("sliced_launches") and count("foreseen_launches") * 2 < count("launches"):
        found.append((
            f"Only {units.number(count('foreseen_launches'))} of {units.number(count('launches'))} launches came as those before them had "
            "led to expect, so data could seldom be fetched ahead. Allocate buffers once, before the loop, and keep the order of the launches.",
            []))
    if count("host_faults"):
        found.append(
            (f"The program's host code touched managed memory that was on the device {units.count(count('host_faults'), 'time')}.",
             []))
    if count("buffered_fallbacks"):
        found.append(
            (f"{units.count(count('buffered_fallbacks'), 'file')} could not be read past the system's page cache, which is slower.",
             []))
    copied, avoided = facts.bytes("host_to_device", "copy"), facts.stats.avoided.get("elided_staging", 0)
    missed = facts.has("NotElidedEscapes", "NotElidedLooked", "NotElidedMixed", "NotElidedSeveral", "NotElidedStream")
    if copied > avoided and missed:
        found.append((f"{units.size(copied)} were copied by the program itself. Some host buffers could not be left out.", missed))
    if "host" not in told and "link-in" not in told and facts.has("NotTogether"):
        found.append(("Some launches that follow one another do not run together.", ["NotTogether"]))
    return found


def limit(facts):
    """The class that takes most time, without what cannot be told apart."""
    if not facts.timeline:
        return None
    groups = {
        "the kernels themselves": ["kernel", "within"],
        "kernels that use host memory over the link": ["far"],
        "the link between host memory and device memory": ["link-in", "link-out"],
        "the files": ["file-read", "file-write"],
        "the runtime's work on the host": ["host"],
        "what the trace does not record: the program's own host code": ["nothing"]
    }
    sums = {name: sum(facts.timeline.seconds(kind) for kind in kinds) for name, kinds in groups.items()}
    name = max(sums, key=sums.get)
    return name, sums[name]
