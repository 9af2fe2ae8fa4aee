"""Backups of the library: when one is made, and which stay."""

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from subtitle_rag.library.backup import COUNT, Backup, back_up, backups, quick_check, retained
from subtitle_rag.library.connection import backup_folder
from subtitle_rag.library.store import Library
from tests.library.damage import overwrite_page
from tests.support.invented import RULE, dump, track, video, windows

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def library(library: Library) -> Library:
    library.put_video(video("video-00001"), track(), windows("video-00001", 3), RULE)
    return library


def copies(*ages: timedelta) -> list[Backup]:
    return [Backup(Path(str(age)), NOW - age, 0) for age in sorted(ages)]


def hours(*values: float) -> tuple[timedelta, ...]:
    return tuple(timedelta(hours=value) for value in values)


def test_a_copy_has_the_same_rows_and_only_its_owner_reads_it(library: Library) -> None:
    copy = back_up(library.database, at=NOW)
    assert copy is not None
    assert copy == backups(library.path)[0]
    assert (copy.path.name, copy.made_at, copy.bytes) == ("library-20260501-120000.db", NOW, copy.path.stat().st_size)
    assert dump(copy.path) == dump(library.path)
    assert copy.path.stat().st_mode & 0o077 == 0
    assert [path.name for path in backup_folder(library.path).iterdir()] == [copy.path.name]


def test_a_copy_is_made_while_another_connection_writes(library: Library) -> None:
    with closing(sqlite3.connect(library.path)) as other:
        other.execute("INSERT INTO channel VALUES ('UCother', 'other')")
        copy = back_up(library.database)
        other.rollback()
    assert copy is not None
    assert dump(copy.path) == dump(library.path)


def test_three_copies_stay(library: Library) -> None:
    for hour in range(6):
        back_up(library.database, at=NOW + timedelta(hours=hour))
    assert [copy.made_at.hour for copy in backups(library.path)] == [17, 13, 12]


def test_no_copy_is_made_of_a_damaged_library_and_none_goes(library: Library) -> None:
    for hour in range(COUNT):
        back_up(library.database, at=NOW + timedelta(hours=hour))
    before = backups(library.path)
    overwrite_page(library.path, "window")
    with closing(Library(library.path)) as damaged:
        assert back_up(damaged.database, at=NOW + timedelta(hours=9)) is None
    assert backups(library.path) == before
    assert all(quick_check(copy.path) == "" for copy in before)


def test_no_copy_is_made_without_room(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = SimpleNamespace(free=library.path.stat().st_size)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    assert back_up(library.database) is None
    assert backups(library.path) == []


def test_what_a_killed_run_left_goes(library: Library) -> None:
    folder = backup_folder(library.path)
    folder.mkdir()
    (folder / "library-20260501-110000.db.part").write_bytes(b"half")
    (folder / "library-of-mine.db").write_bytes(b"a user's")
    back_up(library.database, at=NOW)
    assert {path.name for path in folder.iterdir()} == {"library-20260501-120000.db", "library-of-mine.db"}


def test_settings_alone_are_no_change(library: Library) -> None:
    assert library.database.has_changed
    with closing(Library(library.path)) as again:
        again.database.put_setting("theme", "x")
        assert not again.database.has_changed


@pytest.mark.parametrize(
    ("ages", "kept"),
    [
        ((), ()),
        (hours(0), hours(0)),
        (hours(0, 1, 2), hours(0, 1, 2)),
        (hours(0, 1, 2, 3), hours(0, 2, 3)),
        (hours(0, 1, 14, 20), hours(0, 14, 20)),
        (hours(0, 14, 110, 120), hours(0, 14, 110)),
        (hours(0, 200, 300, 400), hours(0, 200, 400)),
    ],
)
def test_the_newest_stays_and_the_last_of_an_earlier_day_and_week(
    ages: tuple[timedelta, ...], kept: tuple[timedelta, ...]
) -> None:
    """`NOW` is a Friday at noon."""
    assert retained(copies(*ages)) == copies(*kept)


def test_over_a_month_of_hourly_runs_the_oldest_copy_is_days_old() -> None:
    kept: list[Backup] = []
    for hour in range(24 * 30):
        at = NOW + timedelta(hours=hour)
        kept = retained([Backup(Path(str(hour)), at, 0), *kept])
        assert len(kept) <= COUNT
        assert kept[0].made_at == at
        if hour > 24 * 7:
            assert timedelta(days=1) <= at - kept[-1].made_at <= timedelta(days=9)
