"""Windows of other libraries in a shared index."""

from collections.abc import Collection, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.index import Hit
from subtitle_rag.retrieval.morphemes import Analyzer
from subtitle_rag.retrieval.payload import SharedIndexWindows, to_payload
from subtitle_rag.retrieval.search import without
from tests.support.invented import RULE, track, video, window, windows

THEIRS = video("theirs00001", url="https://www.youtube.com/watch?v=theirs00001", published=date(2026, 5, 31))


class Shared:
    """The part of an index that is asked: payloads by id."""

    def __init__(self, payloads: dict[str, Any]) -> None:
        self.payloads = payloads
        self.asked: list[list[str]] = []

    def shared_payloads(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        self.asked.append(sorted(ids))
        return {id: self.payloads[id] for id in ids if id in self.payloads}


def hits(ids: Sequence[str]) -> list[Hit]:
    return [Hit(id, 1.0, {}) for id in ids]


def theirs(**changes: Any) -> dict[str, Any]:
    return {**to_payload(THEIRS, window(THEIRS.id, 3)), **changes}


@pytest.fixture
def library(tmp_path: Path) -> Any:
    with closing(Library(tmp_path / "library.db")) as opened:
        opened.put_video(video("ours0000001"), track(), windows("ours0000001", 2), RULE)
        yield opened


def test_the_library_comes_first_and_hides_what_it_once_had(library: Library, analyzer: Analyzer) -> None:
    other_cut = {**theirs(), "video": "ours0000001"}
    gone = {**theirs(), "video": "gone0000001"}
    library.put_video(video("gone0000001"), track(), windows("gone0000001", 1), RULE)
    library.remove_videos(["gone0000001"])
    index = Shared({"theirs": theirs(context="문맥"), "cut": other_cut, "gone": gone, "broken": {}})
    shared = SharedIndexWindows(library, index.shared_payloads, analyzer)
    ids = ["ours0000001/1", "theirs", "cut", "gone", "broken", "nowhere"]
    assert shared.places(hits(ids)) == {"ours0000001/1": ("ours0000001", 1), "theirs": (THEIRS.id, 3)}
    assert index.asked == [sorted(ids[1:])]
    assert shared.windows(ids).keys() == {"ours0000001/1", "theirs"}
    assert shared.contexts(ids) == {"theirs": "문맥"}
    assert shared.videos(["ours0000001", THEIRS.id, "nowhere"]).keys() == {"ours0000001", THEIRS.id}
    assert shared.morphemes(["theirs"])["theirs"].forms == ("국수", "먹")
    assert index.asked == [sorted(ids[1:])]  # once for a search


def test_nothing_is_asked_where_all_is_known(library: Library, analyzer: Analyzer) -> None:
    index = Shared({})
    assert SharedIndexWindows(library, index.shared_payloads, analyzer).places(hits(["ours0000001/0"])) == {
        "ours0000001/0": ("ours0000001", 0)
    }
    assert index.asked == []


def test_a_payload_that_comes_with_its_hit_is_not_asked_for(library: Library, analyzer: Analyzer) -> None:
    index = Shared({})
    shared = SharedIndexWindows(library, index.shared_payloads, analyzer)
    for hit in (Hit("theirs", 1.0, theirs()), Hit("theirs", 1.0, {}), Hit("broken", 1.0, {"video": "?"})):
        places = shared.places([hit])
        assert places == ({} if hit.id == "broken" else {"theirs": (THEIRS.id, 3)})
    assert index.asked == []


@pytest.mark.parametrize(
    ("words", "kept"), [(["국수를 먹"], ["b"]), (["국 수"], ["b"]), (["바다", "국수"], []), (["ABC"], ["a", "b"])]
)
def test_words_that_are_left_out(words: Sequence[str], kept: list[str]) -> None:
    known = {"a": window("v", 0, "국수를 먹었어요"), "b": window("v", 1, "바다를 봤어요")}
    assert list(without(words, {"a": ("v", 0), "b": ("v", 1), "left": ("v", 2)}, known)) == kept
