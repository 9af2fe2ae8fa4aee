"""What a query's text is made of, before any library is asked."""

from collections.abc import Callable

import pytest

from subtitle_rag.base.domain.values import Morphemes
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.korean.typed_text import TypedText

Typed = Callable[[str], TypedText]


@pytest.fixture
def typed(analyzer: Analyzer) -> Typed:
    return lambda text: TypedText.of(text, next(analyzer.morphemes([text])))


@pytest.mark.parametrize("asked", ["치킨 먹는 장면", "치킨 먹는 부분 찾아줘", "치킨 먹는 영상에서"])
def test_what_is_asked_for_is_no_part_of_it(typed: Typed, asked: str) -> None:
    text = typed(asked)
    assert text.text == "치킨 먹는"
    assert text.forms == typed("치킨 먹는").forms


@pytest.mark.parametrize(
    "asked", ["chicken이 몇 번 나와?", "chicken이 총 몇 번 언급돼", "chicken은 어디에 나와?", "chicken 나오는 장면"]
)
def test_a_question_for_places_is_what_it_asks_for(typed: Typed, asked: str) -> None:
    text = typed(asked)
    assert text.forms == ("chicken",)
    assert text.content_words == ("chicken",), "without the particle"
    assert text.words_by_form == {"chicken": "chicken"}


def test_a_query_for_a_scene_and_nothing_else_is_whole(typed: Typed) -> None:
    assert typed("거 장면").text == "거 장면"


def test_units_are_counters_after_numbers_alone(typed: Typed) -> None:
    assert typed("3만 원 가방").units == {"원"}
    assert not typed("원 모양 가방").units
    assert not typed("3만 원 원 모양").units, "once a word, always a word"


def test_units_and_light_morphemes_order_but_are_no_content(typed: Typed) -> None:
    text = typed("2000원 하는 거")
    assert "원" not in text.content
    assert "거" not in text.ranked
    assert text.without_numbers.split() == ["하는", "거"]
    assert len(text.without_numbers) == len(text.text)


def test_light_morphemes_count_where_there_are_no_others(typed: Typed) -> None:
    text = typed("그거 말이야")
    assert text.ranked == text.forms


@pytest.mark.parametrize(
    ("text", "last"), [("떡볶이 떡", "떡"), ("소스 a", ""), ("아이폰 15", ""), ("pyth", "pyth"), ("", "")]
)
def test_the_last_word_may_be_unfinished(text: str, last: str) -> None:
    assert TypedText(text, Morphemes((), (), ())).last_word == last


def test_a_syllable_of_a_longer_word_has_no_relatives() -> None:
    text = TypedText("서준 장", Morphemes(("서", "준", "장"), (0, 1, 3), (1, 2, 4)))
    assert text.words_by_form == {"서": "서준", "준": "서준", "장": "장"}
    assert text.relating == ["장"]
