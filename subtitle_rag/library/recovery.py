"""Repair of a damaged library: the newest sound backup replaces it, and the damaged file is kept."""

import json
import logging
import os
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from subtitle_rag.base.atomic_files import delete_file, private_file, private_folder, replace_path
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.library.backup import Backup, backups, open_read_only, quick_check
from subtitle_rag.library.connection import DAMAGE, hold_lock, unwritable
from subtitle_rag.library.schema import SCHEMA_VERSION, columns, refuse_newer, schema_version

logger = logging.getLogger(__name__)

JOURNALS = ("-wal", "-shm", "-journal")
JSON_COLUMNS = frozenset({"chapters", "lines", "options", "heatmap", "doubts", "citations", "sources", "names"})
"""Columns with JSON, which a damaged page can leave unreadable."""


@dataclass(frozen=True, slots=True)
class LostVideo:
    """A video with captions in the damaged file that the backup lacks."""

    id: str
    title: str


@dataclass(slots=True)
class Recovery:
    """The result of a repair."""

    problem: str
    """The fault; empty if there was none and nothing was done."""
    damaged: Path | None = None
    """The path of the damaged file."""
    backup: Backup | None = None
    """The backup that replaced it."""
    lost: list[LostVideo] = field(default_factory=list)
    """Videos lost, as far as the damaged file is readable."""


def repair(path: Path) -> Recovery:
    """Check a library file; replace a damaged one with the newest sound backup.

    Raises:
        BusyError: `busy`, `disk_full`, `library_readonly`, `locked`.
        AppError: `newer_version`; `library_unrecoverable` if no backup is usable; the file is unchanged then.
    """
    private_folder(path.parent)
    with hold_lock(path.parent, "library"):
        _refuse_newer(path)
        problem = _problem(path) if path.exists() else "no such file"
        if not problem:
            return Recovery("")
        backup = next((copy for copy in backups(path) if _is_usable(copy.path)), None)
        if backup is None:
            raise AppError("library_unrecoverable", path=str(path), reason=problem)
        videos, backup_videos = _videos(path), _videos(backup.path)
        lost = [LostVideo(id, title) for id, title in videos.items() if id not in backup_videos]
        try:
            return Recovery(problem, _replace(path, backup.path), backup, sorted(lost, key=lambda each: each.title))
        except OSError as error:
            raise unwritable(path.parent, error) from error


def _refuse_newer(path: Path) -> None:
    """Raise `newer_version` if the file still shows its version: this program can read neither it nor its backups."""
    if path.exists():
        with suppress(*DAMAGE), closing(open_read_only(path)) as db:
            refuse_newer(db, str(path))


def _problem(path: Path) -> str:
    return quick_check(path, indexes=True) or content_check(path)


def _is_usable(copy: Path) -> bool:
    with closing(open_read_only(copy)) as db:
        try:
            return schema_version(db) == SCHEMA_VERSION and not _problem(copy)
        except sqlite3.DatabaseError:
            logger.warning("the copy %s is damaged", copy.name, exc_info=True)
            return False


def content_check(path: Path) -> str:
    """Return the first table of a sound file with an impossible value, or an empty string. SQLite does not check
    values.

    Reads everything.
    """
    with closing(open_read_only(path)) as db:
        if schema_version(db) != SCHEMA_VERSION:
            return ""
        for table, names in columns().items():
            try:
                for row in db.execute(f"SELECT {', '.join(sorted(names))} FROM {table}"):  # noqa: S608
                    _check_row(table, dict(zip(sorted(names), row, strict=True)))
            except (*DAMAGE, ValueError, zlib.error):
                logger.info("the table %s has a damaged value", table, exc_info=True)
                return table
    return ""


def _check_row(table: str, row: dict[str, object]) -> None:
    """Raise ValueError or zlib.error for an impossible value."""
    for name, value in row.items():
        if name in JSON_COLUMNS and isinstance(value, str) and value:
            json.loads(value)
        elif (table, name) == ("track", "raw") and isinstance(value, bytes):
            zlib.decompress(value)  # checks the checksum


def _videos(path: Path) -> dict[str, str]:
    """Return id and title of the videos with captions, read from both ends as far as possible."""
    videos: dict[str, str] = {}
    with_captions = "WHERE id IN (SELECT video_id FROM track)"
    for condition, order in ((with_captions, "DESC"), (with_captions, "ASC"), ("", "DESC"), ("", "ASC")):
        query = f"SELECT id, title FROM video {condition} ORDER BY rowid {order}"  # noqa: S608
        try:
            for id, title in _rows(path, query):
                videos[id] = title
            return videos
        except DAMAGE:
            logger.info("not all videos of a library file can be read", exc_info=True)
    return videos


def _rows(path: Path, query: str) -> Iterator[tuple[str, str]]:
    if path.exists() and path.stat().st_size:
        with closing(open_read_only(path)) as db:
            yield from db.execute(query)


def _replace(path: Path, backup: Path) -> Path | None:
    """Replace the file with a copy of the backup; return the old file's path."""
    new = path.with_name(f"{path.name}.new")
    try:
        private_file(new)
        shutil.copyfile(backup, new)
        with new.open("rb") as file:
            os.fsync(file.fileno())
        damaged = _move_aside(path)
        replace_path(new, path)
    finally:
        delete_file(new)
    return damaged


def _move_aside(path: Path) -> Path | None:
    """Link the damaged file to a second name and rename its journals; return the name."""
    stamp = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    damaged = path.with_name(f"{path.name}.damaged-{stamp}")
    for suffix in JOURNALS:
        if (journal := path.with_name(path.name + suffix)).exists():
            replace_path(journal, damaged.with_name(damaged.name + suffix))
    if not path.exists():
        return None
    try:
        os.link(path, damaged)  # a kill must never leave the library without a file
    except OSError:
        replace_path(path, damaged)
    return damaged
