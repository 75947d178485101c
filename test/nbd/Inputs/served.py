"""What the tests of the block device share: a server, the books of its device, and a model of its contents."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import nbd

MIB = 1 << 20
# Nothing here depends on how long something takes; what does not happen at all ends the test.
PATIENCE = 100


class Place:
    """A folder with the books of a simulated device of `device` bytes, shared by all that run in its environment."""

    def __init__(self, device, **more):
        self.folder = tempfile.mkdtemp(prefix="dragon-nbd-")
        self.disk = os.path.join(self.folder, "disk")
        books = os.path.join(self.folder, "books")
        os.mkdir(books)
        os.mkdir(self.disk)
        self.environment = {
            **os.environ, "DRAGON_BACKEND": "cpu", "DRAGON_QUIET": "1", "DRAGON_SHARE": "1", "DRAGON_SHARE_DIR": books,
            "DRAGON_DEVICE_MEMORY": str(device), "DRAGON_SHARE_MEMORY": str(device), "DRAGON_CPU_THREADS": "2", **more}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def programs(self):
        """By process: what dragon-info says of it."""
        out = subprocess.run(["dragon-info", "--programs", "--json"], env=self.environment, stdout=subprocess.PIPE).stdout
        return {program["pid"]: program for one in json.loads(out) if one["memory"] == "device" for program in one["programs"]}


class Server:
    """nbdkit with the plugin, at a socket in the place's folder."""

    def __init__(self, place, *parameters):
        self.place, self.handles = place, []
        self.socket = os.path.join(place.folder, "socket")
        # nbdkit writes it once it takes connections; its socket is there before that.
        self.ready = os.path.join(place.folder, "pid")
        self.statistics = os.path.join(place.folder, "statistics")
        self.log = os.path.join(place.folder, "log")
        command = ["nbdkit", "-f", "--exit-with-parent", "-P", self.ready, "-U", self.socket, os.environ["NBDKIT_DRAGON_PLUGIN"],
                   "dir=" + place.disk, "statsfile=" + self.statistics, *parameters]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, env=place.environment, stderr=log)
        until(lambda: os.path.exists(self.ready) or self.process.poll() is not None)
        if self.process.poll() is not None:
            sys.exit("error: nbdkit has ended: " + self.words())

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            sys.stderr.write(self.words())
        self.process.kill()
        self.process.wait()
        self.forget()

    def forget(self):
        for left in (self.socket, self.ready):
            if os.path.exists(left):
                os.remove(left)

    def words(self):
        with open(self.log) as log:
            return log.read()

    def connect(self):
        handle = nbd.NBD()
        handle.add_meta_context(nbd.CONTEXT_BASE_ALLOCATION)
        handle.connect_unix(self.socket)
        self.handles.append(handle)
        return handle

    def held(self):
        return self.place.programs()[self.process.pid]["held"]

    def stop(self):
        """Ends it and its connections; what its statistics say."""
        for handle in self.handles:
            handle.shutdown()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=PATIENCE) == 0, self.words()
        self.forget()
        with open(self.statistics) as file:
            return json.load(file)


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.01)


def extents(handle, begin, count):
    """(begin, bytes, flags) of [begin, begin + count)."""
    found = []

    def see(_context, at, entries, _error):
        for length, flags in zip(entries[::2], entries[1::2]):
            found.append((at, length, flags))
            at += length

    while count:
        before = len(found)
        handle.block_status(count, begin, see)
        covered = sum(length for _, length, _ in found[before:])
        begin, count = begin + covered, count - min(count, covered)
    return found


class Model:
    """What [begin, end) of the device must hold, changed by one connection."""

    def __init__(self, handle, begin, end, seed):
        self.handle, self.begin = handle, begin
        self.bytes = bytearray(end - begin)
        self.random = random.Random(seed)

    def pick(self):
        """A piece, more often a short one, and often at the boundaries of something."""
        unit = self.random.choice([1, 512, 4096, 64 << 10, MIB])
        offset = min(self.random.randrange(len(self.bytes)) // unit * unit, len(self.bytes) - 1)
        count = self.random.choice([1, 4096, 64 << 10, 1 + self.random.randrange(3 * 64 << 10)])
        return offset, min(count, len(self.bytes) - offset)

    def step(self):
        offset, count = self.pick()
        at = self.begin + offset
        fua = self.random.choice([0, 0, 0, nbd.CMD_FLAG_FUA])
        match self.random.choice(["read", "read", "write", "write", "zero", "hole", "trim", "flush", "extents"]):
            case "read":
                self.check(offset, count)
            case "write":
                data = self.random.randbytes(count)
                self.handle.pwrite(data, at, flags=fua)
                self.bytes[offset:offset + count] = data
            case "zero":
                self.handle.zero(count, at, flags=fua | nbd.CMD_FLAG_NO_HOLE)
                self.bytes[offset:offset + count] = bytes(count)
            case "hole":
                self.handle.zero(count, at, flags=fua)
                self.bytes[offset:offset + count] = bytes(count)
            case "trim":
                # What is trimmed reads as zeros here.
                self.handle.trim(count, at, flags=fua)
                self.bytes[offset:offset + count] = bytes(count)
            case "flush":
                self.handle.flush()
            case "extents":
                for begin, length, flags in extents(self.handle, at, count):
                    begin = max(begin - self.begin, 0)
                    if flags & nbd.STATE_ZERO:
                        part = self.bytes[begin:begin + length]
                        assert part == bytes(len(part)), (begin, length)

    def check(self, offset=0, count=None):
        for begin in range(offset, offset + (len(self.bytes) if count is None else count), 8 * MIB):
            part = self.bytes[begin:min(begin + 8 * MIB, offset + count if count is not None else len(self.bytes))]
            found = self.handle.pread(len(part), self.begin + begin)
            assert found == part, f"wrong at {self.begin + begin}, {len(part)} bytes"
