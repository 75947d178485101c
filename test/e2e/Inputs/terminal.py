# terminal.py until PATTERN COMMAND...: runs COMMAND with a pseudo terminal as stderr until it has shown a line that the regular
# expression matches, then makes the file `stop`, which ends it. What the terminal has shown in the end goes to stdout.
# terminal.py whole COMMAND...: the same without a pattern: COMMAND ends by itself.
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios

pattern = re.compile(sys.argv[2].encode()) if sys.argv[1] == "until" else None
command = sys.argv[3:] if pattern else sys.argv[2:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))


# The terminal is its own: only then is it in the foreground there.
def own():
    os.setsid()
    fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)


process = subprocess.Popen(command, stderr=theirs, preexec_fn=own)
os.close(theirs)
shown, found = b"", pattern is None
while True:
    if not select.select([ours], [], [], 300)[0]:
        process.kill()
        sys.exit(f"terminal.py: the command goes on, and has shown {shown!r}")
    try:
        part = os.read(ours, 4096)
    except OSError:  # nobody has the other end
        part = b""
    if not part:
        break
    shown += part
    if not found and pattern.search(shown):
        found = True
        open("stop", "w").close()
code = process.wait()
# As a terminal: \r goes back, \033[K erases the rest.
lines = []
for line in shown.decode().split("\n"):
    text = line.removesuffix("\r")
    lines.append(text.split("\r")[-1].replace("\033[K", "") if "\r" in text else text)
print("\n".join(lines))
erased = shown.count(b"\033[K")
print(f"{erased} times a line was erased" if erased else "no line was rewritten")
if not found:
    sys.exit(f"terminal.py: never shown: {pattern.pattern.decode()}; but {shown!r}")
if code:
    sys.exit(f"terminal.py: exit status {code}")
