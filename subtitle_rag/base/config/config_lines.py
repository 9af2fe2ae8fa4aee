"""Lines of settings in a TOML text, and changes that keep its comments and order."""

import json
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_PART = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[\w-]+)"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_BEGINNING = re.compile(rf"[ \t]*(?:\[\[?[ \t]*(?P<heading>{_DOTTED})[ \t]*\]|(?P<name>{_DOTTED})[ \t]*=)")


@lru_cache(maxsize=2)
def _name_lines(text: str) -> Mapping[str, int]:
    """Return the first line of each setting and table: `search`, `search.limit`, `players.mpv.command`."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        if match := _BEGINNING.match(line):
            name = ".".join(part.strip("\"'") for part in re.findall(_PART, match["heading"] or match["name"]))
            if match["heading"]:
                table = name
            elif table:
                name = f"{table}.{name}"
            while name:
                lines.setdefault(name, number)
                name = name.rpartition(".")[0]
    return lines


def line_of(text: str, name: str) -> int | None:
    """Return the line of a name, or of the nearest table around it; None if unknown."""
    lines = _name_lines(text)
    while name and name not in lines:
        name = name.rpartition(".")[0]
    return lines.get(name)


def with_setting(text: str, table: str, name: str, value: Any) -> str | None:
    """Return the TOML text with a setting in a table, or at the top if `table` is empty.

    Everything else stays. None if `table` names something else.
    """
    import tomlkit

    document = tomlkit.parse(text)
    section = document.get(table, {}) if table else document
    if not isinstance(section, dict):
        return None
    is_new = bool(table) and table not in document
    if name not in section and (added := _with_line(text, table, name, value, is_new=is_new)):
        return added
    section[name] = value
    return tomlkit.dumps(document)


def _with_line(text: str, table: str, name: str, value: Any, *, is_new: bool) -> str | None:
    """Return the text with a new line in a table: below the commented default of `config edit`, if any.

    Args:
        text: the TOML text.
        table: name of the table; empty for the top.
        name: name of the setting.
        value: its value.
        is_new: whether to append the table.

    Returns:
        The new text; None if the table has no heading.
    """
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    if is_new:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[{table}]\n{line}\n"
    heading = re.search(rf"^[ \t]*\[[ \t]*{re.escape(table)}[ \t]*\].*$", text, re.MULTILINE) if table else None
    begin = heading.end() if heading else 0
    following = re.compile(r"^[ \t]*\[", re.MULTILINE).search(text, begin)
    end = following.start() if following else len(text)
    default = re.compile(rf"^#[ \t]*{re.escape(name)}[ \t]*=.*$", re.MULTILINE).search(text, begin, end)
    at = default.end() if default else begin
    added = f"{text[:at]}\n{line}{text[at:]}"
    if not heading and not default:
        added = f"{line}\n{text}" if text[:1] in ("", "\n") else f"{line}\n\n{text}"
    try:
        content = tomllib.loads(added)
    except tomllib.TOMLDecodeError:  # the heading may be inside a string
        return None
    return added if name in (content.get(table, {}) if table else content) else None


def without_setting(text: str, table: str, name: str) -> str | None:
    """Return the TOML text without a setting, keeping a comment after it. None as in `with_setting`."""
    import tomlkit

    document = tomlkit.parse(text)
    section = document.get(table, {}) if table else document
    if not isinstance(section, dict):
        return None
    if name not in section:
        return text
    del section[name]
    before, after = text.split("\n"), tomlkit.dumps(document).split("\n")
    at = (line_of(text, f"{table}.{name}" if table else name) or 1) - 1
    comment = re.search(r"#[^\"']*$", before[at])
    if comment and len(after) == len(before) - 1:
        after.insert(at, comment[0])
    return "\n".join(after)
