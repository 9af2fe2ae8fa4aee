"""What the embedded index does with its folder."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.index import index_edge
from subtitle_rag.index.edge_terms import as_app_error
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.index_host import KIND
from subtitle_rag.index.interface import StagingIndex
from tests.index.points import META, Open, found, point, settle
from tests.support.failures import failing


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("meta.json", "{"),
        ("meta.json", "[]"),
        ("shard/edge_config.json", "{"),
        ("shard/segments", None),
    ],
)
def test_damage_is_told_and_a_fresh_start_mends(embedded: Open, folder: Path, name: str, content: str | None) -> None:
    first = embedded(folder, META)
    first.insert([point(1)])
    first.close()
    settle(folder)
    if content is not None:
        (folder / name).write_text(content)
    else:
        for part in (folder / name).rglob("*"):
            if part.is_file():
                part.write_bytes(b"")
    with failing("index_damaged") as caught:
        embedded(folder, META)
    assert caught.value.details["reason"]
    settle(folder)
    second = embedded(folder, META, fresh=True)
    assert second.count() == 0
    second.insert([point(2)])
    assert found(second) == [2]
    second.close()


def test_a_missing_or_empty_record_of_a_whole_shard_is_written_anew(embedded: Open, folder: Path) -> None:
    first = embedded(folder, META)
    first.insert([point(1)])
    first.close()
    settle(folder)
    record = (folder / "meta.json").read_text()
    for is_empty in (False, True):
        (folder / "meta.json").unlink()
        if is_empty:
            (folder / "meta.json").touch()
        again = embedded(folder, META)
        assert found(again) == [1]
        again.close()
        assert (folder / "meta.json").read_text() == record
        settle(folder)
    settle(folder)
    (folder / "meta.json").unlink()
    (folder / "shard" / "edge_config.json").write_text("{")
    with failing("index_damaged"):
        embedded(folder, META)
    assert not (folder / "meta.json").exists()


def test_a_creation_that_was_cut_short_is_made_good(embedded: Open, folder: Path) -> None:
    (folder / "shard.new").mkdir(parents=True)
    (folder / "shard.new" / "rest").write_text("")
    (folder / "meta.json").write_text("{}")
    index = embedded(folder, META)
    index.insert([point(1)])
    assert found(index) == [1]
    index.close()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Exception("failed to build thread pool: Resource temporarily unavailable (os error 11)"), "system_limit"),
        (Exception(f"failed to load segment /{'x' * 400}: Cannot allocate memory (os error 12)"), "system_limit"),
        (Exception("failed to load segment: Out of memory, free: 20863901696, IO Error: Failed"), "system_limit"),
        (OSError(23, "Too many open files in system"), "system_limit"),
        (Exception("cannot init WAL: Custom { source: Os { code: 24, kind: TooManyOpenFiles } }"), "system_limit"),
        (OSError(24, "Too many open files"), "system_limit"),
        (Exception("Input/output error (os error 5)"), "disk_error"),
        (Exception("No space left on device (os error 28)"), "disk_full"),
    ],
)
def test_what_the_system_refuses_is_no_damage(error: Exception, code: str) -> None:
    failure = as_app_error(Path("/index"), error)
    assert (type(failure), failure.code) == (BusyError, code)
    assert str(failure)


def test_a_host_that_dies_in_a_mapped_file_is_a_full_disk_only_where_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert KIND.died(tmp_path, "SIGBUS") is None, "a file is damaged"
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: SimpleNamespace(free=index_edge.SPARE_BYTES - 1))
    failure = KIND.died(tmp_path, "SIGBUS")
    assert failure is not None
    assert failure.code == "disk_full"
    assert KIND.died(tmp_path, "SIGKILL") is None


def index_with_a_point(folder: Path) -> None:
    index = EdgeIndex(folder, META)
    index.insert([point(1)])
    index.close()


def no_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_edge, "SPARE_BYTES", 2**62)


def test_without_space_for_a_new_shard_the_earlier_one_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index_with_a_point(folder)
    with monkeypatch.context() as patch:
        no_space(patch)
        with failing("disk_short", BusyError):
            EdgeIndex(folder, META, fresh=True)
        index = EdgeIndex(folder, META)
        with failing("disk_short", BusyError) as caught:
            index.stage()
        assert re.search(r"needs [\d.]+ TB of free space, and [\d.]+ [GT]B are free", caught.value.message)
        with pytest.raises(BusyError):
            index.clear(meta={"analyzer": "another"})
    assert found(index) == [1]
    index.close()


def test_deleting_needs_no_space(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = EdgeIndex(folder, META)
    index.insert([point(1, video="a"), point(2, video="b"), point(3, video="c")])
    no_space(monkeypatch)
    index.delete_videos(["a", "b", "nowhere"])
    assert found(index) == [3]
    index.delete_videos(["c"])
    assert index.count() == 0
    index.close()


def test_a_staged_index_takes_the_place_of_the_earlier_one(embedded: Open, folder: Path) -> None:
    index = embedded(folder, META)
    index.insert([point(1)])
    assert isinstance(index, StagingIndex)
    staged = index.stage()
    staged.insert([point(2), point(3)])
    assert found(index) == [1]
    index.adopt(staged)
    assert found(index) == [2, 3]
    assert not [name for name in ("next", "shard.old") if (folder / name).exists()]
    index.close()


def test_a_staged_index_that_is_discarded_leaves_nothing(embedded: Open, folder: Path) -> None:
    index = embedded(folder, META)
    index.insert([point(1)])
    assert isinstance(index, StagingIndex)
    staged = index.stage()
    staged.discard()
    assert (found(index), (folder / "next").exists()) == ([1], False)
    index.close()


def test_an_adoption_that_was_cut_short_is_completed(folder: Path) -> None:
    index_with_a_point(folder)
    index_with_a_point(folder / "next")
    (folder / "next" / "complete").touch()
    (folder / "shard").rename(folder / "shard.old")
    index = EdgeIndex(folder, META)
    assert (found(index), (folder / "shard.old").exists(), (folder / "next").exists()) == ([1], False, False)
    index.close()


def test_a_shard_that_was_moved_away_alone_comes_back(folder: Path) -> None:
    index_with_a_point(folder)
    (folder / "shard").rename(folder / "shard.old")
    index = EdgeIndex(folder, META)
    assert found(index) == [1]
    index.close()


def test_the_shard_of_a_killed_rebuild_is_deleted(folder: Path) -> None:
    index_with_a_point(folder)
    index_with_a_point(folder / "next")
    EdgeIndex(folder, META).close()
    assert not (folder / "next").exists()
