"""Runs of `doctor`'s checks, shared between screens."""

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.workflows.checks import Check


class ProbeRuns:
    """Runs each check once at a time: a second caller waits for the result of the running check.

    A check may start a process or wait for a hanging service, while the user reopens the screen.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, Future[Check]] = {}

    def run(self, name: str, runtime: "Runtime") -> "Check":
        """Return the result of a check. For worker threads."""
        from subtitle_rag.workflows import checks as doctor

        with self._lock:
            is_first = name not in self._running
            running = self._running.setdefault(name, Future())
        if is_first:
            try:
                running.set_result(doctor.probe(name, runtime))
            except BaseException as error:  # raised below, for every waiting caller
                running.set_exception(error)
            finally:
                with self._lock:
                    del self._running[name]
        return running.result()
