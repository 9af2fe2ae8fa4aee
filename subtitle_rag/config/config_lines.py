"""Line numbers of the names in a TOML file.

`tomllib` returns values without their lines. The text scanned here is one that it has accepted, so a scan for names,
strings and brackets is enough. The names of an inline table have the line of its start.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from subtitle_rag.i18n import N_

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


_STRING = re.compile(r"""[ \t]*=[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*')(?!["'])""")
"""A string of one line after a name."""
MAX_DEPTH = 32
"""Brackets within each other, and parts of a name."""
_EXTREME = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"{3,5}(?!")|\Z)'
    r"|'''.*?(?:'{3,5}(?!')|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*"
    r"|(?P<number>[0-9][0-9_]{99,})"
    r"|[^\"'#\[\]{}\n.=,0-9]+|[0-9]|(?P<sign>[\[\]{}.=,\n])",
    re.DOTALL,
)
"""Pieces of any text, TOML or not."""


def extreme_of(text: str) -> tuple[str, int, str] | None:
    """Find what `tomllib` would choke on: return the key, the line and the reason."""
    depth = dots = 0
    for match in _EXTREME.finditer(text):
        sign = match["sign"]
        reason = N_("a number of more than 100 digits") if match["number"] else ""
        if sign:
            depth += (sign in "[{") - (sign in "]}")
            dots = dots + 1 if sign == "." else 0
            if depth > MAX_DEPTH:
                reason = N_("brackets within more than 32 others")
            if dots >= MAX_DEPTH:
                reason = N_("a name of more than 32 parts")
        if reason:
            begin = text.rfind("\n", 0, match.start()) + 1
            key = re.match(r"[ \t]*([\w.-]{1,60})", text[begin : begin + 200])
            return (key[1] if key else ""), 1 + text.count("\n", 0, begin), reason
    return None


@lru_cache(maxsize=2)
def name_lines(text: str) -> Mapping[str, int]:
    """Return the first line of each name in a TOML text: `search`, `search.limit`, `players.mpv.command`."""
    lines: dict[str, int] = {}
    counted, line = 0, 1
    for entry in _entries(text):
        line, counted = line + text.count("\n", counted, entry.start), entry.start
        for count in range(1, len(entry.parts) + 1):
            lines.setdefault(".".join(entry.parts[:count]), line)
    return lines


@dataclass(frozen=True, slots=True)
class _Entry:
    """A heading, or a setting with its name's end; `end` is the end of the line or of the value's last line."""

    parts: tuple[str, ...]
    is_heading: bool
    start: int
    name_end: int
    end: int


def _entries(text: str) -> Iterator[_Entry]:
    """Yield the headings and settings of a TOML text."""
    at = 0
    table: tuple[str, ...] = ()
    while (at := _end(_BLANK, text, at)) < len(text):
        heading = re.compile(r"\[\[?").match(text, at)
        start = at
        parts, name_end = _name(text, heading.end() if heading else at)
        if heading:
            table = parts
            line_end = text.find("\n", name_end)
            at = len(text) if line_end < 0 else line_end
        else:
            parts = (*table, *parts)
            at = _value_end(text, name_end)
        yield _Entry(parts, heading is not None, start, name_end, at)


def with_text(text: str, table: str, name: str, value: str) -> str | None:
    """Return the TOML text with a string set in a table; comments and the order of all else stay.

    None if the text writes the table in a form that is left to its author, such as an inline table.
    """
    key, line = (table, name), f"{name} = {json.dumps(value, ensure_ascii=False)}"
    entries = list(_entries(text))
    settings = [entry for entry in entries if not entry.is_heading and entry.parts == key]
    headings = [entry for entry in entries if entry.is_heading and entry.parts == (table,)]
    if settings:
        match = _STRING.match(text, settings[0].name_end)
        changed = text[: match.start(1)] + line.partition("= ")[2] + text[match.end(1) :] if match else None
    elif headings:
        following = (entry.start for entry in entries if entry.is_heading and entry.start > headings[0].start)
        end = next(following, len(text))
        # after the commented default that `config init` writes, else below the heading
        default = re.compile(rf"^#[ \t]*{re.escape(name)}[ \t]*=.*$", re.MULTILINE).search(text, headings[0].end, end)
        at = default.end() if default else headings[0].end
        changed = f"{text[:at]}\n{line}{text[at:]}"
    else:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        changed = f"{text}{gap}[{table}]\n{line}\n"
    return changed if changed is not None and _differs_only_in(text, changed, key, value) else None


def _differs_only_in(before: str, after: str, key: tuple[str, str], value: str) -> bool:
    """Return whether `after` says what `before` says, with this setting."""
    table, name = key
    try:
        expected, actual = tomllib.loads(before), tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        return False
    section = expected.setdefault(table, {})
    return isinstance(section, dict) and {**expected, table: {**section, name: value}} == actual


def line_of(text: str, name: str) -> int | None:
    """Return the line of a name, or of the nearest table around it; None for an unknown name."""
    lines = name_lines(text)
    while name and name not in lines:
        name = name.rpartition(".")[0]
    return lines.get(name)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _name(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Return the parts of the dotted name at `at`, and its end."""
    parts: list[str] = []
    while match := _NAME_PART.match(text, at):
        part, at = match[1], match.end()
        parts.append(str(tomllib.loads(f"name = {part}")["name"]) if part[0] in "\"'" else part)
        if not match[2]:
            break
    return tuple(parts), at


def _value_end(text: str, at: int) -> int:
    """Return the end of the value at `at`: the first line end outside of strings and brackets."""
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
