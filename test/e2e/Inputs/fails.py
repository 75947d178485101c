# fails.py COMMAND...: succeeds if COMMAND ends by itself with an exit code other than 0. A death by signal (a crash) or a
# run of more than five minutes (a hang) is not a failure that a user could understand.
import subprocess
import sys

try:
    code = subprocess.run(sys.argv[1:], timeout=300).returncode
except subprocess.TimeoutExpired:
    sys.exit("fails.py: the command hangs")
if code == 0:
    sys.exit("fails.py: the command succeeded")
if code < 0:
    sys.exit(f"fails.py: the command died from signal {-code}")
print(f"exit code {code}")
