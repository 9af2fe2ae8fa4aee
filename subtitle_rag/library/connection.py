"""Connections to the library's SQLite file, its errors as `AppError`, and the locks in its folder."""

import errno
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from subtitle_rag.base.atomic_files import lock_file, private_file, private_folder
from subtitle_rag.base.domain.errors import SCARCE, AppError, BusyError, scarcity_error
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.library.reading import readable_uri
from subtitle_rag.library.schema import make_schema

logger = logging.getLogger(__name__)

BUSY_TIMEOUT_MS = 5_000
UNWRITABLE = frozenset({"library_readonly", "disk_full"})
"""Error codes of a read-only library."""
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Exceptions from a damaged file; the second if sqlite3 cannot decode SQLite's message, which quotes the bytes."""

Values = Sequence[Any] | Mapping[str, Any]
"""Parameters of an SQL statement."""

LOOKS_S = 0.2
"""Longest wait for a lock that another process only checks."""
LockName = Literal["library", "youtube", "contexts", "vectors", "listening", "evaluation"]
"""Locks in the library's folder, each for work that only one process does at a time; `library` is indexing."""
WORK: dict[LockName, str] = {
    "library": N_("indexing"),
    "youtube": N_("fetching from YouTube"),
    "contexts": N_("writing contexts"),
    "vectors": N_("making vectors"),
    "listening": N_("listening"),
    "evaluation": N_("making or judging questions, or comparing models"),
}
"""Work of the process that holds a lock."""

_own_locks: set[tuple[Path, str]] = set()
"""The locks held by this process."""
_LIBRARY_FILES = 4
"""Most file descriptors of a connection."""


class _Connection(sqlite3.Connection):
    """A connection closed with its thread or its `Database`, whichever ends first.

    From Python 3.13 on, sqlite3 warns about connections left open (ResourceWarning).
    """

    only_reads = False
    """The disk is read-only: see `reading`."""

    def __del__(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # never opened
            self.close()


def connect(path: Path, *, to_write: bool = False) -> _Connection:
    """Open the library or create it; opens it read-only on a read-only disk, or refuses it there with `to_write`.

    Raises:
        BusyError: `library_readonly`, `disk_full`, `locked`.
        AppError: `library_damaged`, `newer_version`, `library_older`, `library_lost`.
    """
    try:
        return _connect_to_write(path)
    except BusyError as error:
        if to_write or error.code not in UNWRITABLE or not has_content(path):
            raise
        try:
            return _connect_to_read(path)
        except (OSError, sqlite3.Error):
            logger.info("the library cannot be read either", exc_info=True)
            raise error from None


def _connect_to_read(path: Path) -> _Connection:
    db = sqlite3.connect(
        readable_uri(path), uri=True, isolation_level=None, check_same_thread=False, factory=_Connection
    )
    try:
        db.only_reads = True
        make_schema(db, str(path))
    except BaseException:
        db.close()
        raise
    return db


def _connect_to_write(path: Path) -> _Connection:
    with translate_sqlite_errors(path):
        if not has_content(path) and _has_backups(path):
            raise AppError("library_lost", path=str(path), folder=str(backup_folder(path)))
        try:
            private_folder(path.parent)
            private_file(path)  # SQLite gives its journals the same permissions
        except OSError as error:
            raise unwritable(path.parent, error) from error
        # Whichever thread ends the `Database` closes it.
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=_Connection)
        try:
            db.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
            _enter_wal(db)
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA foreign_keys = ON")
            make_schema(db, str(path))
        except BaseException:
            db.close()
            raise
    return db


def has_content(path: Path) -> bool:
    """Return whether a library file exists and is not empty."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def backup_folder(path: Path) -> Path:
    return path.with_name("backups")


def _has_backups(path: Path) -> bool:
    return any(backup_folder(path).glob(f"{path.stem}-*{path.suffix}"))


def _enter_wal(db: sqlite3.Connection) -> None:
    """Switch to WAL, with retries: SQLite ignores the busy timeout here while several processes open a new library."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


@contextmanager
def translate_sqlite_errors(path: Path) -> Iterator[None]:
    """Translate SQLite's errors into `AppError`."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise AppError("library_damaged", path=str(path), reason=str(error)) from error
    except sqlite3.DatabaseError as error:
        extended = getattr(error, "sqlite_errorcode", 0)
        code = extended & 0xFF
        reason = str(error)
        # Readers need space too, for SQLite's shared memory in a file next to the library.
        if code == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE:
            raise BusyError("disk_full", path=str(path.parent)) from error
        if code == sqlite3.SQLITE_NOMEM:
            raise scarcity_error(path.parent, reason) from error
        if code == sqlite3.SQLITE_CANTOPEN and (scarce := _descriptor_error()):
            raise scarcity_error(path.parent, scarce.strerror) from error
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            raise BusyError("library_readonly", path=str(path.parent), reason=reason) from error
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise BusyError("locked", path=str(path.parent)) from error
        is_torn = "Could not decode to UTF-8" in reason  # sqlite3's own message, without an SQLite code
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR) or is_torn:
            raise AppError("library_damaged", path=str(path), reason=_damage(code, reason)) from error
        raise


def _damage(code: int, reason: str) -> str:
    """Return SQLite's finding, translated if it is a common one."""
    match code:
        case sqlite3.SQLITE_CORRUPT:
            return _("parts of it are overwritten or missing")
        case sqlite3.SQLITE_NOTADB:
            return _("it is not a library, or its beginning is overwritten")
        case sqlite3.SQLITE_IOERR:
            return _("the disk does not give its content")
    return reason


def unwritable(folder: Path, error: OSError) -> BusyError:
    """Return the error for a failed write into the library's folder, by cause, else `library_readonly`."""
    if error.errno in SCARCE:
        return scarcity_error(folder, error.strerror)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return BusyError("disk_full", path=str(folder))
    return BusyError("library_readonly", path=str(folder), reason=error.strerror)


def busy_error(folder: Path, name: LockName) -> BusyError:
    return BusyError("busy", lock=name, work=_(WORK[name]), path=str(folder))


@contextmanager
def hold_lock(folder: Path, name: LockName, patience: float = 0) -> Iterator[None]:
    """Hold a lock of the library's folder across processes.

    Raises:
        BusyError: `busy` with the lock's name as `lock`, if another process holds it for more than `patience` seconds;
            `library_readonly` and other errors of `unwritable`.
    """
    try:
        guard = lock_file(folder / f"{name}.lock", busy_error(folder, name), max(patience, LOOKS_S))
    except OSError as error:
        raise unwritable(folder, error) from error
    with guard:
        _own_locks.add((folder, name))
        try:
            yield
        finally:
            _own_locks.discard((folder, name))


def is_locked_elsewhere(folder: Path, name: LockName) -> bool:
    """Return whether another process holds the lock. Holds it for a moment itself: see `LOOKS_S`."""
    from filelock import FileLock, Timeout

    if (folder, name) in _own_locks:
        return False
    try:
        with FileLock(folder / f"{name}.lock", mode=0o600, thread_local=False).acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # a process that cannot write here holds no lock
        return False


def _descriptor_error() -> OSError | None:
    """Return the error from opening files, which SQLite hides: it opens the library, its log and the log's index."""
    opened: list[int] = []
    try:
        opened.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(_LIBRARY_FILES))
    except OSError as error:
        return error if error.errno in SCARCE else None
    finally:
        for number in opened:
            os.close(number)
    return None


class Database:
    """One SQLite file, with one connection per thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.has_changed = False
        """Content, not only settings, was written since the last backup."""
        self._local = threading.local()
        self._version_lock = threading.Lock()
        self._version_db: sqlite3.Connection | None = None
        self._is_known = False
        """The file was opened before, in any thread."""
        self._db()
        self._is_known = True

    def close(self) -> None:
        """Close this thread's connection; ended threads have closed theirs."""
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is not None:
            db.close()
            del self._local.db
        with self._version_lock:
            if self._version_db is not None:
                self._version_db.close()
                self._version_db = None

    def version(self) -> int:
        """Return a number, the same in all threads, that changes with every commit of any process.

        SQLite counts the commits of other connections, so this uses its own connection.
        """
        with self._version_lock, translate_sqlite_errors(self.path):
            if self._version_db is None:
                self._check_place()
                self._version_db = connect(self.path)
            return int(self._version_db.execute("PRAGMA data_version").fetchone()[0])

    def check_writable(self) -> None:
        """Raise `library_readonly` or `disk_full` for a read-only disk or file."""
        with self.write(is_content=False) as db:
            db.execute("DELETE FROM setting WHERE 0")  # BEGIN IMMEDIATE alone is allowed in a file without the right

    def _db(self, *, to_write: bool = False) -> sqlite3.Connection:
        db: _Connection | None = getattr(self._local, "db", None)
        if db is None or (db.only_reads and to_write):  # space may be free again
            self._check_place()
            db = self._local.db = connect(self.path, to_write=to_write)
        return db

    def _check_place(self) -> None:
        """Raise `library_moved` if the opened file is gone: a new, empty one would replace it.

        If only the file is gone, `connect` raises.
        """
        if self._is_known and not has_content(self.path) and not _has_backups(self.path):
            raise AppError("library_moved", path=str(self.path))

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        with translate_sqlite_errors(self.path):
            yield self._db()

    @contextmanager
    def write(self, *, is_content: bool = True) -> Iterator[sqlite3.Connection]:
        """Run one transaction; `is_content` is false for settings, which need no backup."""
        with translate_sqlite_errors(self.path):
            db = self._db(to_write=True)
            db.execute("BEGIN IMMEDIATE")
            with db:
                yield db
        self.has_changed = self.has_changed or is_content

    def rows(self, query: str, values: Values = ()) -> list[Any]:
        """Return all rows of a query."""
        with self.read() as db:
            return db.execute(query, values).fetchall()

    def row(self, query: str, values: Values = ()) -> Any:
        """Return the first row of a query; None without any."""
        with self.read() as db:
            return db.execute(query, values).fetchone()

    def column(self, query: str, values: Values = ()) -> list[Any]:
        """Return the values of a query's single column."""
        return [value for (value,) in self.rows(query, values)]

    def change(self, statement: str, values: Values = ()) -> int:
        """Execute one statement as a transaction; return the number of rows."""
        with self.write() as db:
            return db.execute(statement, values).rowcount

    def get_setting(self, key: str) -> str | None:
        with self.read() as db:
            return read_setting(db, key)

    def put_setting(self, key: str, value: str | None) -> None:
        """Write a row of the table `setting`, or delete it. Skips an unchanged value."""
        if self.get_setting(key) != value:
            with self.write(is_content=False) as db:
                write_setting(db, key, value)


ONLY = """(:channels = '[]' OR channel_id IN (SELECT value FROM json_each(:channels)))
  AND (:videos = '[]' OR video.id IN (SELECT value FROM json_each(:videos)))"""
"""Test for a row of `video`, with the parameters of `only`."""


def only(channels: Sequence[str], videos: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of `ONLY`: ids, or an empty list for all."""
    return {"channels": json.dumps(list(channels)), "videos": json.dumps(list(videos))}


class Store:
    """Base of the library's tables. Every method can raise the errors of `Library`."""

    def __init__(self, database: Database) -> None:
        self._database = database


def read_setting(db: sqlite3.Connection, key: str) -> str | None:
    row = db.execute("SELECT value FROM setting WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else None


def write_setting(db: sqlite3.Connection, key: str, value: str | None) -> None:
    if value is None:
        db.execute("DELETE FROM setting WHERE key = ?", (key,))
    else:
        db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, value))
