"""Read files of JSON lines and tables, and refuse a bad line by its number."""

import json
import math
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import _


def bad_queries(path: Path, line: int, reason: str) -> UsageError:
    return UsageError("bad_queries", path=str(path), line=line, reason=reason)


@contextmanager
def refusing(path: Path, line: int, code: str = "bad_queries") -> Iterator[None]:
    """Turn a ValueError about this line into UsageError `code`."""
    try:
        yield
    except ValueError as error:
        raise UsageError(code, path=str(path), line=line, reason=str(error)) from error


def read_text(path: Path) -> str:
    """Read a file as UTF-8; raises UsageError `unreadable`, `bad_queries`."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError("unreadable", path=str(path), reason=error.strerror or str(error)) from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad_queries(path, raw[: error.start].count(b"\n") + 1, _("it is not UTF-8 text")) from error


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines with something in them; raises UsageError `unreadable`, `bad_queries`."""
    # not splitlines(): U+2028 may stand inside a JSON string
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, line


def objects(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the JSON objects of a file, with their line numbers; raises UsageError `unreadable`, `bad_queries`."""
    for number, line in numbered_lines(path):
        with refusing(path, number):
            entry = _object(line)
        yield number, entry


def _object(line: str) -> Mapping[str, Any]:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(_("no JSON from column {column} on").format(column=error.colno)) from error
    except RecursionError as error:
        raise ValueError(_("it is nested too deeply")) from error
    if not isinstance(entry, dict):
        raise ValueError(_("it is not a JSON object"))
    return entry


def string(entry: Mapping[str, Any], name: str) -> str:
    """Read a text field; raises ValueError."""
    value = entry.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(_("{name} must be a text").format(name=name))
    return value


def seconds(item: Mapping[str, Any], name: str) -> int:
    """Read a field of seconds, as milliseconds; raises ValueError."""
    value = item.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(_("{name} must be a number of seconds").format(name=name))
    return round(value * 1000)


def unique(id: str, ids: Container[str]) -> None:
    """Raise ValueError for an id among `ids`."""
    if id in ids:
        raise ValueError(_("the id {id} is there twice").format(id=id))
