"""An index whose folder takes no writes is searched in a copy."""

import errno
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.index import readable_copy
from subtitle_rag.index.index_client import HostedIndex
from tests.index.points import META, point
from tests.support.failures import failing
from tests.support.invented import end_hosts

pytestmark = pytest.mark.hosts


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.2")
    folder, places = tmp_path / "index", tmp_path / "temporary"
    places.mkdir()
    monkeypatch.setattr(readable_copy, "_places", lambda: [places])
    with closing(HostedIndex(folder, META)) as index:
        index.insert([point(1), point(2)])
    end_hosts([folder])
    yield folder
    end_hosts([folder, *places.glob("*/index")])


def refuse(monkeypatch: pytest.MonkeyPatch, folder: Path, code: str) -> None:
    """Refuse to open an index in this folder."""
    connect = HostedIndex._connect

    def refusing(self: HostedIndex) -> Any:
        if self._folder == folder:
            raise BusyError(code, path=str(folder), reason="")
        return connect(self)

    monkeypatch.setattr(HostedIndex, "_connect", refusing)


@pytest.mark.parametrize("code", ["library_readonly", "disk_full"])
def test_it_is_searched_in_a_copy_and_stays_as_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    refuse(monkeypatch, folder, code)
    for _run in range(2):
        with closing(HostedIndex(folder, META)) as index:
            assert index.count() == 2
            assert index.get([point(1).id])[0].payload == point(1).payload
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()} == before


def test_without_room_for_a_copy_the_reason_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_source: Path, _target: Path) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(readable_copy, "_copy_sparse", full)
    refuse(monkeypatch, folder, "library_readonly")
    with failing("library_readonly"):
        HostedIndex(folder, META).count()


def test_an_index_that_is_not_there_is_not_copied(tmp_path: Path) -> None:
    assert readable_copy.readable_copy(tmp_path / "index") is None


def test_holes_of_a_file_are_not_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as file:
        file.write(b"begin")
        file.seek(8 * readable_copy.BLOCK)
        file.write(b"end")
        file.truncate(10 * readable_copy.BLOCK)
    readable_copy._copy_sparse(source, target)
    assert target.read_bytes() == source.read_bytes()
    assert target.stat().st_blocks * 512 <= 4 * readable_copy.BLOCK
