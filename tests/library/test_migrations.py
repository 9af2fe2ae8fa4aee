"""The schema: made once, step by step, whoever opens the library first."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.errors import AppError
from subtitle_rag.library.connection import connect
from subtitle_rag.library.migrations import MIGRATIONS, migrate

TABLES = {"setting", "channel", "video", "stage", "track", "window", "indexed", "analysis", "term", "purge"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """One more step, which makes a table; what it did stands in the list."""
    taken: list[str] = []

    def m_more(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT")
        taken.append("more")

    monkeypatch.setattr("subtitle_rag.library.migrations.MIGRATIONS", [*MIGRATIONS, m_more])
    return iter([taken]).__next__()  # type: ignore[return-value]


def tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
