"""The command line. Exit status: 0, 1 for inputs that cannot be used, 2 for a wrong command line."""

import argparse
import os
import sys

from . import page
from .errors import InputError

DESCRIPTION = """Makes one HTML page for a program and a run: what limits it, what to do, what moved, when, and what the compiler says
at the lines of the source. Every input may be left out, but not all of them. docs/report.md says how to make them."""


def parser():
    out = argparse.ArgumentParser(prog="dragon-report", description=DESCRIPTION, allow_abbrev=False)
    out.add_argument("--records",
                     action="append",
                     default=[],
                     metavar="FILE-OR-DIR",
                     help="what the compiler did: *.opt.yaml of -fsave-optimization-record; may be given several times")
    out.add_argument("--stats", metavar="FILE", help="what moved: DRAGON_STATS=FILE of a run")
    out.add_argument("--trace", metavar="FILE", help="when: DRAGON_TRACE=FILE of a run")
    out.add_argument("--kernels", metavar="FILE", help="what kernels do to buffers: the output of dragon-info --json PROGRAM")
    out.add_argument("--program",
                     action="append",
                     default=[],
                     metavar="PROGRAM",
                     help="the executable, or a library of it: its kernels, and its records if it was compiled with "
                     "--dragon-report=DIR; may be given several times")
    out.add_argument("--source-root", metavar="DIR", help="the folder of the sources, if they are not where they were compiled")
    out.add_argument("--title", default="", metavar="TEXT", help="the page's title (default: the names of the sources)")
    out.add_argument("-o", "--output", required=True, metavar="FILE", help="the page to write, - for the standard output")
    return out


def write(path, words):
    if path == "-":
        sys.stdout.buffer.write(words)
        sys.stdout.buffer.flush()
        return
    try:
        with open(path, "wb") as file:
            file.write(words)
    except OSError as error:
        raise InputError(f"cannot write '{path}': {error.strerror}") from error


def main(arguments):
    command = parser()
    options = command.parse_args(arguments)
    if not (options.records or options.stats or options.trace or options.kernels or options.program):
        command.error("nothing to report on: give --program, --records, --stats, --trace or --kernels")
    try:
        if options.source_root is not None and not os.path.isdir(options.source_root):
            raise InputError(f"--source-root '{options.source_root}': no such folder")
        inputs = page.gather(options)
        for warning in inputs.warnings:
            print(f"dragon-report: warning: {warning}", file=sys.stderr)
        write(options.output, page.render(inputs).encode("utf-8", errors="replace"))
    except InputError as error:
        print(f"dragon-report: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
