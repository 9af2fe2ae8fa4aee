"""Text from outside as a terminal may have it: file names, names of models and answers of servers may hold escapes that
move the cursor, write the clipboard or turn the line around."""

import re
from collections.abc import Callable, Iterable

UNSEEN = "·"
"""In place of a character that a terminal or a bidirectional line would obey."""
MARKS = ("\x1b[1;4m", "\x1b[4m", "\x1b[0m")
"""The escapes that `output` writes: typed words, related words, their end."""

_OBEYED = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_TEXT = re.compile(f"({'|'.join(map(re.escape, MARKS))})|[{_OBEYED}]")
_LINE = re.compile(f"[{_OBEYED}\t\n]")


def terminal_text(text: str) -> str:
    """Return `text` with its lines and our own marks, without what else a terminal obeys."""
    return text if text.isprintable() else _TEXT.sub(lambda match: match[1] or UNSEEN, text)


def line_text(text: str) -> str:
    """Return outside text, for a sentence: on one line, without anything that a terminal obeys."""
    if text.isprintable():
        return text
    return _LINE.sub(lambda match: " " if match[0].isspace() and match[0] <= "\r" else UNSEEN, text)


def fitting_text(parts: Iterable[str], cells: int, cell_len: Callable[[str], int], *, between: str = "  ") -> str:
    """Join the parts that fit whole into `cells` cells; the first one in any case, for the caller to cut."""
    text = ""
    for part in parts:
        longer = f"{text}{between}{part}" if text else part
        if text and cell_len(longer) > cells:
            break
        text = longer
    return text
