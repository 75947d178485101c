# check-link.py TRACE STATS: what launches fetched and wrote back is what the statistics counted for them, and the most memory that the
# trace shows at a time is the statistics' peak. For programs that fetch nothing ahead and that nobody else makes room for.
import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
stats = json.load(open(sys.argv[2]))
launches = [event["args"] for event in events if event["name"] in ("launch", "launches together")]
if not launches:
    sys.exit("check-link.py: no launch ran out of core")


def moved(direction, *causes):
    rows = stats["moved"].get(direction, {}).get("by_cause", {})
    return sum(rows[cause]["bytes"] for cause in causes if cause in rows)


for what, wanted in (("fetched", moved("host_to_device", "demand", "prefetch")), ("written back", moved("device_to_host", "eviction"))):
    found = sum(args[what] for args in launches)
    if found != wanted or not found:
        sys.exit(f"check-link.py: {what} for launches: {found}, the statistics have {wanted}")
held = [event["args"] for event in events if event["ph"] == "C" and event["name"] == "memory held"]
for memory in ("device memory", "host memory"):
    found = max(args[memory] for args in held)
    if found != stats["peaks"][memory.replace(" ", "_")]:
        sys.exit(f"check-link.py: {memory}: at most {found} in the trace, {stats['peaks']} in the statistics")
