"""The line about an update of yt-dlp."""

from subtitle_rag.i18n import _
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.extractor_update import ExtractorUpdate


def line(update: ExtractorUpdate | None) -> str:
    """Return the line of the library; empty without news."""
    match update:
        case ExtractorUpdate(state="offered", has_failed=True):
            sentence = _("yt-dlp {version} did not understand YouTube's answer: {key} updates it.")
        case ExtractorUpdate(state="offered"):
            sentence = _("yt-dlp {version} is {days} days old and may soon fail: {key} updates it.")
        case ExtractorUpdate(state="working" | "asking"):
            return _("Updating yt-dlp…")
        case ExtractorUpdate(state="failed", error=error) if error:
            sentence = clean(f"! {error.message} {error.hint}  ").replace("{", "{{").replace("}", "}}")
            sentence += _("{key} tries again")
        case _:
            return ""
    assert update is not None
    return sentence.format(version=update.version, days=update.days, key=key("packages.update"))
