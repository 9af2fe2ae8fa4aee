"""What the use cases report while they work. Faces render these; nothing else is told to a user during a run."""

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Found:
    """The videos that this run is about."""

    videos: int


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


IndexEvent = Found | VideoDone | VideoFailed | WindowsIndexed | IndexReport
