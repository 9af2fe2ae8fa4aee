"""Lines about the library's field and about failures."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.errors import EXPECTED, SILENT, AppError
from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.captions.addresses import Source
from subtitle_rag.captions.formats import suffix_list
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared import failure_reasons
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED, Rows, failure_rows
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.jobs.job_lines import job_brief, job_line
from subtitle_rag.tui.shared.progress.model_lines import download_line
from subtitle_rag.tui.shared.progress.offers import ModelDownload
from subtitle_rag.tui.shared.progress.stage import Stages, in_order
from subtitle_rag.tui.shared.progress.stage_lines import stage_briefs, stage_notice
from subtitle_rag.tui.shared.source_field import FieldCheck
from subtitle_rag.youtube.estimate import cut_short_text

if TYPE_CHECKING:
    from subtitle_rag.library.rows import VideoState
    from subtitle_rag.workflows.checks import Check

ENDED = ("failed", "done")
FAILURES = 4
"""Most failures with their own lines."""


def field_line(check: FieldCheck, *, is_sample: bool = False) -> str:
    """Return how the field was understood, and the effect of Enter; in the sample, the way to the user's library."""
    if check.kind == "nothing":
        return ""
    if is_sample and (check.sources or check.more or check.files):
        return _("! Not in the sample: {key} opens your own library with this address.").format(
            key=key("library.sample")
        )
    if len(check.sources) > 1:
        return _addresses_line(check)
    if check.sources:
        return _source_line(check.sources[0])
    if check.refusal:
        return f"! {check.refusal}"
    if check.kind == "words":
        return _("{key} searches for these words").format(key=key("screen.enter"))
    if check.kind == "missing":
        return _("… nothing there yet")
    n, take = check.files, key("screen.enter")
    if check.kind == "list":
        return n_(
            "✓ a list of {n} address; {key} asks first", "✓ a list of {n} addresses; {key} asks first", n, key=take
        )
    if check.more:
        return _("✓ more than {n} caption files so far; {key} indexes them").format(n=n, key=take)
    if check.films and not n:
        return n_(
            "✓ {n} film or sound file; {key} takes the captions inside it, or offers to listen",
            "✓ {n} films and sound files; {key} takes the captions inside them, or offers to listen",
            check.films,
            key=take,
        )
    if not n:
        return _("! no caption files there ({formats})").format(formats=suffix_list(3))
    return n_("✓ {n} caption file; {key} indexes it", "✓ {n} caption files; {key} indexes them", n, key=take)


def _source_line(source: Source) -> str:
    take = key("screen.enter")
    if source.kind == "playlist":
        return _("✓ playlist {name}; {key} imports its captions").format(name=source.key, key=take)
    if source.kind == "channel":
        template = _("✓ channel {name}; {key} imports its captions")
        return template.format(name=" · ".join((source.key, *source.tabs)), key=take)
    if source.playlist:
        template = _("✓ video {name}; {key} imports only the video, {all} the whole list")
        return template.format(name=source.key, key=take, all=key("library.list"))
    return _("✓ video {name}; {key} imports its captions").format(name=source.key, key=take)


def _addresses_line(check: FieldCheck) -> str:
    n, take = len(check.sources), key("screen.enter")
    if check.names_lists:
        template = _("✓ {n} addresses; {key} imports only the videos of those with a list, {all} the whole lists")
        return template.format(n=n, key=take, all=key("library.list"))
    return n_("✓ {n} address; {key} imports its captions", "✓ {n} addresses; {key} imports their captions", n, key=take)


def beginning() -> Rows:
    """Return the page of an empty library."""
    example = _("To look around first: {key} opens nine practice videos, apart from your library.")
    return [
        (_("Nothing to search yet"), "bold"),
        "",
        _("Paste an address of YouTube above, or type a folder of caption files, and press {key}.").format(
            key=key("screen.enter")
        ),
        _("Captions are fetched and indexed on this computer; nothing is sent elsewhere."),
        "",
        example.format(key=key("library.sample")),
    ]


def blocked(check: "Check") -> Rows:
    """Return what blocks a beginner from captions or a search, and the remedy."""
    remedy = [(f"  {clean(check.remedy)}", MUTED)] if check.remedy else []
    return [(f"! {clean(check.message)}", "bold"), *remedy]


def progress_briefs(job: Job | None, stages: Stages) -> Iterator[str]:
    """Yield the running work, most important first."""
    if job is not None and (job.stopped or not job.ended):
        yield clean(job_line(job) if job.stopped or job.resting or job.stopping else job_brief(job))
    yield from stage_briefs(stages)


def stage_notices(stages: Stages) -> list[str]:
    """Return why background work failed or is incomplete, and the key to try again."""
    notices = [stage_notice(stage) for stage in in_order(stages) if stage.name != "offer" and stage.state in ENDED]
    download = ModelDownload.among(stages)
    if download and download.state in ("paused", "failed", "elsewhere"):
        notices.append(download_line(download))
    return [notice for notice in notices if notice]


def shortfalls(job: Job) -> Rows:
    """Return the reason of a stop or pause, the totals of skipped videos, and the last failures.

    Newest failures come first, since the end may be cut off.
    """
    rows: Rows = []
    if job.ended and job.reason:
        rows += failure_rows(job.reason)
    elif job.resting:
        rows += failure_rows(AppError(job.resting.code, **job.resting.details))
    rows += [f"– {clean(cut_short_text(event))}" for event in job.cut_short]
    usual = [failed.code for failed in job.failures if failed.code in EXPECTED]
    if usual:
        rows.append(_("– Skipped: {reasons}").format(reasons=failure_reasons.sums(usual)))
    alarms = [failed for failed in job.failures if failed.code not in EXPECTED]
    for failed in alarms[: -FAILURES - 1 : -1]:
        rows += failure_rows(AppError(failed.code, **failed.details))
    if len(alarms) > FAILURES:
        rows.append((_("… and {n} before them").format(n=len(alarms) - FAILURES), MUTED))
    for notice in job.notices[: -FAILURES - 1 : -1]:
        error = AppError(notice.code, **notice.details)
        rows += [clean(f"– {error.message}"), (clean(f"  {error.hint}"), MUTED)]
    return rows


def failed_video(state: "VideoState") -> Rows:
    """Return why a video is missing, its retry time, and its keys."""
    code = state.failure or ""
    if is_silent(state):
        return _silent_video(state)
    retry = _("{key} asks again now").format(key=key("screen.retry"))
    message, hint = _sentences(state)
    usual = code in EXPECTED
    again = failure_reasons.retry_text(state.retry_at) or _("not asked again by itself")
    rows: Rows = [(f"{failure_reasons.failure_sign(code)} {message}", "" if usual else "bold")]
    rows.append("  " + " · ".join((again, retry)))
    return rows if usual or not hint else [*rows, (f"  {hint}", MUTED)]


def is_silent(state: "VideoState") -> bool:
    """Whether a video has no captions, and can be transcribed."""
    return state.failure in SILENT and not state.due and not state.windows


def listening_state(state: "VideoState") -> str:
    """Return the progress of a video's transcription in a few words; empty if it was never requested."""
    listening = state.listening
    if listening is None or state.windows:
        return ""
    if listening.state == "due" and listening.heard_ms:
        heard, length = clock(listening.heard_ms), clock(listening.length_ms)
        return _("… heard {done}/{all}").format(done=heard, all=length)
    if listening.state == "due":
        return _("… waits to be listened to")
    return f"! {AppError(listening.failure, **listening.details).message}" if listening.failure else ""


def _silent_video(state: "VideoState") -> Rows:
    """Return that a video has no captions, and its keys."""
    message, _hint = _sentences(state)
    rows: Rows = [f"– {message}"]
    if listening := listening_state(state):
        rows.append(f"  {clean(listening)}")
    listen = _("{key} listens to it on this machine, and asks before").format(key=key("video.listen"))
    again = failure_reasons.retry_text(state.retry_at)
    return [*rows, "  " + " · ".join(filter(None, (listen, again)))]


def _sentences(state: "VideoState") -> tuple[str, str]:
    """Return the error's message and hint."""
    code = state.failure or ""
    error = AppError(code, **{"title": state.video.title, **state.details})
    try:
        return clean(error.message), clean(error.hint)
    except KeyError:  # written by another version, with other details
        return clean(_(failure_reasons.WORDS.get(code, code))), ""
