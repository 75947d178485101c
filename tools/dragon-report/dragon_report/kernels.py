"""What is known of each kernel, from the trace, the records, dragon-info and the statistics."""

from __future__ import annotations

import dataclasses
import re

from .timeline import FAR_WAYS
from .trace import Link

# The ways of docs/slow.md, in words.
WAYS = {
    "resident": "All that the kernel touches was in device memory.",
    "sliced": "The kernel did not fit as a whole: a part of its grid ran at a time, with the data that this part needs.",
    "by loop": "The kernel did not fit as a whole: some iterations of a loop ran at a time, with the data that they need.",
    "together": "Launches that follow one another ran part by part: what one leaves in device memory the next one finds there.",
    "mixed": "A part of the grid ran at a time, and some data stayed in host memory, where each access goes over the link.",
    "host-mapped": "Some data stayed in host memory: each access to them goes over the link, which is slow if it comes back.",
    "paged": "The kernel fetched pages (small pieces of buffers) itself when it needed them.",
    "impossible": "The launch did not fit in any way.",
    "unknown": "The trace does not say in which way.",
}


@dataclasses.dataclass
class Kernel:
    name: str
    launches: int = 0
    pieces: int = 0
    seconds: float = 0.0
    copied: int = 0
    link: Link | None = None  # what crossed the link for it alone; nothing: the trace does not say
    shared: list = dataclasses.field(default_factory=list)  # (names of kernels, what crossed the link for all of them)
    pages: int = 0  # bytes that it fetched and wrote page by page, if no other kernel did
    ways: dict = dataclasses.field(default_factory=dict)  # way -> launches
    instead: tuple | None = None
    remarks: list = dataclasses.field(default_factory=list)
    info: dict | None = None
    footprint: dict | None = None
    own: bool = False  # the runtime's

    @property
    def far(self):
        return any(way in self.ways for way in FAR_WAYS)


    @property
    def why_not_sliced(self):
        return (self.info or {}).get("why_not_sliced") or ""


def base(name):
    """'sum' of 'sum<float>(float*)' and 'ns::sum'."""
    return re.split(r"[<(]", name, maxsplit=1)[0].split("::")[-1].strip()


def match(kernels, name):
    """The kernels that a name means: those of that name, else those of which it is the name without types."""
    exact = [kernel for kernel in kernels if kernel.name == name]
    return exact or [kernel for kernel in kernels if base(kernel.name) == base(name)]


def traced(trace, timeline, stats):
    found, alone = [], {}
    for name, runs in trace.kernels.items():
        kernel = Kernel(name,
                        pieces=len(runs.zone.begins),
                        seconds=timeline.kernels[name].seconds,
                        copied=runs.copied,
                        link=runs.link,
                        shared=[(names, link) for names, link in trace.shared.items() if name in names],
                        ways=dict(runs.ways),
                        instead=runs.instead,
                        own=name.startswith("__dragon_"))
        chosen = sum(runs.ways.values())
        kernel.launches = chosen if runs.by_loop else max(chosen, round(runs.whole))
        if kernel.launches > chosen and not kernel.own:
            alone[name] = kernel.launches - chosen
        if stats and stats.count("paged_launches") and "host-mapped" in kernel.ways and \
                stats.count("paged_launches") >= stats.count("host_mapped_launches"):
            kernel.ways["paged"] = kernel.ways.pop("host-mapped")
        found.append(kernel)
    # Launches without a choice of their own ran with others, or had all that they need. The statistics count the first ones;
    # if they do not decide, it is those that ran in parts.
    all_together = stats is not None and stats.count("launches_together") == sum(alone.values())
    for kernel in found:
        if kernel.name in alone:
            together = trace.together and (all_together or trace.kernels[kernel.name].parts)
            kernel.ways["together" if together else "resident"] = alone[kernel.name]
    paged = [kernel for kernel in found if "paged" in kernel.ways]
    if stats and len(paged) == 1:
        paged[0].pages = sum(stats.bytes(way, "paging") for way in ("host_to_device", "device_to_host"))
    return found


def collect(trace, timeline, stats, remarks, info):
    """The kernels, those that ran longest first."""
    found = traced(trace, timeline, stats) if trace else []
    for name, node in (info or {}).items():
        meant = match(found, name)
        if not meant:
            meant = [Kernel(name)]
            found += meant
        for kernel in meant:
            kernel.info = node
    for remark in remarks:
        name = remark.get("Kernel")
        if not name or remark.id in ("NotDiscardedTest", "NotDiscardedBehind"):  # these are about buffers
            continue
        meant = match(found, name)
        if not meant:
            meant = [Kernel(name)]
            found += meant
        for kernel in meant:
            kernel.remarks.append(remark)
    for name, row in (stats.footprints if stats else {}).items():
        for kernel in match(found, name):
            kernel.footprint = row
    return sorted(found, key=lambda kernel: (kernel.own, -kernel.seconds, kernel.name))
