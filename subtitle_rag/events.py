"""What the use cases report while they work. Faces render these; nothing else is told to a user during a run."""

from dataclasses import dataclass, field
from typing import Any, Literal

from subtitle_rag.errors import AppError


@dataclass(frozen=True, slots=True)
class Found:
    """The videos that this run is about; the number grows while lists are still coming in."""

    videos: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A list named a video that is not in the library yet; it is due."""

    video: str
    title: str


@dataclass(frozen=True, slots=True)
class VideoDone:
    """A video's captions are in the library; the windows it has there."""

    video: str
    title: str
    change: Literal["new", "changed", "unchanged"]
    windows: int


@dataclass(frozen=True, slots=True)
class VideoFailed:
    """A video, or a file that should have been one, could not be taken in; the run goes on."""

    video: str
    title: str
    code: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resting:
    """YouTube, or the way there, refuses; nothing is asked for before `until` (Unix seconds).

    With `goes_on` the run waits and goes on by itself; else it ends here, and what is left stays due.
    """

    until: int
    code: str
    details: dict[str, Any]
    goes_on: bool


@dataclass(frozen=True, slots=True)
class WindowsIndexed:
    """`count` more windows became searchable."""

    count: int


@dataclass(frozen=True, slots=True)
class Removed:
    """A video left the library and the index."""

    video: str
    title: str


@dataclass(slots=True)
class IndexReport:
    """The sum of a run."""

    found: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    failed: int = 0
    windows: int = 0
    """Windows that became searchable in this run."""
    failures: list[VideoFailed] = field(default_factory=list)
    blocked: Resting | None = None
    """Why the run ended before its work did."""

    def count(self, event: "IndexEvent") -> None:
        """Add what an event tells."""
        match event:
            case Found(videos=videos):
                self.found = videos
            case VideoDone(change=change):
                setattr(self, change, getattr(self, change) + 1)
            case VideoFailed():
                self.failed += 1
                self.failures.append(event)
            case WindowsIndexed(count=count):
                self.windows += count
            case Resting(goes_on=False):
                self.blocked = event

    def add(self, other: "IndexReport") -> None:
        """Add another run's sum."""
        self.found += other.found
        self.new += other.new
        self.changed += other.changed
        self.unchanged += other.unchanged
        self.failed += other.failed
        self.windows += other.windows
        self.failures += other.failures
        self.blocked = self.blocked or other.blocked


@dataclass(frozen=True, slots=True)
class ContextsDue:
    """What a run of the context writer is about."""

    videos: int
    windows: int


@dataclass(frozen=True, slots=True)
class ContextWritten:
    """A window was asked about; `text` is empty where nothing of the answer could be used."""

    video: str
    title: str
    window: str
    ordinal: int
    text: str
    suspect: bool
    """It names what stands nowhere in the video."""
    prompt_tokens: int
    tokens: int
    ms: int


@dataclass(frozen=True, slots=True)
class ContextFailed:
    """A window, or a video, that the model's server did not answer for; it stays due."""

    video: str
    title: str
    code: str
    details: dict[str, Any]


@dataclass(slots=True)
class ContextReport:
    """The sum of a run of the context writer."""

    written: int = 0
    empty: int = 0
    suspect: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    tokens: int = 0
    ms: int = 0
    """Of the model's own time; hosts side by side add up."""
    failures: list[ContextFailed] = field(default_factory=list)
    blocked: AppError | None = None
    """Why the run ended before its work did."""

    def count(self, event: "ContextEvent") -> None:
        """Add what an event tells."""
        match event:
            case ContextWritten():
                self.written += bool(event.text)
                self.empty += not event.text
                self.suspect += event.suspect
                self.prompt_tokens += event.prompt_tokens
                self.tokens += event.tokens
                self.ms += event.ms
            case ContextFailed():
                self.failed += 1
                self.failures.append(event)


ContextEvent = ContextsDue | ContextWritten | ContextFailed | ContextReport
IndexEvent = Found | Listed | VideoDone | VideoFailed | Resting | WindowsIndexed | IndexReport
