"""What compiled programs say of themselves: their kernels, and where --dragon-report=DIR has put what the compiler did."""

import json
import os
import shutil
import subprocess
import sys

from . import info
from .errors import InputError

SECONDS = 60  # for dragon-info: more than it takes for any program


class Programs:

    def __init__(self):
        self.kernels = {}  # name -> its object
        self.records, self.folders = [], []  # files that are there, and where units were compiled
        self.warnings = []

    def add(self, path):
        root = tell(path)
        for name, kernel in info.kernels(root, path).items():
            self.kernels.setdefault(name, kernel)
        noted = [name for name in root.get("records", []) if isinstance(name, str)]
        self.folders += [name for name in root.get("folders", []) if isinstance(name, str) and name not in self.folders]
        there = [name for name in noted if os.path.isfile(name)]
        self.records += [name for name in there if name not in self.records]
        name = os.path.basename(path)
        if not noted and self.kernels:
            self.warnings.append(f"'{name}' does not tell what the compiler did, so the page has no source; compile and link it "
                                 "with dragon-cc --dragon-report=DIR")
        elif len(there) < len(noted):
            gone = next(file for file in noted if file not in there)
            self.warnings.append(f"'{name}' was compiled with a record that is not there any more: '{gone}'; compile it again")


def dragon_info():
    """The program beside this one."""
    for folder in (os.path.dirname(os.path.abspath(sys.argv[0])), os.path.dirname(os.path.realpath(sys.argv[0]))):
        if shutil.which("dragon-info", path=folder):
            return os.path.join(folder, "dragon-info")
    found = shutil.which("dragon-info")
    if not found:
        raise InputError("--program needs dragon-info, which is neither beside dragon-report nor in PATH; install dragon-cc again")
    return found


def tell(path):
    command = [dragon_info(), "--json", path]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
        if done.stdout:
            return json.loads(done.stdout)
        why = done.stderr.decode(errors="replace").strip().splitlines()
        raise InputError(f"program '{path}': {why[0].removeprefix('dragon-info: error: ') if why else 'dragon-info said nothing'}")
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise InputError(f"program '{path}': cannot run '{command[0]}': {error}") from error
