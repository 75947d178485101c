# ledger.py STATS.json CONDITION...: each condition is a Python expression over the ledger's numbers, e.g.
#   'file_to_host == 512*M' 'swap_out == 0'
# A name is a field of dragon_stats_t or a counter, K and M are 1024 and 1024 squared.
import json
import sys

with open(sys.argv[1]) as file:
    stats = json.load(file)

names = {"K": 1 << 10, "M": 1 << 20}


def collect(prefix, value):
    if isinstance(value, dict):
        for key, inner in value.items():
            collect(f"{prefix}_{key}" if prefix else key, inner)
    elif isinstance(value, (int, float)):
        names[prefix] = value


collect("", stats)
failed = False
for condition in sys.argv[2:]:
    if not eval(condition, {"__builtins__": {}}, names):
        failed = True
        print(f"not so: {condition}", file=sys.stderr)
if failed:
    print(json.dumps(stats, indent=1), file=sys.stderr)
    sys.exit(1)
