#!/usr/bin/env python3
"""turns.py MPIRUN... PROGRAM: two jobs of the stencil, three ranks each, on a device that has the memory of one job."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

import share_books

*mpirun, program = sys.argv[1:]
RANKS = 3
SIZE = ["256", "256", "70"]  # 36 MiB in the buffers of all ranks
ENOUGH = "8"  # steps
if os.path.isdir("jobs"):
    shutil.rmtree("jobs")
books = os.path.abspath("jobs/books")
os.makedirs(books)
shared = {**os.environ, "DRAGON_SHARE": "1", "DRAGON_SHARE_DIR": books, "DRAGON_SHARE_MEMORY": "36M", "DRAGON_CHUNK_SIZE": "1M"}


def start(name, quantum, steps):
    folder = os.path.join("jobs", name)
    os.makedirs(folder)
    # A rank has a file of statistics of its own, and the launcher as its parent.
    rank = ["sh", "-c", 'DRAGON_STATS="$0/$$.json" exec "$@"', folder, program, *SIZE, steps]
    return subprocess.Popen([*mpirun, "-n", str(RANKS), *rank], env={**shared, "DRAGON_SHARE_QUANTUM": str(quantum)},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def end(name, job):
    """(checksum, turns of the rank that had most)"""
    out, _ = job.communicate()
    assert job.returncode == 0, (name, job.returncode, out)
    stats = glob.glob(f"jobs/{name}/*.json")
    assert len(stats) == RANKS, stats
    turns = []
    for path in stats:
        with open(path) as stream:
            turns.append(json.load(stream)["counts"]["turns"])
    return re.search(r"checksum ([0-9a-f]+)", out)[1], max(turns)


def held():
    try:
        return sum(share_books.read(books)[2].values())
    except AssertionError:  # they are just being begun anew
        return 0


def beside(quantum):
    """(checksum, turns) of a job that comes while another one goes on for hours."""
    long = start(f"long-{quantum}", quantum, "1000000000")
    try:
        while held() < 16 << 20:
            assert long.poll() is None, long.returncode
            time.sleep(0.02)
        ended = end(f"short-{quantum}", start(f"short-{quantum}", quantum, ENOUGH))
        assert long.poll() is None, long.returncode
        return ended
    finally:
        long.terminate()
        long.communicate()


checksum, turns = end("alone", start("alone", 1, ENOUGH))
assert turns == 0, turns
taken = 0
for quantum in (1, 50):
    right, turns = beside(quantum)
    assert right == checksum, (quantum, right, checksum)
    print(f"{ENOUGH} steps in {turns} turns of {quantum} ms")
    taken += turns
# Ranks that wait for messages take no part: where more than three of the six never work at the same time, all fit without turns. On a busy
# machine this may be so for one of the jobs.
assert taken
