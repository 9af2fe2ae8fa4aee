"""Text from outside as one safe line: without characters that steer a terminal or show nothing."""

import re
import unicodedata

UNSEEN = "·"
"""In the place of a character that steers a terminal or shows nothing."""

_JOINER = "\u200d"
_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_STRAY = re.compile(f"(?<![{_EMOJI}\ufe0f]){_JOINER}|{_JOINER}(?![{_EMOJI}])")
"""A joiner that holds no emoji together: what follows it would be drawn, but is measured as nothing."""


def clean(text: str) -> str:
    """One line without characters that steer a terminal or show nothing."""
    if text.isprintable():  # nothing of category C, and no other space than the plain one
        return text
    kept = (" " if c.isspace() else c for c in text if c.isspace() or c == _JOINER or unicodedata.category(c)[0] != "C")
    return _STRAY.sub("", "".join(kept))


def visible(text: str) -> str:
    """What somebody types or pastes, as a field draws it: of the same length, for the cursor counts characters."""
    shown = (c if c.isprintable() or c == _JOINER else " " if c.isspace() else UNSEEN for c in text)
    return _STRAY.sub(UNSEEN, "".join(shown))
