"""Recovery of a damaged library: what can be read goes into a new file, and gaps are filled from the newest backup.

The damaged file is never written to; it is moved aside when the new one is complete. Python's `sqlite3` has no
`.recover`, so each table is read around its unreadable rows.
"""

import json
import logging
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from subtitle_rag.atomic_files import delete_file, private_folder, replace_path
from subtitle_rag.domain import AppError
from subtitle_rag.library.backup import Backup, backups, open_read_only, quick_check
from subtitle_rag.library.connection import DAMAGE, connect, hold_lock, translate_sqlite_errors, unwritable

logger = logging.getLogger(__name__)

JOURNALS = ("-wal", "-shm", "-journal")
JSON_COLUMNS = frozenset(
    {"chapters", "lines", "options", "heatmap", "storyboard", "doubts", "citations", "sources", "names"}
)
"""Columns with JSON, which a damaged page can leave unreadable."""
CACHES = ("indexed", "analysis", "term", "context_term", "purge")
"""Tables that follow from others: of no use where they are damaged."""


@dataclass(frozen=True, slots=True)
class LostVideo:
    """A video whose captions could not be recovered."""

    id: str
    title: str


@dataclass(slots=True)
class Recovery:
    """What became of a damaged library."""

    problem: str
    """What was wrong; empty if nothing was, and nothing was done."""
    damaged: Path | None = None
    """Where the damaged file lies."""
    backup: Backup | None = None
    """The copy that filled the gaps, or all."""
    read: dict[str, int] = field(default_factory=dict)
    """Rows by table that were read from the damaged file."""
    restored: dict[str, int] = field(default_factory=dict)
    """Rows by table that came from the backup."""
    lost: list[LostVideo] = field(default_factory=list)
    """Videos whose captions neither had."""


def repair(path: Path) -> Recovery:
    """Hold the library's lock, and `recover` its file; raises BusyError `library_busy` too."""
    private_folder(path.parent)
    with hold_lock(path.parent, "library"):
        return recover(path)


def recover(path: Path) -> Recovery:
    """Check a library file; if it is damaged, put a recovered one in its place.

    The caller holds the library's lock.

    Raises:
        BusyError: `disk_full`, `library_readonly`, `library_locked`.
        AppError: `library_unrecoverable` if neither the file nor a backup can be read.
    """
    problem = (quick_check(path, indexes=True) or content_check(path)) if path.exists() else "no such file"
    if not problem:
        return Recovery("")
    recovery = Recovery(problem)
    new = path.with_name(f"{path.name}.new")
    _delete(new)
    try:
        recovery.backup = next((copy for copy in backups(path) if not quick_check(copy.path)), None)
        with translate_sqlite_errors(new), closing(connect(new)) as db:
            db.execute("PRAGMA foreign_keys = OFF")
            db.execute("PRAGMA journal_mode = DELETE")
            damaged_tables = _read_damaged(db, path, recovery)
            if recovery.backup is not None:
                _fill_gaps(db, recovery.backup.path, damaged_tables, recovery)
                # a key that was altered is no damage to SQLite
                altered = _orphaned_tables(db) - damaged_tables
                _fill_gaps(db, recovery.backup.path, altered, recovery)
                damaged_tables |= altered
            elif not recovery.read.get("video"):
                raise AppError("library_unrecoverable", path=str(path), reason=problem)
            _settle(db, damaged_tables, recovery)
        with new.open("rb") as file:
            os.fsync(file.fileno())
        recovery.damaged = _move_aside(path)
        replace_path(new, path)
    except OSError as error:
        raise unwritable(path.parent, error) from error
    finally:
        _delete(new)
    return recovery


def content_check(path: Path) -> str:
    """Return the tables of a sound file with values that cannot be right, or nothing. SQLite does not look at values.

    Reads everything.
    """
    problems = []
    with translate_sqlite_errors(path), closing(open_read_only(path)) as db:
        db.text_factory = bytes
        for table in _tables(db):
            reader = TableReader(db, table)
            types = _columns(db, table)
            n = sum(_checked(table, types, row) is None for row in reader.rows(list(types)))
            if n or not reader.is_whole:
                problems.append(f"{table}: {n}")
    return ", ".join(problems)


def _tables(db: sqlite3.Connection) -> list[str]:
    """Return the tables with what they refer to first."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    return [_text(name) for (name,) in db.execute(query)]


def _columns(db: sqlite3.Connection, table: str) -> dict[str, str]:
    """Return the types of the columns by name; raises sqlite3.DatabaseError if the schema cannot be read."""
    return {_text(row[1]): _text(row[2]) for row in db.execute(f"PRAGMA table_info({table})")}


def _text(value: str | bytes) -> str:
    """Return a text of SQLite, which a connection to a damaged file has as bytes."""
    return value.decode() if isinstance(value, bytes) else value


def _read_damaged(db: sqlite3.Connection, path: Path, recovery: Recovery) -> set[str]:
    """Copy what can be read of the damaged file, and return the tables that could not be read whole."""
    tables = _tables(db)
    if not path.exists() or not path.stat().st_size:
        return set(tables)
    damaged_tables = set()
    with closing(open_read_only(path)) as source:
        source.text_factory = bytes  # a damaged page may hold text that is no UTF-8
        for table in tables:
            reader = TableReader(source, table)
            try:
                columns = _columns(source, table)
                names = [name for name in _columns(db, table) if name in columns]
                recovery.read[table], rejected = _insert(db, table, names, reader.rows(names))
                has_unknown = len(names) < len(columns)  # a name was altered, and its values are not inserted
                reader.is_whole = reader.is_whole and not rejected and not has_unknown
            except DAMAGE:
                logger.warning("the table %s cannot be read", table, exc_info=True)
                reader.is_whole = False
            if not reader.is_whole:
                damaged_tables.add(table)
    return damaged_tables


class TableReader:
    """The rows of a table of a damaged file. Unreadable ones are left out, and `is_whole` is false then."""

    def __init__(self, db: sqlite3.Connection, table: str) -> None:
        self._db = db
        self._table = table
        self.is_whole = True

    def rows(self, names: Sequence[str]) -> Iterator[tuple[object, ...]]:
        """Yield the values of the columns `names` of each row that can be read."""
        schema = self._db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (self._table,)).fetchone()
        if b"WITHOUT ROWID" in schema[0]:
            yield from self._rows_by_key(names)
        else:
            yield from self._rows_by_id(names)

    def _rows_by_id(self, names: Sequence[str]) -> Iterator[tuple[object, ...]]:
        """Read in the order of row ids; after a failure, find the next id that can be read by doubling and halving."""
        columns, first = ", ".join(names), -(2**63)
        query = f"SELECT rowid, {columns} FROM {self._table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid"  # noqa: S608
        while True:
            try:
                for rowid, *values in self._db.execute(query, (first,)):
                    first = rowid + 1
                    yield tuple(values)
                return
            except DAMAGE:
                self.is_whole = False
                after = self._next_readable(query, max(first, 0))
                if after is None:
                    return
                first = after

    def _next_readable(self, query: str, failed: int) -> int | None:
        """Return the first id after `failed` from which a row can be read; None if there is none."""
        step = 1
        while not self._is_readable(query, failed + step):
            step *= 2
            if step > 2**40:
                return None
        low, high = failed + step // 2, failed + step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_readable(query, middle) else (middle, high)
        return high

    def _is_readable(self, query: str, first: int) -> bool:
        try:
            return self._db.execute(f"{query} LIMIT 1", (first,)).fetchone() is not None
        except DAMAGE:
            return False

    def _rows_by_key(self, names: Sequence[str]) -> Iterator[tuple[object, ...]]:
        """Read in the order of the primary key, and after a failure backwards from the end."""
        keys = [row for row in self._db.execute(f"PRAGMA table_info({self._table})") if row[5]]
        key_names = [row[1].decode() for row in sorted(keys, key=lambda row: row[5])]
        columns = ", ".join(names)
        for direction in ("", " DESC"):
            order = ", ".join(name + direction for name in key_names)
            try:
                yield from self._db.execute(f"SELECT {columns} FROM {self._table} ORDER BY {order}")  # noqa: S608
                return
            except DAMAGE:
                self.is_whole = False


def _insert(
    db: sqlite3.Connection, table: str, names: Sequence[str], rows: Iterator[tuple[object, ...]]
) -> tuple[int, int]:
    """Insert the rows that are not there yet; return the number of inserted rows and of those that cannot be right."""
    marks = ", ".join("?" * len(names))
    statement = f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608
    types = {name: type_ for name, type_ in _columns(db, table).items() if name in names}
    inserted = rejected = 0
    db.execute("BEGIN")
    with db:
        for row in rows:
            values = _checked(table, types, row)
            try:
                if values is None:
                    rejected += 1
                else:
                    inserted += db.execute(statement, values).rowcount
            except sqlite3.IntegrityError:  # a value of another type
                rejected += 1
    return inserted, rejected


def _checked(table: str, types: Mapping[str, str], row: Sequence[object]) -> list[object] | None:
    """Return a row with its texts decoded, or None if it cannot be right; `types` are those of its columns."""
    values = []
    try:
        for (name, type_), value in zip(types.items(), row, strict=True):
            text = value.decode() if type_ == "TEXT" and isinstance(value, bytes) else value
            if name in JSON_COLUMNS and isinstance(text, str) and text:
                json.loads(text)
            if (table, name) == ("track", "raw"):
                zlib.decompress(cast("bytes", value))  # checks its sum
            values.append(text)
    except (ValueError, zlib.error):  # also UnicodeDecodeError
        return None
    return values


def _fill_gaps(db: sqlite3.Connection, backup: Path, tables: set[str], recovery: Recovery) -> None:
    """Add from the backup the rows that the damaged tables lack. Caches are left out."""
    with closing(open_read_only(backup)) as source:
        backup_tables = set(_tables(source))
        for table in _tables(db):
            if table in tables and table in backup_tables and (table not in CACHES or not recovery.read.get("video")):
                names = [name for name in _columns(db, table) if name in _columns(source, table)]
                rows = source.execute(f"SELECT {', '.join(names)} FROM {table}")  # noqa: S608
                count, _rejected = _insert(db, table, names, rows)
                if count:
                    recovery.restored[table] = count


def _settle(db: sqlite3.Connection, tables: set[str], recovery: Recovery) -> None:
    """Delete what refers to lost rows, and have lost work done again: windows from captions, captions from YouTube."""
    db.execute("BEGIN")
    with db:
        while _delete_orphans(db):
            pass
        if tables & {"window", "track"}:  # cut again at the next run
            db.execute("DELETE FROM setting WHERE key = 'rule'")
            db.execute("UPDATE window SET rule_hash = ''")
        if "stage" in tables:
            db.execute(
                "INSERT OR IGNORE INTO stage (video_id, name, state) SELECT video_id, 'captions', 'done' FROM track"
            )
        lost = db.execute(
            """SELECT video.id, title FROM video LEFT JOIN track ON track.video_id = video.id
               LEFT JOIN stage ON stage.video_id = video.id AND stage.name = 'captions'
               WHERE track.video_id IS NULL AND (state IS NULL OR state = 'done') ORDER BY title"""
        ).fetchall()
        recovery.lost = [LostVideo(*row) for row in lost]
        for video in recovery.lost:
            db.execute(
                "INSERT OR REPLACE INTO stage (video_id, name, state) VALUES (?, 'captions', 'due')", (video.id,)
            )


def _orphaned_tables(db: sqlite3.Connection) -> set[str]:
    """Return the tables with rows without a parent, and those that lack the parents."""
    rows = db.execute("PRAGMA foreign_key_check")
    return {name for table, _rowid, parent, _key in rows for name in (table, parent)}


def _delete_orphans(db: sqlite3.Connection) -> int:
    """Delete the rows without a parent; return their number."""
    count = 0
    for table in _tables(db):
        for key in db.execute(f"PRAGMA foreign_key_list({table})").fetchall():
            parent, column, target = key[2:5]
            orphans = f"{column} NOT IN (SELECT {target} FROM {parent})"  # noqa: S608
            count += db.execute(f"DELETE FROM {table} WHERE {orphans}").rowcount  # noqa: S608
    return count


def _move_aside(path: Path) -> Path | None:
    """Give the damaged file a second name, which it keeps, and rename its journals; return the name."""
    stamp = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    damaged = path.with_name(f"{path.name}.damaged-{stamp}")
    for suffix in JOURNALS:
        if (journal := path.with_name(path.name + suffix)).exists():
            replace_path(journal, damaged.with_name(damaged.name + suffix))
    if not path.exists():
        return None
    try:
        os.link(path, damaged)  # so that a kill never leaves the library without a file
    except OSError:
        replace_path(path, damaged)
    return damaged


def _delete(path: Path) -> None:
    for suffix in ("", *JOURNALS):
        delete_file(path.with_name(path.name + suffix))
