"""The books of programs that share a device, as they lie in the file (runtime/share/Segment.h)."""

import glob
import os
import re
import signal
import struct

# ShareBooks: magic, version, news, total, mostHeld, asked, holder, turnBegan, turnUsed, lockedBy, lock. ShareProgram: pid, name, weight, most, wanted, limit, held, ...
BOOKS, PROGRAM, PLACES = struct.Struct("8sIIQQQQQQQ40s"), struct.Struct("i28s22Q"), 120


def locks(pid, file):
    """Whether a thread of the process has the lock of these books."""
    with open(file, "rb") as stream:
        lock = BOOKS.unpack(stream.read(BOOKS.size))[-1]
    thread = struct.unpack_from("I", lock)[0] & 0x3FFFFFFF  # of a robust mutex: who has it
    return thread and os.path.exists(f"/proc/{pid}/task/{thread}")


def stop(pid, folder):
    """Stops the process, with no thread that has the lock of books: all others would wait for it."""
    while True:
        os.kill(pid, signal.SIGSTOP)
        if os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_code == os.CLD_STOPPED:
            if not any(locks(pid, file) for file in glob.glob(os.path.join(folder, "dragon-*"))):
                return
            os.kill(pid, signal.SIGCONT)
        else:
            raise ChildProcessError(f"process {pid} has ended")


def read(folder, host=False):
    """(what all may have, the most that they had, {pid: bytes held}); also of those that have died and were not found yet.

    Of the device's memory, or of the host's."""
    (file,) = [file for file in glob.glob(os.path.join(folder, "dragon-*")) if bool(re.search(r"-host(-\d+)?$", file)) == host]
    with open(file, "rb") as stream:
        data = stream.read()
    assert len(data) == BOOKS.size + PLACES * PROGRAM.size, f"Segment.h or ShareProgram.h has another layout: {len(data)} bytes"
    magic, _, _, total, most, *_ = BOOKS.unpack_from(data, 0)
    assert magic == b"dragonsh", magic
    return total, most, {pid: held for pid, _, _, _, _, _, held, *_ in PROGRAM.iter_unpack(data[BOOKS.size:]) if pid}
