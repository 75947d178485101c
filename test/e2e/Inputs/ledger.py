# ledger.py STATS.json CONDITION...: each condition is a Python expression over the ledger's numbers, e.g.
#   'file_to_host == 48*M' 'swap_out == 0' 'launches == 2'
# Bytes moved have the direction's name (swap_in and swap_out for those of the swap), of a cause <direction>_<cause>, bytes not
# moved avoided_<cause>, what kernels accessed in host memory over_link_<launches>, events the counter's; K and M are 1024 and 1024 squared. What the file does not mention is 0. "cpu: ..." is for the cpu
# device alone: what is evicted from a GPU depends on what it is busy with.
import json
import os
import re
import sys

with open(sys.argv[1]) as file:
    stats = json.load(file)

names = {"K": 1 << 10, "M": 1 << 20}
for direction in ("file_to_host", "host_to_device", "device_to_host", "host_to_file", "swap_to_host", "host_to_swap",
                  "device_to_device", "device_to_peer", "peer_to_device", "peer_to_host", "host_to_peer"):
    moved = stats["moved"].get(direction, {})
    names[direction] = moved.get("bytes", 0)
    for cause, part in moved.get("by_cause", {}).items():
        names[f"{direction}_{cause}"] = part["bytes"]
names["swap_in"], names["swap_out"] = names["swap_to_host"], names["host_to_swap"]
for cause, count in stats.get("avoided", {}).items():
    names[f"avoided_{cause}"] = count
for launches, count in stats.get("over_link_estimated", {}).items():
    names[f"over_link_{launches}"] = count
names.update(stats.get("counts", {}))

late = "test/late" in os.environ.get("LD_LIBRARY_PATH", "")  # test/tools/late-runtime: as on a GPU
failed = False
for condition in sys.argv[2:]:
    if condition.startswith("cpu: "):
        if stats["device"] != "cpu" or late:
            continue
        condition = condition[5:]
    for word in re.findall(r"[a-z_]\w+", condition):
        names.setdefault(word, 0)
    if not eval(condition, {"__builtins__": {}}, names):
        failed = True
        print(f"not so: {condition}", file=sys.stderr)
if failed:
    print(json.dumps(stats, indent=1), file=sys.stderr)
    sys.exit(1)
