# every-option.py OPTIONS.json COMMAND...: gives the driver each spelling of each option in the table, with a value where it
# takes one, and checks the answer against the option's flag.
import json
import subprocess
import sys

table = json.load(open(sys.argv[1]))
command = sys.argv[2:]
options = {name: table[name] for name in table["!instanceof"]["Option"]}

# Values that an option takes; the others take anything.
values = {
    "arch": "sm_90", "gpu_code": "sm_90", "generate_code": "arch=compute_90,code=sm_90", "cuda_gpu_arch": "sm_90",
    "cuda_include_ptx": "sm_90", "no_cuda_include_ptx": "sm_90", "rdc": "false", "dragon_targets": "cpu", "machine": "64",
    "dragon_clang": "/bin/true", "language": "cu", "ftz": "true", "prec_div": "true", "prec_sqrt": "true", "fmad": "true",
    "maxrregcount": "32", "Xcompiler": "-Wall", "cudart": "shared", "options_file": "/dev/null", "optimize": "2",
    "output": "x.out", "std": "c++17", "lto_kind": "thin", "dragon_diagnostics": "sarif", "save_temps_where": "obj",
}
cuda = next((word.split("=", 1)[1] for word in command if word.startswith("--cuda-path=")), None)
values["cuda_path"] = cuda
# Options that another must accompany.
company = {"gpu_code": ["-arch=compute_90"]}


def canonical(name):
    alias = options[name]["Alias"]
    return canonical(alias["def"]) if alias else name


def flag(name):
    return next((f["def"] for f in options[name]["Flags"]
                 if f["def"] in ("Ours", "Translated", "Forwarded", "NoEffect", "Unsupported")), None)


count = wrong = 0
for name, option in sorted(options.items()):
    if name in ("INPUT", "UNKNOWN"):
        continue
    main = canonical(name)
    kind = option["Kind"]["def"]
    value = values.get(main, "value")
    for prefix in option["Prefixes"]:
        word = prefix + option["Name"]
        if kind == "KIND_FLAG":
            words = [word]
        elif kind == "KIND_JOINED":
            words = [word + value]
        else:
            words = [word, value]
        # The goal is made an object unless the option itself sets one.
        goals = flag(main) == "Ours" and kind == "KIND_FLAG" and main != "emit_llvm" and not main.startswith("cuda_")
        words += company.get(main, []) + ([] if goals else ["-c"])
        run = subprocess.run(command + ["-###"] + words + ["x.cu"], capture_output=True, text=True)
        refused = f"option '{words[0]}' is not supported" in run.stderr
        count += 1
        if flag(main) is None:
            problem = "no flag says what becomes of it"
        elif (flag(main) == "Unsupported") != refused:
            problem = run.stderr
        elif not refused and run.returncode != 0:
            problem = run.stderr
        else:
            continue
        wrong += 1
        print(" ".join(words), "->", problem.strip()[:300])
print(f"{count} spellings, {wrong} wrong")
