# The lit suite: passes, placement, driver, remarks, end to end, and the unit-test programs.
import os
import lit.formats

config.name = "dragon-cc"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".ll", ".test", ".cu", ".c", ".cpp", ".mlir"]
config.excludes = ["Inputs", "unit", "gpu", "tools", "readers", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.dragon_source_dir, "test")
config.test_exec_root = os.path.join(config.dragon_build_dir, "test")

lib = os.path.join(config.dragon_build_dir, "lib")
bin = os.path.join(config.dragon_build_dir, "bin")
plugin = os.path.join(lib, "libDragonPasses.so")
tools = config.llvm_tools_dir
config.environment["PATH"] = os.pathsep.join([bin, tools, os.environ.get("PATH", "")])
# The variables that steer the runtime come from the tests alone.
for name in list(config.environment):
    if name.startswith("DRAGON_"):
        del config.environment[name]

if config.mlir:
    config.available_features.add("mlir")
# A toolkit that was put together from its compiler's parts has no libraries.
if os.path.exists(os.path.join(config.cuda_path, "include", "cublas_v2.h")):
    config.available_features.add("cublas")

opt = f"{tools}/opt -load-pass-plugin={plugin}"
config.substitutions += [
    ("%dragon-opt-passes", opt),
    ("%dragon-cc", os.path.join(bin, "dragon-cc")),
    ("%plugin", plugin),
    ("%libdir", lib),
    ("%clang", os.path.join(tools, "clang++")),
    ("%cuda", config.cuda_path),
    ("%summaries", os.path.join(config.dragon_source_dir, "share", "dragon", "summaries")),
    ("%examples", os.path.join(config.dragon_source_dir, "examples")),
    ("%tools", os.path.join(config.dragon_source_dir, "tools")),
    ("%runtime", os.path.join(config.dragon_source_dir, "runtime")),
    ("%llvm-include", config.llvm_include_dir),
]
