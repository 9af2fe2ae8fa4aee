"""A job as the screens show it: the sums of a run's events, as one immutable value."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subtitle_rag.events import (
    Found,
    IndexReport,
    Listed,
    Resting,
    VideoDone,
    VideoFailed,
    VideoRemoved,
    WindowsIndexed,
)

if TYPE_CHECKING:
    from subtitle_rag.errors import AppError
    from subtitle_rag.events import IndexEvent
VIDEOS_BEFORE_RATE = 5
"""Videos from YouTube after which it can be said how long the others will take."""


@dataclass(frozen=True, slots=True)
class Job:
    """How far a run has come."""

    source: str
    fetches: bool = False
    """It brings captions from YouTube: the pauses between videos set the pace, and nothing else does."""
    videos: int = 0
    """Videos that the run is about; 0 while they are being looked for."""
    listed: int = 0
    """Videos that lists have named for the first time."""
    done: frozenset[str] = frozenset()
    """Videos that are in the library."""
    new: int = 0
    """Those of them that were not, or not so, before."""
    windows: int = 0
    """Windows of the videos that are new or changed."""
    searchable: int = 0
    failures: tuple[VideoFailed, ...] = ()
    seconds: float = 0.0
    resting: Resting | None = None
    rested: float = 0.0
    """Seconds of rests that are over."""
    waiting: int = 0
    """Jobs after this one."""
    stopping: bool = False
    ended: bool = False
    stopped: bool = False
    """It ended before its work did; it can be gone on with."""
    reason: "AppError | None" = None
    """Why, if not by the user."""
    left: bool = False
    """It was not done when the app ended the last time."""

    def after(self, event: "IndexEvent | VideoRemoved", seconds: float) -> "Job":
        """The sums with one more event, `seconds` after the beginning."""
        rested = self.rested + (seconds - self.seconds if self.resting else 0.0)
        job = replace(self, seconds=seconds, resting=None, rested=rested)
        match event:
            case Found(videos):
                return replace(job, videos=videos)
            case Listed():
                return replace(job, listed=job.listed + 1)
            case VideoDone(video, _title, "unchanged", _windows):
                return replace(job, done=job.done | {video})
            case VideoDone(video, _title, _change, windows):
                return replace(job, done=job.done | {video}, new=job.new + 1, windows=job.windows + windows)
            case VideoFailed():
                return replace(job, failures=(*job.failures, event))
            case Resting(goes_on=True):
                return replace(job, resting=event)
            case WindowsIndexed(count):
                return replace(job, searchable=job.searchable + count)
            case IndexReport():
                return replace(job, ended=True)
        return job

    @property
    def taken(self) -> int:
        """Videos that were read, or could not be; one whose second track did is not counted twice."""
        return len(self.done | {failure.video for failure in self.failures})

    @property
    def left_s(self) -> float | None:
        """Seconds of work that are left of a job that fetches, once that can be said."""
        if not self.fetches or self.new < VIDEOS_BEFORE_RATE or self.rate <= 0:
            return None
        return max(0, self.videos - self.taken) / self.rate

    @property
    def rate(self) -> float:
        """New videos in a second of work; rests are none."""
        worked = self.seconds - self.rested
        return self.new / worked if worked > 0 else 0.0

    @property
    def progress(self) -> float:
        """0 to 1. Reading files is quick; the windows of videos that are not read yet are reckoned by those that are,
        so that the bar does not run back when the next ones are."""
        if not self.videos or not self.taken:
            return 0.0
        read = min(1.0, self.taken / self.videos)
        if self.fetches or not self.windows:
            return read
        return 0.1 * read + 0.9 * min(1.0, self.searchable / (self.windows / read))
