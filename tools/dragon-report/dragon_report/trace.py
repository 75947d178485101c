"""The trace of a run (DRAGON_TRACE=file), in Chrome's trace-event format.

The runtime writes one event a line, and a trace may have millions: it is read line by line, and of each event its two times are
kept, by lane and name. What is asked of single events (which kernel, which way, which file) is added up on the way.
"""

import array
import collections
import gc
import itertools
import json
import math
import re

from .errors import InputError

WHOLE_LIMIT = 512 << 20  # bytes: traces with all events on one line are read as a whole
PIECE = re.compile(r"(\d+)-(\d+) of (\d+)")
COPIED = re.compile(r"copies ([\d.]+) ([KMGTP]?i?B)")
NOTHING = {}
BATCH = 4096  # lines that are parsed at once
BROKEN = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50}


class Zone:
    """All events of one name in one lane."""

    def __init__(self):
        self.begins, self.ends, self.bytes = array.array("d"), array.array("d"), 0


class Link:
    """What crossed the link for launches."""

    def __init__(self):
        self.fetched = self.written = 0  # as the runtime counted it
        self.remote = 0  # what kernels accessed in host memory, as it was estimated

    def add(self, arguments):
        self.fetched += amount(arguments, "fetched")
        self.written += amount(arguments, "written back")
        self.remote += amount(arguments, "accessed over the link, estimated")

    @property
    def total(self):
        return self.fetched + self.written + self.remote


def amount(arguments, key):
    value = arguments.get(key, 0)
    if type(value) is not int or value < 0:
        raise ValueError(f"'{key}' is no number of bytes")
    return value


class KernelRuns:
    """What the trace says of one kernel."""

    def __init__(self):
        self.zone = Zone()
        self.whole = 0.0  # launches, as the sum of the parts of their grids
        self.by_loop = False  # parts of loops ran, so parts of grids do not add up to launches
        self.parts = False
        self.ways = collections.Counter()  # launches by the way that was chosen
        self.copied = 0  # bytes that the chosen ways were to copy
        self.link = Link()
        self.instead = None  # the last explanation: (chosen, instead of)


class Trace:

    def __init__(self):
        self.lanes = {}  # thread number -> the name of a lane that is no thread's
        self.zones = collections.defaultdict(Zone)  # (thread number, name)
        self.kernels = collections.defaultdict(KernelRuns)
        self.counters = collections.defaultdict(list)  # name -> [(time, value)]
        self.events = 0
        self.truncated = False
        self.together = 0  # groups of launches that ran together
        self.shared = collections.defaultdict(Link)  # names of several kernels -> what launches of all of them shared
        self.notes = {"kernel": self.take_kernel, "launch": self.take_launch, "launches together": self.take_together}

    def take(self, events):
        """Adds events; ValueError and the like if one is none. Zones are nearly all of them."""
        zones, notes = self.zones, self.notes
        for event in events:
            if event["ph"] != "X":
                self.take_other(event)
                continue
            name, begin, length = event["name"], event["ts"], event["dur"]
            if not (-1e15 < begin < 1e15 and 0 <= length < 1e15):
                raise ValueError("a time that is none")
            arguments = event.get("args") or NOTHING
            zone = zones[event["tid"], name]
            begin *= 1e-6
            end = begin + length * 1e-6
            zone.begins.append(begin)
            zone.ends.append(end)
            zone.bytes += arguments.get("bytes", 0)
            if "on" in arguments and name in notes:
                notes[name](arguments, begin, end)
        self.events += len(events)

    def take_other(self, event):
        if event["ph"] == "M" and event.get("name") == "thread_name":
            self.lanes[event["tid"]] = str(event["args"]["name"])
        elif event["ph"] == "C":
            for name, value in event["args"].items():
                if not math.isfinite(value):
                    raise ValueError("a number that is none")
                self.counters[f"{event['name']}: {name}"].append((event["ts"] * 1e-6, value))

    def take_together(self, arguments, _begin, _end):
        self.together += 1
        names = tuple(arguments.get("kernels", arguments["on"]).split("; "))
        (self.kernels[names[0]].link if len(names) == 1 else self.shared[names]).add(arguments)

    def take_kernel(self, arguments, begin, end):
        on = arguments["on"]
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

    def take_launch(self, arguments, _begin, _end):
        runs = self.kernels[arguments["on"]]
        runs.link.add(arguments)
        chosen = arguments.get("chosen")
        if chosen is None:
            runs.ways["unknown"] += 1
            return
        way = re.match(r"[a-z-]+(?: [a-z]+)*", chosen)
        way = way.group().removesuffix(" in") if way else "unknown"
        if arguments.get("fetches pages"):
            way = "paged"
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
    number, lines = 1, list(itertools.islice(file, BATCH))
    while lines:
        following = list(itertools.islice(file, BATCH))
        last = next((at for at, line in enumerate(lines) if line.startswith(b"]")), None)
        events = lines if last is None else lines[:last]
        try:
            trace.take(json.loads(b"[" + b"".join(events).strip().rstrip(b",") + b"]"))
        except BROKEN as error:
            at, why = first_broken(events)
            cut_off = isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)) and at + 1 == len(events) and not following
            if not cut_off or last is not None:
                raise InputError(
                    f"trace '{path}', line {number + 1 + at}: damaged event ({why or said(error)}); run the program again"
                ) from error
            trace.take([json.loads(line.strip().rstrip(b",")) for line in events[:at]])
        if last is not None:
            return
        number, lines = number + len(lines), following
    trace.truncated = True


def said(error):
    return error if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def first_broken(lines):
    """(index, why) of the first line that is no event."""
    for index, line in enumerate(lines):
        try:
            Trace().take([json.loads(line.strip().rstrip(b","))])
        except BROKEN as error:
            return index, said(error)
    return 0, None


def read_whole(trace, path, file):
    file.seek(0)
    words = file.read(WHOLE_LIMIT + 1)
    if len(words) > WHOLE_LIMIT:
        raise InputError(
            f"trace '{path}': it has its events on one line and is larger than 512 MiB; DRAGON_TRACE writes a line for each")
    try:
        root = json.loads(words)
        trace.take(root["traceEvents"] if isinstance(root, dict) else root)
    except BROKEN as error:
        raise InputError(f"trace '{path}': not what DRAGON_TRACE=file writes, or damaged ({error})") from error


def read(path):
    trace = Trace()
    gc.disable()  # millions of objects that hold no cycles
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
    finally:
        gc.enable()
    return trace
