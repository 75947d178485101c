"""The kernels: what each does to its buffers, how it ran, and what the compiler says of it."""

from . import units, words
from .kernels import WAYS
from .markup import el, join
from .sourceview import NOWHERE, places
from .trace import Link

OPEN = 12  # kernels that are shown in full


def way_of(kernel):
    """How it can run beyond device memory, as dragon-info says."""
    info = kernel.info
    if info is None:
        return None
    if info.get("touches_anything"):
        return "It may touch every buffer, so all buffers count as its data."
    can = [
        text
        for key, text in (("sliced", "a part of its grid at a time"), ("cut_along_loop", "some iterations of a loop at a time"),
                          ("may_fetch_pages", "with pages (small pieces of buffers) that it fetches itself")) if info.get(key)
    ]
    if can:
        return f"Where its data exceed device memory, it can run {words.both(can).replace(' and ', ' or ')}."
    return f"Where its data exceed device memory, it uses host memory over the link. {info.get('why_not_sliced') or ''}".strip()


def footprint(kernel):
    out = []
    if kernel.info and kernel.info.get("pointers"):
        out.append(
            el("ul", [el("li", el("code", pointer["name"]), ": ", pointer["use"]) for pointer in kernel.info["pointers"]],
               class_="plain"))
    if text := way_of(kernel):
        out.append(el("p", text))
    row = kernel.footprint
    if row and isinstance(row.get("touched"), int) and isinstance(row.get("announced"), int):
        out.append(el("p", f"It touched {units.size(row['touched'])}; the compiler had announced {units.size(row['announced'])}."))
    return out


def ways(kernel):
    if not kernel.ways:
        return None
    items = []
    for way, count in sorted(kernel.ways.items(), key=lambda item: -item[1]):
        items.append(el("li", el("b", way), f", {units.count(count, 'launch', 'launches')}. ", WAYS.get(way, "")))
    out = [el("ul", items, class_="plain")]
    if kernel.instead and kernel.instead[1]:
        out.append(
            el("p",
               "The last time, the runtime took ",
               el("i", units.restated(kernel.instead[0])),
               " and not ",
               el("i", units.restated(kernel.instead[1])),
               ".",
               class_="more"))
    return out


def remark_list(kernel, where):
    if not kernel.remarks:
        return None
    items = []
    for remark in kernel.remarks[:6]:
        link = where.get(remark.file, NOWHERE).link(remark.line, f"line {remark.line}")
        items.append(el("li", el("span", remark.kind, class_=f"badge {remark.kind}"), link, ": ", remark.text))
    more = len(kernel.remarks) - len(items)
    return el("details", el("summary", f"What the compiler says: {units.count(len(kernel.remarks), 'remark')}"),
              el("ul", items, class_="plain"),
              el("p", f"{units.count(more, 'other')} stand at the lines of the source.", class_="more") if more > 0 else None)


def card(kernel, inputs, where):
    facts = []
    if kernel.seconds:
        facts.append(f"{units.time(kernel.seconds)}, {units.share(kernel.seconds, inputs.timeline.length)} of the measured time")
    if kernel.launches and not kernel.own:
        facts.append(units.count(kernel.launches, "launch", "launches"))
    if kernel.pieces > kernel.launches and not kernel.own:
        facts.append(f"{units.number(kernel.pieces)} pieces")
    if kernel.copied:
        facts.append(f"{units.size(kernel.copied)} planned to be copied for it")
    return el("article",
              el("h3", el("code", kernel.name)),
              el("p", join(facts, " \u00b7 "), class_="amount") if facts else None,
              el("p", "This kernel is the runtime's own: it moves pages for kernels that fetch them.") if kernel.own else None,
              footprint(kernel),
              ways(kernel),
              remark_list(kernel, where),
              class_="kernel")


def link_row(name, launches, link, pages):
    return el("tr", el("td", name), el("td", launches, class_="n"), el("td", units.size(link.fetched), class_="n"),
              el("td", units.size(link.written), class_="n"), el("td", units.size(pages) if pages else "", class_="n"),
              el("td", f"about {units.size(link.remote)}" if link.remote else "", class_="n"))


def link_table(inputs):
    """What crossed the link for which kernel."""
    rows, shared, counted = [], {}, Link()
    for kernel in inputs.kernels:
        shared.update(kernel.shared)
        if kernel.link and not kernel.own and (kernel.link.total or kernel.pages):
            rows.append((kernel.link.total + kernel.pages, el("code", kernel.name), units.number(kernel.launches), kernel.link, kernel.pages))
    for names, link in shared.items():
        if link.total:
            rows.append((link.total, join([join([el("code", name) for name in names], ", "), " together"]), "", link, 0))
    if not rows:
        return None
    rows.sort(key=lambda row: -row[0])
    for row in rows:
        counted.fetched += row[3].fetched
        counted.written += row[3].written
    lines = [link_row(*row[1:]) for row in rows]
    if inputs.stats:
        rest = Link()
        rest.fetched = inputs.stats.bytes("host_to_device") - inputs.stats.bytes("host_to_device", "paging") - counted.fetched
        rest.written = inputs.stats.bytes("device_to_host") - inputs.stats.bytes("device_to_host", "paging") - counted.written
        if rest.fetched > 0 or rest.written > 0:
            rest.fetched, rest.written = max(0, rest.fetched), max(0, rest.written)
            lines.append(link_row("for no launch: copies of the program, results, what was fetched ahead", "", rest, 0))
    titles = ["Kernel", "Launches", "Fetched", "Written back", "Pages", "Accessed in host memory"]
    return el("div", el("h3", "Over the link, by kernel"),
              el("table", el("thead", el("tr", [el("th", title) for title in titles])), el("tbody", lines)),
              el("p", "What was fetched to the device for launches, and written back from it to make room, is counted. Pages that kernels "
                 "fetch and write themselves are counted for all of them together, and stand here if only one does so. What kernels access "
                 "in host memory is estimated from what the compiler announced.", class_="more"),
              class_="block")


def section(inputs):
    if not inputs.kernels:
        return None
    where = places(inputs)
    intro = []
    if not inputs.timeline:
        intro.append("How often they ran, in which way and how long, the trace of a run tells (DRAGON_TRACE=file).")
    if not any(kernel.info for kernel in inputs.kernels):
        intro.append("What they do to their buffers, 'dragon-info --json PROGRAM' tells (--kernels).")
    cards = [card(kernel, inputs, where) for kernel in inputs.kernels]
    more = el("details", el("summary", units.count(len(cards) - OPEN, "more kernel")), cards[OPEN:]) if len(cards) > OPEN else None
    return el("section",
              el("h2", "Kernels"),
              el("p", " ".join(intro)) if intro else None,
              link_table(inputs),
              el("div", cards[:OPEN], class_="cards"),
              more,
              id="kernels")
