"""Files that a later run continues: an appended line survives a kill.

The first line names the command that writes the file. A file without it, or with a foreign line, is never written to.
"""

import hashlib
import json
import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.base.atomic_files import replace_content
from subtitle_rag.base.domain.errors import UsageError, os_error_as_unwritable

MADE_BY = "made_by"
"""The field in the first line that names the command."""

Entry = dict[str, Any]
Key = Callable[[Entry], Hashable]
"""Returns the key of a line for later runs; None for a line that is never looked up."""


@dataclass(slots=True)
class Records:
    """A command's file: its first line, and the others. Without a first line it has not been started."""

    path: Path
    made_by: str
    head: Entry = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    _torn_from: int | None = None
    """Size of the complete lines, if a kill left part of a line after them."""
    _indexes: list[tuple[Key, dict[Hashable, Entry]]] = field(default_factory=list)

    @classmethod
    def read(
        cls, path: Path, made_by: str, line_field: str, is_whole: Callable[[Entry], bool] = lambda _entry: True
    ) -> "Records":
        """Read such a file, which may be missing or empty. Every line of this command has the field `line_field`.

        `is_whole` checks the fields of later lines.

        Raises:
            UsageError: `unreadable`, `not_own_file`.
        """
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return cls(path, made_by)
        except OSError as error:
            raise UsageError("unreadable", path=str(path), reason=error.strerror or str(error)) from error
        complete = raw[: raw.rfind(b"\n") + 1] if _entry(raw.rpartition(b"\n")[2]) is None else raw
        lines = [_entry(line) for line in complete.split(b"\n") if line.strip()]
        if not lines and not raw.strip():
            return cls(path, made_by)
        for number, entry in enumerate(lines, start=1):
            is_own = entry is not None and (
                entry.get(MADE_BY) == made_by if number == 1 else line_field in entry and is_whole(entry)
            )
            if not is_own:
                raise UsageError("not_own_file", path=str(path), line=number, command=made_by)
        if not lines:
            raise UsageError("not_own_file", path=str(path), line=1, command=made_by)
        entries = [entry for entry in lines if entry is not None]
        return cls(path, made_by, entries[0], entries[1:], len(complete) if len(complete) < len(raw) else None)

    def begin(self, head: Mapping[str, Any] | None = None) -> None:
        """Write the first line unless the file has one. Raises UsageError `unwritable`."""
        if not self.head:
            self.head = {MADE_BY: self.made_by, **(head or {})}
            self._write_all([self.head])

    def append(self, entry: Entry) -> None:
        """Append a line and sync it to the disk. Raises UsageError `unwritable`."""
        line = _line(entry)
        with os_error_as_unwritable(self.path), self.path.open("r+b") as file:
            if self._torn_from is not None:
                file.truncate(self._torn_from)
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else b"\n" + line  # an editor may leave the last line unterminated
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._torn_from = None
        self.entries.append(entry)
        for key, entries in self._indexes:
            if (value := key(entry)) is not None:
                entries[value] = entry

    def index(self, key: Key) -> Mapping[Hashable, Entry]:
        """Return the last line of each key, updated by later additions."""
        entries: dict[Hashable, Entry] = {value: entry for entry in self.entries if (value := key(entry)) is not None}
        self._indexes.append((key, entries))
        return entries

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


def hash_parts(parts: object) -> str:
    """Return a hash of everything that affects a line."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _entry(line: bytes) -> Entry | None:
    """Return the JSON object of a line; None for any other line."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None
