"""What the library's screen says of its field and of a job's failures."""

from subtitle_rag.captions.sources import Source
from subtitle_rag.errors import AppError
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui import reasons
from subtitle_rag.tui.field import Check
from subtitle_rag.tui.jobs import Job
from subtitle_rag.tui.text import MUTED, clean

FAILURES = 4
"""Failures that are told one by one."""

Rows = list[str | tuple[str, str]]
"""Lines, some with a style."""


def checked(check: Check) -> str:
    """What the field names and what Enter does with it."""
    if check.kind == "nothing":
        return ""
    if check.source:
        return _named(check.source)
    if check.refusal:
        return f"! {check.refusal}"
    if check.kind == "missing":
        return _("… nothing there yet")
    if check.more:
        return _("✓ more than {n} caption files so far; Enter indexes them").format(n=check.files)
    if not check.files:
        return _("! no caption files there (.vtt, .srt, .sbv or .json3)")
    found = n_("✓ {n} caption file; Enter indexes it", "✓ {n} caption files; Enter indexes them", check.files)
    return found.format(n=check.files)


def _named(source: Source) -> str:
    if source.kind == "playlist":
        return _("✓ playlist {name}; Enter brings its captions in").format(name=source.key)
    if source.kind == "channel":
        said = _("✓ channel {name}; Enter brings its captions in")
        return said.format(name=" · ".join((source.key, *source.tabs)))
    if source.playlist:
        return _("✓ video {name}; Enter takes the video alone, ctrl+l the whole list").format(name=source.key)
    return _("✓ video {name}; Enter brings its captions in").format(name=source.key)


def failure(error: AppError) -> Rows:
    return [(f"! {clean(error.message)}", "bold"), f"  {clean(error.hint)}"]


def shortfalls(job: Job) -> Rows:
    """Why the job rests; what of it did not come, in sums, and the last ones by themselves, the newest first: where
    there is little room, the others are cut off."""
    rows: Rows = []
    if job.resting:
        rows += failure(AppError(job.resting.code, **job.resting.details))
    usual = [failed.code for failed in job.failures if failed.code in reasons.EXPECTED]
    if usual:
        rows.append(_("– Skipped: {reasons}").format(reasons=reasons.sums(usual)))
    for failed in job.failures[: -FAILURES - 1 : -1]:
        rows += _one(failed.title, AppError(failed.code, **failed.details))
    if len(job.failures) > FAILURES:
        rows.append((_("… and {n} before them").format(n=len(job.failures) - FAILURES), MUTED))
    return rows


def _one(title: str, error: AppError) -> Rows:
    if error.code in reasons.EXPECTED:
        return [(f"  – {clean(error.message)}", MUTED)]
    return [(f"! {clean(title)}", "bold"), f"  {clean(error.message)} {clean(error.hint)}"]
