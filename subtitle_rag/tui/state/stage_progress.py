"""Progress of the background stages, as immutable values."""

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
"""Windows after which a rate is shown."""

StageName = Literal["contexts", "vectors", "offer", "update"]
STAGES: tuple[StageName, ...] = get_args(StageName)
StageState = Literal["asking", "working", "waiting", "paused", "failed", "done", "offered", "dismissed", "elsewhere"]
"""A download is offered, or dismissed, before it starts; "elsewhere": another process runs it."""


@dataclass(frozen=True, slots=True)
class StageProgress:
    """Progress of one kind of work."""

    state: StageState = "asking"
    processed: int = 0
    """Windows, or models, of this run."""
    error: AppError | None = None


@dataclass(frozen=True, slots=True)
class WindowProgress(StageProgress):
    """Progress of a library's windows."""

    model: str = ""
    windows: int = 0
    missing: int = 0
    """Pending windows: the library's count until the run starts, then the run's."""
    untimed: int = 1
    """Processed windows without part in `seconds`: before the first one the model loads."""
    seconds: float = 0.0
    """Time of the others."""

    @property
    def done(self) -> int:
        """Finished windows of the library."""
        return min(self.windows, max(0, self.windows - self.missing + self.processed))

    @property
    def rate(self) -> float | None:
        """Windows per second; None until enough are done."""
        timed = self.processed - self.untimed
        is_reliable = self.processed >= WINDOWS_BEFORE_RATE and timed > 0 and self.seconds > 0
        return timed / self.seconds if is_reliable else None


@dataclass(frozen=True, slots=True)
class ContextProgress(WindowProgress):
    """Progress of a library's contexts."""

    has_contexts: bool = False
    """The library has some already."""
    failed: int = 0
    prompt_tokens: int = 0
    """Of all runs so far, as `output_tokens`."""
    output_tokens: int = 0

    @classmethod
    def of(cls, counts: "ContextCounts", model: str) -> "ContextProgress":
        return cls(
            model=model,
            windows=counts.windows,
            missing=counts.due,
            has_contexts=counts.written > 0,
            prompt_tokens=counts.prompt_tokens,
            output_tokens=counts.tokens,
        )

    def after(self, event: ContextEvent, seconds: float) -> "ContextProgress":
        """Return the sums with one more event, `seconds` after the first answer."""
        match event:
            case ContextsDue(windows=windows):
                return replace(self, state="working", missing=windows)
            case ContextWritten():
                return replace(
                    self,
                    processed=self.processed + 1,
                    seconds=seconds,
                    prompt_tokens=self.prompt_tokens + event.prompt_tokens,
                    output_tokens=self.output_tokens + event.tokens,
                    has_contexts=True,
                )
            case ContextFailed():
                return replace(self, failed=self.failed + 1)
            case ContextReport(blocked=blocked):
                return replace(self, error=blocked)


@dataclass(frozen=True, slots=True)
class VectorProgress(WindowProgress):
    """Progress of an encoder's vectors."""

    untimed: int = 0
    """The windows of the first batch, before which the model loads, and of the first one after a wait."""

    @classmethod
    def of(cls, counts: "VectorCounts", encoder_id: str) -> "VectorProgress":
        return cls(model=encoder_id.partition("@")[0], windows=counts.windows, missing=counts.due)

    def after(self, event: VectorEvent, seconds: float | None) -> "VectorProgress":
        """Return the sums with one more event of so many seconds; None: it says nothing about the rate."""
        match event:
            case VectorsDue(windows=windows):
                return replace(self, state="working", missing=windows)
            case VectorsMade(count=count):
                progress = replace(self, state="working", processed=self.processed + count)
                if seconds is None:
                    return replace(progress, untimed=self.untimed + count)
                return replace(progress, seconds=self.seconds + seconds)
            case VectorsWaiting():
                return replace(self, state="waiting")
            case VectorsReport(blocked=blocked):
                return replace(self, error=blocked)
        return self
