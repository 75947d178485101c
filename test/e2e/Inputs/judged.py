# judged.py OURS.json PAGER.json: the figures of judged.cu, which has memory for four and a half of its eight buffers.
import json
import sys

M = 1 << 20
ours, pager = (json.load(open(path)) for path in sys.argv[1:])


def total(row):
    return row["host_to_device"] + row["device_to_host"]


def check(what, condition):
    if not condition:
        print(f"not so: {what}", file=sys.stderr)
        print(json.dumps([ours, pager], indent=1), file=sys.stderr)
        sys.exit(1)


oracle = ours["traffic"]["oracle"]
# The first buffer comes in, the results go out.
check("the oracle moves what it must", oracle["host_to_device"] >= 4 * M and oracle["device_to_host"] >= 28 * M)
# Between the rounds four and a half of the seven results can stay. The others go out and come back, and out once more.
check("what does not fit, it moves twice", abs(total(oracle) - (4 + 28 + 2 * 2.5 * 4) * M) <= M)
check("the order of the accesses is the same in both runs",
      abs(total(pager["traffic"]["oracle"]) - total(oracle)) <= 4 * M)

moved = {key: value["bytes"] for key, value in ours["moved"].items()}
check("nobody beats the oracle", moved["host_to_device"] + moved["device_to_host"] >= total(oracle))
check("nothing was host-mapped", total(ours["traffic"]["host_mapped_accesses"]) == 0)

plain = pager["traffic"]["reference_pager"]
directed = pager["traffic"]["reference_pager_with_directives"]
# The pager evicts in the order of arrival: in the second round nothing is there that is needed next.
check("the pager brings all buffers again", plain["host_to_device"] >= 4 * M + 28 * M)
check("discards only help", total(directed) <= total(plain))
check("the oracle is below", total(oracle) < total(directed))

rows = {row["kernel"]: row for row in ours["footprints"]}
check("one kernel", list(rows) == ["add"])
row = rows["add"]
check("launches", row["launches"] == 14 and row["unknown"] == 0)
check("touched", row["touched"] == 7 * 8 * M + 7 * 4 * M)
check("announced exactly", row["announced"] == row["touched"] and row["missed"] == 0 and row["in_vain"] == 0)
check("overwritten", row["overwritten"] == 7 * 4 * M and row["not_overwritten"] == 0)
