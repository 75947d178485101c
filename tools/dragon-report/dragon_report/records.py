"""The optimization records of clang, YAML documents of which those of our pass are read.

A document is parsed only if its pass is `dragon`: records hold those of all of LLVM's passes unless
-foptimization-record-passes=dragon was given, which makes them large.
"""

import dataclasses
import os
import re

from .errors import InputError

KINDS = {
    "Passed": "done",
    "Missed": "missed",
    "Analysis": "note",
    "AnalysisFPCommute": "note",
    "AnalysisAliasing": "note",
    "Failure": "missed"
}
HEADER = re.compile(r"--- !(\w+)\s*$")
PASS = re.compile(r"Pass:\s+'?dragon'?\s*$")


@dataclasses.dataclass(frozen=True)
class Remark:
    kind: str  # done, missed or note
    id: str  # NotTogether: the name of its page
    file: str | None  # as the record has it, which may be relative to anything
    line: int
    column: int
    pieces: tuple  # of its text: (key or "", words); what is said beside the text is in `more`
    more: tuple
    record: str  # the path of the file that it was in

    @property
    def text(self):
        return "".join(words for _, words in self.pieces)

    def get(self, key):
        return next((words for name, words in self.pieces + self.more if name == key), None)

    def what(self):
        """What makes two of them the same: headers are compiled several times, and each file for two sides."""
        return self.id, self.file, self.line, self.column, self.text


def parser():
    try:
        import yaml
    except ImportError as error:
        raise InputError("--records needs Python's yaml module (Debian: apt install python3-yaml; pip install PyYAML)") from error
    # All scalars stay the text that they are: a buffer may be called 'no' or '1e3'.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    return lambda words: yaml.load(words, Loader=loader), yaml.YAMLError


def files_of(path):
    """The record files that an argument names."""
    if not os.path.isdir(path):
        return [path]
    found = [
        os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
        if name.endswith((".opt.yaml", ".opt.ld.yaml"))
    ]
    if not found:
        raise InputError(f"records '{path}': no *.opt.yaml in this folder; compile with -fsave-optimization-record")
    return sorted(found)


def documents(path):
    """Yields (line, kind, text) of each document of our pass."""
    begin, kind, ours, lines = 0, None, False, []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                header = HEADER.match(line)
                if header and kind is None:
                    begin, kind, ours, lines = number, header.group(1), False, []
                elif header or (kind is None and line.strip()):
                    raise InputError(f"records '{path}', line {number}: expected '--- !Passed', '--- !Missed' or '--- !Analysis'; "
                                     "only records in YAML are read")
                elif kind is not None and line.rstrip() == "...":
                    if ours:
                        yield begin, kind, "".join(lines)
                    kind = None
                elif kind is not None:
                    ours = ours or PASS.match(line) is not None
                    lines.append(line)
    except OSError as error:
        raise InputError(f"records '{path}': {error.strerror}; compile with -fsave-optimization-record") from error
    if kind is not None:
        raise InputError(f"records '{path}', line {begin}: this record has no end, the file is truncated; compile again")


def made(path, kind, node, keys):
    """A remark of a parsed document; ValueError says what is wrong with it. Of the arguments those that the remark's wording
    mentions are its text, or all where the wording is not known."""
    if not isinstance(node, dict) or not isinstance(node.get("Name"), str):
        raise ValueError("it has no Name")
    if kind not in KINDS:
        raise ValueError(f"'!{kind}' is no kind of remark")
    place = node.get("DebugLoc") or {}
    mentioned = keys(node["Name"])
    pieces, more = [], []
    for argument in node.get("Args") or []:
        if not isinstance(argument, dict):
            raise ValueError("an argument has no name")
        for key, value in argument.items():
            if key == "String":
                pieces.append(("", value))
            elif key != "DebugLoc" and isinstance(value, str):
                (pieces if mentioned is None or key in mentioned else more).append((key, value))
    return Remark(KINDS[kind], node["Name"], place.get("File"), int(place.get("Line", 0)), int(place.get("Column", 0)),
                  tuple(pieces), tuple(more), path)


def read(paths, keys):
    """The remarks of all files, each once, in the order of their places. `keys` tells what a remark's wording mentions."""
    load, broken = parser()
    found = {}
    for path in (file for argument in paths for file in files_of(argument)):
        for line, kind, words in documents(path):
            try:
                remark = made(path, kind, load(words), keys)
            except (broken, ValueError, TypeError, AttributeError) as error:
                reason = str(error).split("\n", maxsplit=1)[0]
                raise InputError(f"records '{path}', line {line}: damaged record ({reason}); compile again") from error
            found.setdefault(remark.what(), remark)
    order = {"missed": 0, "done": 1, "note": 2}
    return sorted(found.values(), key=lambda remark: (remark.file or "", remark.line, order[remark.kind], remark.column))
