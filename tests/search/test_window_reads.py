"""What a search keeps of the library, and for how long."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.store import Library
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.window_reads import KeptReads, Windows
from tests.support.searchable import Searchable, video

COOKING = video("invented001", "부엌")


class Rows:
    """Values by id, and what was asked of them."""

    def __init__(self) -> None:
        self.version, self.values = 0, {"a": "ah", "b": "beh"}
        self.asked: list[list[str]] = []

    def read(self, ids: Sequence[str]) -> dict[str, str]:
        self.asked.append(list(ids))
        return {id: self.values[id] for id in ids if id in self.values}

    def kept(self, most: int = 10) -> KeptReads[str]:
        return KeptReads(lambda: self.version, most, self.read)


@pytest.mark.parametrize("ids", [["a", "gone", "b"], ("a", "gone", "b"), iter(["a", "gone", "b"])])
def test_what_was_read_is_not_read_again_nor_that_it_is_missing(ids: Iterable[str]) -> None:
    rows = Rows()
    kept = rows.kept()
    assert list(kept(ids).items()) == [("a", "ah"), ("b", "beh")]
    assert kept(["gone", "a", "other"]) == {"a": "ah"}
    assert kept([]) == {}
    assert rows.asked == [["a", "gone", "b"], ["other"]]


def test_a_change_of_the_library_shows_at_once() -> None:
    rows = Rows()
    kept = rows.kept()
    kept(["a", "gone"])
    rows.version, rows.values = 1, {"gone": "back"}
    assert kept(["a", "gone"]) == {"gone": "back"}


def test_a_change_while_values_are_read_shows_at_the_next_call() -> None:
    rows = Rows()
    whole = rows.read

    def read(ids: Sequence[str]) -> dict[str, str]:
        found = whole(ids)
        rows.version, rows.values = 1, {"a": "new"}
        return found

    kept = KeptReads(lambda: rows.version, 10, read)
    assert kept(["a"]) == {"a": "ah"}
    assert kept(["a"]) == {"a": "new"}


def test_what_is_kept_does_not_grow_beyond_its_limit() -> None:
    rows = Rows()
    kept = rows.kept(most=2)
    for ids in (["a", "b", "c"], ["a"], ["a"]):
        assert kept(ids)["a"] == "ah"
    assert rows.asked == [["a", "b", "c"], ["a"]]


def test_windows_that_another_process_removes_are_gone(tmp_path: Path, analyzer: Analyzer) -> None:
    made = Searchable(tmp_path, analyzer, {COOKING: [["미역국을 끓여요"], ["새우를 볶아요"]]})
    windows = Windows(made.library)
    (scene,) = made.searcher.search(parse_query("미역국"), limit=1).scenes
    assert "미역국" in windows.letters([scene.id])[scene.id]
    assert [*windows.videos([COOKING.id]), *windows.windows([scene.id])] == [COOKING.id, scene.id]
    with closing(Library(made.library.path)) as other:
        other.remove_videos([COOKING.id])
    assert not {**windows.letters([scene.id]), **windows.videos([COOKING.id]), **windows.windows([scene.id])}
    assert made.searcher.search(parse_query("미역국")).scenes == ()
    made.close()
