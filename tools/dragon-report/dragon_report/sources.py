"""Finds the sources that records name.

Clang writes a path as it was given, or from a folder that the record does not name; so it is looked for from the folder of
--source-root, from the current one, from those that the program was compiled in, and from those above the record.
"""

import os

LARGEST = 4 << 20  # bytes: more is no source that anybody wrote


def above(folder):
    folder = os.path.realpath(folder)
    while True:
        yield folder
        up = os.path.dirname(folder)
        if up == folder:
            return
        folder = up


def candidates(name, record, root, folders):
    if root is not None:
        yield os.path.join(root, name.lstrip("/"))
        parts = [part for part in name.split("/") if part not in ("", ".", "..")]
        for first in range(1, len(parts)):
            yield os.path.join(root, *parts[first:])
    if os.path.isabs(name):
        yield name
        return
    yield name
    for folder in [*folders, *above(os.path.dirname(record) or ".")]:
        yield os.path.join(folder, name)


class Source:
    """A file that remarks are about; `lines` is None where it was not found, and `why` says so."""

    def __init__(self, name, record, last, root, folders):
        self.name, self.lines, self.why, self.newer = name, None, "it is not there", False
        for path in candidates(name, record, root, folders):
            if not os.path.isfile(path):
                continue
            lines, why = contents(path)
            if lines is not None and len(lines) < last:
                lines, why = None, f"'{path}' has fewer lines than the remarks name: it is another file, or has changed"
            self.lines, self.why = lines, why
            if lines is not None:
                self.newer = os.path.getmtime(path) > os.path.getmtime(record)
                return


def contents(path):
    try:
        if os.path.getsize(path) > LARGEST:
            return None, f"'{path}' is too large for a source"
        with open(path, "rb") as file:
            words = file.read()
    except OSError as error:
        return None, f"'{path}': {error.strerror}"
    if b"\0" in words:
        return None, f"'{path}' is no text"
    return words.decode("utf-8", errors="replace").split("\n"), None


def find(remarks, root, folders=()):
    """Name of a file -> Source, in the order of the remarks."""
    last, record = {}, {}
    for remark in remarks:
        if remark.file:
            last[remark.file] = max(last.get(remark.file, 0), remark.line)
            record.setdefault(remark.file, remark.record)
    return {name: Source(name, record[name], last[name], root, folders) for name in last}
