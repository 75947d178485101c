# check-headers.py CLANG CUDA < SUMMARIES: each C function of the shipped summaries exists in its library's header, with the
# same parameters in the same order. Prints a line for each header that the toolkit has.
import json
import re
import subprocess
import sys

clang, cuda = sys.argv[1:3]
headers = {"cuBLAS": ["cublas_v2.h", "cublasLt.h"], "cuFFT": ["cufft.h"], "cuRAND": ["curand.h"],
           "cuSPARSE": ["cusparse.h"], "cuDNN": ["cudnn.h"]}
described = {}
for line in sys.stdin:
    match = re.match(r"(\w+): (\w+)\((.*)\)$", line)
    if match and match.group(1) in headers:
        described.setdefault(match.group(1), {})[match.group(2)] = match.group(3)


def prototypes(header):
    run = subprocess.run([clang, "-x", "c++", "-fsyntax-only", f"-I{cuda}/include", "-Xclang", "-ast-dump=json", "-include",
                          header, "/dev/null"], capture_output=True, text=True)
    if run.returncode != 0:
        return None
    found = {}

    def walk(node):
        if node.get("kind") == "FunctionDecl" and "name" in node:
            found[node["name"]] = [child.get("name", "?") for child in node.get("inner", [])
                                   if child.get("kind") == "ParmVarDecl"]
            return
        for child in node.get("inner", []):
            walk(child)

    walk(json.loads(run.stdout))
    return found


wrong = 0
for library, names in headers.items():
    known = {}
    for header in names:
        known.update(prototypes(header) or {})
    functions = described.get(library, {})
    if not known:
        print(f"{library}: no header")
        continue
    problems = []
    for name, parameters in sorted(functions.items()):
        if name not in known:
            problems.append(f"{name}: not in {names}")
        elif parameters != "..." and parameters != ", ".join(known[name]):
            problems.append(f"{name}({parameters}): the header has ({', '.join(known[name])})")
    print("\n".join(problems + [f"{library}: {len(functions)} functions, {len(problems)} wrong"]))
    wrong += len(problems)
sys.exit(1 if wrong else 0)
