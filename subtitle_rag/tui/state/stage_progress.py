"""Progress of the background stages, as immutable values."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from subtitle_rag.domain.errors import AppError
from subtitle_rag.domain.events import (
    ContextEvent,
    ContextFailed,
    ContextReport,
    ContextsDue,
    ContextWritten,
    ListeningDue,
    ListeningEvent,
    ListeningReport,
    ModelEvent,
    ModelFetching,
    ModelRequest,
    OverviewWritten,
    SoundFetching,
    StretchHeard,
    SummaryWritten,
    VectorEvent,
    VectorsDue,
    VectorsMade,
    VectorsReport,
    VectorsWaiting,
    VideoHeard,
)

if TYPE_CHECKING:
    from subtitle_rag.library.context_store import ContextCounts
    from subtitle_rag.library.vector_store import VectorCounts
    from subtitle_rag.pipeline import ContextOffer


WINDOWS_BEFORE_RATE = 5
"""Windows after which a rate is shown."""

StageName = Literal["contexts", "vectors", "listening", "offer"]
StageState = Literal["asking", "working", "waiting", "paused", "failed", "done", "offered", "dismissed", "elsewhere"]
"""Contexts and a download are offered, or dismissed, before they start; "elsewhere": another process downloads."""


@dataclass(frozen=True, slots=True)
class StageProgress:
    """Progress of one kind of work. Each stage has a subclass."""

    stage: ClassVar[StageName]

    state: StageState = "asking"
    processed: int = 0
    """Windows, or models, of this run."""
    error: AppError | None = None
    last_at: float | None = None
    """When the last event came, by the monotonic clock; None: the time until the next one is not counted."""

    @property
    def is_worth_showing(self) -> bool:
        """Whether there is anything to do."""
        return True

    def after(self, event: Any, now: float) -> Self:  # noqa: ARG002 - for subclasses
        """Return the sums with one more event of the run, which came `now`."""
        return self

    def since_last(self, now: float) -> float:
        """Return the seconds from the last event until `now`; 0 where they are not counted."""
        return 0.0 if self.last_at is None else now - self.last_at

    @classmethod
    def among(cls, stages: "Stages") -> Self | None:
        """Return the progress of this class's stage; None without any."""
        progress = stages.get(cls.stage)
        return progress if isinstance(progress, cls) else None


Stages = Mapping[StageName, StageProgress]
"""The progress of the stages that have any."""


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
    def is_worth_showing(self) -> bool:
        return self.missing > 0

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

    @property
    def remaining_s(self) -> float | None:
        """Seconds left; None until enough windows are done."""
        rate = self.rate
        return max(0, self.missing - self.processed) / rate + self.section_remaining_s if rate else None

    @property
    def section_remaining_s(self) -> float:
        """Seconds left for what a stage does beside its windows."""
        return 0.0


@dataclass(frozen=True, slots=True)
class ContextProgress(WindowProgress):
    stage: ClassVar[StageName] = "contexts"
    has_contexts: bool = False
    """The library has some already."""
    failed: int = 0
    left_out: int = 0
    """Windows whose contexts repeat others, or name what the video does not; of all runs."""
    prompt_tokens: int = 0
    """Tokens read in all runs so far; `output_tokens` are those written."""
    output_tokens: int = 0
    sections: int = 0
    """Summaries of long videos' sections that are due in this run."""
    sections_done: int = 0
    section_seconds: float = 0.0
    """Time of all these but the first, before which the model may load."""
    replaced: int = 0
    """Windows of this run whose contexts are by another prompt, and count until they are replaced."""
    expected_s: int = 0
    """The time of this run, estimated before its beginning; 0 if unknown."""
    overview: tuple[int, int] | None = None
    """Stored sections of the video whose overview is in work, and all of them."""
    offer: "ContextOffer | None" = None
    """What writing takes, where the user has not said yet whether to."""
    request: ModelRequest | None = None
    """The newest request, until its end."""
    requested_at: float = 0.0
    """When its state began."""
    request_s: float = 0.0
    """Seconds of its state so far."""
    began_at: float | None = None
    """When the first context came, and later by the time of all sections since."""

    def at(self, moment: float) -> "ContextProgress":
        """Return the progress with the time of its request until a moment."""
        return replace(self, request_s=max(0.0, moment - self.requested_at)) if self.request else self

    @property
    def section_remaining_s(self) -> float:
        """Seconds left for sections, by their own rate; 0 until it is known."""
        timed = self.sections_done - 1
        return max(0, self.sections - self.sections_done) * self.section_seconds / timed if timed > 0 else 0.0

    @classmethod
    def of(cls, counts: "ContextCounts", model: str) -> "ContextProgress":
        return cls(
            model=model,
            windows=counts.windows,
            missing=counts.due,
            has_contexts=counts.written > 0,
            left_out=counts.left_out,
            prompt_tokens=counts.prompt_tokens,
            output_tokens=counts.tokens,
        )

    def after(self, event: ContextEvent, now: float) -> Self:
        """Return the sums with one more event, which came `now`. A request is a part of the time until the next one."""
        if isinstance(event, ModelRequest):
            return replace(self, request=event, requested_at=now, request_s=0.0)
        return replace(self._after(event, now), request=None, last_at=now)

    def _after(self, event: ContextEvent, now: float) -> Self:
        match event:
            case ContextsDue(windows=windows):
                return replace(
                    self,
                    state="working",
                    missing=windows,
                    sections=event.sections,
                    replaced=event.by_other_prompts,
                    expected_s=event.seconds,
                )
            case OverviewWritten():
                return self._with_section(event, self.since_last(now))
            case ContextWritten():
                began_at = now if self.began_at is None else self.began_at
                return replace(
                    self,
                    overview=None,
                    processed=self.processed + 1,
                    began_at=began_at,
                    seconds=now - began_at,
                    prompt_tokens=self.prompt_tokens + event.prompt_tokens,
                    output_tokens=self.output_tokens + event.tokens,
                    left_out=self.left_out + event.left_out,
                    has_contexts=True,
                )
            case SummaryWritten():
                return replace(
                    self,
                    prompt_tokens=self.prompt_tokens + event.prompt_tokens,
                    output_tokens=self.output_tokens + event.tokens,
                )
            case ContextFailed():
                return replace(self, failed=self.failed + 1)
            case ContextReport(blocked=blocked):
                return replace(self, error=blocked)
        return self

    def _with_section(self, event: OverviewWritten, seconds: float) -> Self:
        """Count a section, whose time is not that of windows."""
        return replace(
            self,
            sections_done=self.sections_done + 1,
            section_seconds=self.section_seconds + (seconds if self.sections_done else 0.0),
            began_at=None if self.began_at is None else self.began_at + seconds,
            overview=(event.section, event.sections),
        )


@dataclass(frozen=True, slots=True)
class ListeningProgress(StageProgress):
    """Progress of listening; `processed` counts videos that are searchable now."""

    stage: ClassVar[StageName] = "listening"
    videos: int = 0
    """Videos of this run."""
    title: str = ""
    """The video at hand."""
    heard_ms: int = 0
    length_ms: int = 0
    done_bytes: int = 0
    """Bytes fetched of the model or the sound; 0 while speech is heard."""
    all_bytes: int = 0
    sound_ms: int = 0
    """Sound that this run has heard."""
    seconds: float = 0.0
    """Time of hearing it."""

    @property
    def rate(self) -> float | None:
        """Minutes of sound a minute; None before the first stretch."""
        return self.sound_ms / 1000 / self.seconds if self.sound_ms and self.seconds > 0 else None

    @property
    def remaining_s(self) -> float | None:
        """Seconds left for the video at hand."""
        rate = self.rate
        return (self.length_ms - self.heard_ms) / 1000 / rate if rate else None

    def after(self, event: ListeningEvent | ModelEvent, now: float) -> Self:
        """Return the sums with one more event, which came `now`."""
        return replace(self._after(event, now), last_at=now)

    def _after(self, event: ListeningEvent | ModelEvent, now: float) -> Self:
        match event:
            case ListeningDue(videos=videos):
                return replace(self, state="working", videos=videos, done_bytes=0, all_bytes=0)
            case ModelFetching():
                return replace(
                    self,
                    state="working",
                    title=event.name,
                    done_bytes=event.done_bytes,
                    all_bytes=event.all_bytes,
                )
            case SoundFetching():
                return replace(self, title=event.title, done_bytes=event.done_bytes, all_bytes=event.all_bytes)
            case StretchHeard():
                return replace(
                    self,
                    title=event.title,
                    heard_ms=event.end_ms,
                    length_ms=event.length_ms,
                    done_bytes=0,
                    all_bytes=0,
                    sound_ms=self.sound_ms + event.end_ms - event.begin_ms,
                    seconds=self.seconds + self.since_last(now),
                )
            case VideoHeard():
                return replace(self, processed=self.processed + 1, heard_ms=0, length_ms=0)
            case ListeningReport(blocked=blocked):
                return replace(self, error=blocked)
        return self


@dataclass(frozen=True, slots=True)
class VectorProgress(WindowProgress):
    stage: ClassVar[StageName] = "vectors"
    untimed: int = 0
    """The windows of the first batch, before which the model loads, and of the first one after a wait."""
    pieces: bool = False
    """Vectors of pieces are made, not of whole windows."""
    processed_before: int = 0
    """What was processed of the others of these two."""

    @classmethod
    def of(cls, counts: "VectorCounts", encoder_id: str) -> "VectorProgress":
        return cls(model=encoder_id.partition("@")[0], windows=counts.windows, missing=counts.due)

    def after(self, event: VectorEvent, now: float) -> Self:
        """Return the sums with one more event, which came `now`. A first batch, and a wait, say nothing of the rate."""
        was_timed = self.last_at is not None and not isinstance(event, VectorsWaiting)
        is_timed = was_timed or isinstance(event, VectorsMade)
        return replace(self._after(event, now), last_at=now if is_timed else None)

    def _after(self, event: VectorEvent, now: float) -> Self:
        match event:
            case VectorsDue(windows=windows, pieces=self.pieces):
                return replace(self, state="working", missing=windows)
            case VectorsDue(windows=windows):
                return replace(
                    self,
                    state="working",
                    missing=windows,
                    pieces=event.pieces,
                    processed=self.processed_before,
                    processed_before=self.processed,
                    untimed=self.processed_before,
                    seconds=0.0,
                )
            case VectorsMade(count=count):
                progress = replace(self, state="working", processed=self.processed + count)
                if self.last_at is None:
                    return replace(progress, untimed=self.untimed + count)
                return replace(progress, seconds=self.seconds + self.since_last(now))
            case VectorsWaiting():
                return replace(self, state="waiting")
            case VectorsReport(blocked=blocked):
                return replace(self, error=blocked)
        return self
