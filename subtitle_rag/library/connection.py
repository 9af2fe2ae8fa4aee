"""Opening the library's SQLite file, and its failures in the program's own words."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.library.migrations import MIGRATIONS, migrate

BUSY_TIMEOUT_MS = 5_000


def connect(path: Path) -> sqlite3.Connection:
    """Open the library, make it where there is none, and bring its schema up to date.

    Raises:
        BusyError: `library_readonly`, `disk_full`, `library_locked`.
        AppError: `library_damaged`, `library_newer`.
    """
    with translated(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BusyError("library_readonly", path=str(path.parent), reason=error.strerror) from error
        db = sqlite3.connect(path, isolation_level=None)
        try:
            db.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA foreign_keys = ON")
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version > len(MIGRATIONS):
                raise AppError("library_newer", path=str(path), found=version, known=len(MIGRATIONS))
            if version < len(MIGRATIONS):
                migrate(db)
        except BaseException:
            db.close()
            raise
    return db


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's failures as the program's: which file, why, and what helps."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        reason = str(error)
        if code == sqlite3.SQLITE_FULL:
            raise BusyError("disk_full", path=str(path.parent)) from error
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            raise BusyError("library_readonly", path=str(path.parent), reason=reason) from error
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise BusyError("library_locked", path=str(path.parent)) from error
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR):
            raise AppError("library_damaged", path=str(path), reason=reason) from error
        raise
