"""random-io.py DEVICE SEED STEPS PARAMETER...: several connections read, write, zero and trim parts of one device, each its own, and
compare what they read with a model."""

import multiprocessing
import sys

import served

device, seed, steps = (int(word) for word in sys.argv[1:4])
SIZE = 7 * served.MIB + 12345  # no multiple of anything
CONNECTIONS = 4
ENDS = [SIZE * i // CONNECTIONS for i in range(CONNECTIONS + 1)]


def work(i):
    """What its part holds in the end."""
    model = served.Model(server.connect(), ENDS[i], ENDS[i + 1], seed + i)
    for _ in range(steps):
        model.step()
    return model.bytes


with served.Place(device) as place, served.Server(place, f"size={SIZE}", *sys.argv[4:]) as server:
    # Processes: the bindings of libnbd have one call at a time in each.
    with multiprocessing.Pool(CONNECTIONS) as pool:
        parts = pool.map(work, range(CONNECTIONS))
    handle = server.connect()
    assert handle.get_size() == SIZE and handle.can_multi_conn()
    for i, part in enumerate(parts):
        model = served.Model(handle, ENDS[i], ENDS[i + 1], 0)
        model.bytes = part
        model.check()
    assert server.held() <= device
    handle.trim(SIZE, 0)
    assert server.held() == 0
    counts = server.stop()
    assert counts["used"] == counts["lost"] == 0, counts
    print({key: value for key, value in counts.items() if value})
