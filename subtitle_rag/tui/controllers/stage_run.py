"""The base of the threads of background stages."""

import logging
import threading
import time
from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from subtitle_rag.tui.controllers.app_thread import AppThread
from subtitle_rag.tui.messages import StageAdvanced, StageEnded
from subtitle_rag.tui.state import StageName, StageProgress, StageState
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.domain import AppError
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)
REPORT_S = 0.5
"""Shortest time between two reports: a quick model answers several times a second."""


ProgressT = TypeVar("ProgressT", bound=StageProgress)


class StageRun(AppThread, Generic[ProgressT]):
    """Does the pending work of one stage and posts its progress; `halt` ends it. Subclasses implement `_work`."""

    stage: ClassVar[StageName]
    _progress: ProgressT
    """An immutable value: subclasses begin with one of the class."""

    def __init__(self, runtime: "Runtime", post: "Callable[[Message], object]") -> None:
        super().__init__(self.stage, runtime, post)
        self._stop_work = threading.Event()
        self._halted = False  # the event does not tell: the stage's own code may clear it
        self._reported = 0.0

    @abstractmethod
    def _work(self) -> None:
        """Work until nothing is pending or `_stop_work` is set. An exception is reported as the run's failure."""

    def halt(self) -> None:
        """End the run as soon as possible; the window or batch at hand may be lost."""
        self._halted = True
        self._stop_work.set()

    def run(self) -> None:
        error: AppError | None = None
        logger.info("%s begins in the background", self.stage)
        try:
            self._work()
        except Exception as failure:  # whatever a door throws, the app stays up
            if self._halted:  # the halt caused it
                logger.debug("%s was halted", self.stage, exc_info=True)
            else:
                error = to_app_error(failure, self._runtime.settings.paths)
        error = None if self._halted else error or self._progress.error
        end: StageState = "paused" if self._halted else "failed" if error else "done"
        logger.info("%s ends in the background: %s, processed %d", self.stage, end, self._progress.processed)
        self._post(StageEnded(self.stage, replace(self._progress, state=end, error=error), self._halted))

    def _report(self, *, now: bool = False) -> None:
        """Post the progress, throttled unless `now`."""
        at = time.monotonic()
        if now or at - self._reported > REPORT_S:
            self._reported = at
            self._post(StageAdvanced(self.stage, self._progress))
