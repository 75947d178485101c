"""The page as a whole: one file, with its style and script inside and nothing from elsewhere."""

from __future__ import annotations  # fields have the names of modules

import base64
import dataclasses
import hashlib
import os

from . import costs, flow, info, kernels, kernelview, lanes, overview, records, sources, sourceview, stats, timeline, trace
from .errors import InputError
from .markup import Html, el, join
from .pages import HERE, Pages


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


def gather(options):
    """Reads what the command line names."""
    inputs = Inputs(options.title, Pages())
    if options.records:
        inputs.has_records = True
        inputs.remarks = records.read(options.records, inputs.pages.keys)
        inputs.sources = sources.find(inputs.remarks, options.source_root)
        inputs.used += [("records", path) for path in options.records]
    if options.stats:
        inputs.stats = stats.read(options.stats)
        inputs.used.append(("statistics", options.stats))
    if options.trace:
        inputs.trace = trace.read(options.trace)
        inputs.used.append(("trace", options.trace))
        if inputs.trace.truncated:
            inputs.warnings.append(f"trace '{options.trace}' ends before the run did; the page shows what is there")
        if inputs.trace.empty():
            inputs.warnings.append(f"trace '{options.trace}' has no events: no call of CUDA was made, or the program was stopped")
        else:
            inputs.timeline = timeline.Timeline(inputs.trace)
    named = None
    if options.kernels:
        named = info.read(options.kernels)
        inputs.used.append(("kernels", options.kernels))
    inputs.kernels = kernels.collect(inputs.trace if inputs.timeline else None, inputs.timeline, inputs.stats, inputs.remarks,
                                     named)
    inputs.facts = costs.Facts(inputs.stats, inputs.timeline, inputs.kernels, inputs.remarks)
    if not inputs.title:
        names = [os.path.basename(name) for name in inputs.sources]
        inputs.title = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "") if names else "A run"
    return inputs


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
        el("p", "Made by dragon-report from: ", join([join([what, " ", el("code", path)]) for what, path in inputs.used], ", "),
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
