"""Read files of JSON lines and tables, and write those that a later run resumes: an appended line survives a kill.

A bad line is refused by its number. The first line of a file that a command writes names the command. A file without
it, or with a foreign line, is never written to.
"""

import json
import math
import os
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subtitle_rag.domain import UsageError, byte_size, os_error_as_unwritable
from subtitle_rag.file_changes import replace_content
from subtitle_rag.i18n import _

MAX_BYTES = 64_000_000
"""Bytes that are read of one file; the largest set of questions in use has a thousandth of it."""


STDIN = Path("-")
"""Stands for standard input."""
BadLine = Callable[[Path, int, str], UsageError]
"""Makes the error for a line and the reason why it is refused."""


def file_name(path: Path) -> str:
    """Return the name of a file in a message."""
    return "stdin" if path == STDIN else str(path)


def bad_queries(path: Path, line: int, reason: str) -> UsageError:
    return UsageError("bad_queries", path=file_name(path), line=line, reason=reason)


@contextmanager
def refusing(path: Path, line: int, bad_line: BadLine = bad_queries) -> Iterator[None]:
    """Turn a ValueError about this line into a UsageError."""
    try:
        yield
    except ValueError as error:
        raise bad_line(path, line, str(error)) from error


def _read_bytes(path: Path) -> bytes:
    """Read a file or standard input up to `MAX_BYTES`; raises UsageError `unreadable`."""
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
    return raw


def read_text(path: Path, bad_line: BadLine = bad_queries) -> str:
    """Read a file as UTF-8; raises UsageError `unreadable`, or what `bad_line` makes."""
    raw = _read_bytes(path)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise bad_line(path, line, _("it is not UTF-8 text")) from error


def numbered_lines(path: Path, bad_line: BadLine = bad_queries) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank; raises as `read_text` does."""
    # not splitlines(): U+2028 may stand inside a JSON string
    for number, line in enumerate(read_text(path, bad_line).split("\n"), start=1):
        if line.strip():
            yield number, line


def objects(path: Path, bad_line: BadLine = bad_queries) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the JSON objects of a file, with their line numbers; raises as `read_text` does."""
    for number, line in numbered_lines(path, bad_line):
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


MADE_BY = "made_by"
"""The field of the first line that names the command."""

Entry = dict[str, Any]


@dataclass(slots=True)
class Records:
    """A file of one command: its first line, and the others."""

    path: Path
    head: Entry
    entries: list[Entry]
    _torn_from: int | None = None
    """The size of the whole lines, if a kill left a part of a line behind them."""

    @classmethod
    def read(
        cls, path: Path, made_by: str, line_field: str, is_whole: Callable[[Entry], bool] = lambda _entry: True
    ) -> "Records | None":
        """Read such a file; None if it is absent or empty. Every line of this command has the field `line_field`.

        `is_whole` tests the lines behind the first for all that the command reads of them.

        Raises:
            UsageError: `unreadable`, `not_own_file`.
        """
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError("unreadable", path=str(path), reason=error.strerror or str(error)) from error
        complete = raw[: raw.rfind(b"\n") + 1] if _entry(raw.rpartition(b"\n")[2]) is None else raw
        lines = [_entry(line) for line in complete.split(b"\n") if line.strip()]
        if not lines and not raw.strip():
            return None
        for number, entry in enumerate(lines, start=1):
            is_own = entry is not None and (
                entry.get(MADE_BY) == made_by if number == 1 else line_field in entry and is_whole(entry)
            )
            if not is_own:
                raise UsageError("not_own_file", path=str(path), line=number, command=made_by)
        if not lines:
            raise UsageError("not_own_file", path=str(path), line=1, command=made_by)
        entries = [entry for entry in lines if entry is not None]
        return cls(path, entries[0], entries[1:], len(complete) if len(complete) < len(raw) else None)

    @classmethod
    def begin(cls, path: Path, made_by: str, head: Mapping[str, Any]) -> "Records":
        """Begin a file with its first line; raises UsageError `unwritable`."""
        records = cls(path, {MADE_BY: made_by, **head}, [])
        records._write_all([records.head])
        return records

    def append(self, entry: Entry) -> None:
        """Add a line, on the disk before this returns; raises UsageError `unwritable`."""
        line = _line(entry)
        with os_error_as_unwritable(self.path), self.path.open("r+b") as file:
            if self._torn_from is not None:
                file.truncate(self._torn_from)
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else b"\n" + line  # an editor may leave the last one open
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._torn_from = None
        self.entries.append(entry)

    def replace(self, entries: Iterable[Entry]) -> None:
        """Replace all lines but the first, atomically."""
        self.entries = list(entries)
        self._write_all([self.head, *self.entries])

    def _write_all(self, entries: Iterable[Entry]) -> None:
        data = b"".join(map(_line, entries))
        target = self.path.resolve()
        with os_error_as_unwritable(self.path):
            replace_content(target, data, target.stat().st_mode & 0o777 if target.exists() else 0o644)
        self._torn_from = None


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _entry(line: bytes) -> Entry | None:
    """Return the JSON object of a line; None for any other line."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None
