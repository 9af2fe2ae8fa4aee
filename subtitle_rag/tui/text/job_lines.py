"""Lines about a job, and why the sample has none."""

from subtitle_rag.domain.errors import EXPECTED, UsageError
from subtitle_rag.fetching.estimate import estimate_text
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.state.job import Job
from subtitle_rag.tui.text import failure_reasons
from subtitle_rag.tui.text.failure_reasons import failed_count, remaining

BAR = 10
WINDOWS_BEFORE_REMAINING = 20
"""Windows after which a run, or a job over files, shows its remaining time; the rate comes earlier."""


def sample_refusal() -> UsageError:
    """Return why the sample accepts no captions, and how to open the user's own library."""
    return UsageError("sample_library", key=key("library.sample"))


def job_line(job: Job) -> str:
    """Return one line: activity, counts, rate and bar."""
    if job.ended:
        return _stopped(job.reason.message if job.reason else _stop(job))
    parts = [_activity(job)]
    if job.videos:
        parts.append(_("videos {done}/{all}").format(done=job.processed, all=job.videos))
        if not job.fetches:
            parts.append(_("windows {done}/{all}").format(done=min(job.searchable, job.windows), all=job.windows))
    parts += [*_pace(job), *_counts(job)]
    if job.videos:
        filled = round(job.progress * BAR)
        parts.append("█" * filled + "░" * (BAR - filled))
    return "  ".join(parts)


def job_brief(job: Job) -> str:
    """Return the state of a running job: videos, remaining time, then waiting jobs."""
    waiting = [_waiting(job)] if job.waiting else []
    if not job.videos:
        return " · ".join([_activity(job), *waiting])
    template = _("Fetching captions {done}/{all}") if job.fetches else _("Indexing {done}/{all}")
    sentence = template.format(done=f"{job.processed:,}", all=f"{job.videos:,}")
    return " · ".join([sentence, *(pace(job)[-1:] if job.fetches else pace(job)[1:]), *waiting])


def headline(job: Job) -> str:
    """Return the activity of a job, or that it stopped, as a heading."""
    if job.ended:
        return _stopped(_stop(job))
    if job.resting and not job.stopping:
        until = failure_reasons.rest_end_text(job.resting.until)
        return "  ".join((_("Resting until {time}, then it resumes by itself").format(time=until), *_counts(job)))
    return "  ".join((_activity(job), *_counts(job)))


def _stop(job: Job) -> str:
    return _("Stopped: {source}").format(source=job.source)


def _stopped(sentence: str) -> str:
    return "  ".join((sentence, _("{key} resumes").format(key=key("library.sync"))))


def _waiting(job: Job) -> str:
    return n_("+{n} waiting", "+{n} waiting", job.waiting)


def _counts(job: Job) -> list[str]:
    """Return the failures and the number of waiting jobs."""
    parts = [shortfall(job)] if job.failures else []
    if job.waiting:
        parts.append(_waiting(job))
    return parts


def _activity(job: Job) -> str:
    if job.stopping:
        return _("Stopping…")
    if job.resting:
        until = failure_reasons.rest_end_text(job.resting.until)
        reason = failure_reasons.failure_words(job.resting.code, job.resting.details)
        return _("Resting until {time}, then it resumes by itself: {reason}").format(time=until, reason=reason)
    if job.fetches:
        template = _("Captions from {source}") if job.videos else _("Asking YouTube for {source}")
        return template.format(source=job.source)
    if not job.videos:
        return _("Searching for captions in {source}").format(source=job.source)
    return _("Reading captions") if job.processed < job.videos else _("Making them searchable")


def pace(job: Job) -> list[str]:
    """Return rate and remaining time of a job, each once it is known."""
    notes = _pace(job)
    if notes and not job.fetches and job.searchable >= WINDOWS_BEFORE_REMAINING and job.progress:
        notes.append(remaining(job.seconds * (1 - job.progress) / job.progress))
    return notes


def _pace(job: Job) -> list[str]:
    if job.resting or job.stopping:
        return []
    if not job.fetches:
        has_rate = job.searchable and job.seconds > 1
        return [_("{rate} windows/s").format(rate=round(job.searchable / job.seconds))] if has_rate else []
    if job.left_s is None:
        return [estimate_text(job.estimate)] if job.estimate else []
    return [_("{rate} videos/min").format(rate=round(job.rate * 60) or f"{job.rate * 60:.1f}"), remaining(job.left_s)]


def job_outcome(job: Job) -> str:
    sentence = _("There is nothing new.")
    if not job.fetches:
        sentence = n_("{n} video can be searched now.", "{n} videos can be searched now.", len(job.done))
    elif job.new:
        sentence = n_("{n} new video can be searched now.", "{n} new videos can be searched now.", job.new)
    return f"{sentence} {shortfall(job)}" if job.failures else sentence


def shortfall(job: Job) -> str:
    """Count the missing videos: skipped ones, then alarms."""
    usual = sum(failure.code in EXPECTED for failure in job.failures)
    alarms = len(job.failures) - usual
    skipped = [n_("– {n} skipped", "– {n} skipped", usual)] if usual else []
    return " ".join([*skipped, *failed_count(alarms)])
