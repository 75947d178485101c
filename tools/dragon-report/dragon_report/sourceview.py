"""The source, with what the compiler says at its lines, and what the remarks mean."""

import re

from . import units
from .markup import el, inline, join, text

NEAR = 4  # lines that are shown around a remark
GAP = 3  # fewer hidden lines than that are shown
FOLD = 4  # remarks at a line that are shown at once; of the others what was done and noted is folded

WORDS = [
    ("link", "the connection between host memory and device memory, such as PCIe or NVLink"),
    ("chunk", "the piece of a buffer that moves at a time, 2 to 32 MiB"),
    ("mapped", "it is known where a buffer's contents come from and where they go, so nothing else is copied"),
    ("elided", "a host buffer that only stands between a file and the device is left out: bytes do not pass through it"),
    ("deferred", "a copy to the device is not made where the program calls it, but when a kernel needs the bytes"),
    ("evicted", "moved out of device memory to make room for other data"),
    ("discarded", "given up without a copy, because nobody reads the contents any more"),
    ("swap", "files of the runtime's own, for data that fit in neither memory and are in no file of the program"),
    ("slice", "a part of a launch that runs by itself, with the data that it needs"),
    ("run together", "launches that follow one another run slice by slice, so that each finds what the one before it left"),
]


class Place:
    """Where a file stands on the page, and which of its lines do."""

    def __init__(self, index, lines):
        self.index, self.lines = index, lines

    def anchor(self, number):
        return f"f{self.index}-L{number}" if number in self.lines else None

    def link(self, number, shown):
        """What leads to a line, if it is there."""
        anchor = self.anchor(number)
        return el("a", shown, href=f"#{anchor}") if anchor else text(shown)


NOWHERE = Place(0, ())


def places(inputs):
    """Name of a file -> its Place."""
    out = {}
    for index, (name, source) in enumerate(inputs.sources.items()):
        lines = range(1,
                      len(source.lines) + 1) if source.lines else {remark.line
                                                                   for remark in inputs.remarks if remark.file == name}
        out[name] = Place(index, lines)
    return out


def words_list():
    return el("details", el("summary", "Words that the remarks use"),
              el("dl", [[el("dt", word), el("dd", meaning)] for word, meaning in WORDS]))


def line_links(words, place):
    """'line 107' as a link."""
    pieces = re.split(r"\b(line \d{1,9})\b", words)
    return join([place.link(int(piece[5:]), piece) if index % 2 else text(piece) for index, piece in enumerate(pieces)])


def remark_view(remark, place, pages):
    body = []
    for key, words in remark.pieces:
        body.append(line_links(words, place) if not key or "line " in words else el("b", words))
    page = pages.remark(remark.id)
    cure = None
    if remark.kind == "missed" and page and page.cure:
        cure = el("details",
                  el("summary", "What to do"), [el("p", inline(part)) for part in page.cure.split("\n\n")],
                  class_="cure")
    name = el("a", remark.id, href=f"#remark-{remark.id}", class_="id") if page else el("span", remark.id, class_="id")
    return el("div",
              el("span", remark.kind, class_=f"badge {remark.kind}"),
              join(body),
              " ",
              name,
              cure,
              class_=f"remark {remark.kind}")


def remarks_view(remarks, place, pages):
    shown = [remark_view(remark, place, pages) for remark in remarks]
    if len(shown) <= FOLD:
        return shown
    missed = sum(remark.kind == "missed" for remark in remarks)
    first = max(FOLD - 1, missed)
    if first >= len(shown):
        return shown
    return shown[:first] + [
        el("details", el("summary", units.count(len(shown) - first, "more remark"), " at this line"), shown[first:], class_="fold")
    ]


def line_view(number, words, place, marked):
    return el("div",
              el("span", number, class_="n"),
              el("code", words),
              class_="line marked" if marked else "line",
              id=place.anchor(number))


def file_view(source, remarks, place, pages):
    """A file's lines; those far from remarks are folded."""
    at = {}
    for remark in remarks:
        at.setdefault(remark.line, []).append(remark)
    lines = source.lines
    if lines and not lines[-1]:
        lines = lines[:-1]
    near = {number for line in at for number in range(line - NEAR, line + NEAR + 1)}
    out, hidden = [remarks_view(at[0], place, pages)] if 0 in at else [], []

    def flush():
        if len(hidden) > GAP:
            out.append(
                el("details",
                   el("summary", f"lines {hidden[0]} to {hidden[-1]}"),
                   [line_view(number, lines[number - 1], place, False) for number in hidden],
                   class_="gap"))
        else:
            out.extend(line_view(number, lines[number - 1], place, False) for number in hidden)
        hidden.clear()

    for number in range(1, len(lines) + 1):
        if number not in near:
            hidden.append(number)
            continue
        flush()
        out.append(line_view(number, lines[number - 1], place, number in at))
        if number in at:
            out.append(remarks_view(at[number], place, pages))
    flush()
    return el("div", out, class_="code")


def without_source(remarks, place, pages):
    out, last = [], None
    for remark in remarks:
        if remark.line != last:
            out.append(
                el("p", f"line {remark.line}" if remark.line else "without a line", class_="place", id=place.anchor(remark.line)))
            last = remark.line
        out.append(remark_view(remark, place, pages))
    return el("div", out, class_="code")


def counted(remarks):
    found = {kind: sum(remark.kind == kind for remark in remarks) for kind in ("missed", "done", "note")}
    return join(
        [f"{units.number(found['missed'])} missed", f"{units.number(found['done'])} done",
         units.count(found["note"], "note")], ", ")


def files(inputs):
    out = []
    for name, place in places(inputs).items():
        source = inputs.sources[name]
        remarks = [remark for remark in inputs.remarks if remark.file == name]
        notes = []
        if source.newer:
            notes.append(el("p", "The source is newer than the records: lines may have moved. Compile again.", class_="warn"))
        if source.lines is None:
            notes.append(
                el("p", f"The source is not shown: {source.why}. --source-root names the folder that it is in.", class_="warn"))
        if source.lines is None:
            body = without_source(remarks, place, inputs.pages)
        else:
            body = file_view(source, remarks, place, inputs.pages)
        out.append(el("article", el("h3", el("code", name)), el("p", counted(remarks), class_="amount"), notes, body,
                      class_="file"))
    lost = [remark for remark in inputs.remarks if not remark.file]
    if lost:
        out.append(
            el("article", el("h3", "Without a place in a source"), without_source(lost, NOWHERE, inputs.pages), class_="file"))
    return out


def filters():
    buttons = [
        el("button", title, type="button", data_kind=kind, aria_pressed="true" if kind == "all" else "false")
        for kind, title in (("all", "All remarks"), ("missed", "Missed"), ("done", "Done"), ("note", "Notes"))
    ]
    return el("p", buttons, class_="filters", hidden=True)


def section(inputs):
    if not inputs.has_records:
        return None
    if not inputs.remarks:
        return el("section", el("h2", "Source"), el("p", "The records hold no remark of dragon-cc."), id="source")
    intro = (
        "What the compiler says, at the lines that it is about: “done” is what it did, “missed” what it could not do and why, “note” what is "
        "good to know. A missed remark ends with what you can do.")
    return el("section", el("h2", "Source"), el("p", intro), words_list(), filters(), files(inputs), id="source")


def meanings(inputs):
    """What each remark of the program means: once, from its page."""
    out = []
    for name in sorted({remark.id for remark in inputs.remarks}):
        page = inputs.pages.remark(name)
        if page is None:
            continue
        out.append(el("dt", name, id=f"remark-{name}"))
        out.append(
            el("dd", [el("p", inline(part)) for part in [page.meaning] if part], [
                el("p",
                   el("b", "What to do. ") if not index else None, inline(part))
                for index, part in enumerate(page.cure.split("\n\n")) if part
            ], el("p", f"More: docs/remarks/{name}.md", class_="more")))
    return el("section", el("h2", "What the remarks mean"), el("dl", out), id="remarks") if out else None
