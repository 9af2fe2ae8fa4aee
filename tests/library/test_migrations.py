"""The schema: made once, step by step, whoever opens the library first."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.errors import AppError
from subtitle_rag.library.connection import connect
from subtitle_rag.library.migrations import MIGRATIONS, Migration, migrate

TABLES = {"setting", "channel", "video", "stage", "track", "window", "indexed", "analysis", "term", "purge"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


@pytest.fixture
def db(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(path)) as opened:
        yield opened


def tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def more(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT")


def broken(db: sqlite3.Connection) -> None:
    more(db)
    raise RuntimeError("half-way")


@pytest.fixture
def steps() -> Iterator[list[Migration]]:
    """The list of migrations, which is as it was after the test."""
    before = MIGRATIONS[:]
    yield MIGRATIONS
    MIGRATIONS[:] = before


def test_a_new_library_has_every_table_strict_and_the_current_version(db: sqlite3.Connection) -> None:
    assert tables(db) == TABLES
    strict = {name for name, *_, is_strict in db.execute("SELECT name, strict FROM pragma_table_list") if is_strict}
    assert strict == TABLES
    assert version(db) == len(MIGRATIONS)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_foreign_keys_hold(db: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        db.execute("INSERT INTO video VALUES ('v', 'no such channel', 't', NULL, NULL, NULL, '[]', NULL)")


def test_an_up_to_date_library_is_left_alone(path: Path, db: sqlite3.Connection) -> None:
    before = db.execute("PRAGMA data_version").fetchone()
    with closing(connect(path)) as other:
        migrate(other)
    assert db.execute("PRAGMA data_version").fetchone() == before


def test_an_older_library_takes_the_new_steps_and_keeps_its_rows(path: Path, steps: list[Migration]) -> None:
    with closing(connect(path)) as old:
        old.execute("INSERT INTO channel VALUES ('c', 'kept')")
    steps.append(more)
    with closing(connect(path)) as db:
        assert tables(db) == {*TABLES, "more"}
        assert version(db) == len(steps)
        assert db.execute("SELECT name FROM channel").fetchall() == [("kept",)]


def test_a_step_that_fails_leaves_nothing_and_can_be_taken_again(path: Path, steps: list[Migration]) -> None:
    done = len(steps)
    steps.append(broken)
    with pytest.raises(RuntimeError, match="half-way"):
        connect(path)
    with closing(sqlite3.connect(path)) as db:
        assert (tables(db), version(db)) == (TABLES, done)
    steps[-1] = more
    with closing(connect(path)) as db:
        assert tables(db) == {*TABLES, "more"}


def test_a_newer_library_is_refused_and_stays_as_it_is(path: Path) -> None:
    with closing(connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(AppError) as caught:
        connect(path)
    assert caught.value.code == "library_newer"
    assert caught.value.details == {"path": str(path), "found": 99, "known": len(MIGRATIONS)}
    with closing(sqlite3.connect(path)) as db:
        assert (tables(db), version(db)) == (TABLES, 99)


def test_whoever_opens_a_new_library_at_the_same_time_gets_the_same_one(path: Path) -> None:
    def opened(_number: int) -> set[str]:
        with closing(connect(path)) as db:
            return tables(db)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(opened, range(8))) == [TABLES] * 8
