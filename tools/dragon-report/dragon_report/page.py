"""The page as a whole: one file, with its style and script inside and nothing from elsewhere."""

from __future__ import annotations  # fields have the names of modules

import base64
import dataclasses
import hashlib
import os

from . import costs, flow, info, kernels, kernelview, lanes, overview, programs, records, sources, sourceview, stats, timeline, trace
from .errors import InputError
from .markup import Html, el, join
from .pages import HERE, Pages


BY_DESCRIPTOR = "/dev/fd/"  # files without a name, from the run itself


@dataclasses.dataclass
class Inputs:
    """All that was read; each part may be missing."""

    title: str
    pages: Pages
    has_records: bool = False
    remarks: list = dataclasses.field(default_factory=list)
    sources: dict = dataclasses.field(default_factory=dict)
    stats: stats.Stats | None = None
    trace: trace.Trace | None = None
    timeline: timeline.Timeline | None = None
    kernels: list = dataclasses.field(default_factory=list)
    facts: costs.Facts | None = None
    used: list = dataclasses.field(default_factory=list)  # (what, path)
    warnings: list = dataclasses.field(default_factory=list)


class Gatherer:
    """Reads what the command line names. What a run and its program hand over may be incomplete, as programs are killed, moved
    and compiled in other ways: the page is made of the rest, and says what is missing."""

    def __init__(self, options):
        self.options = options
        self.inputs = Inputs(options.title, Pages())
        self.programs = programs.Programs()
        self.by_run = any(path and path.startswith(BY_DESCRIPTOR) for path in (options.stats, options.trace))

    def warn(self, text):
        self.inputs.warnings.append(text)

    def handed(self, function, *arguments):
        """The result, or None and a warning. Who names files on a command line can name others: an error."""
        try:
            return function(*arguments)
        except InputError as error:
            if not self.by_run:
                raise
            self.warn(str(error))
            return None

    def of_run(self, what, path, read):
        if path is None:
            return None
        if not path.startswith(BY_DESCRIPTOR):
            self.inputs.used.append((what, path))
            return read(path)
        found = self.handed(read, path)
        if found is not None:
            self.inputs.used.append((f"the {what} of the run", None))
        return found

    def read_programs(self):
        for path in self.options.program:
            self.handed(self.programs.add, path)
            self.inputs.used.append(("program", path))
        self.inputs.warnings += self.programs.warnings

    def read_records(self):
        inputs, options, found = self.inputs, self.options, []
        if options.records:
            inputs.has_records = True
            found = records.read(options.records, inputs.pages.keys)
            inputs.used += [("records", path) for path in options.records]
        elif self.programs.records:
            noted = self.handed(records.read, self.programs.records, inputs.pages.keys)
            inputs.has_records = noted is not None
            found = noted or []
        inputs.remarks = found
        inputs.sources = sources.find(found, options.source_root, self.programs.folders)

    def read_run(self):
        inputs, options = self.inputs, self.options
        inputs.stats = self.of_run("statistics", options.stats, stats.read)
        inputs.trace = self.of_run("trace", options.trace, trace.read)
        if inputs.stats and not inputs.stats.ended:
            self.warn("the statistics are those of a run that went on after they were written")
        name = f"trace '{options.trace}'" if options.trace and not options.trace.startswith(BY_DESCRIPTOR) else "the trace"
        if inputs.trace is None:
            return
        if inputs.trace.truncated:
            self.warn(f"{name} ends before the run did; the page shows what is there")
        if inputs.trace.empty():
            self.warn(f"{name} has no events: no call of CUDA was made, or the program was stopped")
        else:
            inputs.timeline = timeline.Timeline(inputs.trace)

    def title(self):
        names = [os.path.basename(name) for name in self.inputs.sources]
        # Headers are a part of it.
        names = [name for name in names if not name.endswith((".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl"))] or names
        if names:
            return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        ran = [os.path.basename(path) for path in self.options.program[:1]]
        return f"A run of {ran[0]}" if ran else "A run"

    def run(self):
        inputs = self.inputs
        self.read_programs()
        self.read_records()
        self.read_run()
        named = self.programs.kernels
        if self.options.kernels:
            named = info.read(self.options.kernels)
            inputs.used.append(("kernels", self.options.kernels))
        inputs.kernels = kernels.collect(inputs.trace if inputs.timeline else None, inputs.timeline, inputs.stats, inputs.remarks,
                                         named)
        inputs.facts = costs.Facts(inputs.stats, inputs.timeline, inputs.kernels, inputs.remarks)
        inputs.title = inputs.title or self.title()
        return inputs


def gather(options):
    return Gatherer(options).run()


def asset(name):
    try:
        with open(os.path.join(HERE, "assets", name), encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"'{os.path.join(HERE, 'assets', name)}': {error.strerror}; install dragon-report again") from error


def contents(sections):
    names = {
        "costs": "Costs",
        "time": "Time",
        "moved": "What moved",
        "timeline": "Timeline",
        "kernels": "Kernels",
        "source": "Source",
        "remarks": "Remarks"
    }
    links = [el("a", title, href=f"#{name}") for name, title in names.items() if f'id="{name}"' in join(sections)]
    return el("nav", links, aria_label="parts of this page") if len(links) > 1 else None


def foot(inputs):
    device = None
    if inputs.stats:
        device = "the host processor, in place of a GPU" if inputs.stats.device == "cpu" else f"'{inputs.stats.device}'"
    missing = [
        what for what, there in (("--records", inputs.has_records), ("--stats", inputs.stats), ("--trace", inputs.trace))
        if not there
    ]
    return el(
        "footer",
        el("p", "Made by dragon-report from: ", join([join([what, " ", el("code", path)]) if path else what for what, path in inputs.used], ", "),
           ".", f" The device was {device}." if device else None),
        el("p", "Not given, so not on this page: ", join([el("code", name) for name in missing], ", "), ".") if missing else None,
        el(
            "p",
            "Sizes are in powers of 1024 (1 MiB = 1 048 576 bytes), rates in powers of 1000 (1 GB/s = 1 000 000 000 bytes in a second)."
        ))


def render(inputs):
    style, script = asset("report.css"), asset("report.js")
    # Scripts that are not ours do not run, and nothing is fetched.
    known = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{known}'"
    warnings = [el("p", warning, class_="warn") for warning in inputs.warnings]
    sections = [
        part for part in [
            *overview.section(inputs),
            flow.section(inputs),
            lanes.section(inputs),
            kernelview.section(inputs),
            sourceview.section(inputs),
            sourceview.meanings(inputs)
        ] if part
    ]
    body = [
        el("header", el("h1", inputs.title), overview.verdict(inputs), warnings, contents(sections)),
        el("main", sections),
        foot(inputs)
    ]
    head = [
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", f"{inputs.title} \u2013 dragon-report"),
        Html(f"<style>{style}</style>")
    ]
    page = el("html", el("head", head), el("body", body, Html(f"<script>{script}</script>")), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"
