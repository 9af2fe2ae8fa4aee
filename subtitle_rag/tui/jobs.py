"""Indexing as the screens show it: the sums of a run's events, as one value that replaces the one before."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subtitle_rag.events import Found, IndexReport, Removed, VideoDone, VideoFailed, WindowsIndexed
from subtitle_rag.i18n import _, n_

if TYPE_CHECKING:
    from subtitle_rag.events import IndexEvent

BAR = 10


@dataclass(frozen=True, slots=True)
class Job:
    """How far an indexing run has come."""

    source: str
    videos: int = 0
    """Videos that the run is about; 0 while they are being looked for."""
    done: frozenset[str] = frozenset()
    """Videos that are in the library."""
    windows: int = 0
    """Windows of the videos that are new or changed."""
    searchable: int = 0
    failures: tuple[VideoFailed, ...] = ()
    seconds: float = 0.0
    ended: bool = False

    def after(self, event: "IndexEvent | Removed", seconds: float) -> "Job":
        """The sums with one more event, `seconds` after the beginning."""
        job = replace(self, seconds=seconds)
        match event:
            case Found(videos):
                return replace(job, videos=videos)
            case VideoDone(video, _title, change, windows):
                new = windows if change != "unchanged" else 0
                return replace(job, done=job.done | {video}, windows=job.windows + new)
            case VideoFailed():
                return replace(job, failures=(*job.failures, event))
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
    def progress(self) -> float:
        """0 to 1. Reading is quick; the windows of videos that are not read yet are reckoned by those that are, so
        that the bar does not run back when the next ones are."""
        if not self.videos or not self.taken:
            return 0.0
        read = self.taken / self.videos
        if not self.windows:
            return read
        return 0.1 * read + 0.9 * min(1.0, self.searchable / (self.windows / read))


def line(job: Job) -> str:
    """One line about a running job: stage, counts, rate and, at its end, the bar."""
    if not job.videos:
        return _("Looking for captions in {source}").format(source=job.source)
    reading = job.taken < job.videos
    parts = [
        _("Reading captions") if reading else _("Making them searchable"),
        _("videos {done}/{all}").format(done=job.taken, all=job.videos),
        _("windows {done}/{all}").format(done=min(job.searchable, job.windows), all=job.windows),
    ]
    if job.searchable and job.seconds > 1:
        parts.append(_("{rate} windows/s").format(rate=round(job.searchable / job.seconds)))
    if job.failures:
        parts.append(failed(job))
    filled = round(job.progress * BAR)
    return "  ".join([*parts, "█" * filled + "░" * (BAR - filled)])


def outcome(job: Job) -> str:
    """What a finished job came to."""
    told = n_("{n} video can be searched now.", "{n} videos can be searched now.", len(job.done))
    told = told.format(n=len(job.done))
    return f"{told} {failed(job)}" if job.failures else told


def failed(job: Job) -> str:
    return n_("! {n} failed", "! {n} failed", len(job.failures)).format(n=len(job.failures))


def ended(job: Job) -> Job:
    """The job when its run is over, however it ended."""
    return replace(job, ended=True)
