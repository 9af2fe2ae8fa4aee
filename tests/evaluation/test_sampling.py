"""Which windows questions are made of."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.values import Window
from subtitle_rag.evaluation.sampling import MIN_DISTANCE, MULTI, SHARES, Candidate, candidates, drawn_videos, quotas
from subtitle_rag.korean.morphemes import Analyzer
from tests.contexts.desk import talk
from tests.evaluation.making_desk import library_of
from tests.support.searchable import Searchable, video as talking


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Iterator[Searchable]:
    talks = library_of(tmp_path_factory.mktemp("talks"), analyzer, videos=4, minutes=9)
    yield talks
    talks.close()


def drawn(talks: Searchable, kind: str = "simple", seed: int = 7) -> list[Candidate]:
    return list(candidates(talks.library, kind, seed))


@given(st.integers(1, 500))
def test_quotas_make_the_count_and_keep_the_shares(count: int) -> None:
    assert quotas(100) == {"simple": 40, "reasoning": 20, MULTI: 40}  # as in the seed article
    listed = quotas(count)
    assert sum(listed.values()) == count
    assert all(abs(listed[kind] - share * count) < 1 for kind, share in SHARES.items())


def test_every_window_is_drawn_once(talks: Searchable) -> None:
    listed = drawn(talks)
    assert len({candidate.ids for candidate in listed}) == len(listed) == 4 * 9


def test_the_same_seed_draws_the_same_and_another_another(talks: Searchable) -> None:
    assert [candidate.ids for candidate in drawn(talks)] == [candidate.ids for candidate in drawn(talks)]
    assert [candidate.ids for candidate in drawn(talks)] != [candidate.ids for candidate in drawn(talks, seed=8)]
    assert [candidate.ids for candidate in drawn(talks)] != [candidate.ids for candidate in drawn(talks, "reasoning")]


def test_channels_videos_and_parts_take_turns(talks: Searchable) -> None:
    listed = drawn(talks)
    assert {candidate.video.channel for candidate in listed[:2]} == {"느린 부엌", "숲속 작업실"}
    assert len({candidate.video.id for candidate in listed[:4]}) == 4
    for video_id in {candidate.video.id for candidate in listed}:
        parts = [candidate.windows[0].ordinal // 3 for candidate in listed if candidate.video.id == video_id]
        assert sorted(parts[:3]) == [0, 1, 2]


def test_pairs_are_two_windows_of_one_video_that_no_search_merges(talks: Searchable) -> None:
    listed = drawn(talks, MULTI)
    assert len(listed) > 4
    assert len({candidate.ids for candidate in listed}) == len(listed)
    for candidate in listed:
        first, second = candidate.windows
        assert first.video_id == second.video_id == candidate.video.id
        assert second.ordinal - first.ordinal >= MIN_DISTANCE


def test_spanning_pairs_are_windows_of_two_videos(talks: Searchable) -> None:
    pairs = list(candidates(talks.library, MULTI, 7, spanning=True))

    assert len(pairs) == 4 * 9
    for pair in pairs:
        assert pair.windows[0].video_id != pair.windows[1].video_id
        assert [video.id for video, _name in pair.videos] == [window.video_id for window in pair.windows]
    assert [pair.ids for pair in pairs] == [p.ids for p in candidates(talks.library, MULTI, 7, spanning=True)]


def test_a_spanning_pair_speaks_of_the_same_things(tmp_path: Path, analyzer: Analyzer) -> None:
    minutes = {talking(f"talk-{name}"): [list(minute) for minute in talk(4, seed=at)] for at, name in enumerate("abc")}
    first, _second, third = minutes.values()
    first[1] = third[2] = ["메밀가루 반죽에 소금과 들기름을 넣고 방망이로 밀어서 칼로 썰었어요"] * 3
    talks = Searchable(tmp_path / "data", analyzer, minutes)
    try:
        pairs = {
            tuple((window.video_id, window.ordinal) for window in pair.windows)
            for pair in candidates(talks.library, MULTI, 7, spanning=True)
        }
    finally:
        talks.close()
    assert (("talk-a", 1), ("talk-c", 2)) in pairs


def test_one_video_has_no_spanning_pairs(talks: Searchable) -> None:
    assert not list(candidates(talks.library, MULTI, 7, {"talk-0"}, spanning=True))


def test_videos_are_drawn_by_the_seed(talks: Searchable) -> None:
    assert len(drawn_videos(talks.library, 2, 7)) == 2
    assert drawn_videos(talks.library, 2, 7) == drawn_videos(talks.library, 2, 7)
    assert len({drawn_videos(talks.library, 2, seed) for seed in range(20)}) > 2
    assert len(drawn_videos(talks.library, 9, 7)) == 4
    only = drawn_videos(talks.library, 2, 7)
    assert {candidate.video.id for candidate in candidates(talks.library, "simple", 7, only)} == set(only)


def test_a_pair_speaks_of_the_same_things(tmp_path: Path, analyzer: Analyzer) -> None:
    minutes = [list(minute) for minute in talk(6, words=3)]
    minutes[0] = minutes[4] = ["메밀가루 반죽에 소금과 들기름을 넣고 방망이로 밀어서 칼로 썰었어요"] * 3
    talks = Searchable(tmp_path / "data", analyzer, {talking("talk-a"): minutes})
    try:
        pairs = {
            tuple(window.ordinal for window in candidate.windows) for candidate in candidates(talks.library, MULTI, 7)
        }
    finally:
        talks.close()
    assert (0, 4) in pairs


def test_windows_of_few_words_and_videos_of_one_window_are_left_out(tmp_path: Path, analyzer: Analyzer) -> None:
    quiet = [["네"] * 9, *talk(1)]
    talks = Searchable(tmp_path / "data", analyzer, {talking("talk-a"): quiet})
    try:
        assert [candidate.windows[0].ordinal for candidate in candidates(talks.library, "simple", 7)] == [1]
        assert list(candidates(talks.library, MULTI, 7)) == []
    finally:
        talks.close()


def test_windows_are_read_when_their_video_has_its_turn(talks: Searchable, monkeypatch: pytest.MonkeyPatch) -> None:
    video_ids: list[str] = []
    read = talks.library.windows_of

    def noted(video_id: str) -> list[Window]:
        video_ids.append(video_id)
        return read(video_id)

    monkeypatch.setattr(talks.library, "windows_of", noted)
    list(islice(candidates(talks.library, "simple", 7), 2))
    assert len(video_ids) == 2
