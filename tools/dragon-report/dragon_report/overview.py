"""The top of the page: the verdict in a sentence, where the time went, and the three largest costs."""

from . import costs, units, words
from .markup import Html, el, inline, join
from .timeline import CLASSES


def verdict(inputs):
    """One or two sentences, as markup."""
    stats, timeline = inputs.stats, inputs.timeline
    parts = []
    if timeline:
        parts.append(
            join(["The run took ",
                  el("b", units.time(timeline.length)), ", from the first event of the trace to the last."]))
        name, seconds = costs.limit(inputs.facts)
        parts.append(join(["What limits it most is ", el("b", name), f": {units.share(seconds, timeline.length)} of the time."]))
    elif stats and stats.run_seconds:
        parts.append(
            join(["The run took ",
                  el("b", units.time(stats.run_seconds)), ", from its first call of CUDA to its end."] if stats.ended else
                 ["The run had taken ",
                  el("b", units.time(stats.run_seconds)), " by then, since its first call of CUDA."]))
    if stats:
        parts.append(moved(stats, bool(timeline)))
    if not timeline and not stats:
        missed = sum(remark.kind == "missed" for remark in inputs.remarks)
        done = sum(remark.kind == "done" for remark in inputs.remarks)
        if inputs.remarks or not inputs.kernels:
            parts.append(
                join([
                    "The compiler did something for the program's data at ",
                    el("b", units.count(done, "place")), " and missed a chance at ",
                    el("b", units.count(missed, "place")), "."
                ]))
        parts.append("How long a run takes, and what it moves, this page does not know: it was made without a run.")
    return el("p", join(parts, " "), class_="verdict")


def moved(stats, explained):
    pieces = []
    if stats.link:
        pieces.append([el("b", units.size(stats.link)), " over the link between host memory and device memory"])
    if stats.peers:
        pieces.append([el("b", units.size(stats.peers)), " from and to the memory of other GPUs"])
    if stats.files:
        pieces.append([el("b", units.size(stats.files)), " from and to the program's files"])
    if stats.swap:
        pieces.append([el("b", units.size(stats.swap)), " from and to swap (files for data that fit in neither memory)"])
    saved = sum(stats.avoided.values())
    if not pieces:
        return join(
            ["It moved nothing" if explained else "The run moved nothing", " between files, host memory and device memory."])
    text = ["It moved " if explained else "The run moved ", join([join(piece) for piece in pieces], ", "), "."]
    if saved:
        text.append([" ", el("b", units.size(saved)), " that a plain program would have moved did not move."])
    return join(text)


def time_bar(timeline):
    """Where the measured time went: a bar, and what its parts mean."""
    parts = [(kind, timeline.seconds(kind)) for kind in CLASSES]
    parts = [(kind, seconds) for kind, seconds in parts if seconds > 0]
    bar = el("div", [
        el("span",
           class_=f"k-{kind}",
           style=f"width:{100 * seconds / timeline.length:.3f}%",
           title=f"{words.CLASSES[kind][0]}: {units.time(seconds)}") for kind, seconds in parts
    ],
             class_="bar",
             role="img",
             aria_label="shares of the measured time")
    rows = [
        el("tr", el("td", el("span", class_=f"key k-{kind}"), words.CLASSES[kind][0]), el("td", units.time(seconds), class_="n"),
           el("td", units.share(seconds, timeline.length), class_="n"), el("td", words.CLASSES[kind][1], class_="wide"))
        for kind, seconds in sorted(parts, key=lambda part: -part[1])
    ]
    return el("div", bar, el("table", el("tbody", rows), class_="legend"), class_="block")


def remark_name(inputs, name):
    """A remark's name, as a link to what it means if that is known."""
    return el("a", name, href=f"#remark-{name}") if inputs.pages.remark(name) else name


def remark_links(inputs, names):
    if not names:
        return None
    links = [remark_name(inputs, name) for name in names]
    return el("p", "The compiler says more at the lines of the source: ", join(links, ", "), ".", class_="more")


def cost_card(inputs, cost, index):
    whole = inputs.timeline.length if inputs.timeline else None
    amount = units.time(cost.seconds) + (f", {units.share(cost.seconds, whole)} of the measured time" if whole else "")
    return el("li", el("h3", el("span", f"{index}", class_="rank"), cost.title),
              el("p", el("span", class_=f"key k-{cost.kind}"), ("about " if cost.estimated else "") + amount, class_="amount"),
              el("p", el("b", "Why. "), " ".join(cost.why)) if cost.why else None,
              el("p", el("b", "What to do. "), " ".join(cost.cure)), remark_links(inputs, cost.remarks))


def missed_cards(inputs):
    """Without a run: what the compiler missed, by remark, most places first."""
    groups = {}
    for remark in inputs.remarks:
        if remark.kind == "missed":
            groups.setdefault(remark.id, []).append(remark)
    out = []
    for index, (name, found) in enumerate(sorted(groups.items(), key=lambda item: -len(item[1]))[:3], 1):
        page = inputs.pages.remark(name)
        out.append(
            el(
                "li", el("h3", el("span", f"{index}", class_="rank"), remark_name(inputs, name)),
                el("p", units.count(len(found), "place"), class_="amount"),
                el("p", el("b", "Why. "), join_paragraphs(page.meaning)) if page and page.meaning else None,
                el("p", el("b", "What to do. "), join_paragraphs(page.cure)) if page and page.cure else el(
                    "p", el("b", "The first one. "), found[0].text)))
    return out


def join_paragraphs(markdown):
    return join([inline(part) for part in markdown.split("\n\n")], Html("<br>"))


def section(inputs):
    found = costs.largest(inputs.facts)
    out = []
    if found:
        cards = [cost_card(inputs, cost, index) for index, cost in enumerate(found, 1)]
        if inputs.timeline:
            intro = "Each moment of the measured time counts once. A kernel that runs comes first: what moves beside it costs nothing."
        else:
            intro = (
                "These are estimates from the bytes that moved, because there is no trace (DRAGON_TRACE=file). Files have the time that was "
                "measured; the link is taken for 25 GB/s. Much of it may happen while kernels run.")
        title = "The largest cost" if len(found) == 1 else f"The {['two', 'three'][len(found) - 2]} largest costs"
        out.append(el("section", el("h2", title), el("p", intro), el("ol", cards, class_="costs"), id="costs"))
    elif not inputs.timeline and not inputs.stats and (cards := missed_cards(inputs)):
        out.append(
            el("section",
               el("h2", "What the compiler missed most often"),
               el("p", "What it costs only a run can tell: give this page DRAGON_STATS=file and DRAGON_TRACE=file of one."),
               el("ol", cards, class_="costs"),
               id="costs"))
    if hints := costs.hints(inputs.facts, found):
        out.append(
            el("section", el("h3", "What the numbers show besides"),
               el("ul", [el("li", sentence, remark_links(inputs, names)) for sentence, names in hints])))
    if inputs.timeline:
        out.append(el("section", el("h2", "Where the time went"), time_bar(inputs.timeline), id="time"))
    return out
