"""What is negated in a query is found negated, in any wording; the plain word is no match of it."""

import pytest

from subtitle_rag.library.said_words import PlaceCount
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.reasons import FoundWord
from subtitle_rag.search.scenes import Scene
from tests.support.cases import cases
from tests.support.searchable import Searchable, video

NEGATED = video("negated0001", "가")
PLAIN = video("plain000001", "나")
VIDEOS = {
    NEGATED: [
        ["아이가 있으면 맵지 않은 치킨을 시켜요"],
        ["그 팀은 파이썬을 쓰지 않아요"],
        ["소금 없이 구워요"],
        ["물을 마시지 않으면 머리가 아파요"],
    ],
    PLAIN: [
        ["오늘은 매운 치킨 치킨 치킨을 시켜요"],
        ["우리 팀은 파이썬을 쓰는데 이유가 있어요"],
        ["소금 소금을 잔뜩 넣고 구워요"],
        ["물을 마시는 습관이 있어요"],
    ],
    **{video(f"other{number:06d}", f"뜰 {number}"): [["나무 사이를 걸어요"]] for number in range(12)},
}


def found(made: Searchable, query: str) -> tuple[Scene, ...]:
    """Return the scenes as for a question, whose list does not end where scenes say less."""
    return made.searcher.search(parse_query(query), rerank=False, is_question=True).scenes


@cases(
    ("query", "negated", "says"),
    [
        ("안 매운 치킨", "안매운", "맵지 않은"),
        ("매운 거 말고 치킨", "매운거말고", "맵지 않은"),
        ("파이썬 안쓰는 이유", "안쓰는", "쓰지 않아요"),
        ("소금 없는 거 굽기", "소금없는", "소금 없이"),
        ("물 안 마시는 습관", "안마시는", "마시지 않으면"),
    ],
)
def test_a_scene_that_says_it_negated_comes_first(made: Searchable, query: str, negated: str, says: str) -> None:
    first, *others = found(made, query)
    assert says in first.text
    assert FoundWord(negated, "text") in first.words
    assert all(FoundWord(negated, "missing") in scene.words for scene in others if scene.video.id == PLAIN.id)


def test_the_plain_word_is_neither_marked_nor_called_said(made: Searchable) -> None:
    plain = next(scene for scene in found(made, "안 매운 치킨") if scene.video.id == PLAIN.id)
    assert plain.words == (FoundWord("안매운", "missing"), FoundWord("치킨", "text"))
    assert not any("매운" in plain.text[start:end] for start, end in plain.highlights)


def test_the_whole_negation_is_marked(made: Searchable) -> None:
    first = found(made, "안 매운 치킨")[0]
    assert "맵지 않은" in {first.text[start:end] for start, end in first.highlights}


def test_the_list_of_a_negated_word_ends_before_the_plain_one(made: Searchable) -> None:
    scenes = made.searcher.search(parse_query("안 매운 치킨"), rerank=False).scenes
    assert {scene.video.id for scene in scenes} == {NEGATED.id}


@pytest.mark.parametrize("query", ["안 매운", "매운 거 말고"])
def test_a_negated_word_alone_finds_and_counts_its_own_places(made: Searchable, query: str) -> None:
    result = made.searcher.search(parse_query(query), rerank=False)
    assert [scene.video.id for scene in result.scenes] == [NEGATED.id]
    assert result.counts == PlaceCount(1, 1)


def test_a_word_that_nobody_negates_is_said_to_be_missing(made: Searchable) -> None:
    result = made.searcher.search(parse_query("치킨을 안 시켜요"), rerank=False)
    assert result.unknown_words == ("안시켜요",)
    assert all(FoundWord("안시켜요", "missing") in scene.words for scene in result.scenes)
