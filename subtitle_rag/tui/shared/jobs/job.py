"""A job on screen: the totals of a run's events, as one immutable value."""

from dataclasses import dataclass, replace

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.events import (
    FetchEstimate,
    FileNotice,
    IndexEvent,
    IndexReport,
    ListCutShort,
    Listed,
    Resting,
    VideoDone,
    VideoFailed,
)
from subtitle_rag.base.domain.progress import Progress


@dataclass(frozen=True, slots=True)
class Job:
    """Progress of a run."""

    source: str
    fetches: bool = False
    """Whether it downloads captions from YouTube, at the pace set by pauses between videos."""
    captions: Progress | None = None
    """Videos of the run; None while it is looking for them."""
    windows: Progress | None = None
    listed: int = 0
    """New videos on the lists."""
    done: frozenset[str] = frozenset()
    """Videos now in the library."""
    new: int = 0
    """Number of them that are new or changed."""
    failures: tuple[VideoFailed, ...] = ()
    notices: tuple[FileNotice, ...] = ()
    estimate: FetchEstimate | None = None
    """The estimate of the latest list."""
    cut_short: tuple[ListCutShort, ...] = ()
    resting: Resting | None = None
    waiting: int = 0
    """Jobs after this one."""
    stopping: bool = False
    ended: bool = False
    stopped: bool = False
    """Whether it ended early, and can be resumed."""
    reason: AppError | None = None
    """Why, unless the user stopped it."""

    def after(self, event: IndexEvent) -> "Job":
        """Return the job after one more event."""
        job = replace(self, resting=None)
        match event:
            case Progress(stage="windows"):
                return replace(job, windows=event)
            case Progress():
                return replace(job, captions=event)
            case FetchEstimate():
                return replace(job, estimate=event)
            case ListCutShort():
                return replace(job, cut_short=(*job.cut_short, event))
            case Listed():
                return replace(job, listed=job.listed + 1)
            case VideoDone(video, _title, "unchanged", _windows):
                return replace(job, done=job.done | {video})
            case VideoDone(video):
                return replace(job, done=job.done | {video}, new=job.new + 1)
            case VideoFailed():
                return replace(job, failures=(*job.failures, event))
            case FileNotice():
                return replace(job, notices=(*job.notices, event))
            case Resting(goes_on=True):
                return replace(job, resting=event)
            case IndexReport():
                return replace(job, ended=True)
        return job

    @property
    def searchable(self) -> int:
        """New searchable windows."""
        return self.windows.done if self.windows else 0

    @property
    def library_sums(self) -> tuple[int, ...]:
        """The totals that change the library's counts."""
        return self.listed, self.captions.done if self.captions else 0, self.searchable

    @property
    def progress(self) -> Progress | None:
        """The slowest part: videos from YouTube with pauses between them, else windows, as reading files is quick."""
        return self.captions if self.fetches or self.windows is None else self.windows
