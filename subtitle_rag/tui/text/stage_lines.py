"""Background work: lines about transcription and the update of yt-dlp, and a row for each other stage.

Rows have a bar with counts, pace and state. Captions and windows count for the job. Contexts and vectors count for the
whole library, since their runs take every pending window.
"""

from subtitle_rag.domain.errors import AppError
from subtitle_rag.domain.values import clock, sizes
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.stage_progress import (
    ContextProgress,
    ListeningProgress,
    StageName,
    VectorProgress,
    WindowProgress,
)
from subtitle_rag.tui.text.failure_reasons import failed_count, remaining
from subtitle_rag.tui.text.job_lines import WINDOWS_BEFORE_REMAINING

INDENT = 2
LONGEST_BAR = 28
SHORTEST_BAR = 8

WINDOW_STAGES: tuple[StageName, ...] = ("contexts", "vectors")
ROWS = ("job", "captions", "windows", *WINDOW_STAGES)
"""The widgets from top to bottom; the first is the job's headline."""


def windows_rate(windows: float) -> str:
    """Return windows per second, or per minute if few."""
    if windows >= 1:
        return _("{rate} windows/s").format(rate=f"{windows:.0f}" if windows >= 10 else f"{windows:.1f}")
    return _("{rate}/min").format(rate=f"{windows * 60:.1f}")


def with_counts(template: str, progress: WindowProgress) -> str:
    """Fill {done} and {all} into `template`."""
    return template.format(done=f"{progress.done:,}", all=f"{progress.windows:,}")


def pace(progress: WindowProgress) -> list[str]:
    """Return the rate of a run and, after enough windows, its remaining time: the same on all screens."""
    rate, seconds = progress.rate, progress.remaining_s
    if not rate or seconds is None:
        return []
    return [windows_rate(rate), *([remaining(seconds)] if progress.processed >= WINDOWS_BEFORE_REMAINING else [])]


def overview_lines(progress: ContextProgress) -> list[str]:
    """Return the finished sections of a long video's overview; with their time if no other is known."""
    if progress.overview is None:
        return []
    done, sections = progress.overview
    lines = [_("overview {done}/{all}").format(done=done, all=sections)]
    if progress.processed < WINDOWS_BEFORE_REMAINING and progress.section_remaining_s:
        lines.append(_("overviews: {time}").format(time=remaining(progress.section_remaining_s)))
    return lines


def stage_notice(progress: WindowProgress) -> str:
    """Return the sentence that replaces a bar: why the run failed or is incomplete; empty without news."""
    error = progress.error if progress.state == "failed" else None
    if isinstance(progress, ContextProgress):
        return _context_notice(progress, error)
    if error is None:
        return ""
    if error.code == "busy":
        return clean(error.message)
    return failure_line(error, error.hint, "library.background")


def _context_notice(progress: ContextProgress, error: AppError | None) -> str:
    if error is not None and progress.missing:
        return failure_line(error, "" if error.code == "busy" else error.hint, "library.background")
    if progress.failed:
        return n_(
            "! {n} window got no context; {key} asks for it again",
            "! {n} windows got no context; {key} asks for them again",
            progress.failed,
            key=key("library.background"),
        )
    return ""


def context_brief(progress: ContextProgress) -> list[str]:
    """Return counts, current work, rate and remaining time of the run, most important first."""
    from subtitle_rag.contexts.context_text import request_notes

    parts = [with_counts(_("Contexts {done}/{all}"), progress), *request_notes(progress.request, progress.request_s)]
    parts += [*overview_lines(progress), *pace(progress), *failed_count(progress.failed)]
    if progress.left_out:
        parts.append(_("{n} left out").format(n=progress.left_out))
    return [*parts, clean(progress.model)]


def failure_line(error: AppError, hint: str, key_id: str) -> str:
    """Return the line of a failed stage, with the key that tries again."""
    sentence = clean(" ".join(filter(None, ("!", error.message, hint))))
    return "  ".join((sentence, _("{key} tries again").format(key=key(key_id))))


def vector_brief(progress: VectorProgress) -> list[str]:
    """Return counts, rate and remaining time of the run: of windows, or of pieces while these are made."""
    template = _("Vectors of pieces {done}/{all}") if progress.pieces else _("Vectors {done}/{all}")
    return [with_counts(template, progress), *pace(progress), clean(progress.model)]


def listening_line(progress: ListeningProgress) -> str:
    """Return the line for the library; empty without news."""
    match progress.state:
        case "working":
            return "  ".join(listening_brief(progress))
        case "paused" if progress.videos or progress.all_bytes:
            sentence = _("Listening paused; {key} resumes").format(key=key("library.background"))
            return "  ".join((sentence, clean(progress.title)))
        case "failed" if progress.error:
            return failure_line(progress.error, progress.error.hint, "library.background")
    return ""


def listening_brief(progress: ListeningProgress) -> list[str]:
    """Return the download or the transcribed part, pace and remaining time, most important first."""
    from subtitle_rag.transcribing.gaps import pace_text

    if progress.done_bytes or progress.all_bytes:
        size = sizes(progress.done_bytes, progress.all_bytes or progress.done_bytes)
        return [_("Fetching what transcription needs {size}").format(size=size), clean(progress.title)]
    if not progress.length_ms:
        return [_("Listening…"), clean(progress.title)]
    parts = [_("Listening {done}/{all}").format(done=clock(progress.heard_ms), all=clock(progress.length_ms))]
    if progress.rate is not None and progress.remaining_s is not None:
        parts += [pace_text(progress.rate), remaining(progress.remaining_s)]
    if (waiting := progress.videos - progress.processed - 1) > 0:
        parts.append(n_("{n} video waits", "{n} videos wait", waiting))
    return [*parts, clean(progress.title)]


def has_news(progress: WindowProgress) -> bool:
    """Return whether contexts or vectors can be paused, resumed or retried."""
    return bool(progress.windows) and (_is_under_way(progress) or bool(stage_notice(progress)))


def _is_under_way(progress: WindowProgress) -> bool:
    if isinstance(progress, ContextProgress):
        return progress.state in ("asking", "working", "paused")
    return progress.state in ("waiting", "paused") or (progress.state == "working" and progress.missing > 0)
