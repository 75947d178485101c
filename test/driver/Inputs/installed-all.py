# installed-all.py BUILD: which files of the build are installed, and does the target dragon-prefix make each of them?
import os
import re
import subprocess
import sys

build = os.path.realpath(sys.argv[1])


def ninja(*arguments):
    return subprocess.run(["ninja", "-C", build, "-t", *arguments], capture_output=True, text=True, check=True).stdout.splitlines()


def absolute(path):
    return os.path.normpath(os.path.join(build, path))


scripts = [os.path.join(folder, "cmake_install.cmake") for folder, _, names in os.walk(build)
           if "cmake_install.cmake" in names and not folder.startswith(os.path.join(build, "test"))]
installed = set()
for script in scripts:
    for kind, files in re.findall(r"file\(INSTALL DESTINATION [^\n]* TYPE (\w+)([^\n]*)", open(script).read()):
        for path in re.findall(r'"([^"]*)"', files):
            if not path.startswith(build + "/"):
                continue
            installed.update([path] if not path.endswith("/") else
                             (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
                              if name.endswith(".h.inc")))
made = {absolute(line.split(":")[0]) for line in ninja("targets", "all")}
# The tool `inputs` leaves out what is only to be made before; the graph has it.
inputs = {absolute(label) for line in ninja("graph", "dragon-prefix") for label in re.findall(r'label="([^"]*)"', line)}
built = installed & made
missing = sorted(built - inputs)
for path in missing:
    print(f"not built before an install: {path}")
print(f"{len(built)} installed files are built, {len(missing)} of them not by dragon-prefix")
