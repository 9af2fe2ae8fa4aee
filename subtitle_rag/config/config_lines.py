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
from typing import Any

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
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
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


def with_setting(text: str, table: str, name: str, value: Any) -> str | None:
    """Return the TOML text with a setting of a table, or at the top with an empty `table`; all else in it stays.

    None if the text writes the setting in a form that is left to its author, such as an inline table, or a list with
    comments.
    """
    key, value_text = _key(table, name), json.dumps(value, ensure_ascii=False)
    entries = list(_entries(text))
    entry = next((each for each in entries if not each.is_heading and each.parts == key), None)
    if entry:
        span = _value_span(text, entry)
        changed = text[: span[0]] + value_text + text[span[1] :] if span else None
    else:
        changed = _with_line(text, entries, table, name, f"{name} = {value_text}")
    return changed if changed is not None and _differs_only_in(text, changed, table, name, value) else None


def _with_line(text: str, entries: "list[_Entry]", table: str, name: str, line: str) -> str:
    """Return the text with a new line in a table: below the commented default that `config edit` writes, if any."""
    heading = next((entry for entry in entries if entry.is_heading and entry.parts == _key(table)), None)
    if table and heading is None:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[{table}]\n{line}\n"
    begin = heading.end if heading else 0
    end = next((entry.start for entry in entries if entry.is_heading and entry.start >= begin), len(text))
    default = re.compile(rf"^#[ \t]*{re.escape(name)}[ \t]*=.*$", re.MULTILINE).search(text, begin, end)
    if not heading and not default:
        return f"{line}\n{text}" if text[:1] in ("", "\n") else f"{line}\n\n{text}"
    at = default.end() if default else begin
    return f"{text[:at]}\n{line}{text[at:]}"


def without_setting(text: str, table: str, name: str) -> str | None:
    """Return the TOML text without a setting; a comment after it stays. None as `with_setting`."""
    key, changed = _key(table, name), text
    entry = next((each for each in _entries(text) if not each.is_heading and each.parts == key), None)
    if entry:
        span = _value_span(text, entry)
        if span is None:
            return None
        rest = text[span[1] : entry.end].strip()
        begin = text.rfind("\n", 0, entry.start) + 1
        changed = text[:begin] + (rest + text[entry.end :] if rest else text[entry.end + 1 :])
    return changed if _differs_only_in(text, changed, table, name, None) else None


def _key(*parts: str) -> tuple[str, ...]:
    return tuple(filter(None, parts))


def _value_span(text: str, entry: _Entry) -> tuple[int, int] | None:
    """Return where the value of a setting is; None if it has comments inside."""
    equals = _EQUALS.match(text, entry.name_end)
    if equals is None:
        return None
    at = end = equals.end()
    depth = 0
    while at < entry.end and (piece := _VALUE_PIECE.match(text, at)):
        at = piece.end()
        if piece[0].startswith("#"):
            if depth:
                return None
            continue
        depth += (piece[0] in "[{") - (piece[0] in "]}") if len(piece[0]) == 1 else 0
        if piece[0].strip():
            end = at - len(piece[0]) + len(piece[0].rstrip())
    return equals.end(), end


def _differs_only_in(before: str, after: str, table: str, name: str, value: Any) -> bool:
    """Return whether `after` says what `before` says, with this setting; without it if the value is None."""
    try:
        expected, actual = tomllib.loads(before), tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        return False
    section = expected.setdefault(table, {}) if table else expected
    if table:
        actual.setdefault(table, {})
    if not isinstance(section, dict):
        return False
    section.pop(name, None)
    if value is not None:
        section[name] = list(value) if isinstance(value, tuple) else value
    return expected == actual


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
