"""free.py: memory begins with the first write of an area, and ends when nothing is left in it."""

import nbd

import served
from served import MIB

HOLE = nbd.STATE_HOLE | nbd.STATE_ZERO
with served.Place(32 * MIB) as place, served.Server(place, "64M", "area=1M") as server:
    handle = server.connect()
    assert server.held() == 0 and served.extents(handle, 0, 64 * MIB) == [(0, 64 * MIB, HOLE)]
    # Reading, and zeroing what is zero, takes nothing.
    assert handle.pread(MIB, 5 * MIB) == bytes(MIB)
    handle.zero(64 * MIB, 0)
    handle.trim(64 * MIB, 0)
    assert server.held() == 0
    # One byte takes an area, and what is beside it is zero.
    handle.pwrite(b"x", 3 * MIB - 1)
    handle.pwrite(b"x" * 8192, 10 * MIB - 4096)
    assert server.held() == 3 * MIB
    assert handle.pread(MIB, 2 * MIB) == bytes(MIB - 1) + b"x"
    assert served.extents(handle, 0, 12 * MIB) == [
        (0, 3 * MIB - 4096, HOLE), (3 * MIB - 4096, 4096, 0), (3 * MIB, 7 * MIB - 4096, HOLE), (10 * MIB - 4096, 8192, 0),
        (10 * MIB + 4096, 2 * MIB - 4096, HOLE)]
    # A part of it leaves the rest; the last one leaves nothing.
    handle.trim(MIB // 2, 2 * MIB)
    assert server.held() == 3 * MIB and handle.pread(1, 3 * MIB - 1) == b"x"
    handle.trim(4096, 3 * MIB - 4096)
    assert server.held() == 2 * MIB and handle.pread(MIB, 2 * MIB) == bytes(MIB)
    handle.zero(4096, 10 * MIB - 4096)
    assert server.held() == MIB
    handle.zero(MIB, 10 * MIB)
    assert server.held() == 0
    # Zeros that must not be a hole have memory.
    handle.zero(2 * MIB, 20 * MIB, flags=nbd.CMD_FLAG_NO_HOLE)
    assert server.held() == 2 * MIB and handle.pread(2 * MIB, 20 * MIB) == bytes(2 * MIB)
    # The device is full: the file has the rest, and what is trimmed there is zero, too.
    handle.pwrite(b"y" * 32 * MIB, 0)
    handle.pwrite(b"z" * 16 * MIB, 32 * MIB)
    assert server.held() == 32 * MIB
    handle.trim(8192, 40 * MIB)
    assert handle.pread(8193, 40 * MIB) == bytes(8192) + b"z"
    handle.trim(64 * MIB, 0)
    assert server.held() == 0 and served.extents(handle, 0, 64 * MIB) == [(0, 64 * MIB, HOLE)]
    assert handle.pread(64 * MIB // 2, 16 * MIB) == bytes(32 * MIB)
    counts = server.stop()
    assert counts["made_in_file"] == 16 * MIB and counts["used"] == counts["held"] == 0, counts
