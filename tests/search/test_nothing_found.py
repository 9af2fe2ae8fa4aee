"""What nobody says is not found: neither pieces of words nor particles nor letters inside other words carry a scene."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.search.evidence import Coverage, focus
from subtitle_rag.search.fusion import Candidates, Ranked, carried
from subtitle_rag.search.own_words import BORROWED
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import SearchResult
from subtitle_rag.search.suggestions import suggest_queries
from tests.support.cases import cases
from tests.support.searchable import Searchable, video

TALK = video("talk0000001", "퇴근길 이야기")
DESK = video("desk0000001", "책상 정리")
TALKS = {
    TALK: [
        ["이력서를 pdf 로 냈어요", "점수는 5점이에요"],
        ["더 걸어가면 이기는 거예요", "도서관에서 만났어요"],
        ["일을 이루어 냈어요"],
        ["골짜기로 내려가면 물소리가 커요"],
        ["가슴을 찌를 듯한 말이었어요"],
    ],
    DESK: [
        ["양념치킨을 시켜 놓고 서랍을 비웠어요"],
        ["마이크를 새로 달고 녹음을 했어요", "녹음 버튼을 눌러요"],
        ["의자 높이를 맞추면 허리가 덜 아파요"],
        ["시뮬레이션 게임을 켜 두었어요"],
    ],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Iterator[Searchable]:
    made = Searchable(tmp_path_factory.mktemp("nothing"), analyzer, TALKS)
    yield made
    made.close()


def find(made: Searchable, query: str) -> SearchResult:
    return made.searcher.search(parse_query(query))


@cases(
    "query",
    [
        "hdf5",  # pdf and 5
        "GIL",  # letters, not the sound 찌를
        "레더",  # 더
        "경복궁에서",  # 에서
        "민주주의에서",
        "루어",  # inside 이루어
        "김치찌개 끓이기",
        "제주도 렌터카 예약",
        "고양이 중성화 의자",  # one of three words is said
    ],
)
def test_what_nobody_says_is_not_found(made: Searchable, query: str) -> None:
    result = find(made, query)
    assert [scene.text for scene in result.scenes] == []
    assert not result.more


@cases(
    ("query", "said"),
    [
        ("치킨", "양념치킨"),  # a compound says its parts
        ("도서관에서", "도서관"),
        ("계곡", "골짜기"),  # related
        ("녹음 버튼", "버튼"),
        ("의자 높이 조절", "높이"),  # most of it
    ],
)
def test_what_is_said_in_whatever_form_is_found(made: Searchable, query: str, said: str) -> None:
    assert said in find(made, query).scenes[0].text


def test_a_word_that_nobody_says_is_missing_in_every_scene(made: Searchable) -> None:
    scenes = find(made, "의자 높이 제브라우드").scenes
    assert scenes
    for scene in scenes:
        assert ("제브라우드", "missing", "") in scene.words


def test_a_slip_in_a_long_word_is_the_word_that_somebody_says(made: Searchable) -> None:
    scenes = find(made, "의자 시물레이션").scenes
    assert {("시물레이션", "sound", "시뮬레이션"), ("시물레이션", "missing", "")} == {
        scene.words[1] for scene in scenes
    }


def test_a_window_is_carried_by_what_is_said_beside_it() -> None:
    ranked = [Ranked(f"w{at}", "v", at, 1.0, {}) for at in range(4)]
    positions = {entry.window_id: (entry.video_id, entry.ordinal) for entry in ranked}
    evidence = {entry.window_id: Coverage(BORROWED, 0.0, False) for entry in ranked}
    candidates = Candidates(positions=positions, evidence=evidence | {"w1": Coverage(BORROWED, 0.8, True)})
    assert [entry.window_id for entry in carried(ranked, candidates)] == ["w0", "w1", "w2"]


def test_a_query_without_scenes_is_offered_without_what_nobody_says(made: Searchable) -> None:
    offers = suggest_queries(made.searcher, made.library, "고양이 중성화 의자")
    assert [(each.kind, each.query, each.changed) for each in offers] == [("words", "의자", "고양이 중성화")]
    assert offers[0].scenes == 1


def test_a_short_query_ends_where_other_videos_say_only_its_commoner_word() -> None:
    shares = {"both": 1.0, "same talk": 0.2, "rare": 0.7, "common": 0.3}
    videos = {"both": "a", "same talk": "a", "rare": "b", "common": "c"}
    ranked = [Ranked(id, videos[id], at * 5, 1.0 - at / 10, {}) for at, id in enumerate(shares)]
    candidates = Candidates(
        positions={entry.window_id: (entry.video_id, entry.ordinal) for entry in ranked},
        evidence={id: Coverage(BORROWED, 0.6, is_enough=True, focus=shares[id]) for id in shares},
    )
    assert [entry.window_id for entry in carried(ranked, candidates)] == ["both", "same talk", "rare"]
    assert carried(ranked, replace(candidates, is_question=True)) == ranked
    little = {id: each._replace(focus=each.focus * 0.4) for id, each in candidates.evidence.items()}
    assert carried(ranked, replace(candidates, evidence=little)) == ranked


def test_a_common_word_of_a_description_carries_its_windows() -> None:
    assert focus([1.0, 0.3], [0.0, 1.0]) == pytest.approx(0.083, abs=0.001)
    assert focus([1.0, 0.3, 0.3, 0.3, 0.3], [0.0, 1.0, 0.0, 0.0, 0.0]) == 1.0
