# The GoogleTest programs, one a folder; lit runs them in shards and counts their cases.
import os

import lit.formats

config.name = "dragon-cc units"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_source_root = config.test_exec_root = os.path.join(config.dragon_build_dir, "test", "unit")
for name in list(config.environment):
    if name.startswith("DRAGON_"):
        del config.environment[name]
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "TMPDIR", "TMP"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
