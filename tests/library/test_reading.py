"""A library on a disk that takes no writes: what is in it is read, and nothing is written beside it."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.library import connection
from subtitle_rag.library.store import Library
from tests.support.failures import failing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "library.db"
    with closing(Library(path)) as library:
        library.database.put_setting("dish", "국수")
    return path


@pytest.fixture(params=["library_readonly", "disk_full"])
def refuse(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """The disk refuses, as with EROFS and ENOSPC, until the patch is undone."""

    def refuse(path: Path) -> None:
        raise BusyError(request.param, path=str(path), reason="")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "_connect_to_write", refuse)
        yield patch


def test_what_is_there_is_read_and_nothing_is_written(path: Path, refuse: pytest.MonkeyPatch) -> None:
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with closing(Library(path)) as library:
        assert library.database.get_setting("dish") == "국수"
        assert library.counts().videos == 0
        assert library.database.version() == library.database.version()
        with pytest.raises(BusyError):
            library.database.put_setting("dish", "만두")
        assert library.database.get_setting("dish") == "국수"
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_commits_that_lie_in_the_log_are_read(path: Path, tmp_path: Path, refuse: pytest.MonkeyPatch) -> None:
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    refuse.undo()
    with closing(Library(path)) as library:
        library.database.put_setting("dish", "만두")
        for file in path.parent.glob("library.db*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, snapshot / file.name)
    assert (snapshot / "library.db-wal").stat().st_size

    def refused(path: Path) -> None:
        raise BusyError("library_readonly", path=str(path), reason="")

    refuse.setattr(connection, "_connect_to_write", refused)
    with closing(Library(snapshot / "library.db")) as library:
        assert library.database.get_setting("dish") == "만두"


def test_a_program_that_has_read_writes_once_there_is_room(path: Path, refuse: pytest.MonkeyPatch) -> None:
    with closing(Library(path)) as library:
        assert library.database.get_setting("dish") == "국수"
        refuse.undo()
        library.database.put_setting("dish", "만두")
        assert library.database.get_setting("dish") == "만두"


def test_a_library_that_is_not_there_is_not_made(tmp_path: Path, refuse: pytest.MonkeyPatch) -> None:
    with pytest.raises(BusyError):
        Library(tmp_path / "none.db")


def test_a_library_of_another_version_says_so(path: Path, refuse: pytest.MonkeyPatch) -> None:
    refuse.undo()
    with closing(Library(path)) as library:
        library.database.change("PRAGMA user_version = 999")

    def refused(path: Path) -> None:
        raise BusyError("library_readonly", path=str(path), reason="")

    refuse.setattr(connection, "_connect_to_write", refused)
    with failing("newer_version"):
        Library(path)
