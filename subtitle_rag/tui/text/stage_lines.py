"""Lines about the work in the background: contexts, vectors, the update of yt-dlp; their rates and remaining times."""

from subtitle_rag.domain import AppError
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state import ContextProgress, ExtractorUpdate, VectorProgress, WindowProgress, clean

WINDOWS_BEFORE_REMAINING = 20
"""Windows of a run, or of a job over files, after which the remaining time is shown; the rate comes earlier."""


def windows_rate(windows: float) -> str:
    """Return windows per second, or per minute if they are few."""
    if windows >= 1:
        return _("{rate} windows/s").format(rate=f"{windows:.0f}" if windows >= 10 else f"{windows:.1f}")
    return _("{rate}/min").format(rate=f"{windows * 60:.1f}")


def remaining(seconds: float) -> str:
    """Return the remaining time in minutes, or hours."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return _("less than a minute left")
    if minutes < 60:
        return _("about {minutes} min left").format(minutes=minutes)
    return _("about {hours} h {minutes} min left").format(hours=minutes // 60, minutes=minutes % 60)


def with_counts(template: str, progress: WindowProgress) -> str:
    """Fill {done}, {all} and the {key} of pausing into `template`."""
    return template.format(done=f"{progress.done:,}", all=f"{progress.windows:,}", key=key("library.background"))


def pace(progress: WindowProgress) -> list[str]:
    """Return the rate of a run and, when enough windows are done, its remaining time: the same on all screens."""
    rate, seconds = progress.rate, progress.remaining_s
    if not rate or seconds is None:
        return []
    return [windows_rate(rate), *([remaining(seconds)] if progress.processed >= WINDOWS_BEFORE_REMAINING else [])]


def failed_count(n: int) -> list[str]:
    """Return how many failed; nothing without any."""
    return [n_("! {n} failed", "! {n} failed", n).format(n=f"{n:,}")] if n else []


def overview_lines(progress: ContextProgress) -> list[str]:
    """Return the stored sections of a long video whose overview is in work; with their time if no other is known."""
    if progress.overview is None:
        return []
    done, sections = progress.overview
    lines = [_("overview {done}/{all}").format(done=done, all=sections)]
    if progress.processed < WINDOWS_BEFORE_REMAINING and progress.section_remaining_s:
        lines.append(_("overviews: {time}").format(time=remaining(progress.section_remaining_s)))
    return lines


def context_line(progress: ContextProgress) -> str:
    """Return the line of the library; empty without news."""
    if not progress.windows:
        return ""
    match progress.state:
        case "asking":
            return _("Asking Ollama…")
        case "working":
            return "  ".join((context_brief(progress), *context_cost(progress)))
        case "paused":
            sentence = with_counts(_("Contexts paused at {done}/{all}; {key} resumes"), progress)
            return "  ".join((sentence, *context_cost(progress)))
        case "failed" if progress.missing and progress.error:
            if progress.error.code == "llm_not_running" and not progress.has_contexts:
                return _(
                    "A local model could note what each window is about, so that more scenes are found: "
                    "start Ollama (ollama.com), then press {key}."
                ).format(key=key("library.background"))
            hint = "" if progress.error.code == "contexts_busy" else progress.error.hint
            return failure_line(progress.error, hint, "library.background")
    if not progress.failed:
        return ""
    return n_(
        "! {n} window got no context; {key} asks for it again",
        "! {n} windows got no context; {key} asks for them again",
        progress.failed,
    ).format(n=progress.failed, key=key("library.background"))


def context_brief(progress: ContextProgress) -> str:
    """Return counts, rate and remaining time of the run."""
    parts = [with_counts(_("Contexts {done}/{all}"), progress), *overview_lines(progress), *pace(progress)]
    parts += failed_count(progress.failed)
    if progress.left_out:
        parts.append(_("{n} left out").format(n=progress.left_out))
    return "  ".join((*parts, clean(progress.model)))


def context_cost(progress: ContextProgress) -> list[str]:
    """Return the tokens of all contexts of the library."""
    if not progress.output_tokens:
        return []
    spent = _("{read} tokens read, {written} written")
    return [spent.format(read=f"{progress.prompt_tokens:,}", written=f"{progress.output_tokens:,}")]


def failure_line(error: AppError, hint: str, key_id: str) -> str:
    """Return the line of a failed stage, with the key that tries again."""
    sentence = clean(" ".join(filter(None, ("!", error.message, hint))))
    return "  ".join((sentence, _("{key} tries again").format(key=key(key_id))))


def vector_line(progress: VectorProgress) -> str:
    """Return the line of the library; empty without news."""
    if not progress.windows:
        return ""
    match progress.state:
        case "working" if progress.missing:
            return vector_brief(progress)
        case "waiting":
            parts = with_counts(_("Vectors {done}/{all}"), progress), _("waiting for contexts"), clean(progress.model)
            return "  ".join(parts)
        case "paused":
            return with_counts(_("Vectors paused at {done}/{all}; {key} resumes"), progress)
        case "failed" if progress.error and progress.error.code == "vectors_busy":
            return clean(progress.error.message)
        case "failed" if progress.error:
            return failure_line(progress.error, progress.error.hint, "library.background")
    return ""


def vector_brief(progress: VectorProgress) -> str:
    """Return counts, rate and remaining time of the run."""
    return "  ".join((with_counts(_("Vectors {done}/{all}"), progress), *pace(progress), clean(progress.model)))


def update_line(update: ExtractorUpdate | None) -> str:
    """Return the line of the library; empty without news."""
    match update:
        case ExtractorUpdate(state="offered", has_failed=True):
            sentence = _("yt-dlp {version} did not understand YouTube's answer: {key} updates it.")
        case ExtractorUpdate(state="offered"):
            sentence = _("yt-dlp {version} is {days} days old and may soon fail: {key} updates it.")
        case ExtractorUpdate(state="working" | "asking"):
            return _("Updating yt-dlp…")
        case ExtractorUpdate(state="failed", error=error) if error:
            return failure_line(error, error.hint, "packages.update")
        case _:
            return ""
    assert update is not None
    return sentence.format(version=update.version, days=update.days, key=key("packages.update"))
