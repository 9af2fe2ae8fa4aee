"""Sentences about contexts that search does not use."""

from typing import TYPE_CHECKING

from subtitle_rag.contexts.repetition import SAME
from subtitle_rag.i18n import _

if TYPE_CHECKING:
    from subtitle_rag.library import Context


def reason(context: "Context") -> str:
    """Return why a context is left out."""
    if any(kind == SAME for kind, _text in context.doubts):
        return _("it says the same as another scene's context")
    words = ", ".join(dict.fromkeys(text for _kind, text in context.doubts))
    return _("it names what the video does not: {words}").format(words=words)
