"""Reader of JSON Lines files that reports a bad line by its number."""

import json
import math
import sys
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import byte_size
from subtitle_rag.base.i18n import _

MAX_BYTES = 64_000_000
"""Maximum number of bytes to read from one file; the largest set of questions in use has a thousandth of it."""
STDIN = Path("-")
"""Stands for standard input."""
BadLine = Callable[[Path, int, str], UsageError]
"""Makes the error for a line, given the reason."""


def file_name(path: Path) -> str:
    """Return the name of a file for a message."""
    return "stdin" if path == STDIN else str(path)


def refused_line(path: Path, line: int, reason: str, form: str) -> UsageError:
    return UsageError("bad_line", path=file_name(path), line=line, reason=reason, form=form)


def bad_queries(path: Path, line: int, reason: str) -> UsageError:
    form = "id, query, kind, gold: [{video, start, end}]"
    return refused_line(path, line, reason, form)


@contextmanager
def refusing(path: Path, line: int, bad_line: BadLine = bad_queries) -> Iterator[None]:
    """Turn a ValueError about this line into a UsageError."""
    try:
        yield
    except ValueError as error:
        raise bad_line(path, line, str(error)) from error


def read_text(path: Path, bad_line: BadLine = bad_queries) -> str:
    """Read a file or standard input as UTF-8. Raises UsageError `unreadable`, or `bad_line`'s error."""
    try:
        if path == STDIN:
            raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with path.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError("unreadable", path=file_name(path), reason=error.strerror or str(error)) from error
    if len(raw) > MAX_BYTES:
        reason = _("it is larger than {size}").format(size=byte_size(MAX_BYTES))
        raise UsageError("unreadable", path=file_name(path), reason=reason)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise bad_line(path, line, _("it is not UTF-8 text")) from error


def objects(path: Path, bad_line: BadLine = bad_queries) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the JSON objects in a file, with line numbers. Raises like `read_text`."""
    # not splitlines(): U+2028 may be inside a JSON string
    for number, line in enumerate(read_text(path, bad_line).split("\n"), start=1):
        if not line.strip():
            continue
        with refusing(path, number, bad_line):
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
    """Read a text field. Raises ValueError."""
    value = entry.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(_("{name} must be a text").format(name=name))
    return value


def seconds(item: Mapping[str, Any], name: str) -> int:
    """Read a field in seconds, as milliseconds. Raises ValueError."""
    value = item.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(_("{name} must be a number of seconds").format(name=name))
    return round(value * 1000)


def unique(id: str, ids: Container[str]) -> None:
    """Raise ValueError for an id among `ids`."""
    if id in ids:
        raise ValueError(_("the id {id} is there twice").format(id=id))
