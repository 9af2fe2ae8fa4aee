"""A library that cannot be opened, read or written says why, and nothing half-written stays."""

import errno
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.library import connection
from subtitle_rag.library.store import Library
from tests.library.damage import overwrite_page
from tests.support.invented import RULE, analysis, dump, track, video, windows

as_user = pytest.mark.skipif(
    sys.platform == "win32" or (hasattr(os, "geteuid") and os.geteuid() == 0), reason="root may write everything"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "library.db"


@pytest.fixture
def library(library: Library) -> Library:
    """A library of ten videos."""
    fill(library, range(10))
    return library


def fill(library: Library, numbers: range, count: int = 5) -> None:
    for number in numbers:
        id = f"video-{number:05d}"
        own = windows(id, count)
        library.put_video(video(id), track(), own, RULE)
        library.put_indexed("kiwi-1", {window.id: ("s", analysis("국수", "먹")) for window in own})


def failure(call: object, *args: object) -> AppError:
    with pytest.raises(AppError) as caught:
        call(*args)  # type: ignore[operator]
    assert caught.value.message
    assert caught.value.hint
    return caught.value


def test_a_full_disk_is_told_and_nothing_half_written_stays(
    library: Library, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump(path)
    library.close()
    connect = connection.connect

    def small(place: Path, *, to_write: bool = True) -> sqlite3.Connection:
        db = connect(place, to_write=to_write)
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages + 2}")
        return db

    monkeypatch.setattr(connection, "connect", small)
    error = failure(fill, library, range(10, 11), 400)
    assert (type(error), error.code, error.details) == (BusyError, "disk_full", {"path": str(path.parent)})
    assert dump(path) == before
    assert library.counts().videos == 10  # and it serves on
    library.close()

    monkeypatch.setattr(connection, "connect", connect)
    fill(library, range(10, 11), 400)
    assert library.counts().windows == 450


def test_a_file_that_is_no_library_is_refused_and_stays(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"WEBVTT\n\n00:01.000 --> 00:02.000\nnot a library\n" * 100)
    before = path.read_bytes()
    assert failure(Library, path).code == "library_damaged"
    assert path.read_bytes() == before


def test_damage_is_told_where_it_is_met(library: Library, path: Path) -> None:
    library.close()
    overwrite_page(path, "window")
    error = failure(library.windows_of, "video-00001")
    assert (error.code, error.details["path"]) == ("library_damaged", str(path))
    assert failure(library.put_video, video(), track(), windows("video-00001", 2), RULE).code == "library_damaged"
    assert library.video("video-00001") == video("video-00001")  # the rest can still be read


def test_a_library_cut_short_is_damaged(library: Library, path: Path) -> None:
    library.close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    assert failure(library.videos).code == "library_damaged"


def test_a_library_that_another_program_holds_is_locked_until_it_lets_go(
    library: Library, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 20)
    library.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        before = dump(path)
        error = failure(library.remove_videos, ["video-00001"])
        assert (type(error), error.code) == (BusyError, "locked")
        assert failure(library.forget_index).code == "locked"
        assert library.counts().videos == 10  # reading goes on
        assert dump(path) == before
    library.remove_videos(["video-00001"])
    assert library.counts().videos == 9


def test_a_library_that_is_held_entirely_cannot_be_opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 20)
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert failure(Library, path).code == "locked"
    with closing(Library(path)) as library:
        assert library.counts().videos == 0


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    error = failure(Library, tmp_path / "file" / "data" / "library.db")
    assert (type(error), error.code) == (BusyError, "library_readonly")
    assert str(tmp_path / "file") in error.message


def test_a_library_path_that_is_a_folder_is_told(path: Path) -> None:
    path.mkdir(parents=True)
    assert failure(Library, path).code == "library_readonly"


@as_user
def test_a_library_that_may_only_be_read_is_read(library: Library, path: Path) -> None:
    library.close()
    path.chmod(0o400)
    assert library.counts().videos == 10
    error = failure(library.remove_videos, ["video-00001"])
    assert (type(error), error.code) == (BusyError, "library_readonly")


@as_user
def test_a_folder_that_may_only_be_read_is_told(library: Library, path: Path) -> None:
    library.close()
    path.parent.chmod(0o500)
    try:
        assert failure(library.counts).code == "library_readonly"
    finally:
        path.parent.chmod(0o700)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (sqlite3.SQLITE_FULL, "disk_full"),
        (sqlite3.SQLITE_IOERR_SHMSIZE, "disk_full"),
        (sqlite3.SQLITE_READONLY_DBMOVED, "library_readonly"),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, "library_readonly"),
        (sqlite3.SQLITE_PERM, "library_readonly"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "locked"),
        (sqlite3.SQLITE_LOCKED, "locked"),
        (sqlite3.SQLITE_CORRUPT_INDEX, "library_damaged"),
        (sqlite3.SQLITE_NOTADB, "library_damaged"),
        (sqlite3.SQLITE_IOERR_READ, "library_damaged"),
    ],
)
def test_every_failure_of_sqlite_has_its_code(path: Path, code: int, told: str) -> None:
    error = sqlite3.OperationalError("why")
    error.sqlite_errorcode = code

    def fail() -> None:
        with connection.translate_sqlite_errors(path):
            raise error

    assert failure(fail).code == told


def test_a_fault_of_the_program_is_no_failure_of_the_library(path: Path) -> None:
    with (
        closing(sqlite3.connect(":memory:")) as db,
        pytest.raises(sqlite3.OperationalError, match="no such table"),
        connection.translate_sqlite_errors(path),
    ):
        db.execute("SELECT * FROM nowhere")


def test_a_full_disk_is_told_from_a_read_only_one(path: Path) -> None:
    full = connection.unwritable(path, OSError(errno.ENOSPC, "No space left on device"))
    barred = connection.unwritable(path, OSError(errno.EROFS, "Read-only file system"))
    assert (full.code, barred.code) == ("disk_full", "library_readonly")
    assert "Read-only file system" in barred.message
