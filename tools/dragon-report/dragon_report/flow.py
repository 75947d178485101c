"""The ledger as a picture: files, swap, host memory, device memory and that of other GPUs, with arrows as wide as what moved, by cause."""

from . import units, words
from .markup import el, join

CAUSES = ["demand", "prefetch", "eviction", "sync", "copy", "host_access", "paging"]
WIDEST, NARROWEST = 46.0, 3.0  # of an arrow's shaft
SLIM = 24.0  # where there are four beside each other
BOX = 62  # height
TOPS = {"files": 6, "host": 158, "device": 310, "peers": 462}
LEFT, RIGHT = 12, 268  # of the boxes


def known(causes):
    """Causes in our order; others behind them."""
    return [cause for cause in CAUSES if cause in causes] + [cause for cause in causes if cause not in CAUSES]


def colour(cause):
    return f"c-{cause}" if cause in CAUSES else "c-other"


def box(left, right, top, title, lines):
    middle = (left + right) / 2
    texts = [el("text", title, x=middle, y=top + 22, class_="name")]
    texts += [el("text", line, x=middle, y=top + 39 + 15 * index, class_="small") for index, line in enumerate(lines[:2])]
    return el("g", el("rect", x=left, y=top, width=right - left, height=BOX, rx=6, class_="box"), texts)


def rate_of(rows):
    """Of what was timed, if that is most of it."""
    timed = [row for row in rows.values() if row[1] > 0]
    size = sum(row[0] for row in timed)
    return units.rate(size, sum(row[1] for row in timed)) if 2 * size > sum(row[0] for row in rows.values()) else None


def arrow(rows, most, x, span, label, down, widest=WIDEST):
    """A vertical arrow around `x`, in stripes of its causes; rows is cause -> (bytes, seconds)."""
    begin, end = span
    size = sum(row[0] for row in rows.values())
    if not size:
        return None
    width = NARROWEST + (widest - NARROWEST) * size / most
    head = 10
    top, bottom = (begin, end - head) if down else (begin + head, end)
    out, left = [], x - width / 2
    for cause in known(rows):
        stripe = width * rows[cause][0] / size
        out.append(
            el("rect",
               el("title", f"{words.named(cause)}: {units.size(rows[cause][0])}"),
               x=f"{left:.1f}",
               y=top,
               width=f"{stripe:.2f}",
               height=bottom - top,
               class_=colour(cause)))
        left += stripe
    wing = width / 2 + 5
    tip, foot = (end, end - head) if down else (begin, begin + head)
    biggest = max(rows, key=lambda cause: rows[cause][0])
    out.append(el("path", d=f"M{x - wing:.1f} {foot}L{x} {tip}L{x + wing:.1f} {foot}Z", class_=colour(biggest)))
    middle = (begin + end) / 2
    rate = rate_of(rows)
    aside = x + widest / 2 + 8
    out.append(el("text", units.size(size), x=aside, y=middle + (-1 if rate else 5), class_="amount"))
    if rate:
        out.append(el("text", rate, x=aside, y=middle + 15, class_="small start"))
    return el("g", el("title", label), out)


def held(stats, name):
    """What a memory may hold, and held."""
    lines = []
    if name in stats.peaks:
        lines.append(f"held at most {units.size(stats.peaks[name])}")
    if name in stats.limits:
        lines.append(f"of {units.size(stats.limits[name])} allowed")
    return lines


def lent(stats):
    """What other GPUs' memory held, and what went between it and the host."""
    lines = [" ".join(held(stats, "peer_memory"))]
    if beside := stats.bytes("host_to_peer") + stats.bytes("peer_to_host"):
        lines.append(f"{units.size(beside)} from and to the host")
    return [line for line in lines if line]


def picture(stats):
    moved = {direction: {cause: row for cause, row in rows.items() if row[0]} for direction, rows in stats.moved.items()}
    most = max([sum(row[0] for row in rows.values()) for rows in moved.values()], default=0) or 1
    swaps = any(moved.get(direction) for direction in ("swap_to_host", "host_to_swap"))
    right = RIGHT + (140 if swaps else 0)
    middle = (LEFT + right) / 2
    within = stats.bytes("device_to_device")
    device = held(stats, "device_memory")
    if within:
        device = [", ".join(device).replace("held at most ", "")] if device else []
        device.append(f"copied within: {units.size(within)}")
    files = TOPS["files"]
    with_peers = stats.peers or stats.peaks.get("peer_memory")
    with_files = swaps or any(moved.get(direction) for direction in ("file_to_host", "host_to_file"))
    parts = [
        box(LEFT, middle - 4 if swaps else RIGHT, files, "Files", ["of the program"]) if with_files else None,
        box(middle + 4, right, files, "Swap", ["for what fits in neither", "memory"]) if swaps else None,
        box(LEFT, right, TOPS["host"], "Host memory", held(stats, "host_memory")),
        box(LEFT, right, TOPS["device"], "Device memory", device),
        box(LEFT, right, TOPS["peers"], "Memory of other GPUs", lent(stats)) if with_peers else None
    ]

    def below(name, other):
        return TOPS[name] + BOX + 3, TOPS[other] - 3

    upper, lower, lowest = below("files", "host"), below("host", "device"), below("device", "peers")
    quarter = (right - LEFT) / 4
    columns = {"file_to_host": 34, "host_to_file": 132, "swap_to_host": 234, "host_to_swap": 332} if swaps else \
        {"file_to_host": LEFT + 40, "host_to_file": LEFT + 170}
    one, other = LEFT + quarter - 24, LEFT + 3 * quarter - 24
    columns |= {"host_to_device": one, "device_to_host": other, "device_to_peer": one, "peer_to_device": other}
    for direction, x in columns.items():
        down = direction in ("file_to_host", "swap_to_host", "host_to_device", "device_to_peer")
        span = lowest if "peer" in direction else lower if "device" in direction else upper
        slim = swaps and span is upper
        parts.append(arrow(moved.get(direction, {}), most, x, span, words.DIRECTIONS[direction], down, SLIM if slim else WIDEST))
    top = 0 if with_files else TOPS["host"] - 6
    height = TOPS["peers" if with_peers else "device"] + BOX + 6
    return el("svg",
              join(parts),
              viewBox=f"0 {top} {right + LEFT} {height - top}",
              class_="flow" + (" swaps" if swaps else ""),
              role="img",
              aria_label="bytes moved between files, host memory and device memory" + (", and that of other GPUs" if with_peers else ""))


def causes_table(stats, pages):
    """Each cause: what it means, and what it moved where."""
    found = known({cause for rows in stats.moved.values() for cause, row in rows.items() if row[0]})
    rows = []
    for cause in found:
        where = [
            f"{units.size(stats.bytes(direction, cause))} {title}" for direction, title in words.DIRECTIONS.items()
            if stats.bytes(direction, cause)
        ]
        rows.append(
            el("tr", el("td", el("span", class_=f"key {colour(cause)}"), words.named(cause)), el("td",
                                                                                                 pages.row(cause) or ""),
               el("td", join(where, el("br")), class_="sizes")))
    return el("table",
              el("thead", el("tr", el("th", "Cause"), el("th", "What it means"), el("th", "Bytes"))),
              el("tbody", rows),
              class_="stack")


def avoided_table(stats, pages):
    found = {name: size for name, size in stats.avoided.items() if size}
    if not found:
        return el("p", "There is nothing that a plain program would have moved and this one did not.")
    most = max(found.values())
    rows = [
        el("tr", el("td", words.named(name)), el("td",
                                                 pages.row(name) or ""),
           el("td", el("span", class_="hatch", style=f"width:{4 + 56 * size / most:.0f}px"), units.size(size), class_="n"))
        for name, size in sorted(found.items(), key=lambda item: -item[1])
    ]
    return el("table",
              el("thead", el("tr", el("th", "Reason"), el("th", "Why it did not move"), el("th", "Bytes", class_="n"))),
              el("tbody", rows),
              class_="stack")


def rows_table(values, pages, titles, before=""):
    """A row for each value that is not 0: its name, what it means (pages.row), and its bytes, which the last title says more about."""
    found = {name: size for name, size in values.items() if size}
    if not found:
        return None
    rows = [
        el("tr", el("td", words.named(name)), el("td",
                                                 pages.row(name, before) or ""), el("td", units.size(size), class_="n"))
        for name, size in sorted(found.items(), key=lambda item: -item[1])
    ]
    *names, size = titles
    return el("table", el("thead", el("tr", [el("th", name) for name in names], el("th", size, class_="n"))), el("tbody", rows), class_="stack")


def peers_table(stats, pages):
    """The spare memory of other GPUs, way by way."""
    if not stats.peers and not stats.peaks.get("peer_memory"):
        return None
    limit, peak = stats.limits.get("peer_memory"), stats.peaks.get("peer_memory")
    text = "Other GPUs of the machine lent spare memory for what had to leave the program's own"
    if peak is not None:
        text += f": at most {units.size(peak)}" + (f" of {units.size(limit)} that it may use" if limit else "")
    return join([
        el("h3", "Memory of other GPUs"),
        el("p", text + "."),
        rows_table({direction: stats.bytes(direction) for direction in stats.PEERS}, pages, ("Way", "What it means", "Bytes"))
    ])


def over_link_table(stats, pages):
    table = rows_table(stats.over_link, pages, ("Launches", "What is counted", "About bytes"), "Accessed in host memory")
    if not table:
        return None
    return join([
        el("h3", "Accessed in host memory"),
        el("p", "Kernels accessed these bytes over the link themselves, besides what moved. Nobody sees each access: these are estimates."),
        table
    ])


def shared_table(stats, pages):
    table = rows_table(stats.shared, pages, ("What", "What it means", "Bytes"))
    return join([el("h3", "For other programs on this GPU"), table]) if table else None


def counts_table(stats, pages):
    found = [(name, value) for name, value in stats.counts.items() if value]
    if not found:
        return None
    rows = [
        el("tr", el("td", words.named(name)), el("td", units.number(value), class_="n"), el("td",
                                                                                            pages.row(name, "Events") or ""))
        for name, value in found
    ]
    return el("details", el("summary", "Events that were counted"), el("table", el("tbody", rows)))


def traffic_table(stats):
    """What others would have moved over the link for the same accesses (DRAGON_ORACLE, DRAGON_PAGER)."""
    if not stats.traffic:
        return None
    rows = [("this run", (stats.bytes("host_to_device"), stats.bytes("device_to_host"))), *stats.traffic.items()]
    return join([
        el("h3", "What others would have moved over the link"),
        el(
            "table",
            el("thead", el("tr", el("th", "Who"), el("th", "To the device", class_="n"), el("th", "From the device", class_="n"))),
            el("tbody", [
                el("tr", el("td", words.TRAFFIC.get(who, words.named(who))),
                   [el("td", units.size(size), class_="n") for size in sizes]) for who, sizes in rows
            ]))
    ])


def section(inputs):
    stats = inputs.stats
    if not stats:
        return None
    chunk = stats.limits.get("chunk")
    intro = ("An arrow is as wide as its bytes are many; its colours are the causes. " +
             (f"Buffers move in chunks, pieces of {units.size(chunk)} in this run. " if chunk else "") +
             "A rate is that of the requests by themselves, which may have run at the same time.")
    return el(
        "section",
        el("h2", "What moved"),
        el("p", intro),
        el("p", "On this device the GPU's driver moves some data by itself. What it moves is not counted here.", class_="warn")
        if stats.device in ("managed", "dragon") else None,
        el("div",
           picture(stats),
           el("div", el("h3", "Why it moved"), causes_table(stats, inputs.pages), el("h3", "What did not move"),
              el("p", "A plain program, which copies all that a kernel may need, would have moved these bytes as well."),
              avoided_table(stats, inputs.pages), peers_table(stats, inputs.pages), over_link_table(stats, inputs.pages),
              shared_table(stats, inputs.pages), traffic_table(stats), counts_table(stats, inputs.pages)),
           class_="two"),
        id="moved")
