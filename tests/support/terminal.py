"""A program in its own terminal, for the benchmarks: keys are sent, and the output is timed.

The output is not interpreted: the program itself marks the end of a frame.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ALTERNATE = b"\x1b[?1049h"
FRAME = 1_000
"""Bytes after the switch to the alternate screen that make a first frame."""


class Terminal:
    """`arguments` in a pseudo-terminal; as a context manager, it ends the program."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str] | None = None, size: tuple[int, int] = (120, 40)
    ) -> None:
        self.started = time.monotonic()
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            os.environ.update(environment or {}, TERM="xterm-256color", COLORTERM="truecolor")
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            os.execv(arguments[0], list(arguments))

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._file)

    def write(self, text: str) -> float:
        """Press keys; return the time in seconds of the monotonic clock."""
        os.write(self._file, text.encode())
        return time.monotonic()

    def read(self, seconds: float) -> bytes:
        """Return the next output within this many seconds, or b""."""
        if not select.select([self._file], [], [], max(0.0, seconds))[0]:
            return b""
        try:
            return os.read(self._file, 65536)
        except OSError as error:  # Linux raises where a pipe would return b""
            raise SystemExit("the program in the terminal has ended") from error

    def until(self, pattern: bytes, seconds: float) -> float | None:
        """Return when `pattern`, a regular expression, was in the output; None after `seconds` without it."""
        deadline, text = time.monotonic() + seconds, b""
        while (remaining := deadline - time.monotonic()) > 0:
            text += self.read(remaining)
            if re.search(pattern, text):
                return time.monotonic()
        return None

    def drain(self, seconds: float) -> None:
        """Discard the output for this many seconds."""
        deadline = time.monotonic() + seconds
        while (remaining := deadline - time.monotonic()) > 0:
            self.read(remaining)

    def painted(self, seconds: float = 20.0) -> tuple[float, float]:
        """Return processor and wall seconds from the start to the first frame."""
        text = b""
        while time.monotonic() - self.started < seconds and len(text.partition(ALTERNATE)[2]) <= FRAME:
            text += self.read(0.5)
        return self.spent(), time.monotonic() - self.started

    def spent(self) -> float:
        """Return the processor seconds so far."""
        return processor_s(self.pid)


def processor_s(pid: int) -> float:
    """Return the processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> Mapping[str, float]:
    """Return a process's memory in MB: `VmRSS`, its peak `VmHWM`, and `RssAnon`, which no file backs."""
    lines = (line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {
        words[0].rstrip(":"): int(words[1]) / 1024 for words in lines if words[0] in ("VmHWM:", "VmRSS:", "RssAnon:")
    }
