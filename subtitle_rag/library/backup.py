"""Backups of the library file after runs that changed it: three, of different ages.

The index can be rebuilt, but not captions that YouTube has withdrawn, nor days of contexts. SQLite's backup API makes
each copy, even during writes; it is checked before an older one is deleted.
"""

import logging
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from subtitle_rag.base.atomic_files import delete_file, private_file, private_folder, replace_path
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.library.connection import Database, backup_folder, translate_sqlite_errors, unwritable
from subtitle_rag.library.schema import SCHEMA_VERSION, columns, schema_version

logger = logging.getLogger(__name__)

COUNT = 3
"""Copies to keep."""
RESERVE_BYTES = 200 * 2**20
"""Free space to leave on the disk."""
PAGES = 4096
"""Pages per step, 16 MB: other processes can write in between."""
_STAMP = "%Y%m%d-%H%M%S"


@dataclass(frozen=True, slots=True)
class Backup:
    path: Path
    made_at: datetime
    """In UTC."""
    bytes: int


def backups(library: Path) -> list[Backup]:
    """Return the copies of a library file, newest first."""
    copies = []
    for path in backup_folder(library).glob(f"{library.stem}-*{library.suffix}"):
        try:
            made_at = datetime.strptime(path.stem.removeprefix(f"{library.stem}-"), _STAMP).replace(tzinfo=UTC)
            copies.append(Backup(path, made_at, path.stat().st_size))
        except (ValueError, OSError):  # another program's file, or just deleted
            logger.info("a file among the backups is none", exc_info=True)
    return sorted(copies, key=lambda copy: copy.made_at, reverse=True)


def quick_check(path: Path, *, indexes: bool = False) -> str:
    """Return the fault that SQLite finds in a library file, or an empty string. `indexes` also compares them with their
    tables.

    Raises:
        BusyError: `library_readonly`, `locked`.
    """
    try:
        with translate_sqlite_errors(path), closing(open_read_only(path)) as db:
            pragma = "integrity_check" if indexes else "quick_check"
            problems = [str(row[0]) for row in db.execute(f"PRAGMA {pragma}(3)")]
            tables = db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'video'").fetchone()[0]
            absent = _absent_columns(db) if tables else []
    except AppError as error:
        if error.code != "library_damaged":
            raise
        return str(error.details["reason"])
    if problems != ["ok"]:
        return "; ".join(problems)
    return f"no column {', '.join(absent)}" if absent else "" if tables else "no tables"


def _absent_columns(db: sqlite3.Connection) -> list[str]:
    """Return the missing columns of the current schema; SQLite does not notice a changed column name."""
    if schema_version(db) != SCHEMA_VERSION:
        return []
    return [
        f"{table}.{name}"
        for table, names in columns().items()
        for name in sorted(names - {row[1] for row in db.execute(f"PRAGMA table_info({table})")})
    ]


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open a library file read-only; raises sqlite3.DatabaseError."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)


def back_up(database: Database, *, at: datetime | None = None) -> Backup | None:
    """Copy the library, and delete superfluous copies.

    Does nothing on a full disk or for a damaged library, when an older copy is worth more.

    Raises:
        BusyError: `disk_full`, `library_readonly`, `locked`.
    """
    path, made_at = database.path, (at or datetime.now(UTC)).replace(microsecond=0)
    folder = backup_folder(path)
    copy = folder / f"{path.stem}-{made_at:{_STAMP}}{path.suffix}"
    part = copy.with_name(f"{copy.name}.part")
    try:
        private_folder(folder)
        needed = path.stat().st_size + RESERVE_BYTES
        if shutil.disk_usage(folder).free < needed:
            logger.warning("no room for a copy of the library: %d bytes are needed", needed)
            return None
        for stray in folder.glob("*.part*"):
            delete_file(stray)
        private_file(part)
        with translate_sqlite_errors(part), database.read() as db, closing(sqlite3.connect(part)) as target:
            db.backup(target, pages=PAGES, sleep=0.01)
            target.execute("PRAGMA journal_mode = DELETE")
        if problem := quick_check(part):
            logger.error("the library is damaged: %s", problem)
            delete_file(part)
            return None
        with part.open("rb") as file:
            os.fsync(file.fileno())
        replace_path(part, copy)
        copies = backups(path)
        needless = set(copies) - set(retained(copies))
        for each in needless:
            delete_file(each.path)
    except OSError as error:
        raise unwritable(folder, error) from error
    database.has_changed = False
    return next((each for each in copies if each.path == copy), None)


def retained(copies: Sequence[Backup]) -> list[Backup]:
    """Return the copies to keep, newest first: the newest, the last of an earlier day, and the last of an earlier week.

    The oldest ones fill up to `COUNT`, because a fault noticed after days is in the newest copies too.
    """
    if not copies:
        return []
    ordered = sorted(copies, key=lambda copy: copy.made_at, reverse=True)
    newest = ordered[0]
    earlier_day = [copy for copy in ordered if copy.made_at.date() != newest.made_at.date()][:1]
    earlier_week = [copy for copy in ordered if _week(copy) != _week(newest)][:1]
    ranked = dict.fromkeys([newest, *earlier_day, *earlier_week, *reversed(ordered)])
    return sorted(list(ranked)[:COUNT], key=lambda copy: copy.made_at, reverse=True)


def _week(copy: Backup) -> tuple[int, int]:
    return copy.made_at.isocalendar()[:2]
