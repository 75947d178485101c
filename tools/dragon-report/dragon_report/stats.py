"""The statistics that a program writes at its end (DRAGON_STATS=file)."""

import json

from .errors import InputError, read_whole

VERSION = 1
DIRECTIONS = [
    "file_to_host", "host_to_device", "device_to_host", "host_to_file", "swap_to_host", "host_to_swap", "device_to_device",
    "device_to_peer", "peer_to_device", "peer_to_host", "host_to_peer"
]


def numbers(node, what):
    """An object of numbers."""
    if not isinstance(node, dict) or not all(type(value) is int and value >= 0 for value in node.values()):
        raise ValueError(f"'{what}' is no object of numbers")
    return node


class Stats:
    """Names are those of the file, with '_' for ' '; what the file does not mention is 0."""

    PEERS = ("device_to_peer", "peer_to_device", "peer_to_host", "host_to_peer")

    def __init__(self, root):
        if not isinstance(root, dict) or not isinstance(root.get("moved"), dict):
            raise ValueError("it has no 'moved'")
        if root.get("version") != VERSION:
            raise ValueError(f"version {root.get('version')} is not known, {VERSION} is")
        self.device = str(root.get("device", ""))
        run = root.get("run", {})
        self.run_seconds = run.get("nanoseconds", 0) / 1e9  # 0: not known
        self.ended = run.get("ended", True) is True
        self.limits = numbers(root.get("limits", {}), "limits")
        self.peaks = numbers(root.get("peaks", {}), "peaks")
        self.avoided = numbers(root.get("avoided", {}), "avoided")
        self.over_link = numbers(root.get("over_link_estimated", {}), "over_link_estimated")
        self.shared = numbers(root.get("shared", {}), "shared")
        self.counts = numbers(root.get("counts", {}), "counts")
        self.moved = {}  # direction -> cause -> (bytes, seconds)
        for direction, node in root["moved"].items():
            causes = node.get("by_cause") if isinstance(node, dict) else None
            if not isinstance(causes, dict):
                raise ValueError(f"'{direction}' has no 'by_cause'")
            self.moved[direction] = {}
            for cause, row in causes.items():
                row = numbers(row, cause)
                self.moved[direction][cause] = (row.get("bytes", 0), row.get("nanoseconds", 0) / 1e9)
        self.traffic = {}  # over the link, as somebody else would have had it: who -> (to the device, from the device)
        for who, row in root.get("traffic", {}).items():
            row = numbers(row, who)
            self.traffic[who] = row.get("host_to_device", 0), row.get("device_to_host", 0)
        self.footprints = {}  # kernel -> what DRAGON_FOOTPRINTS counted
        for row in root.get("footprints", []):
            self.footprints[str(row["kernel"])] = row

    def bytes(self, direction, cause=None):
        rows = self.moved.get(direction, {})
        return sum(row[0] for name, row in rows.items() if cause in (None, name))

    def seconds(self, direction):
        return sum(row[1] for row in self.moved.get(direction, {}).values())

    def count(self, name):
        return self.counts.get(name, 0)

    @property
    def link(self):
        return self.bytes("host_to_device") + self.bytes("device_to_host")

    @property
    def peers(self):
        return sum(self.bytes(direction) for direction in self.PEERS)

    @property
    def files(self):
        return self.bytes("file_to_host") + self.bytes("host_to_file")

    @property
    def swap(self):
        return self.bytes("swap_to_host") + self.bytes("host_to_swap")


def read(path):
    words = read_whole(path, "statistics")
    if not words.strip():
        raise InputError(f"statistics '{path}': the file is empty; run the program again, to its end")
    try:
        return Stats(json.loads(words))
    except json.JSONDecodeError as error:
        if error.pos >= len(words.rstrip()) - 1:
            raise InputError(f"statistics '{path}': the file is truncated; run the program again, to its end") from error
        raise InputError(
            f"statistics '{path}', line {error.lineno}: no JSON ({error.msg}); DRAGON_STATS=file.json writes it") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(f"statistics '{path}': not what DRAGON_STATS=file.json writes: {error}") from error
