"""The schema: made once, step by step, whoever opens the library first."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from subtitle_rag.domain import AppError, Chapter, Details, Line, MeasuredTrack, TrackSelection, Video, Window
from subtitle_rag.library.connection import connect
from subtitle_rag.library.migrations import MIGRATIONS, Migration, migrate
from subtitle_rag.library.rows import Counts, pack, track_values
from subtitle_rag.library.sources import SourceOptions, Stage
from subtitle_rag.library.store import Library
from tests.invented import analysis, dump, track, video, windows

FIRST = {"setting", "channel", "video", "stage", "track", "window", "indexed", "analysis", "term", "purge"}
TABLES = (
    FIRST
    | {"detail", "source", "alias", "listed"}
    | {"context", "glossary", "overview"}
    | {"answer", "channel_client", "channel_model", "context_term"}
    | {"overview_section"}
    | {"mark"}
    | {"video_summary"}
    | {"level"}
    | {"track_selection"}
)


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


ALL_STEPS = MIGRATIONS[:]
MORE = ("CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT",)
BROKEN = (*MORE, "half-way")


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
        db.execute("INSERT INTO video VALUES ('v', 'no such channel', 't', NULL, NULL, NULL, '[]', NULL, '')")


def test_an_up_to_date_library_is_left_alone(path: Path, db: sqlite3.Connection) -> None:
    before = db.execute("PRAGMA data_version").fetchone()
    with closing(connect(path)) as other:
        migrate(other)
    assert db.execute("PRAGMA data_version").fetchone() == before


def test_an_older_library_takes_the_new_steps_and_keeps_its_rows(path: Path, steps: list[Migration]) -> None:
    with closing(connect(path)) as old:
        old.execute("INSERT INTO channel VALUES ('c', 'kept')")
    steps.append(MORE)
    with closing(connect(path)) as db:
        assert tables(db) == {*TABLES, "more"}
        assert version(db) == len(steps)
        assert db.execute("SELECT name FROM channel").fetchall() == [("kept",)]


def test_a_step_that_fails_leaves_nothing_and_can_be_taken_again(path: Path, steps: list[Migration]) -> None:
    done = len(steps)
    steps.append(BROKEN)
    with pytest.raises(sqlite3.OperationalError, match="half"):
        connect(path)
    with closing(sqlite3.connect(path)) as db:
        assert (tables(db), version(db)) == (TABLES, done)
    steps[-1] = MORE
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


@pytest.fixture
def first(path: Path, steps: list[Migration]) -> dict[str, list[tuple[object, ...]]]:
    """What the tables of a library hold that was made and filled by the first schema."""
    later = steps[1:]
    del steps[1:]
    with closing(connect(path)) as db:
        assert (tables(db), version(db)) == (FIRST, 1)
        with db:
            fill(db)
    steps.extend(later)
    return dump(path)


def fill(db: sqlite3.Connection) -> None:
    """A row at least in every table of the first schema."""
    db.execute("INSERT INTO setting VALUES ('theme', 'nord')")
    db.execute("INSERT INTO channel VALUES ('c', '느린 부엌')")
    row = ("c", "국수", "https://youtu.be/v", "2026-05-31", 90_500, '[[0, "처음"]]', "/자막/국수.vtt")
    db.execute("INSERT INTO video VALUES ('whole', ?, ?, ?, ?, ?, ?, ?)", row)
    db.execute("INSERT INTO video VALUES ('failed', 'c', '만두', NULL, NULL, NULL, '[]', NULL)")
    db.execute("INSERT INTO stage (video_id, name, state) VALUES ('whole', 'captions', 'done')")
    db.execute("INSERT INTO stage VALUES ('failed', 'captions', 'failed', 'no_cues', '{\"path\": \"x\"}', 5, 2, NULL)")
    db.execute("INSERT INTO track VALUES (?, ?, ?, ?, ?, ?, ?)", track_values("whole", track())[:-1])
    db.execute("INSERT INTO window VALUES ('w', 'whole', 0, 0, 60000, '국수', '[[0,0]]', '', '뒤', 'rule-1')")
    db.execute("INSERT INTO indexed VALUES ('w', 'bm25', 'kiwi-1', 's')")
    db.execute("INSERT INTO analysis VALUES ('w', 1, ?)", (pack(analysis("국수")),))
    db.execute("INSERT INTO term VALUES ('국수', 1)")
    db.execute("INSERT INTO purge VALUES ('gone')")


def test_a_library_of_the_first_schema_keeps_every_row(path: Path, first: dict[str, list[tuple[object, ...]]]) -> None:
    assert all(first[table] for table in FIRST)
    with closing(connect(path)) as db:
        assert (tables(db), version(db)) == (TABLES, len(MIGRATIONS))
    added = {"video": ("",), "track": ("",)}
    expected = {table: [row + added.get(table, ()) for row in rows] for table, rows in first.items()}
    assert dump(path) == expected | {table: [] for table in TABLES - FIRST}


def test_a_library_of_the_first_schema_is_read_with_what_it_had_not_known_left_empty(
    path: Path, first: dict[str, list[tuple[object, ...]]]
) -> None:
    with closing(Library(path)) as library:
        assert library.counts().videos == len(first["video"])
        assert library.video("whole") == Video(
            "whole",
            "국수",
            "c",
            "느린 부엌",
            url="https://youtu.be/v",
            published=date(2026, 5, 31),
            duration_ms=90_500,
            chapters=(Chapter(0, "처음"),),
            source="/자막/국수.vtt",
        )
        assert library.track("whole") == track()
        assert library.details("whole") == Details()
        assert library.windows_of("whole") == [Window("w", "whole", 0, 0, 60_000, "국수", (Line(0, 0),), "", "뒤")]
        assert library.morphemes(["w"]) == {"w": analysis("국수")}
        assert library.counts() == Counts(channels=1, videos=2, due=0, failed=1, windows=1, searchable=1)
        assert library.sources.stage("failed") == Stage("failed", 2, None, "no_cues")
        assert (library.sources.followed(), library.sources.rest()) == ([], (0, ""))


def test_a_library_of_the_first_schema_takes_in_what_the_new_one_is_for(
    path: Path, first: dict[str, list[tuple[object, ...]]]
) -> None:
    with closing(Library(path)) as library:
        source = library.sources.follow("https://x", name="느린 부엌", channel_id="c", options=SourceOptions())
        library.sources.put_listed(source.id, [video("whole"), video("new")])
        assert library.sources.due(0) == ["new"]
        library.put_video(video("new", kind="short"), track(), windows("new", 1), "rule-1", Details("설명"))
        assert library.details("new") == Details("설명")
        assert library.counts().videos == len(first["video"]) + 1


def test_doubts_about_a_track_are_told_of_tracks_that_were_stored_before(path: Path, steps: list[Migration]) -> None:
    del steps[13:]
    with closing(connect(path)) as db:
        fill_rows = [
            "INSERT INTO channel VALUES ('c', '느린 부엌')",
            "INSERT INTO video VALUES ('dubbed', 'c', '국수', NULL, NULL, NULL, '[]', NULL, '')",
            "INSERT INTO video VALUES ('plain', 'c', '만두', NULL, NULL, NULL, '[]', NULL, '')",
        ]
        for row in fill_rows:
            db.execute(row)
        for name, flag in (("dubbed", "dub"), ("plain", "")):
            known = replace(track(), kind="asr", flag=flag)
            db.execute("INSERT INTO track VALUES (?, ?, ?, ?, ?, ?, ?, ?)", track_values(name, known))
    steps[:] = ALL_STEPS
    with closing(Library(path)) as library:
        assert library.selections() == {"dubbed": TrackSelection((MeasuredTrack("ko", "asr"),), flag="dub")}
        assert [state.selection is None for state in library.videos()] == [False, True]
