"""Outside text as one safe line, without control characters and invisible ones."""

import re
import unicodedata

UNSEEN = "·"
"""Placeholder for a control or invisible character."""

_JOINER = "\u200d"
_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_STRAY = re.compile(f"(?<![{_EMOJI}\ufe0f]){_JOINER}|{_JOINER}(?![{_EMOJI}])")
"""A joiner outside emoji: terminals draw the next character, but `cell_len` counts no cell for it."""


def clean(text: str) -> str:
    """Return one line without control characters and invisible ones."""
    if text.isprintable():  # no character of category C, and only plain spaces
        return text
    visible = (c for c in text if c.isspace() or c == _JOINER or unicodedata.category(c)[0] != "C")
    return _STRAY.sub("", "".join(" " if c.isspace() else c for c in visible))


def visible(text: str) -> str:
    """Return typed or pasted text as a field draws it, with the same length, since the cursor counts characters."""
    characters = (c if c.isprintable() or c == _JOINER else " " if c.isspace() else UNSEEN for c in text)
    return _STRAY.sub(UNSEEN, "".join(characters))
