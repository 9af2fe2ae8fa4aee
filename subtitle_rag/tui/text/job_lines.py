"""What the screens say of a job."""

from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.job import Job
from subtitle_rag.tui.text import failure_reasons
from subtitle_rag.tui.text.pace import remaining

BAR = 10
WINDOWS = 20
"""The same of files, whose windows set the pace."""


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
        until, why = (
            failure_reasons.end_of_rest(job.resting.until),
            failure_reasons.words(job.resting.code, job.resting.details),
        )
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
    usual = sum(failure.code in failure_reasons.EXPECTED for failure in job.failures)
    alarms = len(job.failures) - usual
    parts = [n_("– {n} skipped", "– {n} skipped", usual).format(n=usual)] if usual else []
    if alarms:
        parts.append(n_("! {n} failed", "! {n} failed", alarms).format(n=alarms))
    return " ".join(parts)
