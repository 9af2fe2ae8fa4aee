"""Which windows questions are made of."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subtitle_rag.domain import Window
from subtitle_rag.evaluation.sampling import MIN_DISTANCE, MULTI, SHARES, Candidate, candidates, quotas
from subtitle_rag.retrieval.morphemes import Analyzer
from tests.contexts.desk import talk
from tests.evaluation.making_desk import library_of
from tests.searchable import Searchable
from tests.searchable import video as talking


@pytest.fixture
def place(tmp_path: Path, analyzer: Analyzer) -> Iterator[Searchable]:
    made = library_of(tmp_path / "data", analyzer, videos=4, minutes=9)
    yield made
    made.close()


def drawn(place: Searchable, kind: str = "simple", seed: int = 7) -> list[Candidate]:
    return list(candidates(place.library, kind, seed))


@given(st.integers(1, 500))
def test_quotas_make_the_count_and_keep_the_shares(count: int) -> None:
    found = quotas(count)
    assert sum(found.values()) == count
    assert all(abs(found[kind] - share * count) < 1 for kind, share in SHARES.items())


def test_the_shares_are_those_of_the_seed_article() -> None:
    assert quotas(100) == {"simple": 40, "reasoning": 20, MULTI: 40}


def test_every_window_is_drawn_once(place: Searchable) -> None:
    found = drawn(place)
    assert len({one.ids for one in found}) == len(found) == 4 * 9


def test_the_same_seed_draws_the_same_and_another_another(place: Searchable) -> None:
    assert [one.ids for one in drawn(place)] == [one.ids for one in drawn(place)]
    assert [one.ids for one in drawn(place)] != [one.ids for one in drawn(place, seed=8)]
    assert [one.ids for one in drawn(place)] != [one.ids for one in drawn(place, "reasoning")]


def test_channels_videos_and_parts_take_turns(place: Searchable) -> None:
    found = drawn(place)
    assert {one.video.channel for one in found[:2]} == {"느린 부엌", "숲속 작업실"}
    assert len({one.video.id for one in found[:4]}) == 4
    for video_id in {one.video.id for one in found}:
        own = [one.windows[0].ordinal // 3 for one in found if one.video.id == video_id]
        assert sorted(own[:3]) == [0, 1, 2]


def test_pairs_are_two_windows_of_one_video_that_no_search_merges(place: Searchable) -> None:
    found = drawn(place, MULTI)
    assert len(found) > 4
    assert len({one.ids for one in found}) == len(found)
    for one in found:
        first, second = one.windows
        assert first.video_id == second.video_id == one.video.id
        assert second.ordinal - first.ordinal >= MIN_DISTANCE


def test_a_pair_speaks_of_the_same_things(tmp_path: Path, analyzer: Analyzer) -> None:
    minutes = [list(minute) for minute in talk(6, words=3)]
    minutes[0] = minutes[4] = ["메밀가루 반죽에 소금과 들기름을 넣고 방망이로 밀어서 칼로 썰었어요"] * 3
    place = Searchable(tmp_path / "data", analyzer, {talking("talk-a"): minutes})
    try:
        pairs = {tuple(one.ordinal for one in found.windows) for found in candidates(place.library, MULTI, 7)}
    finally:
        place.close()
    assert (0, 4) in pairs


def test_windows_of_few_words_and_videos_of_one_window_are_left_out(tmp_path: Path, analyzer: Analyzer) -> None:
    quiet = [["네"] * 9, *talk(1)]
    place = Searchable(tmp_path / "data", analyzer, {talking("talk-a"): quiet})
    try:
        assert [one.windows[0].ordinal for one in candidates(place.library, "simple", 7)] == [1]
        assert list(candidates(place.library, MULTI, 7)) == []
    finally:
        place.close()


def test_windows_are_read_when_their_video_has_its_turn(place: Searchable, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    read = place.library.windows_of

    def noted(video_id: str) -> list[Window]:
        asked.append(video_id)
        return read(video_id)

    monkeypatch.setattr(place.library, "windows_of", noted)
    list(islice(candidates(place.library, "simple", 7), 2))
    assert len(asked) == 2
