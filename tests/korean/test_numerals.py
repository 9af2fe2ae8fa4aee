"""Numbers of queries and captions in one form."""

import re

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.korean.numerals import MAX_LENGTH, number

pytestmark = pytest.mark.kiwi

UNITS = (("조", 10**12), ("억", 10**8), ("만", 10**4), ("천", 1_000), ("백", 100), ("십", 10))


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        *(("30,000", "30000"), ("30000", "30000"), ("3만", "30000"), ("삼만", "30000")),
        *(("이만오천", "25000"), ("2만5천", "25000"), ("1,300만", "13000000"), ("3.5만", "35000")),
        *(("1억2천만", "120000000"), ("일억", "100000000"), ("천", "1000"), ("십오", "15"), ("백이십", "120")),
        *(("12억5천", "1250000000"), ("일조오천", "1500000000000")),
        *(("3.7", "3.7"), ("3.50", "3.50"), ("010", "010"), ("2019", "2019")),
    ],
)
def test_every_spelling_of_a_number_has_the_same_digits(text: str, digits: str) -> None:
    assert number(text) == digits


@pytest.mark.parametrize(
    "text", ["", "하나", "일이삼", "천천", "만만", "3만30만", "1,30", "1.2.3", "9" * (MAX_LENGTH + 1)]
)
def test_other_texts_are_no_numbers(text: str) -> None:
    assert number(text) is None


@given(st.integers(1, 10**15 - 1).filter(lambda value: len(spelled(value)) <= MAX_LENGTH and not is_short(value)))
def test_a_spelled_number_is_the_number(value: int) -> None:
    assert number(spelled(value)) == number(str(value)) == number(f"{value:,}") == str(value)


def is_short(value: int) -> bool:
    """Return whether people mean more by its words: 일억 오천 is 150,000,000."""
    return re.search("[조억](?:[일이삼사오육칠팔구]?[천백]){1,2}$", spelled(value)) is not None


def spelled(value: int) -> str:
    """Return the number in Hangul, as it is read aloud."""
    for unit, scale in UNITS:
        if value >= scale:
            count, rest = divmod(value, scale)
            return ("" if count == 1 and scale < 10**4 else spelled(count)) + unit + spelled(rest)
    return "" if value == 0 else "일이삼사오육칠팔구"[value - 1]


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("3만 원", ("30000", "원")),
        ("삼 만원", ("30000", "원")),
        ("2만 5천 원", ("25000", "원")),
        ("30,000원이에요", ("30000", "원")),
        ("1 2 3", ("1", "2", "3")),
        ("3만 30만", ("30000", "300000")),
        ("백 원짜리", ("100", "원")),
        ("010-1234-5678", ("010-1234-5678",)),
        ("500g", ("500", "그램")),
        ("오백 그램", ("500", "그램")),
        ("100 m 달리기", ("100", "미터", "달리기")),
        ("100M 달리기", ("100", "m", "달리기")),
        ("m 사이즈", ("m", "사이즈")),
    ],
)
def test_numerals_that_make_a_number_are_one_morpheme(analyzer: Analyzer, text: str, forms: tuple[str, ...]) -> None:
    (analysis,) = analyzer.morphemes([text])
    assert analysis.forms == forms


def test_the_morpheme_stands_where_the_number_is(analyzer: Analyzer) -> None:
    text = "오늘은 2만 5천 원만"
    (analysis,) = analyzer.morphemes([text])
    at = analysis.forms.index("25000")
    assert text[analysis.starts[at] : analysis.ends[at]] == "2만 5천"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        *(("스물다섯이라는 나이가", "25"), ("서른이 되면", "30"), ("설탕은 이분의 일만 넣어요", "1/2")),
        *(("일 점 오 리터를 부어요", "1.5리터"), ("영점오 초 만에 끝났어요", "0.5초"), ("파이썬 삼점칠은", "3.7")),
        *(("1시간 30분이나 걸렸어요", "1.5시간"), ("한 시간 삼십 분 구워요", "1.5시간"), ("1주일", "1주")),
    ],
)
def test_numerals_are_read_where_nothing_or_a_part_is_counted(analyzer: Analyzer, text: str, form: str) -> None:
    assert form in next(analyzer.morphemes([text])).forms


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("쉰 음식은 버려요", "50"),
        ("백점이 되었다", "100.2"),
        ("구십 점 이상만 뽑아요", "90.2"),
        ("이점이 있어요", "2.2"),
        ("열하고 땀이 나요", "11"),
    ],
)
def test_ordinary_words_are_no_numerals(analyzer: Analyzer, text: str, form: str) -> None:
    assert form not in next(analyzer.morphemes([text])).forms
