#!/usr/bin/env python3
"""lends.py MPIRUN... PROGRAM: four ranks on a device that has the memory of one; rank 0 waits for a message."""

import json
import os
import shutil
import subprocess
import sys
import time

*mpirun, program = sys.argv[1:]
for name in ("books", "seen"):
    if os.path.isdir(name):
        shutil.rmtree(name)
    elif os.path.exists(name):
        os.remove(name)
os.mkdir("books")
TOTAL = 16 << 20
shared = {**os.environ, "DRAGON_SHARE": "1", "DRAGON_SHARE_DIR": os.path.abspath("books"), "DRAGON_SHARE_MEMORY": "16M",
          "DRAGON_CHUNK_SIZE": "1M", "DRAGON_LOG": "1", "DRAGON_QUIET": "0"}


def programs():
    out = subprocess.run(["dragon-info", "--programs", "--json"], env=shared, stdout=subprocess.PIPE, text=True).stdout
    seen = [one for one in json.loads(out) if one["memory"] == "device"]
    assert not seen or sum(one["held"] for one in seen[0]["programs"]) <= TOTAL, out
    return {one["pid"]: one for one in seen[0]["programs"]} if seen else {}


with open("log", "w") as log:
    run = subprocess.Popen([*mpirun, "-n", "4", program], env=shared, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
    # MPI's launcher passes the ranks' output on.
    while not (words := run.stdout.readline().split()) or words[-1] != "holds":
        assert words or run.poll() is None, "ended early"
    waits = int(words[0])
    # Lit ends a test that hangs; until then the state must come.
    while not ((state := programs().get(waits)) and state["yields"] and state["held"] == 0):
        assert run.poll() is None, (run.poll(), state)
        time.sleep(0.02)
    busy = [one for pid, one in programs().items() if pid != waits and one["held"]]
    assert busy, programs()
    text = subprocess.run(["dragon-info", "--programs"], env=shared, stdout=subprocess.PIPE, check=True, text=True).stdout
    lines = [line for line in text.splitlines() if f" {waits} " in line]  # of the device's memory, and of the host's
    assert any("does not use the device" in line for line in lines), text
    open("seen", "w").close()
    out, _ = run.communicate()
assert run.returncode == 0 and "right" in out, (run.returncode, out)
with open("log") as log:
    assert "MPI_Recv waits: other programs come first" in log.read()
