"""same-bytes.py [--asynchronous] A.json B.json: two programs have moved the same bytes, each way and for each cause, and have avoided
the same; and they have moved something. Of launches that end when they end (--asynchronous), as a GPU's, evictions are not
compared: chunks in use are evicted last."""
import json
import sys


def flat(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{path}/{key}")
    elif isinstance(value, (int, float)):
        yield path, value


def figures(path):
    stats = json.load(open(path))
    counts = {key: stats["counts"][key] for key in COMPARED}
    return dict(flat({"moved": stats["moved"], "avoided": stats["avoided"], "counts": counts}))


paths = sys.argv[1:]
COMPARED = ["launches", "sliced_launches", "slices", "launches_together", "evictions"]
if paths[0] == "--asynchronous":
    paths.pop(0)
    COMPARED.remove("evictions")
one, other = map(figures, paths)
bad = [key for key in sorted(set(one) | set(other)) if one.get(key, 0) != other.get(key, 0)]
for key in bad:
    print(f"{key}: {one.get(key, 0)} and {other.get(key, 0)}")
if not one.get("/counts/sliced_launches"):
    bad.append("nothing was out of core")
    print(bad[-1])
sys.exit(bool(bad))
