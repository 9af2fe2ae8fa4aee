"""The smallest host: it counts for its clients."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.hosting.entry import HostKind


def work_until(path: Path) -> None:
    path.with_suffix(".begun").touch()
    while not path.exists():
        sum(range(10_000))


class Counter:
    methods = frozenset({"count", "fail", "refuse", "die", "leave", "work"})

    def __init__(self, _folder: Path) -> None:
        self._count = 0
        self._done = False

    def call(self, order: dict[str, int], method: str, args: tuple[Any, ...], options: dict[str, Any]) -> int:
        match method:
            case "fail":
                raise KeyError("nothing there")
            case "refuse":
                raise AppError("empty_query")
            case "die":
                signal.raise_signal(*args) if args else os._exit(3)
            case "work":  # until this file is there
                work_until(Path(args[0]))
            case "leave":
                self._done = True
        self._count += order["step"]
        return self._count

    def rest(self, quiet_s: float, *, leaving: bool) -> bool:
        return self._done

    def close(self) -> None:
        sys.stderr.write("closed\n")


def end_by_number(_folder: Path) -> Counter:
    """A service that ends its process by the signal of this number."""
    signal.raise_signal(int(os.environ["COUNTER_SIGNAL"]))  # in this thread, before its next line
    raise AssertionError


def full_disk(_folder: Path) -> Counter:
    raise OSError(28, "No space left on device")


def died(folder: Path, name: str) -> AppError | None:
    return BusyError("disk_full", path=str(folder)) if name == "SIGBUS" else None


KIND = HostKind(
    path=f"{__name__}:KIND",
    service=f"{__name__}:Counter",
    protocol=1,
    linger_s=10.0,
    linger_variable="COUNTER_LINGER",
    reply_s=10.0,
    unreachable=lambda reason: BusyError("index_unreachable", reason=reason),
    failure=lambda folder, error: BusyError("library_readonly", path=str(folder), reason=str(error.strerror)),
    died=died,
)
