"""The trace of a run (DRAGON_TRACE=file), in Chrome's trace-event format.

The runtime writes one event a line, and a trace may have millions: it is read line by line, and of each event its two times are
kept, by lane and name. What is asked of single events (which kernel, which way, which file) is added up on the way.
"""

import array
import collections
import json
import math
import re

from .errors import InputError

WHOLE_LIMIT = 512 << 20  # bytes: traces with all events on one line are read as a whole
PIECE = re.compile(r"(\d+)-(\d+) of (\d+)")
COPIED = re.compile(r"copies ([\d.]+) ([KMGTP]?i?B)")
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50}


class Zone:
    """All events of one name in one lane."""

    def __init__(self):
        self.begins, self.ends, self.bytes = array.array("d"), array.array("d"), 0


class KernelRuns:
    """What the trace says of one kernel."""

    def __init__(self):
        self.zone = Zone()
        self.whole = 0.0  # launches, as the sum of the parts of their grids
        self.by_loop = False  # parts of loops ran, so parts of grids do not add up to launches
        self.parts = False
        self.ways = collections.Counter()  # launches by the way that was chosen
        self.copied = 0  # bytes that the chosen ways were to copy
        self.instead = None  # the last explanation: (chosen, instead of)


class Trace:
    def __init__(self):
        self.lanes = {}  # thread number -> the name of a lane that is no thread's
        self.zones = collections.defaultdict(Zone)  # (thread number, name)
        self.kernels = collections.defaultdict(KernelRuns)
        self.files = collections.defaultdict(lambda: [0, 0])  # path -> [bytes read, bytes written]
        self.counters = collections.defaultdict(list)  # name -> [(time, value)]
        self.events = 0
        self.truncated = False
        self.together = 0  # groups of launches that ran together

    def take(self, event):
        """Adds an event; ValueError and the like if it is none."""
        kind = event["ph"]
        if kind == "X":
            self.take_zone(event)
        elif kind == "M":
            if event.get("name") == "thread_name":
                self.lanes[event["tid"]] = str(event["args"]["name"])
        elif kind == "C":
            for name, value in event["args"].items():
                if not math.isfinite(value):
                    raise ValueError("a number that is none")
                self.counters[f"{event['name']}: {name}"].append((event["ts"] * 1e-6, value))
        self.events += 1

    def take_zone(self, event):
        name, lane, arguments = event["name"], event["tid"], event.get("args") or {}
        begin, length = event["ts"], event["dur"]
        if not (-1e15 < begin < 1e15 and 0 <= length < 1e15):
            raise ValueError("a time that is none")
        begin, end, size = begin * 1e-6, (begin + length) * 1e-6, arguments.get("bytes", 0)
        zone = self.zones[lane, name]
        zone.begins.append(begin)
        zone.ends.append(end)
        zone.bytes += size
        on = arguments.get("on")
        if on is None:
            return
        if name == "kernel":
            self.take_kernel(on, begin, end)
        elif name == "launch":
            self.take_launch(self.kernels[on], arguments)
        elif name == "launches together":
            self.together += 1
        elif name == "file read":
            self.files[on][0] += size
        elif name == "file write":
            self.files[on][1] += size

    def take_kernel(self, on, begin, end):
        cut = on.find(", blocks ")
        loop = on.find(", iterations ")
        first = min((at for at in (cut, loop) if at >= 0), default=len(on))
        runs = self.kernels[on[:first]]
        runs.zone.begins.append(begin)
        runs.zone.ends.append(end)
        if loop >= 0:
            runs.by_loop = True
        part = 1.0
        if cut >= 0:
            runs.parts = True
            for low, high, count in PIECE.findall(on[cut:]):
                part *= (int(high) - int(low) + 1) / max(1, int(count))
        runs.whole += part

    @staticmethod
    def take_launch(runs, arguments):
        chosen = arguments.get("chosen")
        if chosen is None:
            runs.ways["unknown"] += 1
            return
        way = re.match(r"[a-z-]+(?: [a-z]+)*", chosen)
        way = way.group().removesuffix(" in") if way else "unknown"
        runs.ways[way] += 1
        copied = COPIED.search(chosen)
        if copied:
            runs.copied += int(float(copied.group(1)) * UNITS.get(copied.group(2), 1))
        runs.instead = (chosen, arguments.get("instead of"))

    def empty(self):
        return not self.zones

    def begin(self):
        return min(min(zone.begins) for zone in self.zones.values())

    def end(self):
        return max(max(zone.ends) for zone in self.zones.values())


def read_lines(trace, path, file):
    """The events behind the first line; the last one may be cut off."""
    broken = None  # of a line that is the last one, or else an error
    for number, line in enumerate(file, 2):
        if broken is not None:
            raise InputError(f"trace '{path}', line {broken[0]}: damaged event ({broken[1]}); run the program again")
        line = line.strip()
        if line.startswith(b"]"):
            return
        if not line:
            continue
        try:
            trace.take(json.loads(line.rstrip(b",")))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            broken = number, error if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    trace.truncated = True


def read_whole(trace, path, file):
    file.seek(0)
    words = file.read(WHOLE_LIMIT + 1)
    if len(words) > WHOLE_LIMIT:
        raise InputError(f"trace '{path}': it has its events on one line and is larger than 512 MiB; DRAGON_TRACE writes a line for each")
    try:
        root = json.loads(words)
        for event in root["traceEvents"] if isinstance(root, dict) else root:
            trace.take(event)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise InputError(f"trace '{path}': not what DRAGON_TRACE=file writes, or damaged ({error})") from error


def read(path):
    trace = Trace()
    try:
        with open(path, "rb") as file:
            head = file.readline(1 << 16).strip()
            if not head:
                raise InputError(f"trace '{path}': the file is empty; run the program again, to its end")
            if head.startswith(b"{") and head.replace(b" ", b"").endswith(b'"traceEvents":[') or head == b"[":
                read_lines(trace, path, file)
            else:
                read_whole(trace, path, file)
    except OSError as error:
        raise InputError(f"trace '{path}': {error.strerror}") from error
    return trace
