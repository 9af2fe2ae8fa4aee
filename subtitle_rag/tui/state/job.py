"""A job on screen: the totals of a run's events, as one immutable value."""

from dataclasses import dataclass, replace

from subtitle_rag.domain.errors import AppError
from subtitle_rag.domain.events import (
    FetchEstimate,
    FileNotice,
    Found,
    IndexEvent,
    IndexReport,
    ListCutShort,
    Listed,
    Resting,
    VideoDone,
    VideoFailed,
    WindowsIndexed,
)

VIDEOS_BEFORE_RATE = 5
"""YouTube videos after which the remaining time is shown."""


@dataclass(frozen=True, slots=True)
class Job:
    """Progress of a run."""

    source: str
    fetches: bool = False
    """Whether it downloads captions from YouTube, at the pace set by pauses between videos."""
    videos: int = 0
    """Videos of the run; 0 while it is looking for them."""
    listed: int = 0
    """New videos on the lists."""
    done: frozenset[str] = frozenset()
    """Videos now in the library."""
    new: int = 0
    """Number of them that are new or changed."""
    windows: int = 0
    """Windows of new and changed videos."""
    searchable: int = 0
    failures: tuple[VideoFailed, ...] = ()
    notices: tuple[FileNotice, ...] = ()
    estimate: FetchEstimate | None = None
    """The estimate of the latest list."""
    cut_short: tuple[ListCutShort, ...] = ()
    seconds: float = 0.0
    resting: Resting | None = None
    rested: float = 0.0
    """Seconds of finished pauses."""
    waiting: int = 0
    """Jobs after this one."""
    stopping: bool = False
    ended: bool = False
    stopped: bool = False
    """Whether it ended early, and can be resumed."""
    reason: AppError | None = None
    """Why, unless the user stopped it."""

    def after(self, event: IndexEvent, seconds: float) -> "Job":
        """Return the totals after one more event, `seconds` after the start."""
        rested = self.rested + (seconds - self.seconds if self.resting else 0.0)
        job = replace(self, seconds=seconds, resting=None, rested=rested)
        match event:
            case Found(videos):
                return replace(job, videos=videos)
            case FetchEstimate():
                return replace(job, estimate=event)
            case ListCutShort():
                return replace(job, cut_short=(*job.cut_short, event))
            case Listed():
                return replace(job, listed=job.listed + 1)
            case VideoDone(video, _title, "unchanged", _windows):
                return replace(job, done=job.done | {video})
            case VideoDone(video, _title, _change, windows):
                return replace(job, done=job.done | {video}, new=job.new + 1, windows=job.windows + windows)
            case VideoFailed():
                return replace(job, failures=(*job.failures, event))
            case FileNotice():
                return replace(job, notices=(*job.notices, event))
            case Resting(goes_on=True):
                return replace(job, resting=event)
            case WindowsIndexed(count):
                return replace(job, searchable=job.searchable + count)
            case IndexReport():
                return replace(job, ended=True)
        return job

    @property
    def processed(self) -> int:
        """Videos read or failed, each once: the second track of a video may follow a failed one."""
        return len(self.done | {failure.video for failure in self.failures})

    @property
    def library_sums(self) -> tuple[int, ...]:
        """The totals that change the library's counts."""
        return self.listed, self.processed, self.searchable

    @property
    def left_s(self) -> float | None:
        """Remaining seconds of a downloading job; None until the rate is reliable."""
        if not self.fetches or self.new < VIDEOS_BEFORE_RATE or self.rate <= 0:
            return None
        return max(0, self.videos - self.processed) / self.rate

    @property
    def rate(self) -> float:
        """New videos per second, without pauses."""
        worked = self.seconds - self.rested
        return self.new / worked if worked > 0 else 0.0

    @property
    def progress(self) -> float:
        """0 to 1. Reading files is quick. Windows of unread videos are estimated, so that the bar never runs back."""
        if not self.videos or not self.processed:
            return 0.0
        part = min(1.0, self.processed / self.videos)
        if self.fetches or not self.windows:
            return part
        return 0.1 * part + 0.9 * min(1.0, self.searchable / (self.windows / part))
