"""Windows that say all typed words come before those that borrow some of them."""

from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.contexts.context_file import given_context
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.search.evidence import Coverage, is_enough
from subtitle_rag.search.fusion import Ranked
from subtitle_rag.search.own_words import (
    BORROWED,
    IN_TEXT,
    SAID_SHARE,
    WITH_CONTEXT,
    OwnWords,
    own_words_first,
)
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.window_reads import Windows
from tests.support.searchable import Searchable, video

TITLED = video("titled00001", "소스 비교 먹방")
SPOKEN = video("spoken00001", "일상")
VIDEOS = {
    TITLED: [["치킨 통닭 치킨 통닭 치킨을 먹어요", "치킨 치킨"], ["오늘 하루"]],
    SPOKEN: [["산책을 했어요"], ["치킨을 샀는데", "소스가 맛있더라고요"], ["강아지가 치킨을 봤어요"]],
    **{
        video(f"other{number:06d}", f"산책 {number}"): [["나무 사이를 걸어요"], ["바람이 불어요"]]
        for number in range(20)
    },
}


def places(made: Searchable, query: str) -> list[tuple[str, int]]:
    return [(entry.video_id, entry.ordinal) for entry in made.searcher.rank(parse_query(query))]


@pytest.mark.parametrize("query", ["치킨 소스", "소스 치킨", "치킨이랑 소스", "치킨 소스 장면"])
def test_a_window_that_says_both_words_comes_before_one_that_has_one_in_its_title(made: Searchable, query: str) -> None:
    assert places(made, query)[0] == (SPOKEN.id, 1)


@pytest.mark.parametrize(("share", "first"), [(0.2, "scored"), (0.8, "fuller")])
def test_among_windows_that_borrow_a_better_score_or_more_of_the_query_comes_first(share: float, first: str) -> None:
    ranked = [Ranked("scored", "v", 0, 1.0, {}), Ranked("fuller", "v", 5, 0.95, {})]
    evidence = {
        id: Coverage(BORROWED, of_window, True, SAID_SHARE * of_window)
        for id, of_window in (("scored", 0.2), ("fuller", share))
    }
    assert own_words_first(ranked, evidence)[0].window_id == first


def test_a_window_has_as_much_of_a_query_as_it_says_and_its_context_and_title_name(
    tmp_path: Path, analyzer: Analyzer
) -> None:
    made = Searchable(tmp_path, analyzer, VIDEOS)
    ids = [window.id for each in VIDEOS for window in made.library.windows_of(each.id)]
    both, chicken = (made.library.windows_of(SPOKEN.id)[at].id for at in (1, 2))
    first = made.library.windows_of(TITLED.id)[0].id

    def evidence(query: str) -> dict[str, Coverage]:
        return OwnWords(QueryAnalyzer(made.library, analyzer).analyze(query), Windows(made.library)).of(ids)

    found = evidence("치킨 소스")
    assert {id for id, each in found.items() if each.rank == IN_TEXT} == {both}
    assert found[both].share == found[first].share == 1.0, "its title names the sauce"
    assert 0 < found[chicken].share < 0.5
    unknown = evidence("치킨 우주선 외계인")
    assert {each.rank for each in unknown.values()} == {BORROWED}
    assert not any(each.is_enough for each in unknown.values())
    assert not any(each.is_enough for each in evidence("치킨 우주선").values()), "three windows say it"
    half = evidence("강아지 우주선").values()
    assert any(each.is_enough for each in half), "one rare word of two is said"
    assert not any(each.is_certain for each in half)
    made.library.contexts.put(given_context(chicken, "우주선 이야기"))
    told = evidence("치킨 우주선")
    assert {id: each.rank for id, each in told.items() if each.rank != BORROWED} == {chicken: WITH_CONTEXT}
    assert told[chicken].is_enough
    made.close()


def test_a_common_word_beside_one_that_nobody_says_is_not_enough() -> None:
    assert is_enough([0.7, 1.0], 0.7)
    assert not is_enough([0.7, 1.0], 0.7, has_unknown=True)
    assert is_enough([0.9, 1.0], 0.9, has_unknown=True), "a rare word is"


def test_a_common_word_of_a_title_is_no_answer_but_a_rare_one_is() -> None:
    assert not is_enough([1.0, 0.46], 0.46, [0.46], has_unknown=True)
    assert is_enough([1.0, 0.7], 0.7, [0.7], has_unknown=True)


def test_a_word_that_the_analyzer_divides_is_said_by_its_letters(made: Searchable) -> None:
    assert places(made, "강아지가 치킨")[0] == (SPOKEN.id, 2)


def test_a_whole_word_inside_another_comes_before_relatives_of_its_parts(tmp_path: Path, analyzer: Analyzer) -> None:
    minutes = [["꼬추장 말고 꼬치장을 넣어요", "꼬치장 꼬추장"], ["박서준 씨가 나왔어요"], ["준비를 합니다"]]
    with closing(Searchable(tmp_path, analyzer, {SPOKEN: minutes})) as made:
        assert places(made, "서준")[0] == (SPOKEN.id, 1)
        lexical = made.searcher.search(parse_query("서준")).lexical
        assert lexical is not None
        assert "장" not in lexical.related


LATIN = [["오늘은 Trindas 신발을 신었어요", "정말 가벼워요"], ["린다 씨가 트린 다스 린다 다스 린다", "다스"], ["산책"]]


@pytest.mark.parametrize("query", ["트린다스", "트린다스 신발"])
def test_what_is_said_in_the_other_alphabet_comes_before_letters_of_it(
    tmp_path: Path, analyzer: Analyzer, query: str
) -> None:
    with closing(Searchable(tmp_path, analyzer, {SPOKEN: LATIN})) as made:
        assert places(made, query)[0] == (SPOKEN.id, 0)


def test_what_is_said_as_it_is_typed_comes_before_the_other_alphabet(tmp_path: Path, analyzer: Analyzer) -> None:
    with closing(
        Searchable(tmp_path, analyzer, {SPOKEN: [*LATIN, ["길고 긴 하루 끝에 트린다스 매장에 갔어요"]]})
    ) as made:
        assert places(made, "트린다스")[0] == (SPOKEN.id, 3)


ASIDE = video("aside000001", "통닭 파는 시장")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("치킨 소스", [("치킨", "text", ""), ("소스", "text", "")]),
        ("chicken 소스", [("chicken", "sound", "치킨"), ("소스", "text", "")]),
        ("치킨 시장", [("치킨", "text", ""), ("시장", "title", "")]),
        ("치킨 할머니", [("치킨", "text", ""), ("할머니", "context", "")]),
        ("치킨 소스 우주선", [("치킨", "text", ""), ("소스", "text", ""), ("우주선", "missing", "")]),
    ],
)
def test_a_scene_tells_what_it_says_and_what_it_borrows(
    tmp_path: Path, analyzer: Analyzer, query: str, words: list[tuple[str, str, str]]
) -> None:
    with closing(
        Searchable(tmp_path, analyzer, {ASIDE: [["치킨을 사서", "소스를 뿌려요"], ["바람이 불어요"]]})
    ) as made:
        first, _second = made.library.windows_of(ASIDE.id)
        made.library.contexts.put(given_context(first.id, "할머니와 함께 간 날이다."))
        (scene,) = made.searcher.search(parse_query(query), limit=1).scenes
        assert list(scene.words) == words


def test_syllables_side_by_side_are_not_the_word(tmp_path: Path, analyzer: Analyzer) -> None:
    minutes = [["꽃이 피었고", "두 개를 땄어요", "다리 밑이에요"], ["꽃개 다리가 길어요"]]
    with closing(Searchable(tmp_path, analyzer, {SPOKEN: minutes})) as made:
        assert places(made, "꽃개 다리")[0] == (SPOKEN.id, 1)
        scenes = made.searcher.search(parse_query("꽃개")).scenes
        assert [word.source for scene in scenes for word in scene.words if scene.id == scenes[0].id] == ["text"]


def test_a_scene_that_says_one_letter_of_a_word_is_not_found(tmp_path: Path, analyzer: Analyzer) -> None:
    said = {SPOKEN: [["맵단짠 치킨이 나왔어요"]], ASIDE: [["국물이 매워서 물을 마셨어요"]]}
    with closing(Searchable(tmp_path, analyzer, said)) as made:
        scenes = {scene.video.id: scene for scene in made.searcher.search(parse_query("맵단짠 치킨")).scenes}
        assert scenes.keys() == {SPOKEN.id}, "one letter of three is chance"


def test_first_consonants_say_the_name_that_they_stand_for_in_the_letters_that_were_typed(
    tmp_path: Path, analyzer: Analyzer
) -> None:
    videos = {
        video("titled00001", "바삭골 나들이"): [["바삭골에서 치킨을 먹어요"]],
        video("titled00002", "북쪽 산길"): [["치킨을 먹어요 ㅋㅋ"]],
    }
    with closing(Searchable(tmp_path, analyzer, videos)) as made:
        first, *_rest = made.searcher.search(parse_query("ㅂㅅㄱ 치킨")).scenes
        assert [(each.word, each.source) for each in first.words] == [("ㅂㅅㄱ", "text"), ("치킨", "text")]
        scenes = made.searcher.search(parse_query("치킨 ㅋㅋ")).scenes
        assert {(each.word, each.source) for scene in scenes for each in scene.words} == {
            ("치킨", "text"),
            ("ㅋㅋ", "text"),
            ("ㅋㅋ", "missing"),
        }
