# killed.py SIGNAL COMMAND...: runs COMMAND, sends it SIGNAL when it has written a line, and succeeds if that is what it
# dies of. What ends by itself (abort) needs no signal.
import signal
import subprocess
import sys

wanted = getattr(signal, "SIG" + sys.argv[1])
# Who runs the tests may ignore it, and children inherit that.
process = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(wanted, signal.SIG_DFL))
process.stdout.readline()
if sys.argv[-1] != "abort":
    process.send_signal(wanted)
try:
    code = process.wait(timeout=300)
except subprocess.TimeoutExpired:
    process.kill()
    sys.exit("killed.py: the command goes on")
if code != -wanted:
    sys.exit(f"killed.py: expected death by signal {int(wanted)}, got {code}")
