"""Lines about the run of vectors."""

from subtitle_rag.errors import AppError
from subtitle_rag.i18n import _
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.stage_progress import VectorProgress
from subtitle_rag.tui.text.pace import pace, with_counts


def line(progress: VectorProgress) -> str:
    """Return the line of the library; empty without news."""
    if not progress.windows:
        return ""
    match progress.state:
        case "working" if progress.missing:
            return brief(progress)
        case "waiting":
            parts = with_counts(_("Vectors {done}/{all}"), progress), _("waiting for contexts"), clean(progress.model)
            return "  ".join(parts)
        case "paused":
            return with_counts(_("Vectors paused at {done}/{all}; {key} resumes"), progress)
        case "failed" if progress.error:
            return _failure(progress.error)
    return ""


def brief(progress: VectorProgress) -> str:
    """Return counts, rate and remaining time of the run."""
    return "  ".join((with_counts(_("Vectors {done}/{all}"), progress), *pace(progress), clean(progress.model)))


def _failure(error: AppError) -> str:
    if error.code == "vectors_busy":
        return clean(error.message)
    return clean(f"! {error.message} {error.hint}  " + _("{key} tries again").format(key=key("library.background")))
