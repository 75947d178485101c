# compiler-complete.py BUILD TO: copies what the target dragon-compiler makes, and what CMake made before, as a compiler of its own.
import os
import re
import shutil
import subprocess
import sys

build, to = (os.path.realpath(argument) for argument in sys.argv[1:])


def ninja(*arguments):
    return subprocess.run(["ninja", "-C", build, "-t", *arguments], capture_output=True, text=True, check=True).stdout.splitlines()


def relative(path):
    return os.path.relpath(os.path.join(build, path), build)


made = {relative(line.split(":")[0]) for line in ninja("targets", "all")}
wanted = {relative(label) for line in ninja("graph", "dragon-compiler") for label in re.findall(r'label="([^"]*)"', line)}
for folder in ("bin", "lib", "include", "share"):
    for where, _, names in os.walk(os.path.join(build, folder), followlinks=True):
        for name in names:
            path = relative(os.path.join(where, name))
            if path in made and path not in wanted:
                continue
            os.makedirs(os.path.dirname(os.path.join(to, path)), exist_ok=True)
            shutil.copy(os.path.join(build, path), os.path.join(to, path))
