"""What the project's own pages say: of each remark (docs/remarks), and of the rows of the statistics (docs/slow.md).

They are read from the source tree or from where they were installed beside the tool, so the report says what they say.
"""

import dataclasses
import os
import re

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ROOTS = [os.path.join(HERE, "docs"), os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs")]


@dataclasses.dataclass(frozen=True)
class RemarkPage:
    meaning: str  # the first paragraphs, markdown
    cure: str  # empty where the page has none
    keys: frozenset  # the arguments that the wording mentions


def read(name):
    for root in ROOTS:
        try:
            with open(os.path.join(root, name), encoding="utf-8") as file:
                return file.read()
        except OSError:
            continue
    return None


def parse(page):
    """A remark's page: a title, its wording, paragraphs, source and output in fences, then perhaps the cure."""
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", re.sub(r"```.*?```", "\n", page, flags=re.DOTALL))]
    wording = next((part for part in paragraphs if part.startswith("`-Rpass")), "")
    before, cure = [], []
    for part in paragraphs:
        if part.startswith("**Cure"):
            cure = [re.sub(r"^\*\*Cure\.?\*\*\s*", "", part)]
        elif cure:
            cure.append(part)
        elif part and not part.startswith(("#", "`-Rpass")):
            before.append(part)
    return RemarkPage(before[0] if before else "", "\n\n".join(cure), frozenset(re.findall(r"\*(\w+)\*", wording)))


class Pages:

    def __init__(self):
        self.known = {}
        self.tables = []  # of the statistics: (the line in front, {"read-only": what it means})
        before = ""
        for block in re.split(r"\n\s*\n", (read("slow.md") or "").split("\n## Then")[0]):
            rows = {}
            for line in block.splitlines():
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                if line.startswith("|") and len(cells) == 2 and not cells[0].startswith("-"):
                    for name in cells[0].split(", "):
                        rows[name] = list(rows.values())[-1] if cells[1] == "the same" else cells[1]
            if rows:
                self.tables.append((before, rows))
            before = block

    def remark(self, identifier):
        """The page of a remark, or None."""
        if identifier not in self.known:
            page = read(f"remarks/{identifier}.md") if re.fullmatch(r"\w+", identifier) else None
            self.known[identifier] = parse(page) if page else None
        return self.known[identifier]

    def keys(self, identifier):
        page = self.remark(identifier)
        return page.keys if page else None

    def row(self, name, table=""):
        """What a row of the statistics means: 'elided_staging' and 'elided staging' are the same. What is in front of the table begins
        with `table`: some names are in two of them."""
        wanted = name.replace("_", " ").replace("-", " ")
        return next((text for before, rows in self.tables if before.startswith(table) for row, text in rows.items()
                     if row.replace("-", " ") == wanted), None)
