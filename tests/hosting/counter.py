"""The smallest host: it counts for its clients."""

import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from subtitle_rag.domain.errors import AppError, BusyError
from subtitle_rag.hosting.entry import HostKind

STUCK = 7
"""The order of a host that does not come to the end of opening."""
OLDER = 5
"""The order of a host whose failures are of a class that clients do not have."""


def _older_failure() -> AppError:
    module = ModuleType("subtitle_rag.an_older_module")
    failure = type("OlderError", (AppError,), {"__module__": module.__name__})
    sys.modules[module.__name__] = module
    module.OlderError = failure  # type: ignore[attr-defined]
    refusal: AppError = failure("empty_query")
    return refusal


def work_until(path: Path) -> None:
    path.with_suffix(".begun").touch()
    while not path.exists():
        sum(range(10_000))


class Counter:
    methods = frozenset({"count", "fail", "die", "leave", "work"})

    def __init__(self, folder: Path, step: int) -> None:
        if step in (4, 9):  # SIGILL, SIGKILL
            os.kill(os.getpid(), step)
        if step == STUCK:
            time.sleep(60)
        self._count = 0
        self._done = False

    def greet(self, step: int) -> int:
        if step < 1:
            raise AppError("empty_query")
        if step == OLDER:
            raise _older_failure()
        return step

    def call(self, session: int, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> int:
        if method == "fail":
            raise KeyError("nothing there")
        if method == "die":
            os._exit(3)
        if method == "work":  # until this file is there
            work_until(Path(args[0]))
        if method == "leave":
            self._done = True
        self._count += session
        return self._count

    def rest(self, quiet_s: float, *, leaving: bool) -> bool:
        return self._done

    def close(self) -> None:
        sys.stderr.write("closed\n")


KIND = HostKind(
    module=__name__,
    protocol=1,
    open_service=Counter,
    linger_s=10.0,
    linger_variable="COUNTER_LINGER",
    reply_s=10.0,
    open_s=float(os.environ.get("COUNTER_OPEN") or 60),
    unreachable=lambda reason: BusyError("index_unreachable", reason=reason),
    failure=lambda folder, error: BusyError("library_readonly", path=str(folder), reason=str(error.strerror)),
    signals={9: "disk_full"},
)
