"""How far the stages that run in the background have come, as immutable values."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from subtitle_rag.errors import AppError
from subtitle_rag.events import (
    ContextEvent,
    ContextFailed,
    ContextReport,
    ContextsDue,
    ContextWritten,
    VectorEvent,
    VectorsDue,
    VectorsMade,
    VectorsReport,
    VectorsWaiting,
)

if TYPE_CHECKING:
    from subtitle_rag.library.context_store import ContextCounts
    from subtitle_rag.library.vector_store import VectorCounts


WINDOWS_BEFORE_RATE = 5
"""Windows after which a rate can be told."""

StageName = Literal["contexts", "vectors", "offer", "update"]
STAGES: tuple[StageName, ...] = get_args(StageName)
StageState = Literal["asking", "working", "waiting", "paused", "failed", "done", "offered", "dismissed", "elsewhere"]
"""Models are offered, or no longer, before they are fetched; another process may be at it."""


@dataclass(frozen=True, slots=True)
class StageProgress:
    """How far one kind of work has come."""

    state: StageState = "asking"
    taken: int = 0
    """Windows, or models, that this run has done."""
    error: AppError | None = None


@dataclass(frozen=True, slots=True)
class WindowProgress(StageProgress):
    """How far a library's windows have come."""

    model: str = ""
    windows: int = 0
    missing: int = 0
    """Pending windows: the library's count until the run starts, then the run's."""
    untimed: int = 1
    """Of those that were taken: before the first one the model is loaded."""
    seconds: float = 0.0
    """That the others took."""

    @property
    def done(self) -> int:
        """Windows that are finished."""
        return min(self.windows, max(0, self.windows - self.missing + self.taken))

    @property
    def rate(self) -> float | None:
        """Windows per second; None until enough are done."""
        timed = self.taken - self.untimed
        return timed / self.seconds if self.taken >= WINDOWS_BEFORE_RATE and timed > 0 and self.seconds > 0 else None


@dataclass(frozen=True, slots=True)
class ContextProgress(WindowProgress):
    """How far the contexts of a library have come."""

    known: bool = False
    """The library has some already."""
    failed: int = 0
    read: int = 0
    """Tokens, in all runs so far."""
    written: int = 0

    @classmethod
    def of(cls, counts: "ContextCounts", model: str) -> "ContextProgress":
        return cls(
            model=model,
            windows=counts.windows,
            missing=counts.due,
            known=counts.written > 0,
            read=counts.prompt_tokens,
            written=counts.tokens,
        )

    def after(self, event: ContextEvent, seconds: float) -> "ContextProgress":
        """The sums with one more event, `seconds` after the first answer."""
        match event:
            case ContextsDue(windows=windows):
                return replace(self, state="working", missing=windows)
            case ContextWritten():
                read, written = self.read + event.prompt_tokens, self.written + event.tokens
                return replace(self, taken=self.taken + 1, seconds=seconds, read=read, written=written, known=True)
            case ContextFailed():
                return replace(self, failed=self.failed + 1)
            case ContextReport(blocked=blocked):
                return replace(self, error=blocked)


@dataclass(frozen=True, slots=True)
class VectorProgress(WindowProgress):
    """How far an encoder's vectors have come."""

    untimed: int = 0
    """Those of the first batch, before which the model is loaded, and of the first one after a wait."""

    @classmethod
    def of(cls, counts: "VectorCounts", encoder_id: str) -> "VectorProgress":
        return cls(model=encoder_id.partition("@")[0], windows=counts.windows, missing=counts.due)

    def after(self, event: VectorEvent, seconds: float | None) -> "VectorProgress":
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
