"""What the app does beside everything else: how far it has come, and the threads that do it.

What would surprise: a thread is no worker of Textual, for the end of the app waits for its workers, and an answer of a
model takes a minute; what it costs to leave the thread behind is that one answer. Who does the work may clear the event
that has stopped it, so the thread remembers by itself that it was told to end.
"""

import logging
import threading
import time
from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar, get_args

from subtitle_rag.errors import AppError
from subtitle_rag.i18n import _
from subtitle_rag.tui import jobs
from subtitle_rag.tui.failures import told
from subtitle_rag.tui.keys import key
from subtitle_rag.tui.messages import StageAdvanced, StageEnded

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

SAMPLE = 5
"""Windows after which a rate can be told."""
REPORT_S = 0.5
"""Least time between two reports: a quick model answers several times a second."""

Stage = Literal["contexts", "vectors", "offer", "update"]
STAGES: tuple[Stage, ...] = get_args(Stage)
State = Literal["asking", "working", "waiting", "paused", "failed", "done", "offered", "dismissed", "elsewhere"]
"""Models are offered, or no longer, before they are fetched; another process may be at it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one kind of work has come."""

    state: State = "asking"
    taken: int = 0
    """Windows, or models, that this run has done."""
    error: AppError | None = None


@dataclass(frozen=True, slots=True)
class WindowProgress(Progress):
    """How far a library's windows have come."""

    model: str = ""
    windows: int = 0
    missing: int = 0
    """Windows that lack it: by the library's own count, and by the run's once that has begun."""
    untimed: int = 1
    """Of those that were taken: before the first one the model is loaded."""
    seconds: float = 0.0
    """That the others took."""

    @property
    def done(self) -> int:
        """Windows of the library that need not be worked on any more."""
        return min(self.windows, max(0, self.windows - self.missing + self.taken))

    @property
    def rate(self) -> float | None:
        """Windows in a second, once that can be said."""
        timed = self.taken - self.untimed
        return timed / self.seconds if self.taken >= SAMPLE and timed > 0 and self.seconds > 0 else None


def far(said: str, progress: WindowProgress) -> str:
    """`said` with {done} and {all} filled in, and {key}, which pauses and goes on."""
    return said.format(done=f"{progress.done:,}", all=f"{progress.windows:,}", key=key("library.background"))


def pace(progress: WindowProgress) -> list[str]:
    """How fast a run is, and how long it still takes."""
    if not progress.rate:
        return []
    per_minute = progress.rate * 60
    rate = _("{rate}/min").format(rate=f"{per_minute:,.0f}" if per_minute >= 10 else f"{per_minute:.1f}")
    return [rate, jobs.remaining(max(0, progress.missing - progress.taken) / progress.rate)]


P = TypeVar("P", bound=Progress)


class Run(threading.Thread, Generic[P]):
    """Does what is missing of one stage, if there is anything, and posts how far it has come; `halt` ends it."""

    stage: ClassVar[Stage]
    _progress: P

    def __init__(self, runtime: "Runtime", doors: threading.Lock, post: "Callable[[Message], object]") -> None:
        """`doors` keeps two threads from opening the same door of `runtime`."""
        super().__init__(name=self.stage, daemon=True)
        self._runtime = runtime
        self._doors = doors
        self._to_app = post
        self._stop_work = threading.Event()
        self._halted = False
        self._reported = 0.0

    @abstractmethod
    def _work(self) -> None:
        """Do it until all is there or `_stop_work` is set; whatever it raises is told."""

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
                error = told(failure, self._runtime.settings.paths)
        error = None if self._halted else error or self._progress.error
        end: State = "paused" if self._halted else "failed" if error else "done"
        logger.info("%s ends in the background: %s, taken %d", self.stage, end, self._progress.taken)
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
