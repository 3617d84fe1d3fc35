"""Processes that a system test starts: each has a log, and none survives the test."""

import shutil
import subprocess
import time


class Failure(Exception):
    """Something that was expected did not happen; the text says what."""


class Skip(Exception):
    """Something that the test needs is not there; the text says what."""


class Process:
    """A child that is killed with its parent, even when the parent is killed itself."""

    def __init__(self, name, command, folder, **streams):
        self.name = name
        self.log_path = folder / f"{name}.log"
        self._log = open(self.log_path, "wb")
        streams.setdefault("stdin", subprocess.DEVNULL)
        streams.setdefault("stdout", self._log)
        self._child = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *map(str, command)], stderr=self._log, **streams
        )

    @property
    def pid(self):
        return self._child.pid

    @property
    def stdin(self):
        return self._child.stdin

    @property
    def stdout(self):
        return self._child.stdout

    @property
    def pid(self):
        return self._child.pid

    def signal(self, number):
        self._child.send_signal(number)

    def note(self, data):
        """Adds what was read from the process to its log."""
        self._log.write(data)
        self._log.flush()

    def running(self):
        return self._child.poll() is None

    def wait(self, seconds):
        """Its exit status; negative for a signal."""
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} did not end within {seconds} s") from None

    def terminate(self):
        self._child.terminate()

    def kill(self):
        if self.running():
            self._child.kill()
        self._child.wait()

    def log(self):
        return self.log_path.read_text(errors="replace")


def wait_for(what, condition, seconds):
    """Waits until condition() holds; `what` is for the message if it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failure(f"{what}: not within {seconds} s")
        time.sleep(0.02)


def require_program(name, package):
    if not shutil.which(name):
        raise Failure(f"{name} is missing; run: sudo apt-get install {package}")
