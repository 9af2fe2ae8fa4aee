"""What the library knows of neural vectors: which windows have them, which are due, and whose are searched."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import pytest

from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.library.store import Library
from subtitle_rag.library.vector_store import DueWindow, StoredVector, VectorCounts
from tests.support.invented import RULE, analysis, context, dump, track, video, windows

ONE, OTHER = "one@00000001", "other@00000002"
NAMES = {ONE: "dense-00000001", OTHER: "dense-00000002"}


def put(
    library: Library, id: str, count: int = 2, *, searchable: bool = True, raw: bytes = b"", **changes: Any
) -> None:
    own = windows(id, count)
    library.put_video(video(id, **changes), track(raw + id.encode()), own, RULE)
    if searchable:
        library.put_indexed("kiwi-1", {window.id: ("digest/", analysis("국수")) for window in own})


def write(
    library: Library, window_id: str, text: str = "국수를 삶는 장면입니다.", key: str = "key", at: int = 1
) -> None:
    made = context(window_id, window_id.split("/")[0], text, key=f"{key} {window_id}", tries=2, written_at=at)
    assert library.contexts.put(made)


def make(library: Library, ids: Sequence[str], encoder: str = ONE, key: str = "") -> list[str]:
    claim = library.vectors.claim(encoder, NAMES[encoder], ids)
    return library.vectors.note(claim, {id: f"digest/{f'{key} {id}' if key else ''}" for id in ids})


def due(library: Library, encoder: str = ONE, *selection: WindowSelection) -> list[str]:
    return [window.id for window in library.vectors.due(encoder, *selection)]


def test_a_library_without_vectors_has_none(library: Library) -> None:
    vectors = library.vectors
    assert (vectors.active(), vectors.encoders(), vectors.windows()) == (None, {}, [])
    assert vectors.videos_in_work(0, 9) == set()
    assert (vectors.due(ONE), vectors.counts(ONE), vectors.counts(None)) == ([], VectorCounts(0, 0), VectorCounts(0, 0))


def test_windows_are_due_when_they_are_searchable_the_newest_first(library: Library) -> None:
    put(library, "old", published=date(2025, 1, 1))
    put(library, "unknown")
    put(library, "new", published=date(2026, 1, 1))
    put(library, "pending", searchable=False, published=date(2026, 2, 1))
    assert due(library) == ["new/0", "new/1", "old/0", "old/1", "unknown/0", "unknown/1"]
    assert library.vectors.due(ONE)[0] == DueWindow("new/0", "new", asked=False)
    assert library.vectors.counts(ONE) == VectorCounts(8, 0)


def test_what_is_due_can_be_narrowed(library: Library) -> None:
    put(library, "a", channel_id="c1")
    put(library, "b", channel_id="c2")
    for selection in (WindowSelection(channels=("c2",)), WindowSelection(videos=("b", "absent"))):
        assert due(library, ONE, selection) == ["b/0", "b/1"]
    assert due(library, ONE, WindowSelection(channels=("c1",), videos=("b",))) == []


def test_what_was_made_is_due_no_more_for_that_encoder(library: Library) -> None:
    put(library, "a", 3)
    assert make(library, ["a/0", "a/2", "absent/0"]) == ["a/0", "a/2"]
    assert (due(library), due(library, OTHER)) == (["a/1"], ["a/0", "a/1", "a/2"])
    assert library.vectors.counts(ONE) == VectorCounts(3, 2)
    assert library.vectors.encoders() == {ONE: (NAMES[ONE], 2)}
    assert library.vectors.stored(["a/0", "a/1"]) == {"a/0": [StoredVector(NAMES[ONE], ONE, "digest/")]}
    assert library.counts().searchable == 3


def test_a_claim_is_no_vector(library: Library) -> None:
    put(library, "a")
    library.vectors.claim(ONE, NAMES[ONE], ["a/0", "a/1"])
    assert due(library) == ["a/0", "a/1"]
    assert (library.vectors.counts(ONE).made, library.vectors.windows(), library.vectors.stored(["a/0"])) == (0, [], {})


def test_a_context_that_arrives_makes_its_window_due(library: Library) -> None:
    put(library, "a")
    make(library, ["a/0", "a/1"])
    write(library, "a/1")
    assert library.vectors.due(ONE) == [DueWindow("a/1", "a", asked=True)]
    assert library.vectors.counts(ONE) == VectorCounts(2, 1)
    make(library, ["a/1"], key="key")
    assert due(library) == []
    write(library, "a/1", "다른 모델이 쓴 문맥입니다.", key="new", at=2)
    assert due(library) == ["a/1"]
    make(library, ["a/1"], key="new")
    write(library, "a/1", "", key="empty", at=3)
    assert due(library) == []
    write(library, "a/1", "같은 열쇠의 다른 문맥입니다.", key="new", at=2)
    assert due(library) == ["a/1"]


CHANGES: dict[str, Callable[[Library], object]] = {
    "leaves": lambda library: library.remove_videos(["a"]),
    "comes back": lambda library: put(library, "a", title="다른 제목"),
    "gets a context": lambda library: write(library, "a/0", "같은 열쇠의 다른 문맥입니다."),
    "is emptied": lambda library: library.forget_index(),
    "is claimed again": lambda library: library.vectors.claim(ONE, NAMES[ONE], ["a/0"]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_claim_ends_with_what_it_was_made_for(library: Library, change: Callable[[Library], object]) -> None:
    put(library, "a", 1)
    write(library, "a/0")
    claim = library.vectors.claim(ONE, NAMES[ONE], ["a/0"])
    change(library)
    assert library.vectors.note(claim, {"a/0": "digest/key a/0"}) == []
    assert library.vectors.counts(ONE).made == 0


def test_changed_captions_forget_vectors_with_their_windows(library: Library) -> None:
    put(library, "a")
    make(library, ["a/0", "a/1"])
    put(library, "a", raw=b"two")
    assert due(library) == ["a/0", "a/1"]
    assert library.vectors.encoders() == {}


def test_the_encoder_that_is_searched_is_remembered_and_others_forgotten(library: Library) -> None:
    put(library, "a")
    for encoder in (ONE, OTHER):
        make(library, ["a/0"], encoder)
    library.vectors.activate(ONE)
    assert library.vectors.active() == ONE
    library.vectors.activate(OTHER, forget=[ONE])
    assert library.vectors.active() == OTHER
    assert library.vectors.encoders() == {OTHER: (NAMES[OTHER], 1)}
    assert library.counts().searchable == 2


def test_vectors_are_redone_for_all_or_for_some(library: Library) -> None:
    for id, channel in (("a", "c1"), ("b", "c2")):
        put(library, id, channel_id=channel)
    everything = ["a/0", "a/1", "b/0", "b/1"]
    for encoder in (ONE, OTHER):
        make(library, everything, encoder)
    assert library.vectors.redo(ONE, WindowSelection(channels=("c2",))) == 2
    assert due(library) == ["b/0", "b/1"]
    assert library.vectors.redo(ONE, WindowSelection(videos=("a",))) == 2
    assert (library.vectors.redo(ONE), due(library)) == (0, everything)
    assert due(library, OTHER) == []
    assert library.counts().searchable == 4


def test_what_is_noted_can_be_put_back(library: Library) -> None:
    put(library, "a")
    make(library, ["a/0", "a/1"])
    noted = library.vectors.stored(library.vectors.windows())
    rows = dump(library.database.path)["indexed"]
    library.vectors.redo(ONE)
    library.vectors.put({**noted, "absent/0": noted["a/0"]})
    assert dump(library.database.path)["indexed"] == rows
    library.vectors.put({})


def test_the_last_contexts_tell_which_videos_are_being_written(library: Library) -> None:
    for number, id in enumerate(("a", "b", "c", "future")):
        put(library, id)
        write(library, f"{id}/0", at=1_000 + 100 * number)
    assert library.vectors.videos_in_work(1_250, 60) == {"c", "future"}
    assert library.vectors.videos_in_work(1_150, 60) == {"b", "c"}
    assert library.vectors.videos_in_work(1_000, 0) == {"a"}
    assert library.vectors.videos_in_work(9_000, 60) == set()
