"""A job as the screens show it: the sums of a run's events, as one value that replaces the one before."""

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
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui import reasons
from subtitle_rag.tui.keys import key

if TYPE_CHECKING:
    from subtitle_rag.errors import AppError
    from subtitle_rag.events import IndexEvent

BAR = 10
SAMPLE = 5
"""Videos from YouTube after which it can be said how long the others will take."""
WINDOWS = 20
"""The same of files, whose windows set the pace."""


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
        if not self.fetches or self.new < SAMPLE or self.rate <= 0:
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


def line(job: Job) -> str:
    """One line about a job: what it does, counts, rate, and at its end the bar."""
    if job.ended:
        return _stopped(job)
    parts = [_doing(job)]
    if job.videos:
        parts.append(_("videos {done}/{all}").format(done=job.taken, all=job.videos))
        if not job.fetches:
            parts.append(_("windows {done}/{all}").format(done=min(job.searchable, job.windows), all=job.windows))
        parts += _pace(job)
    parts += _beside(job)
    if job.videos:
        filled = round(job.progress * BAR)
        parts.append("█" * filled + "░" * (BAR - filled))
    return "  ".join(parts)


def headline(job: Job) -> str:
    """What a job does, or why it does nothing, where its counts are told beneath."""
    return _stopped(job) if job.ended else "  ".join((_doing(job), *_beside(job)))


def _stopped(job: Job) -> str:
    said = _("Left from last time: {source}") if job.left else _("Stopped: {source}")
    why = job.reason.message if job.reason else said.format(source=job.source)
    waiting = [_waiting(job)] if job.left and job.waiting else []
    return "  ".join((why, *waiting, _("{key} goes on").format(key=key("library.sync"))))


def _waiting(job: Job) -> str:
    return n_("+{n} waiting", "+{n} waiting", job.waiting).format(n=job.waiting)


def _beside(job: Job) -> list[str]:
    """What did not come, and what is to come after it."""
    parts = [shortfall(job)] if job.failures else []
    if job.waiting:
        parts.append(_waiting(job))
    return parts


def _doing(job: Job) -> str:
    if job.stopping:
        return _("Stopping…")
    if job.resting:
        until, why = reasons.end_of_rest(job.resting.until), reasons.words(job.resting.code, job.resting.details)
        return _("Resting until {time}, then it goes on by itself: {reason}").format(time=until, reason=why)
    if job.fetches:
        said = _("Captions from {source}") if job.videos else _("Asking YouTube for {source}")
        return said.format(source=job.source)
    if not job.videos:
        return _("Looking for captions in {source}").format(source=job.source)
    return _("Reading captions") if job.taken < job.videos else _("Making them searchable")


def pace(job: Job) -> list[str]:
    """How fast a job is and, as soon as that can be said, how long it still takes."""
    told = _pace(job)
    if told and not job.fetches and job.searchable >= WINDOWS and job.progress:
        told.append(remaining(job.seconds * (1 - job.progress) / job.progress))
    return told


def rate(windows: float) -> str:
    """Windows in a second, or in a minute where they are few."""
    if windows >= 1:
        return _("{rate} windows/s").format(rate=f"{windows:.0f}" if windows >= 10 else f"{windows:.1f}")
    return _("{rate}/min").format(rate=f"{windows * 60:.1f}")


def _pace(job: Job) -> list[str]:
    if job.resting or job.stopping:
        return []
    if not job.fetches:
        known = job.searchable and job.seconds > 1
        return [_("{rate} windows/s").format(rate=round(job.searchable / job.seconds))] if known else []
    left = job.left_s
    if left is None:
        return []
    return [_("{rate} videos/min").format(rate=round(job.rate * 60) or f"{job.rate * 60:.1f}"), remaining(left)]


def remaining(seconds: float) -> str:
    """About how long it still takes."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return _("less than a minute left")
    if minutes < 60:
        return _("about {minutes} min left").format(minutes=minutes)
    return _("about {hours} h {minutes} min left").format(hours=minutes // 60, minutes=minutes % 60)


def outcome(job: Job) -> str:
    """What a finished job came to."""
    videos = job.new if job.fetches else len(job.done)
    if job.fetches and not videos:
        told = _("There is nothing new.")
    elif job.fetches:
        told = n_("{n} new video can be searched now.", "{n} new videos can be searched now.", videos).format(n=videos)
    else:
        told = n_("{n} video can be searched now.", "{n} videos can be searched now.", videos).format(n=videos)
    return f"{told} {shortfall(job)}" if job.failures else told


def shortfall(job: Job) -> str:
    """How many videos did not come: what is usual, then what is an alarm."""
    usual = sum(failure.code in reasons.EXPECTED for failure in job.failures)
    alarms = len(job.failures) - usual
    parts = [n_("– {n} skipped", "– {n} skipped", usual).format(n=usual)] if usual else []
    if alarms:
        parts.append(n_("! {n} failed", "! {n} failed", alarms).format(n=alarms))
    return " ".join(parts)
