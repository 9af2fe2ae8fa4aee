"""Lines about the run of contexts."""

from subtitle_rag.errors import AppError
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.stage_progress import ContextProgress
from subtitle_rag.tui.text.pace import pace, with_counts


def line(progress: ContextProgress) -> str:
    """Return the line of the library; empty without news."""
    if not progress.windows:
        return ""
    match progress.state:
        case "asking":
            return _("Asking Ollama…")
        case "working":
            return "  ".join((brief(progress), *cost(progress)))
        case "paused":
            sentence = with_counts(_("Contexts paused at {done}/{all}; {key} resumes"), progress)
            return "  ".join((sentence, *cost(progress)))
        case "failed" if progress.missing and progress.error:
            return _failure(progress, progress.error)
    if not progress.failed:
        return ""
    return n_(
        "! {n} window got no context; {key} asks for it again",
        "! {n} windows got no context; {key} asks for them again",
        progress.failed,
    ).format(n=progress.failed, key=key("library.background"))


def brief(progress: ContextProgress) -> str:
    """Return counts, rate and remaining time of the run."""
    parts = [with_counts(_("Contexts {done}/{all}"), progress), *pace(progress)]
    if progress.failed:
        parts.append(n_("! {n} failed", "! {n} failed", progress.failed).format(n=progress.failed))
    return "  ".join((*parts, clean(progress.model)))


def cost(progress: ContextProgress) -> list[str]:
    """Return the tokens of all contexts of the library."""
    if not progress.output_tokens:
        return []
    spent = _("{read} tokens read, {written} written")
    return [spent.format(read=f"{progress.prompt_tokens:,}", written=f"{progress.output_tokens:,}")]


def _failure(progress: ContextProgress, error: AppError) -> str:
    if error.code == "llm_not_running" and not progress.has_contexts:
        return _(
            "A local model could note what each window is about, so that more scenes are found: "
            "start Ollama (ollama.com), then press {key}."
        ).format(key=key("library.background"))
    hint = "" if error.code == "contexts_busy" else f" {error.hint}"
    return clean(f"! {error.message}{hint}  " + _("{key} tries again").format(key=key("library.background")))
