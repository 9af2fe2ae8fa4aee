"""The base of the threads that do one stage's work in the background.

A thread here is no Textual worker: the end of the app waits for its workers, and a model's answer takes a minute.
Leaving the thread behind costs that one answer. Code that does the work may clear the event that has stopped it, so
the thread remembers by itself that it was halted.
"""

import logging
import threading
import time
from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from subtitle_rag.tui.messages import StageAdvanced, StageEnded
from subtitle_rag.tui.state.stage_progress import StageName, StageProgress, StageState
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.errors import AppError
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)
REPORT_S = 0.5
"""Least time between two reports: a quick model answers several times a second."""


ProgressT = TypeVar("ProgressT", bound=StageProgress)


class StageRun(threading.Thread, Generic[ProgressT]):
    """Does the pending work of one stage and posts its progress; `halt` ends it. Subclasses implement `_work`."""

    stage: ClassVar[StageName]
    _progress: ProgressT

    def __init__(self, runtime: "Runtime", post: "Callable[[Message], object]") -> None:
        super().__init__(name=self.stage, daemon=True)
        self._runtime = runtime
        self._to_app = post
        self._stop_work = threading.Event()
        self._halted = False
        self._reported = 0.0

    @abstractmethod
    def _work(self) -> None:
        """Work until nothing is pending or `_stop_work` is set. What this raises is reported as the run's failure."""

    def halt(self) -> None:
        """End it as soon as it can be; what is under way at the moment may be lost."""
        self._halted = True
        self._stop_work.set()

    def run(self) -> None:
        error: AppError | None = None
        logger.info("%s begins in the background", self.stage)
        try:
            self._work()
        except Exception as failure:  # whatever a door throws, the app stays up
            if self._halted:  # it is no more than how the run ended
                logger.debug("%s was halted", self.stage, exc_info=True)
            else:
                error = to_app_error(failure, self._runtime.settings.paths)
        error = None if self._halted else error or self._progress.error
        end: StageState = "paused" if self._halted else "failed" if error else "done"
        logger.info("%s ends in the background: %s, taken %d", self.stage, end, self._progress.processed)
        self._post(StageEnded(self.stage, replace(self._progress, state=end, error=error), self._halted))

    def _report(self, *, now: bool = False) -> None:
        """Post how far it has come; unless `now`, not where that was done just before."""
        at = time.monotonic()
        if now or at - self._reported > REPORT_S:
            self._reported = at
            self._post(StageAdvanced(self.stage, self._progress))

    def _post(self, message: "Message") -> None:
        with suppress(RuntimeError):  # the app has gone
            self._to_app(message)
