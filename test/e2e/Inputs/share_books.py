"""The books of programs that share a device, as they lie in the file (runtime/share/Segment.h)."""

import glob
import os
import struct

# ShareBooks: magic, version, news, total, mostHeld, asked, lock. ShareProgram: pid, name, weight, most, wanted, limit, held, ...
BOOKS, PROGRAM, PLACES = struct.Struct("8sIIQQQ40s"), struct.Struct("i28s14Q"), 120


def read(folder):
    """(what all may have, the most that they had, {pid: bytes held}); also of those that have died and were not found yet."""
    (file,) = glob.glob(os.path.join(folder, "dragon-*"))
    with open(file, "rb") as stream:
        data = stream.read()
    assert len(data) == BOOKS.size + PLACES * PROGRAM.size, f"Segment.h or ShareProgram.h has another layout: {len(data)} bytes"
    magic, _, _, total, most, *_ = BOOKS.unpack_from(data, 0)
    assert magic == b"dragonsh", magic
    return total, most, {pid: held for pid, _, _, _, _, _, held, *_ in PROGRAM.iter_unpack(data[BOOKS.size:]) if pid}
