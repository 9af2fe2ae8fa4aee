"""On which line of a TOML file each name stands.

`tomllib` tells values without their places. What is scanned here is what it has accepted, so that a scan for names,
strings and brackets is enough; what stands within an inline table has the line on which that begins.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_NAME_PART = re.compile(r"[ \t]*(\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[\w-]+)[ \t]*(\.?)")
_VALUE_PIECE = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*|[\[\]{}\n]|[^\"'#\[\]{}\n]+",
    re.DOTALL,
)


@lru_cache(maxsize=2)
def name_lines(text: str) -> Mapping[str, int]:
    """The first line of each name in a text that is TOML: `search`, `search.limit`, `players.mpv.command`."""
    found: dict[str, int] = {}
    at, counted, line = 0, 0, 1
    table: tuple[str, ...] = ()
    while (at := _end(_BLANK, text, at)) < len(text):
        line, counted = line + text.count("\n", counted, at), at
        heading = re.compile(r"\[\[?").match(text, at)
        parts, at = _name(text, heading.end() if heading else at)
        if heading:
            table = parts
            at = _line_end(text, at)
        else:
            parts = (*table, *parts)
            at = _value_end(text, at)
        for count in range(1, len(parts) + 1):
            found.setdefault(".".join(parts[:count]), line)
    return found


def line_of(text: str, name: str) -> int | None:
    """The line of a name, or of the nearest table around it; None for what the text does not name."""
    lines = name_lines(text)
    while name and name not in lines:
        name = name.rpartition(".")[0]
    return lines.get(name)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _name(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """The parts of the dotted name at `at`, and where it ends."""
    parts: list[str] = []
    while match := _NAME_PART.match(text, at):
        written, at = match[1], match.end()
        parts.append(str(tomllib.loads(f"name = {written}")["name"]) if written[0] in "\"'" else written)
        if not match[2]:
            break
    return tuple(parts), at


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _value_end(text: str, at: int) -> int:
    """Where the value ends that begins at `at`: at the first line end outside of strings and brackets."""
    depth = 0
    while match := _VALUE_PIECE.match(text, at):
        piece = match[0]
        if piece == "\n" and not depth:
            break
        depth += (piece in "[{") - (piece in "]}") if len(piece) == 1 else 0
        at = match.end()
    else:
        at = len(text)
    return at
