"""What a scene marks, where it jumps to, and the reason for it."""

from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.search.fusion import Ranked, RetrieverScore
from subtitle_rag.search.highlights import spans
from subtitle_rag.search.own_words import IN_TEXT, OwnWords
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.scenes import Scene, make_scenes as scenes_of
from subtitle_rag.search.window_reads import Windows
from tests.index.points import search
from tests.support.searchable import LINE_MS, Searchable, video

TALK = video("invented001", "월급날 저녁")
TITLED = video("invented002", "치킨 튀기는 날")
SPOKEN = video("invented006", "저녁 장보기")
WORDS = video("invented003", "아침 방송")
LATIN = video("invented004", "코드 읽기")
PARTED = video("invented005", "주말")
VIDEOS = {
    SPOKEN: [
        ["비가 옵니다", "우산이 없어요", "그래서 시장에 들러", "미나리를 두 단", "샀습니다", "끝"],
        ["집에 가서", "국을 끓이는데", "간을 보니까", "밍밍하길래", "미역을 더 넣고", "참기름도 넣고"],
    ],
    PARTED: [
        ["자전거를 탔어요", "바람이 좋아요", "오늘은 맑아요", "강변에 닿았어요"],
        ["바람이 좋아요", "강변에서 자전거를 세워요"],
        ["강변에 연이 떴어요"],
    ],
    LATIN: [["garage 안에 tail 명령", "taint 분석을 해요"]],
    WORDS: [
        [
            "어쿠스틱기타를 꺼내요",
            "줄을 갈고",
            "잠깐 쉬어요",
            "현관 문을 열고",
            "차를 세워요",
            "차가 먼지투성이네",
            "끝",
        ],
    ],
    TALK: [["통닭을 사 오셨어요", "종이봉투를 열고", "자리에 앉았어요", "치킨을 먹는 거예요", "하는 말이 있어요"]],
    TITLED: [["기름을 데웁니다"], ["통닭을 올립니다"]],
}


def scenes(made: Searchable, query: str) -> dict[str, Scene]:
    return {scene.video.id: scene for scene in made.searcher.search(parse_query(query)).scenes}


def test_the_jump_goes_to_the_typed_word_and_not_to_a_related_one(made: Searchable) -> None:
    scene = scenes(made, "치킨")[TALK.id]

    assert scene.at_ms in (2 * LINE_MS, 3 * LINE_MS)  # a line, or the one before it
    assert scene.reason == "said"
    assert {scene.text[a:b] for a, b in scene.highlights} == {"치킨"}, "what is said needs nothing in its place"


def test_the_jump_goes_to_the_most_typed_words_and_not_to_the_longest(made: Searchable) -> None:
    scene = scenes(made, "어쿠스틱기타 현관 차")[WORDS.id]

    assert scene.at_ms == 3 * LINE_MS
    assert {scene.text[a:b] for a, b in scene.highlights} >= {"어쿠스틱기타", "현관", "차"}


@pytest.mark.parametrize(
    ("query", "at_ms", "sentence"),
    [
        ("미나리", 2 * LINE_MS, "그래서 시장에 들러 미나리를 두 단 샀습니다"),  # the sentence begins a line earlier
        ("미역", 60_000 + 4 * LINE_MS, "미역을 더 넣고 참기름도 넣고"),  # where no sentence ends near: the line itself
        ("우산", LINE_MS, "우산이 없어요 그래서 시장에 들러"),
    ],
)
def test_a_scene_begins_with_the_sentence_around_its_match(
    made: Searchable, query: str, at_ms: int, sentence: str
) -> None:
    scene = scenes(made, query)[SPOKEN.id]

    assert scene.at_ms == at_ms
    assert scene.text[slice(*scene.sentence)] == sentence


@pytest.mark.parametrize(
    ("windows", "at_ms"),
    [
        ([0, 1], 60_000 + LINE_MS),  # the line that says both, also where it is not of the better one
        ([1, 0], 60_000 + LINE_MS),
        ([2, 1], 60_000 + LINE_MS),  # the better one says a word less
        ([2], 120_000),
    ],
)
def test_the_jump_lies_in_the_best_window_that_says_most_typed_words(
    made: Searchable, windows: list[int], at_ms: int
) -> None:
    ids = [window.id for window in made.library.windows_of(PARTED.id)]
    lexical = made.searcher.search(parse_query("자전거 강변")).lexical
    assert lexical is not None
    group = [Ranked(ids[at], PARTED.id, at, 1.0, {"bm25": RetrieverScore(1, 1.0)}) for at in windows]

    (scene,) = scenes_of(Windows(made.library), [group], lexical)

    assert scene.at_ms == at_ms


def test_a_scene_whose_title_alone_has_the_word_says_so(made: Searchable) -> None:
    scene = scenes(made, "치킨")[TITLED.id]

    assert scene.reason == "title"
    assert [TITLED.title[a:b] for a, b in scene.title_highlights] == ["치킨"]


def test_words_of_no_weight_are_not_marked_beside_others(made: Searchable) -> None:
    scene = scenes(made, "치킨 하는 말 있다 거")[TALK.id]

    assert {scene.text[a:b] for a, b in set(scene.highlights) - scene.related} == {"치킨"}


def test_words_of_no_weight_alone_are_marked(made: Searchable) -> None:
    scene = scenes(made, "하는 말")[TALK.id]

    assert {"하는", "말"} <= {scene.text[a:b] for a, b in scene.highlights}


def test_latin_letters_that_only_share_pairs_find_nothing(made: Searchable) -> None:
    assert scenes(made, "Taiga Takahashi") == {}


def test_latin_letters_that_only_share_pairs_add_nothing_to_hangul(made: Searchable) -> None:
    assert scenes(made, "Taiga 치킨").keys() == scenes(made, "치킨").keys()
    assert LATIN.id in scenes(made, "garage 치킨")


def test_a_window_that_says_the_word_comes_before_one_with_it_in_the_title(made: Searchable) -> None:
    assert [scene.video for scene in made.searcher.search(parse_query("치킨")).scenes] == [TALK, TITLED]


@pytest.mark.parametrize("word", ["소금", "먹었", "Git", "빵"])
def test_spoken_windows_are_those_that_say_the_letters_or_the_morpheme(
    tmp_path: Path, analyzer: Analyzer, word: str
) -> None:
    minutes = [
        ["소금 빵을 먹었어요"],
        ["소금빵 굽기"],
        ["GIT을 배워요"],
        ["ｇｉｔ 저장소"],
        ["많이 먹고 싶어요"],
        ["오늘도"],
    ]
    with closing(Searchable(tmp_path, analyzer, {video("v1", f"{word} 이야기"): minutes})) as made:
        lexical = QueryAnalyzer(made.library, analyzer).analyze(word)
        assert len(lexical.forms) == 1
        ids = [hit.id for hit in search(made.index, "bm25", lexical.vector, limit=50)]
        windows, analyses = made.library.windows(ids), made.library.morphemes(ids)
        spoken = {
            id
            for id, window in windows.items()
            if not lexical.forms.isdisjoint(analyses[id].forms) or spans(window.text, lexical)
        }
        evidence = OwnWords(lexical, Windows(made.library)).of(ids)
        assert {id for id, each in evidence.items() if each.rank == IN_TEXT} == spoken
