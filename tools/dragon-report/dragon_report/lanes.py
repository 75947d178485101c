"""The timeline: a lane for what the device, the links, the files and the host did, in buckets of equal length."""

from . import units, words
from .markup import data, el, join
from .timeline import BUCKETS, CLASSES

HEIGHT = 28
MOST_KERNELS, MOST_ZONES = 6, 8


def steps(values, top=0.0, floor=HEIGHT):
    """A path around the area under steps of 0 to 1; equal steps are one."""
    out, last, at = [f"M0 {floor}"], None, 0
    for index, value in enumerate(values):
        y = f"{floor - value * (floor - top):.1f}".removesuffix(".0")
        if y != last:
            out.append(f"{'H%d' % index if index else ''}V{y}")
            last = y
        at = index + 1
    return "".join(out) + f"H{at}V{floor}Z"


def drawing(paths, label):
    return el("svg",
              paths,
              viewBox=f"0 0 {BUCKETS} {HEIGHT}",
              preserveAspectRatio="none",
              class_="lane",
              role="img",
              aria_label=label)


def lane(name, notes, svg, class_=None, hint=None):
    return el("div",
              el("div",
                 el("b", name),
                 el("span", join(notes, " \u00b7 ")),
                 el("span", hint, class_="hint") if hint else None,
                 class_="what"),
              svg,
              class_=f"row {class_ or ''}".strip())


def stacked(timeline):
    """What each moment was given to: the classes on top of each other."""
    floors = [0.0] * BUCKETS
    paths = []
    for kind in CLASSES[:-1]:
        values = timeline.shares(timeline.parts[kind])
        if not any(values):
            continue
        floors = [floor + value for floor, value in zip(floors, values)]
        paths.append(el("path", d=steps([min(1, value) for value in floors]), class_=f"k-{kind}"))
    # Those below are drawn last.
    return drawing(join(reversed(paths)), "what the run was busy with")


class Lanes:

    def __init__(self, inputs):
        self.timeline = inputs.timeline
        self.rows, self.shown = [], []

    def add(self, row, name, kind, more=None, hint=None, class_=None):
        values = self.timeline.shares(row.busy)
        notes = [units.time(row.seconds), units.share(row.seconds, self.timeline.length)]
        if row.bytes:
            notes.append(units.size(row.bytes))
            notes.append(units.rate(row.bytes, row.seconds) if kind in ("link-in", "link-out", "file-read", "file-write") else None)
        notes.append(more or units.count(row.events, "event"))
        svg = drawing(el("path", d=steps(values), class_=f"k-{kind}"), hint or name)
        self.rows.append(lane(name, [note for note in notes if note], svg, class_, hint))
        self.shown.append([name, [round(100 * value) for value in values]])

    def device(self, kernels):
        timeline = self.timeline
        for kind, name in words.LANES.items():
            row = timeline.rows.get(kind)
            if row is None or not row.busy:
                continue
            self.add(row, name, kind, more=units.count(row.events, "piece") if kind == "kernel" else None)
            shown = [kernel for kernel in kernels if kernel.seconds > 0]
            if kind == "kernel" and len(shown) > 1:
                for kernel in shown[:MOST_KERNELS]:
                    self.add(timeline.kernels[kernel.name],
                             kernel.name,
                             "far" if kernel.far else "kernel",
                             class_="inner",
                             more=units.count(kernel.pieces, "piece"))
                if len(shown) > MOST_KERNELS:
                    self.rows.append(
                        el("p", f"{units.count(len(shown) - MOST_KERNELS, 'kernel')} with less time are not drawn here; "
                           "the list of kernels has them.",
                           class_="inner"))

    def host(self):
        rows = sorted((row for row in self.timeline.host.values() if row.busy), key=lambda row: -row.seconds)
        for row in rows[:MOST_ZONES]:
            self.add(row, row.name, "host", hint=words.ZONES.get(row.name))
        return len(rows) - MOST_ZONES

    def memory(self, stats):
        """Counters of the trace over time; the budgets are drawn where the names tell which is meant."""
        drawn = []
        for name, values in self.timeline.counters().items():
            most = max(values) or 1
            name = name.removeprefix("memory held: ")
            if name == "swap" and not any(values):
                continue
            limit = stats.limits.get(name.replace(" ", "_")) if stats else None
            drawn.append(
                lane(name, [f"at most {units.size(max(values))}" + (f" of {units.size(limit)}" if limit else "")],
                     drawing(el("path", d=steps([value / most for value in values]), class_="k-memory"), name)))
            self.shown.append([name, [units.size(value) for value in values]])
        if drawn:
            return join([el("h3", "Memory held"), drawn])
        note = "The trace does not say how much memory was held at which time."
        return el("p",
                  note + (" The most that was held stands in the picture above." if stats and stats.peaks else ""),
                  class_="more")


def axis(timeline):
    return el("div",
              el("div", class_="what"),
              el("div", [el("span",
                            units.time(timeline.length * part / 4) if part else "0") for part in range(5)], class_="ticks"),
              class_="row axis")


def section(inputs):
    timeline = inputs.timeline
    if not timeline:
        return None
    lanes = Lanes(inputs)
    lanes.rows.append(lane("all together", ["coloured as in “Where the time went”"], stacked(timeline), "all"))
    lanes.device(inputs.kernels)
    lanes.rows.append(axis(timeline))
    lanes.rows.append(el("h3", "Threads of the host"))
    left = lanes.host()
    memory = lanes.memory(inputs.stats)
    trace = inputs.trace
    intro = (
        f"{units.count(trace.events, 'event')} of the trace, in {BUCKETS} steps of {units.time(timeline.width)}. The higher a lane, the "
        "more of that step it was busy. Shares are of the measured time; lanes that are busy at the same time overlapped.")
    return el("section",
              el("h2", "Timeline"),
              el("p", intro),
              el("p", "The trace ends before the run did: the program was stopped, or the file is incomplete.", class_="warn")
              if trace.truncated else None,
              el("div",
                 lanes.rows,
                 el("p", f"{units.count(left, 'name')} with less time are not drawn.", class_="hint") if left > 0 else None,
                 memory,
                 el("div", class_="cursor", hidden=True),
                 el("output", class_="read", hidden=True),
                 class_="timeline"),
              data("lanes", {
                  "length": timeline.length,
                  "lanes": lanes.shown
              }),
              id="timeline")
