"""Does what docs/tutorial.md says: tutorial.py FILE. Each line of a text block must be in what the commands in front of it print."""

import os
import re
import subprocess
import sys

with open(sys.argv[1]) as file:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", file.read(), re.M | re.S)
environment = dict(os.environ, DRAGON_QUIET="0")
printed = ""
done = {"cuda": 0, "sh": 0, "text": 0}
for kind, text in blocks:
    done[kind] += 1
    if kind == "cuda":
        with open("terrain.cu", "w") as program:
            program.write(text)
    elif kind == "sh":
        run = subprocess.run(["sh", "-e", "-c", text], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        printed = run.stdout
        if run.returncode:
            sys.exit(f"{text}ended with {run.returncode}:\n{printed}")
    else:
        for line in text.splitlines():
            if line not in printed:
                sys.exit(f"the page says '{line}', not in:\n{printed}")
print(f"{done['sh']} blocks of commands, {done['text']} of what they print, {done['cuda']} program")
