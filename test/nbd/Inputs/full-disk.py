"""full-disk.py PROGRAM DIR: the backing file is in the directory, which has room for 8 MiB."""

import errno
import random
import subprocess
import sys

import nbd

import served
from served import MIB

program, small = sys.argv[1:]
DEVICE = 24 * MIB


def written(handle, first=0):
    """Writes areas of 1 MiB until there is no room. How many there are, and what they hold."""
    data = {}
    for area in range(first, 64):
        data[area] = random.Random(area).randbytes(MIB)
        try:
            handle.pwrite(data[area], area * MIB)
        except nbd.Error as failure:
            assert failure.errnum == errno.ENOSPC, failure
            del data[area]
            return data
    raise AssertionError("the disk is never full")


def check(handle, data):
    for area in range(64):
        assert handle.pread(MIB, area * MIB) == data.get(area, bytes(MIB)), area


def neighbour(place):
    return subprocess.Popen([program, "7", "0", "12"], env={**place.environment, "DRAGON_CHUNK_SIZE": "2M"}, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)


# With its place in the file reserved, an area is refused as long as it could not leave.
with served.Place(DEVICE) as place, served.Server(place, "64M", "area=1M", "dir=" + small) as server:
    handle = server.connect()
    data = written(handle)
    assert len(data) in (7, 8) and server.held() == len(data) * MIB, (len(data), server.held())
    assert "no space left" in server.words(), server.words()
    check(handle, data)
    beside = neighbour(place)
    assert beside.stdout.readline() == "holds\n" and server.held() == 0
    check(handle, data)
    # What is trimmed makes room.
    handle.trim(2 * MIB, 0)
    handle.pwrite(data[1], 40 * MIB)
    handle.pwrite(data[0], 41 * MIB)
    data[40], data[41] = data.pop(1), data.pop(0)
    check(handle, data)
    beside.kill()
    beside.communicate()
    server.stop()

# Without, the device is filled first, then the file. What has no place there stays on the device, and that is said once.
with served.Place(DEVICE) as place, served.Server(place, "64M", "area=1M", "reserve=false", "dir=" + small) as server:
    handle = server.connect()
    data = written(handle)
    assert len(data) in (31, 32) and server.held() == DEVICE, (len(data), server.held())
    check(handle, data)
    beside = neighbour(place)
    served.until(lambda: "cannot be given back" in server.words())
    assert server.held() == DEVICE
    check(handle, data)
    # Room for it: the program gets what it waits for.
    handle.trim(16 * MIB, 0)
    served.until(lambda: server.held() <= 8 * MIB)
    for area in range(16):
        data.pop(area)
    check(handle, data)
    beside.kill()
    beside.communicate()
    assert server.words().count("cannot be given back") == 1, server.words()
    server.stop()
