"""The schema: made once, step by step, whoever opens the library first."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.domain import Details, MeasuredTrack, TrackSelection
from subtitle_rag.library import migrations
from subtitle_rag.library.app_state import found_scenes
from subtitle_rag.library.backup import quick_check
from subtitle_rag.library.connection import connect
from subtitle_rag.library.migrations import OLDEST_VERSION, SCHEMA_VERSION, migrate, schema_version
from subtitle_rag.library.rows import Counts
from subtitle_rag.library.store import Library
from tests.support.failures import failing
from tests.support.invented import dump, track, video, windows

TABLES = set(migrations.columns())
DUMPS = Path(__file__).parents[1] / "data"
"""Libraries that earlier commits have made (5318666: version 13, f6da01f: version 17), as SQLite dumps them."""
LISTENING: dict[str, list[tuple[object, ...]]] = {"listening": [], "heard": [], "offered_track": []}
"""The tables of what is heard, which no earlier library has."""
MORE = ("CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT",)
BROKEN = (*MORE, "half-way")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


@pytest.fixture
def db(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(path)) as opened:
        yield opened


def restored(version: int, path: Path) -> Path:
    """Make the library of an earlier commit."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript((DUMPS / f"library-{version}.sql").read_text(encoding="utf-8"))
    return path


def tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def schema(db: sqlite3.Connection) -> dict[str, object]:
    """Everything that the tables and indexes are made of, in its order, whatever way they were made."""
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema")]
    return {
        name: [
            db.execute(f"PRAGMA {pragma}({name})").fetchall()
            for pragma in ("table_info", "foreign_key_list", "index_list", "index_info")
        ]
        for name in names
    }


def with_steps(monkeypatch: pytest.MonkeyPatch, *steps: migrations.Statements) -> None:
    """Have the schema go on with these steps."""
    more = dict(enumerate(steps, start=SCHEMA_VERSION + 1))
    monkeypatch.setattr(migrations, "STEPS", {**migrations.STEPS, **more})
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", SCHEMA_VERSION + len(steps))


def test_a_new_library_has_every_table_strict_and_the_current_version(db: sqlite3.Connection) -> None:
    assert tables(db) == TABLES
    strict = {name for name, *_, is_strict in db.execute("SELECT name, strict FROM pragma_table_list") if is_strict}
    assert strict == TABLES
    assert schema_version(db) == SCHEMA_VERSION
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_foreign_keys_hold(db: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        db.execute("INSERT INTO video VALUES ('v', 'no such channel', 't', NULL, NULL, NULL, '[]', NULL, '')")


def test_an_up_to_date_library_is_left_alone(path: Path, db: sqlite3.Connection) -> None:
    before = db.execute("PRAGMA data_version").fetchone()
    with closing(connect(path)) as other:
        migrate(other, str(path))
    assert db.execute("PRAGMA data_version").fetchone() == before


def test_an_older_library_takes_the_new_steps_and_keeps_its_rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(connect(path)) as old:
        old.execute("INSERT INTO channel VALUES ('c', 'kept')")
    with_steps(monkeypatch, MORE)
    with closing(connect(path)) as db:
        assert tables(db) == {*TABLES, "more"}
        assert schema_version(db) == SCHEMA_VERSION + 1
        assert db.execute("SELECT name FROM channel").fetchall() == [("kept",)]


def test_a_step_that_fails_leaves_nothing_and_can_be_taken_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect(path).close()
    with_steps(monkeypatch, BROKEN)
    with pytest.raises(sqlite3.OperationalError, match="half"):
        connect(path)
    with closing(sqlite3.connect(path)) as db:
        assert (tables(db), schema_version(db)) == (TABLES, SCHEMA_VERSION)
    monkeypatch.undo()
    with_steps(monkeypatch, MORE)
    with closing(connect(path)) as db:
        assert tables(db) == {*TABLES, "more"}


@pytest.mark.parametrize(("version", "code"), [(99, "library_newer"), (12, "library_older"), (1, "library_older")])
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


# --- libraries of earlier commits ---


def test_a_library_of_every_version_that_can_be_opened_gets_the_current_schema(path: Path, tmp_path: Path) -> None:
    with closing(connect(tmp_path / "new.db")) as new:
        current = schema(new)
    for version in range(OLDEST_VERSION, SCHEMA_VERSION + 1):
        library = restored(OLDEST_VERSION, tmp_path / f"{version}.db")
        with closing(sqlite3.connect(library)) as db:
            for number in range(OLDEST_VERSION + 1, version + 1):
                for statement in migrations.STEPS[number]:
                    db.execute(statement)
            db.execute(f"PRAGMA user_version = {version}")
            db.commit()
        with closing(connect(library)) as db:
            assert schema(db) == current
            assert schema_version(db) == SCHEMA_VERSION


def test_a_library_of_version_13_keeps_every_row(path: Path) -> None:
    before = dump(restored(13, path))
    assert all(before.values()), "a table without a row"
    connect(path).close()
    after = dump(path)
    after["stage"] = [(*row[:-1], None) for row in after["stage"]]  # the retries have a test of their own
    before["source"] = [(*row, 0) for row in before["source"]]
    before["track_selection"] = [("slowcook009", '[["ko","asr",null,""]]', 0, "dub", 0)]
    before["answer"] = [(*row, "[]") for row in before["answer"]]
    before["track"] = [(*row, "", "") for row in before["track"]]
    assert after == before | {"channel_client": []} | LISTENING


def test_a_library_of_version_17_keeps_every_row(path: Path) -> None:
    before = dump(restored(17, path))
    assert all(before.values()), "a table without a row"
    connect(path).close()
    before["answer"] = [(*row, "[]") for row in before["answer"]]
    before["track"] = [(*row, "", "") for row in before["track"]]
    assert dump(path) == before | LISTENING
    assert quick_check(path) == ""


@pytest.mark.parametrize("version", [13, 17])
def test_a_library_of_an_earlier_commit_is_read_and_filled(path: Path, version: int) -> None:
    with closing(Library(restored(version, path))) as library:
        assert library.counts() == Counts(channels=2, videos=5, due=0, failed=3, windows=2, searchable=2)
        noodles = library.video("noodle00001")
        assert noodles is not None
        assert (noodles.title, noodles.source) == ("국수", "/captions/국수 [noodle00001].ko.vtt")
        found = library.track("noodle00001")
        assert found is not None
        assert found.raw.startswith(b"WEBVTT")
        first, second = library.windows_of("noodle00001")
        assert second.text == "이제 만두를 빚어 봅시다"
        assert library.morphemes([first.id])[first.id].forms[0] == "오늘"
        assert [scene.id for scene in found_scenes(library)] == [first.id]
        assert [mark.note for mark in library.marks.all()] == ["다시 보기"]
        assert library.selections() == {"slowcook009": TrackSelection((MeasuredTrack("ko", "asr"),), flag="dub")}
        (source,) = library.sources.followed()
        library.sources.put_listed(source.id, [video("slowcook000"), video("new")])
        assert "new" in library.sources.due(0)
        library.put_video(video("new", kind="short"), track(), windows("new", 1), "rule-1", Details("설명"))
        assert library.details("new") == Details("설명")


def test_refusals_that_no_list_stated_are_retried_some_a_day(path: Path) -> None:
    with closing(sqlite3.connect(restored(13, path))) as db, db:
        db.execute("DELETE FROM stage")
        for number in range(60):
            id, code = f"v{number:02}", ("not_found", "private", "geo_blocked")[number % 3]
            db.execute("INSERT INTO video (id, channel_id, title, chapters) VALUES (?, 'UCslow', '', '[]')", (id,))
            values = (id, code, '{"reason": "gone"}', number)
            db.execute("INSERT INTO stage VALUES (?, 'captions', 'failed', ?, ?, ?, 1, NULL)", values)
        stated = ("slowcook001", "members_only", "{}"), ("slowcook002", "no_captions", '{"reason": "x"}')
        for row in stated:
            db.execute("INSERT INTO stage VALUES (?, 'captions', 'failed', ?, ?, 5, 1, NULL)", row)
    with closing(Library(path)) as library:
        now, day = int(time.time()) + 60, 86_400
        assert [len(library.sources.due(now + days * day)) for days in range(4)] == [25, 50, 60, 60]
        assert library.sources.due(now)[-1] == "v59", "the latest first"
