"""Damage to library files."""

import sqlite3
from contextlib import closing
from pathlib import Path


def overwrite_page(path: Path, table: str, *, with_: bytes = b"\xff") -> None:
    """Overwrite the first page of a table, without which none of its rows can be reached."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = db.execute("PRAGMA page_size").fetchone()
        (page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    overwrite(path, page, size, with_)


def overwrite(path: Path, page: int, size: int, with_: bytes = b"\xff") -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(with_ * (size // len(with_)))
