"""neighbour.py PROGRAM: a program that wants all the memory of the device gets it from the block device beside it, whose contents stay
right, whenever programs come, end or are killed."""

import multiprocessing
import random
import signal
import subprocess
import sys

import served
from served import MIB

program = sys.argv[1]
DEVICE = 24 * MIB


def start(place, rounds, mib, **more):
    """Of two buffers; with rounds 0 it says that it holds them, and waits."""
    return subprocess.Popen([program, "7", str(rounds), str(mib)], env={**place.environment, "DRAGON_CHUNK_SIZE": "2M", **more},
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def end(process):
    process.kill()
    process.communicate()


def gets_all(place, server):
    model = served.Model(server.connect(), 0, 20 * MIB, 1)
    model.bytes[:] = random.Random(1).randbytes(len(model.bytes))
    model.handle.pwrite(model.bytes, 0)
    assert server.held() == 20 * MIB, server.held()
    neighbour = start(place, 0, 12)
    assert neighbour.stdout.readline() == "holds\n"
    seen = place.programs()
    assert seen[neighbour.pid]["held"] == DEVICE and seen[server.process.pid]["held"] == 0, seen
    assert seen[server.process.pid]["spare"] and not seen[neighbour.pid]["spare"], seen
    model.check()
    model.handle.pwrite(b"new", 5 * MIB - 1)
    model.bytes[5 * MIB - 1:5 * MIB + 2] = b"new"
    end(neighbour)
    # What is used comes back when nobody wants the memory any more, and is right there, too.
    served.until(lambda: model.check() or server.held() == 20 * MIB)
    model.check()
    # It leaves once more, without being written: the file has it.
    neighbour = start(place, 0, 12)
    assert neighbour.stdout.readline() == "holds\n"
    assert server.held() == 0
    model.check()
    end(neighbour)
    counts = server.stop()
    assert counts["moved_out"] == counts["dropped"] == counts["moved_in"] == 20 * MIB, counts


def model_of(server, i):
    return served.Model(server.connect(), i * 7 * MIB, (i + 1) * 7 * MIB, i)


def work(server, stop, i, queue):
    model = model_of(server, i)
    while not stop.is_set():
        try:
            model.step()
        except BaseException:
            queue.put(b"")
            raise
    queue.put(model.bytes)


def comes_and_goes(place, server):
    """Programs of any size come, and are killed at any time, while connections work."""
    stop = multiprocessing.Event()
    results = [multiprocessing.SimpleQueue() for _ in range(3)]
    workers = [multiprocessing.Process(target=work, args=(server, stop, i, queue)) for i, queue in enumerate(results)]
    for worker in workers:
        worker.start()
    choice = random.Random(3)
    for _ in range(12):
        neighbour = start(place, 0, choice.randrange(1, 13))
        if choice.random() < 0.5:
            assert neighbour.stdout.readline() == "holds\n"
        else:
            try:
                neighbour.wait(timeout=choice.uniform(0.01, 0.4))
            except subprocess.TimeoutExpired:
                pass
        end(neighbour)
    # One that works beside it computes what it computes alone.
    alone, _ = start(place, 20, 8, DRAGON_SHARE="0").communicate()
    beside = start(place, 20, 8)
    assert beside.communicate()[0] == alone and beside.returncode == 0
    stop.set()
    for i, (worker, queue) in enumerate(zip(workers, results)):
        model = model_of(server, i)
        model.bytes = queue.get()
        worker.join()
        assert worker.exitcode == 0
        model.check()
    counts = server.stop()
    assert counts["moved_out"] and counts["lost"] == 0, counts
    assert server.words() == "", server.words()


def soft_limit(place, server):
    """While a program wants anything, no more than soft is held."""
    model = served.Model(server.connect(), 0, 16 * MIB, 1)
    model.bytes[:] = random.Random(2).randbytes(len(model.bytes))
    model.handle.pwrite(model.bytes, 0)
    assert server.held() == 16 * MIB, server.held()
    neighbour = start(place, 0, 1)
    assert neighbour.stdout.readline() == "holds\n"
    served.until(lambda: server.held() == 4 * MIB)
    model.check()
    assert server.held() == 4 * MIB
    end(neighbour)
    served.until(lambda: model.check() or server.held() == 16 * MIB)


def dies(place, server):
    """What a killed server held is there for whoever waits for it."""
    server.connect().pwrite(bytes(20 * MIB), 0)
    server.process.send_signal(signal.SIGSTOP)
    neighbour = start(place, 0, 12)
    served.until(lambda: place.programs().get(neighbour.pid, {"waits_for": 0})["waits_for"])
    server.process.kill()
    assert neighbour.stdout.readline() == "holds\n"
    assert place.programs()[neighbour.pid]["held"] == DEVICE
    end(neighbour)


for run, parameters in ((gets_all, []), (gets_all, ["reserve=false"]), (comes_and_goes, ["area=64K"]), (comes_and_goes, ["area=2M", "hard=9M"]),
                        (soft_limit, ["soft=4M"]), (dies, [])):
    with served.Place(DEVICE) as place, served.Server(place, "64M", *parameters) as server:
        run(place, server)
    print(run.__name__, *parameters)
