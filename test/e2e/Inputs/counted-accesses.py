# counted-accesses.py COUNTED.json UNCOUNTED.json: most of what is accessed in host memory is not, once it was counted.
import json
import sys

counted, uncounted = (json.load(open(path)) for path in sys.argv[1:])


def check(what, condition):
    if not condition:
        print(f"not so: {what}", file=sys.stderr)
        print(json.dumps([counted, uncounted], indent=1), file=sys.stderr)
        sys.exit(1)


def remote(stats):
    return stats["traffic"]["host_mapped_accesses"]["host_to_device"]


check("all launches see host memory", counted["counts"]["host_mapped_launches"] == 6)
check("some count", counted["counts"]["counted_launches"] == 3)
check("without the copies none does", uncounted["counts"]["counted_launches"] == 0)
check("it is read over the link again and again", remote(uncounted) > 0)
check("only until it was counted", remote(counted) * 4 < remote(uncounted))
