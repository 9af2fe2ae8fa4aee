"""A program in a terminal of its own, for the benchmarks: keys go in, and what comes out is timed.

What comes out is not interpreted: the program itself has to tell by a mark that a frame is whole.
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
"""Bytes after the change to the alternate screen that make a first frame."""


class Terminal:
    """`arguments` in a pseudo-terminal; use it as a context manager, which ends it."""

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
        """Press keys; when that was, in seconds of the monotonic clock."""
        os.write(self._file, text.encode())
        return time.monotonic()

    def read(self, seconds: float) -> bytes:
        """What comes next, at the latest after so long; nothing if nothing came."""
        if not select.select([self._file], [], [], max(0.0, seconds))[0]:
            return b""
        try:
            return os.read(self._file, 65536)
        except OSError as error:  # Linux says so where a pipe would just end
            raise SystemExit("the program in the terminal has ended") from error

    def until(self, pattern: bytes, seconds: float) -> float | None:
        """When `pattern`, a regular expression, had come; None if it did not in time."""
        deadline, text = time.monotonic() + seconds, b""
        while (remaining := deadline - time.monotonic()) > 0:
            text += self.read(remaining)
            if re.search(pattern, text):
                return time.monotonic()
        return None

    def drain(self, seconds: float) -> None:
        """Read and forget for so long."""
        deadline = time.monotonic() + seconds
        while (remaining := deadline - time.monotonic()) > 0:
            self.read(remaining)

    def painted(self, seconds: float = 20.0) -> tuple[float, float]:
        """Processor and wall seconds from its start to a first frame."""
        text = b""
        while time.monotonic() - self.started < seconds and len(text.partition(ALTERNATE)[2]) <= FRAME:
            text += self.read(0.5)
        return self.spent(), time.monotonic() - self.started

    def spent(self) -> float:
        """Processor seconds so far."""
        return processor_s(self.pid)


def processor_s(pid: int) -> float:
    """Processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> Mapping[str, float]:
    """What a process holds, in MB: `VmRSS`, at most `VmHWM`, and `RssAnon`, which no file backs."""
    lines = (line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {
        words[0].rstrip(":"): int(words[1]) / 1024 for words in lines if words[0] in ("VmHWM:", "VmRSS:", "RssAnon:")
    }
