"""Neural vectors as the screens show them, and the thread that makes them beside everything else.

What would surprise: where no encoder is here there is nothing to tell. `offer` tells how one could come.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, cast

from subtitle_rag.errors import AppError
from subtitle_rag.events import VectorEvent, VectorsDue, VectorsMade, VectorsReport, VectorsWaiting
from subtitle_rag.i18n import _
from subtitle_rag.tui import background
from subtitle_rag.tui.background import WindowProgress, far, pace
from subtitle_rag.tui.keys import key
from subtitle_rag.tui.text import clean

if TYPE_CHECKING:
    from textual.message import Message

    from subtitle_rag.library.vectors import VectorCounts
    from subtitle_rag.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Progress(WindowProgress):
    """How far an encoder's vectors have come."""

    untimed: int = 0
    """Those of the first batch, before which the model is loaded, and of the first one after a wait."""

    @classmethod
    def of(cls, counts: "VectorCounts", encoder_id: str) -> "Progress":
        return cls(model=encoder_id.partition("@")[0], windows=counts.windows, missing=counts.due)

    def after(self, event: VectorEvent, seconds: float | None) -> "Progress":
        """The sums with one more event, that took so many seconds; None where that says nothing of the pace."""
        match event:
            case VectorsDue(windows=windows):
                return replace(self, state="working", missing=windows)
            case VectorsMade(count=count) if seconds is None:
                return replace(self, state="working", taken=self.taken + count, untimed=self.untimed + count)
            case VectorsMade(count=count):
                return replace(self, state="working", taken=self.taken + count, seconds=self.seconds + (seconds or 0))
            case VectorsWaiting():
                return replace(self, state="waiting")
            case VectorsReport(blocked=blocked):
                return replace(self, error=blocked)
        return self


def line(progress: Progress) -> str:
    """What the library says of its vectors; empty where there is nothing to tell."""
    if not progress.windows:
        return ""
    match progress.state:
        case "working" if progress.missing:
            return brief(progress)
        case "waiting":
            parts = far(_("Vectors {done}/{all}"), progress), _("waiting for contexts"), clean(progress.model)
            return "  ".join(parts)
        case "paused":
            return far(_("Vectors are paused at {done}/{all}; {key} goes on"), progress)
        case "failed" if progress.error:
            return _failure(progress.error)
    return ""


def brief(progress: Progress) -> str:
    """How far a run has come, how fast it is, and how long it still takes."""
    return "  ".join((far(_("Vectors {done}/{all}"), progress), *pace(progress), clean(progress.model)))


def _failure(error: AppError) -> str:
    if error.code == "vectors_busy":
        return clean(error.message)
    return clean(f"! {error.message} {error.hint}  " + _("{key} tries again").format(key=key("library.background")))


class Run(background.Run[Progress]):
    """Makes what is missing, where the encoder is here; a halt waits for the batch under way."""

    stage: ClassVar[background.Stage] = "vectors"

    def __init__(self, runtime: "Runtime", doors: threading.Lock, post: "Callable[[Message], object]") -> None:
        super().__init__(runtime, doors, post)
        self._progress = Progress()

    def _work(self) -> None:
        runtime = self._runtime
        self._progress = Progress.of(runtime.library.vectors.counts(None), "")
        if not self._progress.windows:
            return
        with self._doors:
            encoder = runtime.neural.encoder()
            if encoder is None:
                return
            job = runtime.encoding(self._stop_work)
        self._progress = Progress.of(runtime.library.vectors.counts(encoder.id), encoder.id)
        if not self._halted:
            with closing(cast("Generator[VectorEvent]", job.run())) as events:
                self._follow(events, encoder.id)

    def _follow(self, events: Iterator[VectorEvent], encoder_id: str) -> None:
        before, paced = 0.0, False
        for event in events:
            now = time.monotonic()
            self._progress = self._progress.after(event, now - before if paced else None)
            if isinstance(event, VectorsDue):  # more windows may have come
                windows = self._runtime.library.vectors.counts(encoder_id).windows
                self._progress = replace(self._progress, windows=windows)
            paced = isinstance(event, VectorsMade) or (paced and not isinstance(event, VectorsWaiting))
            before = now
            if self._progress.missing:
                self._report()
