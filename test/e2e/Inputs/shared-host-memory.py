"""shared-host-memory.py PROGRAM BOOKS: programs that share host memory; their books are in the folder BOOKS."""

import json
import os
import shutil
import subprocess
import sys
import time

import share_books

program, books = sys.argv[1:3]
MIB = 1 << 20
DEVICE, HOST, EACH = 8 * MIB, 24 * MIB, "12"  # two buffers of 12 MiB in each program
alone = {**os.environ, "DRAGON_SHARE": "0", "DRAGON_CHUNK_SIZE": "512K", "DRAGON_DEVICE_MEMORY": "8M", "DRAGON_SWAP_DIR": os.path.abspath("swap")}
shared = {**alone, "DRAGON_SHARE": "1", "DRAGON_SHARE_DIR": os.path.abspath(books), "DRAGON_SHARE_MEMORY": str(DEVICE),
          "DRAGON_SHARE_HOST_MEMORY": str(HOST)}


def start(seed, rounds, environment=shared, **more):
    return subprocess.Popen([program, str(seed), str(rounds), EACH], env={**environment, **more}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True)


def result(process):
    out, _ = process.communicate()
    assert process.returncode == 0, (process.args, process.returncode)
    return out.split()[-1]


def held_by(pid):
    total, _, programs = share_books.read(books, host=True)
    assert total == HOST, total
    return programs.get(pid, 0)


def most_held():
    return share_books.read(books, host=True)[1]


def counted(path):
    with open(path) as stream:
        return json.load(stream)


expected = {seed: result(start(seed, 5, alone)) for seed in range(4)}

# One alone has what it needs: what the device does not hold.
first = start(100, 0, DRAGON_STATS="first.json")
assert first.stdout.readline() == "holds\n"
assert held_by(first.pid) >= 14 * MIB, held_by(first.pid)

# Whoever asks sees it.
if info := shutil.which("dragon-info"):
    text = subprocess.run([info, "--programs"], env=shared, stdout=subprocess.PIPE, check=True, text=True).stdout
    assert "host memory: " in text and "of 24 MiB in use by 1 program" in text, text

# A second one gets its half; what the first one has given it is in files.
second = start(1, 1000000)
while held_by(second.pid) < 10 * MIB or held_by(first.pid) > 13 * MIB:
    assert second.poll() is None
    time.sleep(0.01)
second.kill()
second.communicate()
assert most_held() <= HOST, most_held()
first.communicate("goes on\n")
assert first.returncode == 0
given = counted("first.json")["shared"]
assert given["host_memory_called_back"] >= 2 * MIB and given["written_to_files_for_it"] >= 2 * MIB, given

# Several at once; one says itself that it takes little.
several = {seed: start(seed, 5, DRAGON_STATS=f"{seed}.json", **({"DRAGON_HOST_MEMORY": "4M"} if seed == 3 else {})) for seed in range(4)}
for seed, process in several.items():
    assert result(process) == expected[seed], seed
assert most_held() <= HOST, most_held()
assert counted("3.json")["peaks"]["host_memory"] <= 4 * MIB, counted("3.json")["peaks"]
assert counted("3.json")["limits"]["host_memory"] == 4 * MIB

# Who does not share the device does not share the host's memory either.
assert result(start(0, 5, alone)) == expected[0]
print("right")
