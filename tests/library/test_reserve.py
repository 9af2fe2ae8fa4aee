"""The space that is reserved beside the library, and what a removal does with it."""

import errno
import os
import shutil
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from subtitle_rag import indexing
from subtitle_rag.domain import BusyError
from subtitle_rag.library import reserve
from subtitle_rag.library.reserve import keep_reserve, release_reserve, reserve_path
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from tests.support.place import Place
from tests.support.served import videos


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    disk = SimpleNamespace(free=2**40)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: disk)
    return disk


@pytest.mark.parametrize("system", ["posix", "others"])
def test_a_reserve_takes_its_space_and_goes_where_the_disk_is_full(
    library: Path, free: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    if system == "others":
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    keep_reserve(library)
    status = reserve_path(library).stat()
    assert status.st_size == reserve.RESERVE_BYTES
    if hasattr(status, "st_blocks"):
        assert status.st_blocks * 512 >= reserve.RESERVE_BYTES
    release_reserve(library)
    assert reserve_path(library).exists()  # there is room enough
    free.free = 0
    release_reserve(library)
    assert not reserve_path(library).exists()
    keep_reserve(library)
    assert not reserve_path(library).exists()


def test_a_reserve_that_the_disk_does_not_give_leaves_no_file(
    library: Path, free: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(reserve, "_allocate", refuse)
    keep_reserve(library)
    assert not reserve_path(library).exists()


def test_a_removal_without_space_releases_the_reserve_and_goes_in_steps(
    tmp_path: Path, analyzer: Analyzer, free: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log of more than one video has no room."""
    remove_videos = Library.remove_videos
    with closing(Place.at(tmp_path / "place", analyzer)) as place:
        place.run(videos(tmp_path / "captions", 0, 1, 2))
        path = place.library.path
        keep_reserve(path)

        def remove(library: Library, ids: list[str]) -> None:
            if len(ids) > 1 or reserve_path(path).exists():
                raise BusyError("disk_full", path=str(path.parent))
            remove_videos(library, ids)

        monkeypatch.setattr(Library, "remove_videos", remove)
        free.free = 0
        assert len(place.library.videos()) == 3
        place.indexer.remove([state.video.id for state in place.library.videos()])
        assert place.library.videos() == []
        assert indexing.REMOVALS > 3
