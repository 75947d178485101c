"""Runs of one executable by a process that waits for requests: see Inputs/server.h."""

import os
import select
import signal
import subprocess
import time


class Failure(Exception):
    pass


class Server:
    def __init__(self, directory, program, environment):
        self.directory = directory
        self.printed, self.errors = f"{program}.printed", f"{program}.errors"
        self.process = subprocess.Popen([f"./{program}", "in.bin", "out.bin", "0000000", "--serve"], cwd=directory, bufsize=0,
                                        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def answer(self, until):
        """A number, or None if it takes too long."""
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]:
                return None
            part = self.process.stdout.read(1)
            if not part:
                raise Failure("ends with its server")
            line += part
        return int(line)

    def run(self, place, settings, limit):
        """What it printed."""
        words = [str(place), self.printed, self.errors, *(f"{k}={v}" for k, v in settings.items())]
        self.process.stdin.write(("\t".join(words) + "\n").encode())
        until = time.monotonic() + limit
        child = self.answer(until)
        status = self.answer(until)
        if status is None:
            try:
                os.killpg(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.answer(until + 60)
            raise Failure(f"takes more than {limit:g} s{self.last_words()}")
        code = os.waitstatus_to_exitcode(status)
        if code != 0:
            raise Failure(f"ends with {code}{self.last_words()}")
        with open(os.path.join(self.directory, self.printed), "rb") as file:
            return file.read()

    def last_words(self):
        with open(os.path.join(self.directory, self.errors), "rb") as file:
            return ": " + file.read()[-1500:].decode(errors="replace")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
