# manuals.py PAGES BIN TOOL[:WORD]...: what formatters say of each tool's page, and which options of its --help (with WORD: those with
# it in their name) the page lacks.
import os
import re
import shutil
import subprocess
import sys

pages, folder, tools = sys.argv[1], sys.argv[2], sys.argv[3:]
options = 0
for tool, _, word in (name.partition(":") for name in tools):
    page = os.path.join(pages, f"{tool}.1")
    environment = {**os.environ, "MANWIDTH": "120", "LC_ALL": "C.UTF-8", "MANROFFSEQ": ""}
    shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", page], capture_output=True, text=True, env=environment)
    said = shown.stderr
    if shutil.which("mandoc"):
        said += subprocess.run(["mandoc", "-Tlint", "-Wwarning", page], capture_output=True, text=True).stdout
    for line in said.splitlines():
        if "cannot parse date" not in line:  # a month, as on most pages
            print(f"{tool}: {line}")
    help = subprocess.run([os.path.join(folder, tool), "--help"], capture_output=True, text=True, check=True).stdout
    # Without what backspaces draw over.
    text = re.sub(r".\x08|\x1b\[[0-9;]*m", "", shown.stdout).replace("‐", "-").replace("−", "-")
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION"):
        if not re.search(rf"^{heading}$", text, re.MULTILINE):
            print(f"{tool}: no {heading}")
    for option in re.findall(r"^ {1,8}(--?[\w#][\w-]*)", help, re.MULTILINE):
        if word in option:
            options += 1
            if not re.search(rf"(^|[\s,\[]){re.escape(option)}(?![\w-])", text):
                print(f"{tool}: no {option} on its page")
print(f"{len(tools)} pages, {options} options")
