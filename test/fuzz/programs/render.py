"""Random programs as text: one alone, or many in one file; as CUDA, or for the model of CUDA in Inputs/model.h."""

import re

from .program import Program

LAUNCH = re.compile(r"^(\s*)(\w+)(<\d+>)?<<<(.*)>>>\((.*)\);$")


def indented(lines, depth):
    result = []
    for line in lines:
        if line.startswith("}"):
            depth -= 1
        result.append("  " * depth + line)
        if line.endswith("{"):
            depth += 1
    return result


def for_model(lines, blocks):
    result = []
    for line in lines:
        match = LAUNCH.match(line)
        if match:
            space, name, parameter, config, arguments = match.groups()
            macro = "MODEL_LAUNCH_BLOCKS" if name in blocks else "MODEL_LAUNCH"
            line = f"{space}{macro}({name}{parameter or ''}, ({config}), {arguments});"
        result.append(line)
    return result


def body(program, model, head, more=()):
    """All of a program but the lines that it begins with; head is that of its main function."""
    rewrite = (lambda lines: for_model(lines, program.block_kernels)) if model else (lambda lines: lines)
    text = [*program.structures.values(), *program.globals, *(kernel[model] for kernel in program.kernels)]
    for signature, lines in program.helpers:
        text.append("\n".join([signature, *indented(rewrite(lines), 1), "}\n"]))
    main = ['FILE *in = openFile(argv[1], "rb");', 'FILE *out = openFile(argv[2], "wb");', *program.declarations,
            *program.out]
    text.append("\n".join([head, *more, "  (void)argc;", *indented(rewrite(main), 1), "}\n"]))
    # Functions use files and streams only through what they are given.
    return "\n".join(text)


def alone(seed, model=False):
    return '#include "program.h"\n\n' + body(Program(seed), model, "int main(int argc, char **argv) {")


def together(programs, model=False):
    """The first is main itself and has its globals to itself; argv[3] may name another by its place."""
    text = ['#include "program.h"', "", "int runOther(int which, int argc, char **argv);", ""]
    for place, program in enumerate(programs[1:], 1):
        text += [f"namespace program{place} {{", body(program, model, "int run(int argc, char **argv) {"), "}", ""]
    text += [body(programs[0], model, "int main(int argc, char **argv) {",
                  ["  if (argc > 3 && atoi(argv[3]) > 0)", "    return runOther(atoi(argv[3]), argc, argv);"])]
    names = ", ".join(["nullptr"] + [f"program{place}::run" for place in range(1, len(programs))])
    text += ["int runOther(int which, int argc, char **argv) {",
             f"  static int (*const programs[])(int, char **) = {{{names}}};", "  return programs[which](argc, argv);", "}", ""]
    return "\n".join(text)
