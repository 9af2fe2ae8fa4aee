"""Lines about background work: the running stages, and why one failed.

Contexts and vectors count for the whole library, since their runs take every pending window.
"""

from collections.abc import Iterator

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.progress import progress_counts, progress_parts, remaining
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.failure_reasons import failed_count
from subtitle_rag.tui.shared.progress.stage import Stage, Stages, in_order


def stage_parts(stage: Stage) -> list[str]:
    """Return counts, rate and remaining time of a running stage, most important first."""
    if stage.progress is None:
        return []
    counts, *parts = progress_parts(stage.progress)
    return [clean(part) for part in (counts, *failed_count(stage.failed), *parts)]


def stage_briefs(stages: Stages) -> Iterator[str]:
    """Yield the running work, with counts and remaining time."""
    for stage in in_order(stages):
        if stage.state == "working" and stage.progress and stage.progress.total:
            left_s = stage.progress.left_s
            yield " · ".join([progress_counts(stage.progress), *([remaining(left_s)] if left_s else [])])
    if any(stage.state == "paused" and stage.is_incomplete for stage in stages.values() if stage.name != "offer"):
        yield _("paused; {key} resumes").format(key=key("library.background"))


def toggled_line(stages: Stages, *, is_active: bool, is_retry: bool) -> str:
    """Return what the key that pauses, resumes and retries has done."""
    if not is_active:
        return _("Background work is paused; {key} resumes.").format(key=key("library.background"))
    if is_retry:  # it may fail again
        return _("Trying the background work again.")
    resumed = (each for each in in_order(stages) if each.name != "offer" and each.is_incomplete)
    counts = (progress_counts(each.progress) for each in resumed if each.progress)
    return " · ".join((_("Background work goes on"), *counts))


def stage_notice(stage: Stage) -> str:
    """Return why a stage failed or is incomplete; empty without news."""
    error = stage.error if stage.state == "failed" else None
    if stage.name == "contexts":
        return _context_notice(stage, error)
    if error is None:
        return ""
    return clean(error.message) if error.code == "busy" else failure_line(error, error.hint)


def _context_notice(stage: Stage, error: AppError | None) -> str:
    if error is not None and stage.is_incomplete:
        return failure_line(error, "" if error.code == "busy" else error.hint)
    if stage.failed:
        return n_(
            "! {n} window got no context; {key} asks for it again",
            "! {n} windows got no context; {key} asks for them again",
            stage.failed,
            key=key("library.background"),
        )
    return ""


def failure_line(error: AppError, hint: str, key_id: str = "library.background") -> str:
    """Return the line of a failed stage, with the key that tries again."""
    sentence = clean(" ".join(filter(None, ("!", error.message, hint))))
    return "  ".join((sentence, _("{key} tries again").format(key=key(key_id))))


def has_news(stage: Stage) -> bool:
    """Return whether a stage can be paused, resumed or retried."""
    is_open = stage.state in ("asking", "working", "paused") and stage.is_incomplete
    return is_open or bool(stage_notice(stage))
