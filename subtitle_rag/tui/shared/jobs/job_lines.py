"""Lines about a job, and why the sample has none."""

from dataclasses import replace

from subtitle_rag.base.domain.errors import EXPECTED, UsageError
from subtitle_rag.base.domain.progress import progress_parts, remaining
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared import failure_reasons
from subtitle_rag.tui.shared.failure_reasons import failed_count
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.youtube.estimate import estimate_text

BAR = 10


def sample_refusal() -> UsageError:
    """Return why the sample accepts no captions, and how to open the user's own library."""
    return UsageError("sample_library", key=key("library.sample"))


def job_line(job: Job) -> str:
    return "  ".join(job_parts(job))


def job_parts(job: Job) -> list[str]:
    """Return activity, counts, rate and bar, most important first; of a stopped job why, and the key that resumes."""
    if job.ended:
        resumes = _("{key} resumes").format(key=key("library.sync"))
        return [job.reason.message if job.reason else _stop(job), resumes]
    parts = [_activity(job), *_measures(job), *_counts(job)]
    progress = job.progress
    if progress and progress.total:
        filled = round(min(1.0, progress.done / progress.total) * BAR)
        parts.append("█" * filled + "░" * (BAR - filled))
    return parts


def job_brief(job: Job) -> str:
    """Return the state of a running job: videos, remaining time, then waiting jobs."""
    waiting = [_waiting(job)] if job.waiting else []
    if not job.captions or not job.captions.total:
        return " · ".join([_activity(job), *waiting])
    template = _("Fetching captions {done}/{all}") if job.fetches else _("Indexing {done}/{all}")
    sentence = template.format(done=f"{job.captions.done:,}", all=f"{job.captions.total:,}")
    left_s = job.progress.left_s if job.progress else None
    time = [remaining(left_s)] if left_s is not None else [estimate_text(job.estimate)] if job.estimate else []
    return " · ".join([sentence, *time, *waiting])


def _stop(job: Job) -> str:
    return _("Stopped: {source}").format(source=job.source)


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
        template = _("Captions from {source}") if job.captions else _("Asking YouTube for {source}")
        return template.format(source=job.source)
    if not job.captions:
        return _("Searching for captions in {source}").format(source=job.source)
    is_read = job.captions.done >= job.captions.total
    return _("Making them searchable") if is_read else _("Reading captions")


def _measures(job: Job) -> list[str]:
    """Return the counts of a job, and its rate and remaining time while it works."""
    if job.captions is None:
        return [estimate_text(job.estimate)] if job.estimate else []
    both = [job.captions] if job.fetches or job.windows is None else [job.captions, job.windows]
    *counts, last = [progress_parts(replace(progress, text="")) for progress in both]
    if job.resting or job.stopping:
        last = last[:1]
    elif job.fetches and job.estimate and len(last) == 1:
        last = [*last, estimate_text(job.estimate)]
    return [*(parts[0] for parts in counts), *last]


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
