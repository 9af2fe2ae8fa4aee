"""Outside text made safe for a terminal.

File names, model names and servers' answers may have escapes that move the cursor, write to the clipboard or reverse
the line.
"""

import re
from collections.abc import Callable, Iterable

UNSEEN = "·"
"""Replaces characters that a terminal or bidirectional text would obey."""
MARKS = ("\x1b[1;4m", "\x1b[4m", "\x1b[0m")
"""Escapes that `output` writes: typed words, related words, their end."""

_OBEYED = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_TEXT = re.compile(f"({'|'.join(map(re.escape, MARKS))})|[{_OBEYED}]")
_LINE = re.compile(f"[{_OBEYED}\t\n]")


def terminal_text(text: str) -> str:
    """Return `text` with its lines and our own marks, but no other terminal escapes."""
    return text if text.isprintable() else _TEXT.sub(lambda match: match[1] or UNSEEN, text)


def line_text(text: str) -> str:
    """Return outside text for a sentence: one line, without terminal escapes."""
    if text.isprintable():
        return text
    return _LINE.sub(lambda match: " " if match[0].isspace() and match[0] <= "\r" else UNSEEN, text)


def fitting_text(parts: Iterable[str], cells: int, cell_len: Callable[[str], int], *, between: str = "  ") -> str:
    """Join the leading parts that fit into `cells` cells; always the first one, which the caller must cut."""
    text = ""
    for part in parts:
        longer = f"{text}{between}{part}" if text else part
        if text and cell_len(longer) > cells:
            break
        text = longer
    return text
