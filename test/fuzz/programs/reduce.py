"""Makes a program that fails smaller: leaves out each of its steps in turn, outer ones first, and keeps what still fails."""

import os

from .program import Program
from .runs import write
from .server import Failure


def fails(runner, directory, seed, left_out):
    """What is wrong with the program without these steps, or None."""
    options = runner.options
    try:
        program = Program(seed, runner.selection, left_out)
        runner.build_alone(directory, program, f"-O{options.level}", False, options.checked)
    except (Failure, AssertionError, KeyError):
        return None
    for _ in range(options.again):
        problem = runner.check(directory, program, 0, False, options.checked)
        if problem and ("the model" in problem or "mistake of the generator" in problem):
            return None
        if problem:
            return problem
    return None


def reduce(runner, seed):
    directory = os.path.join(runner.options.work, f"reduced{seed}")
    os.makedirs(directory, exist_ok=True)
    left_out = set()
    problem = fails(runner, directory, seed, left_out)
    if not problem:
        print(f"seed {seed} does not fail with -O{runner.options.level}, by itself, in {runner.options.again} runs")
        return 1
    changed = True
    while changed:
        changed = False
        paths = Program(seed, runner.selection, left_out).paths
        for path in sorted(reversed(paths), key=lambda path: path.count(".")):
            if any(path.startswith(gone + ".") for gone in left_out):
                continue
            found = fails(runner, directory, seed, left_out | {path})
            if found:
                left_out, problem, changed = left_out | {path}, found, True
                print(f"without {path}: {found.splitlines()[0][:150]}", flush=True)
    text = f"seed {seed}{runner.selection.options}, without the steps {' '.join(sorted(left_out))}: {problem}"
    runner.build_alone(directory, Program(seed, runner.selection, left_out), f"-O{runner.options.level}", False, runner.options.checked)
    write(os.path.join(directory, "problem.txt"), text + "\n")
    print(f"{text}\n  kept in {directory}")
    return 0
