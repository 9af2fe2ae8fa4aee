"""Runs of the checks of `doctor`, which screens of checks share."""

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.workflows.checks import Check


class ProbeRuns:
    """Runs each check once at a time: a screen that asks for one that is under way waits for its result.

    Some start a process, or wait for a service that hangs, and a screen of checks may be opened again meanwhile.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, Future[Check]] = {}

    def run(self, name: str, runtime: "Runtime") -> "Check":
        """Return the result of a check. For threads."""
        from subtitle_rag.workflows import checks as doctor

        with self._lock:
            is_first = name not in self._running
            running = self._running.setdefault(name, Future())
        if is_first:
            try:
                running.set_result(doctor.probe(name, runtime))
            except BaseException as error:  # raised below, for each that waits
                running.set_exception(error)
            finally:
                with self._lock:
                    del self._running[name]
        return running.result()
