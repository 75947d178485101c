"""shared-device.py PROGRAM BOOKS TOTAL: programs that share the device's memory.

The books of the device are in the folder BOOKS; TOTAL is what all may have together."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import share_books

program, books, total = sys.argv[1:4]
bytes_of = {"M": 1 << 20, "G": 1 << 30}
limit = int(total[:-1]) * bytes_of[total[-1]]
alone = {**os.environ, "DRAGON_SHARE": "0", "DRAGON_CHUNK_SIZE": "2M"}
shared = {**alone, "DRAGON_SHARE": "1", "DRAGON_SHARE_DIR": os.path.abspath(books), "DRAGON_SHARE_MEMORY": total}


def held_by(pid):
    return share_books.read(books)[2].get(pid, 0)


def most_held():
    there, most, _ = share_books.read(books)
    assert there == limit, there
    return most


def start(seed, rounds, environment=shared):
    return subprocess.Popen([program, str(seed), str(rounds)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def result(process):
    out, _ = process.communicate()
    assert process.returncode == 0, (process.args, process.returncode)
    return out.split()[-1]


expected = {seed: result(start(seed, 20, alone)) for seed in range(6)}

# One alone has all that it wants, and gives it to those that come: they wait for it while it does nothing.
first = start(100, 0, {**shared, "DRAGON_STATS": "first.json"})
assert first.stdout.readline() == "holds\n"
assert most_held() == 16 << 20, most_held()
second = start(1, 20)
assert result(second) == expected[1]
assert most_held() <= limit, most_held()

# Whoever asks sees it.
if info := shutil.which("dragon-info"):
    seen = json.loads(subprocess.run([info, "--programs", "--json"], env=shared, stdout=subprocess.PIPE, check=True).stdout)
    assert [one["memory"] for one in seen] == ["device", "host"] and seen[0]["total"] == limit, seen
    assert [(one["pid"], one["program"]) for one in seen[0]["programs"]] == [(first.pid, os.path.basename(program)[:27])], seen
    text = subprocess.run([info, "--programs"], env=shared, stdout=subprocess.PIPE, check=True, text=True).stdout
    assert "of 24 MiB in use by 1 program" in text, text

# One that works comes before one that does nothing.
busy = start(2, 1000000)
while held_by(busy.pid) != 16 << 20:
    assert busy.poll() is None
    time.sleep(0.01)
assert held_by(first.pid) <= 8 << 20, held_by(first.pid)

# A stopped program keeps what it holds, and nobody waiting: others are found to have the rest after three seconds.
share_books.stop(busy.pid, books)
third = start(3, 20)
if info:
    def states():
        seen = subprocess.run([info, "--programs", "--json"], env=shared, stdout=subprocess.PIPE, check=True).stdout
        return {one["pid"]: one["stopped"] for books in json.loads(seen) if books["memory"] == "device" for one in books["programs"]}
    while not states()[busy.pid]:
        time.sleep(0.05)
assert result(third) == expected[3]
assert most_held() <= limit, most_held()
busy.send_signal(signal.SIGCONT)
if info:
    while states()[busy.pid]:
        time.sleep(0.05)
busy.kill()
busy.communicate()

# Several at once.
several = {seed: start(seed, 20) for seed in range(4)}
for seed, process in several.items():
    assert result(process) == expected[seed], seed
assert most_held() <= limit, most_held()

# Some are killed, at any time; the memory of the dead goes to the others.
random.seed(7)
running = {seed: start(seed, 20) for seed in range(6)}
for seed in random.sample(sorted(running), 3):
    victim = running.pop(seed)
    try:
        victim.wait(timeout=random.uniform(0.01, 0.3))
    except subprocess.TimeoutExpired:
        pass
    victim.kill()
    victim.communicate()
for seed, process in running.items():
    assert result(process) == expected[seed], seed
assert most_held() <= limit, most_held()

# The first one has given 8 MiB of its contents at least, and says so.
first.communicate("goes on\n")
assert first.returncode == 0
with open("first.json") as file:
    given = json.load(file)["shared"]
assert given["memory_lent"] + given["memory_called_back"] >= 8 << 20 and given["swapped_for_it"] >= 8 << 20, given
# Whoever comes when all have ended begins new books.
assert result(start(5, 20)) == expected[5]
assert most_held() <= 16 << 20, most_held()
print("right")
