"""Random programs as text: one alone, or many in one file; as CUDA, or for the model of CUDA in Inputs/model.h."""

import re

LAUNCH = re.compile(r"^(\s*)(\w+)(<\d+>)?<<<(.*)>>>\((.*)\);$")
THREADS = {"std::thread": "Thread", "std::future<void>": "Thread", "std::async(std::launch::async, ": "Thread("}


def indented(lines, depth):
    result = []
    for line in lines:
        if line.startswith("}"):
            depth -= 1
        result.append("  " * depth + line)
        if line.endswith("{"):
            depth += 1
    return result


def with_threads_of_c(lines):
    """Threads that are compiled in less time."""
    for old, new in THREADS.items():
        lines = [line.replace(old, new) for line in lines]
    return lines


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


def body(program, model, head, more=(), shared=None):
    """All of a program but the lines that it begins with; head is that of its main function. shared: kernels that are
    there already, by their text; takes others in."""
    names, own = {}, []
    for name, *texts in program.kernels:
        text = texts[model]
        if shared is None or "table" in text:
            own.append(text.replace("@", name))
        else:
            names[name] = shared.setdefault(text, f"{re.match('[a-z_]+', name)[0]}_{len(shared)}")
    called = re.compile(r"^(\s*)(" + "|".join(names) + r")(?=<)") if names else None

    def rewrite(lines):
        lines = lines if program.style.standard_threads and not model else with_threads_of_c(lines)
        lines = for_model(lines, program.block_kernels) if model else lines
        if called and not model:
            lines = [called.sub(lambda m: m[1] + names[m[2]], line) for line in lines]
        elif called:
            lines = [re.sub(r"(MODEL_LAUNCH\w*\()(\w+)", lambda m: m[1] + names.get(m[2], m[2]), line) for line in lines]
        return lines

    text = [*program.structures.values(), *program.globals, *own]
    for signature, lines in program.helpers:
        text.append("\n".join([signature, *indented(rewrite(lines), 1), "}\n"]))
    main = ['FILE *in = openFile(argv[1], "rb");', 'FILE *out = openFile(argv[2], "wb");', *program.declarations,
            *program.out]
    text.append("\n".join([head, *more, "  (void)argc;", *indented(rewrite(main), 1), "}\n"]))
    return "\n".join(text)


def alone(program, model=False):
    return '#include "program.h"\n\n' + body(program, model, "int main(int argc, char **argv) {")


def apart(kernels):
    """(declarations, file) of kernels of the model that are compiled by themselves. Templates are not."""
    declared, text = [], ['#include "kernels.h"', ""]
    for kernel, name in kernels.items():
        if kernel.startswith("template"):
            declared.append(kernel.replace("@", name))
            continue
        kernel = kernel.replace("static void @", f"void {name}", 1)
        following = "nextBlock" if "FOR_THREADS" in kernel else "nextThread"
        launcher = f"template struct Launcher<decltype({name}), {name}, &Launch::{following}>;"
        declared += [kernel[:kernel.index(" {")] + ";", f"extern {launcher}"]
        text += [kernel + launcher, ""]
    return declared, "\n".join(text)


def together(programs, model=False):
    """The first is main itself and has its globals to itself; argv[3] may name another by its place. They share nothing
    but kernels, which the compiler looks at one by one; the model has them in a second file."""
    kernels, text = {}, []
    for place, program in enumerate(programs[1:], 1):
        text += [f"namespace program{place} {{", body(program, model, "int run(int argc, char **argv) {", shared=kernels),
                 "}", ""]
    text += [body(programs[0], model, "int main(int argc, char **argv) {",
                  ["  server::serve(argc, argv);", "  if (argc > 3 && atoi(argv[3]) > 0)", "    return runOther(atoi(argv[3]), argc, argv);"], kernels)]
    names = ", ".join(["nullptr"] + [f"program{place}::run" for place in range(1, len(programs))])
    text += ["int runOther(int which, int argc, char **argv) {",
             f"  static int (*const programs[])(int, char **) = {{{names}}};", "  return programs[which](argc, argv);", "}", ""]
    head = ['#include "program.h"', '#include "server.h"', "", "int runOther(int which, int argc, char **argv);", ""]
    shown, file = apart(kernels) if model else ([kernel.replace("@", name) for kernel, name in kernels.items()], "")
    return "\n".join(head + shown + text), file
