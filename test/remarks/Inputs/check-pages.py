"""Every remark has a page that quotes its wording and flag, and every page a remark. Arguments: the source directory."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
flags = {"Passed": "-Rpass=dragon", "Missed": "-Rpass-missed=dragon", "Analysis": "-Rpass-analysis=dragon"}
text = (root / "passes" / "Remarks.def").read_text()
pattern = r'^REMARK\((\w+), (\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)'
remarks = {}
for match in re.finditer(pattern, text, re.MULTILINE):
    wording = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match.group(3)))
    remarks[match.group(1)] = (match.group(2), re.sub(r"{(\w+)}", r"*\1*", wording))

problems = []
folder = root / "docs" / "remarks"
index = (folder / "README.md").read_text()
for name, (kind, wording) in remarks.items():
    page = folder / (name + ".md")
    if not page.exists():
        problems.append(f"{page}: missing; describe the remark, with an example and its cure")
        continue
    content = page.read_text()
    if f"`{flags[kind]}`: {wording}" not in content:
        problems.append(f"{page}: does not quote '`{flags[kind]}`: {wording}'")
    if kind == "Missed" and "**Cure.**" not in content:
        problems.append(f"{page}: a missed remark has a '**Cure.**'")
    if f"]({name}.md) | {kind.lower()} | {wording} |" not in index:
        problems.append(f"{folder / 'README.md'}: lacks {name} with its present wording")
for page in folder.glob("*.md"):
    if page.stem != "README" and page.stem not in remarks:
        problems.append(f"{page}: there is no such remark in passes/Remarks.def")
print("\n".join(problems) or f"{len(remarks)} pages")
sys.exit(bool(problems) or not remarks)
