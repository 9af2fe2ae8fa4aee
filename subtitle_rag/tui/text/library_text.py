"""What the library's screen says of its field and of a job's failures."""

from typing import TYPE_CHECKING

from subtitle_rag.captions.sources import Source
from subtitle_rag.errors import AppError
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.job import Job
from subtitle_rag.tui.state.source_field import FieldCheck
from subtitle_rag.tui.text import failure_reasons
from subtitle_rag.tui.text.content import MUTED

if TYPE_CHECKING:
    from subtitle_rag.library.rows import VideoState

FAILURES = 4
"""Failures that are told one by one."""

Rows = list[str | tuple[str, str]]
"""Lines, some with a style."""


def checked(check: FieldCheck) -> str:
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
        said = _("✓ more than {n} caption files so far; {key} indexes them")
        return said.format(n=check.files, key=key("library.index"))
    if not check.files:
        return _("! no caption files there (.vtt, .srt, .sbv or .json3)")
    found = n_("✓ {n} caption file; {key} indexes it", "✓ {n} caption files; {key} indexes them", check.files)
    return found.format(n=check.files, key=key("library.index"))


def _named(source: Source) -> str:
    take = key("library.index")
    if source.kind == "playlist":
        return _("✓ playlist {name}; {key} brings its captions in").format(name=source.key, key=take)
    if source.kind == "channel":
        said = _("✓ channel {name}; {key} brings its captions in")
        return said.format(name=" · ".join((source.key, *source.tabs)), key=take)
    if source.playlist:
        said = _("✓ video {name}; {key} takes the video alone, {all} the whole list")
        return said.format(name=source.key, key=take, all=key("library.list"))
    return _("✓ video {name}; {key} brings its captions in").format(name=source.key, key=take)


def failure(error: AppError) -> Rows:
    return [(f"! {clean(error.message)}", "bold"), f"  {clean(error.hint)}"]


def shortfalls(job: Job) -> Rows:
    """Why the job rests; what of it did not come, in sums, and the last ones by themselves, the newest first: where
    there is little room, the others are cut off."""
    rows: Rows = []
    if job.resting:
        rows += failure(AppError(job.resting.code, **job.resting.details))
    usual = [failed.code for failed in job.failures if failed.code in failure_reasons.EXPECTED]
    if usual:
        rows.append(_("– Skipped: {reasons}").format(reasons=failure_reasons.sums(usual)))
    for failed in job.failures[: -FAILURES - 1 : -1]:
        rows += _one(failed.title, AppError(failed.code, **failed.details))
    if len(job.failures) > FAILURES:
        rows.append((_("… and {n} before them").format(n=len(job.failures) - FAILURES), MUTED))
    return rows


def _one(title: str, error: AppError) -> Rows:
    if error.code in failure_reasons.EXPECTED:
        return [(f"  – {clean(error.message)}", MUTED)]
    return [(f"! {clean(title)}", "bold"), f"  {clean(error.message)} {clean(error.hint)}"]


def failed_video(state: "VideoState") -> Rows:
    """Why the video is not there, whether it comes by itself, and what can be done."""
    code = state.failure or ""
    keys = [_("{key} asks again now").format(key=key("video.retry"))]
    if state.video.url:
        keys.append(_("{key} opens it in the browser").format(key=key("video.open")))
    message, hint = _sentences(state)
    usual = code in failure_reasons.EXPECTED
    again = failure_reasons.again(state.retry_at) or _("not asked again by itself")
    rows: Rows = [(f"{failure_reasons.sign(code)} {message}", "" if usual else "bold")]
    rows.append("  " + " · ".join((again, *keys)))
    return rows if usual or not hint else [*rows, (f"  {hint}", MUTED)]


def _sentences(state: "VideoState") -> tuple[str, str]:
    """What failed, and what to do."""
    code = state.failure or ""
    error = AppError(code, **{"title": state.video.title, **state.details})
    try:
        return clean(error.message), clean(error.hint)
    except KeyError:  # another version has written it, with other details
        return clean(_(failure_reasons.WORDS.get(code, code))), ""
