"""What a trace says about time: lanes in buckets, and what the run was busy with at each moment.

At each moment several things may happen at once. The measured time is shared out so that each moment counts once: a kernel that
runs comes first, then the link, files, and the host. What a class gets is thus the time that nothing in front of it hides.
"""

import dataclasses

from . import intervals

BUCKETS = 480
LEAST = 1e-9  # seconds: no run is shorter

LANES = {
    "copies to the device": "link-in",
    "copies from the device": "link-out",
    "copies within the device": "within",
    "kernels": "kernel"
}
FILES = {"file read": "file-read", "file write": "file-write"}
# In which order a moment is given to a class.
CLASSES = ["far", "kernel", "within", "link-in", "link-out", "file-read", "file-write", "host", "nothing"]
FAR_WAYS = {"host-mapped", "mixed", "paged"}
# Zones that only wait for what others do: by themselves they are no work.
ENCLOSING = {"launch", "launches together", "bring in", "fetch", "write to file"}


@dataclasses.dataclass
class Row:
    """A lane, or a name within one."""

    kind: str
    name: str
    busy: list  # intervals
    bytes: int
    events: int

    @property
    def seconds(self):
        return intervals.total(self.busy)


class Timeline:

    def __init__(self, trace):
        self.trace = trace
        self.begin, self.end = (0.0, 0.0) if trace.empty() else (trace.begin(), trace.end())
        self.length = max(self.end - self.begin, LEAST)
        self.width = self.length / BUCKETS
        zones = {}  # kind, or ("host", name) -> zones
        for (lane, name), zone in trace.zones.items():
            zones.setdefault(self.kind_of(lane, name), []).append(zone)
        self.rows = {}  # kind -> Row; of the host's threads by name
        self.host = {}
        for kind, found in zones.items():
            row = Row(kind if isinstance(kind, str) else "host", kind if isinstance(kind, str) else kind[1],
                      intervals.union([intervals.merged(zone.begins, zone.ends) for zone in found]),
                      sum(zone.bytes for zone in found), sum(len(zone.begins) for zone in found))
            (self.rows if isinstance(kind, str) else self.host)[row.name] = row
        self.kernels = {
            name: Row("kernel", name, intervals.merged(runs.zone.begins, runs.zone.ends), 0, len(runs.zone.begins))
            for name, runs in trace.kernels.items()
        }
        self.parts = self.shared_out()

    def kind_of(self, lane, name):
        title = self.trace.lanes.get(lane)
        if title is not None:
            return LANES.get(title.split(", queue")[0], "within")
        return FILES.get(name) or ("host", name)

    def busy(self, kind):
        return self.rows[kind].busy if kind in self.rows else []

    def shared_out(self):
        """Class -> the moments that it has."""
        far = [self.kernels[name].busy for name, runs in self.trace.kernels.items() if FAR_WAYS & set(runs.ways)]
        busy = {kind: self.busy(kind) for kind in ("kernel", "within", "link-in", "link-out", "file-read", "file-write")}
        busy["far"] = intervals.union(far)
        busy["host"] = intervals.union([row.busy for name, row in self.host.items()])
        left, parts = [(self.begin, self.end)] if self.end > self.begin else [], {}
        for kind in CLASSES[:-1]:
            parts[kind], left = intervals.split(left, busy[kind])
        parts["nothing"] = left
        return parts

    def seconds(self, kind):
        return intervals.total(self.parts[kind])

    def inner(self):
        """By name, what the host's threads do at moments that are the host's, most first: zones that enclose others are left out
        where an inner one says more."""
        found, left = [], self.parts["host"]
        names = sorted(self.host, key=lambda name: (name in ENCLOSING, -self.host[name].seconds))
        for name in names:
            inside, left = intervals.split(left, self.host[name].busy)
            found.append((intervals.total(inside), name))
        return sorted((item for item in found if item[0] > 0), reverse=True)

    def last_kernel(self):
        """When the last kernel was done."""
        busy = self.busy("kernel")
        return busy[-1][1] if busy else self.begin

    def after(self, moment, kind):
        """Seconds of a class behind a moment."""
        return sum(end - max(begin, moment) for begin, end in self.parts[kind] if end > moment)

    def shares(self, busy):
        return intervals.shares(busy, self.begin, self.width, BUCKETS)

    def counters(self):
        """Name -> the largest value in each bucket; a value holds until the next one."""
        out = {}
        for name, points in self.trace.counters.items():
            values, now, at = [], 0, 0
            points.sort()
            for bucket in range(BUCKETS):
                most = now
                while at < len(points) and points[at][0] < self.begin + (bucket + 1) * self.width:
                    now = points[at][1]
                    most, at = max(most, now), at + 1
                values.append(most)
            out[name] = values
        return out
