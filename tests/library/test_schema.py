"""The schema: made once, whoever opens the library first, and refused where it is another."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.library import schema
from subtitle_rag.library.connection import connect
from subtitle_rag.library.schema import SCHEMA_VERSION, make_schema, schema_version
from tests.support.failures import failing

TABLES = set(schema.columns())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


@pytest.fixture
def db(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(path)) as opened:
        yield opened


def tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def test_a_new_library_has_every_table_strict_and_the_current_version(db: sqlite3.Connection) -> None:
    assert tables(db) == TABLES
    strict = {name for name, *_, is_strict in db.execute("SELECT name, strict FROM pragma_table_list") if is_strict}
    assert strict == TABLES - {"said", "said_config", "said_data", "said_docsize", "said_idx"}  # FTS5's own
    assert schema_version(db) == SCHEMA_VERSION
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_foreign_keys_hold(db: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        db.execute("INSERT INTO video VALUES ('v', 'no such channel', 't', NULL, NULL, NULL, '[]', NULL, '')")


def test_an_up_to_date_library_is_left_alone(path: Path, db: sqlite3.Connection) -> None:
    before = db.execute("PRAGMA data_version").fetchone()
    with closing(connect(path)) as other:
        make_schema(other, str(path))
    assert db.execute("PRAGMA data_version").fetchone() == before


def test_a_schema_that_fails_half_way_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "SCHEMA", (*schema.SCHEMA, "half-way"))
    with pytest.raises(sqlite3.OperationalError, match="half"):
        connect(path)
    with closing(sqlite3.connect(path)) as db:
        assert (tables(db), schema_version(db)) == (set(), 0)
    monkeypatch.undo()
    with closing(connect(path)) as db:
        assert tables(db) == TABLES


@pytest.mark.parametrize(("version", "code"), [(99, "newer_version"), (20, "library_older"), (1, "library_older")])
def test_a_library_of_an_unknown_version_is_refused_and_stays_as_it_is(path: Path, version: int, code: str) -> None:
    with closing(connect(path)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    with failing(code) as caught:
        connect(path)
    assert (caught.value.details["path"], caught.value.details["found"]) == (str(path), version)
    assert str(version) in caught.value.message
    with closing(sqlite3.connect(path)) as db:
        assert (tables(db), schema_version(db)) == (TABLES, version)


def test_whoever_opens_a_new_library_at_the_same_time_gets_the_same_one(path: Path) -> None:
    def opened(_number: int) -> set[str]:
        with closing(connect(path)) as db:
            return tables(db)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(opened, range(8))) == [TABLES] * 8
