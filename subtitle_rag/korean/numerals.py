"""Numbers in one form: 삼만, 3만 and 30,000 are `30000`, and 스물한 살, 이십일 세 and 21살 are `21살`.

As in Lucene's KoreanNumberFilter, the numerals of one number become one term. A number below 100 adds a second term
with its counter, because Korean counts in native numerals up to there.
"""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import NamedTuple

compiled = cache(re.compile)
"""Return a pattern, compiled at its first use: most commands analyse no text."""
TAGS = frozenset(("SN", "NR"))
"""Parts of speech of numerals."""
DIGITS = dict(zip("영공일이삼사오육륙칠팔구", (0, 0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9), strict=True))
SMALL = {"천": 1_000, "백": 100, "십": 10}
LARGE = {"조": 10**12, "억": 10**8, "만": 10**4}
TENS = {
    word: 10 * value
    for value, words in enumerate(("열", "스물 스무", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔"), start=1)
    for word in words.split()
}
ONES = {
    word: value
    for value, words in enumerate(
        ("하나 한", "둘 두", "셋 세 석 서", "넷 네 넉 너", "다섯 닷", "여섯 엿", "일곱", "여덟", "아홉"), start=1
    )
    for word in words.split()
}
"""Native numerals, alone and before counters."""
_COUNTERS = """
    원 년 개월 개 명 살 세 마리 그릇 인분 인 잔 병 봉지 장 분 시간 시 초 월 일 주 달 번 회 층 평 배 가지 판 접시 조각
    대 권 곳 줄 단계 위 등 차 호 킬로 그램 센티 미터 리터 퍼센트 프로 도 쌍 벌 켤레 포기 채 군데 사람 종류 팀 곡 편 화
    자리 박 끼 입 모금 숟갈 스푼 컵 통 팩 상자 박스 알 모 근 되 말 척 송이 그루 건 점 쪽 페이지 달러 엔 유로 위안 여
"""
COUNTERS = frozenset(_COUNTERS.split())
"""Counters of one morpheme."""
NAMED = {
    **{word: f"{days}일" for word, days in (("이틀", 2), ("사흘", 3), ("나흘", 4), ("닷새", 5), ("엿새", 6))},
    **{word: f"{days}일" for word, days in (("여드레", 8), ("아흐레", 9), ("열흘", 10), ("보름", 15))},
    "유월": "6월",
    "시월": "10월",
    "절반": "50%",
    "일주일": "1주",
}
"""Words for a counted number, and their terms."""
MAX_LENGTH = 24
"""Most characters of a number."""
COUNTED_BELOW = 100

_UNITS = frozenset({*SMALL, *LARGE})
_SAME_COUNTERS = {
    word: same.split()[0]
    for same in (
        *("살 세", "명 사람 인", "개월 달", "주 주일 주간", "번째 째", "% ％ 퍼센트 프로 퍼", "년 년생 년도 학번"),
        *("킬로 킬로그램 키로그램 키로 kg", "센티 센티미터 센치 cm", "도 ℃ °c °", "곳 군데", "박스 상자"),
        *("그램 g", "미터 m", "리터 l", "밀리 밀리리터 ml"),
    )
    for word in same.split()
}
"""Counter → its representative in terms."""
_LATIN_UNITS = {
    spelling: word
    for spellings, word in (
        *(("g", "그램"), ("kg Kg KG", "킬로"), ("m", "미터"), ("km Km KM", "킬로미터"), ("cm", "센티")),
        *(("l L ℓ", "리터"), ("ml mL ㎖", "밀리")),
    )
    for spelling in spellings.split()
}
"""Units in letters → in Hangul."""
_NO_UNITS = frozenset("GM")
"""5G is a network and 5M a size of memory."""
_UNCOUNTED = "원 년 일 월 초 인 인분 개월 회 위 등 차 호 % 도 화 박 달러 엔 유로 위안 여"
_SINO_ONLY = frozenset(_UNCOUNTED.split())
"""Counters, as in terms, that never follow a native numeral."""
_APPROXIMATE = {"한두": (1, 2), "두세": (2, 3), "서너": (3, 4), "네다섯": (4, 5), "대여섯": (5, 6), "예닐곱": (6, 7)}
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_SPELLED = "일이삼사오육륙칠팔구"
_PART = re.compile(rf"(\d+(?:\.\d+)?|[{_SPELLED}])?([천백십])|(\d+(?:\.\d+)?|[{_SPELLED}])")
_SHORTENED = re.compile(rf"(?P<before>.*)(?P<unit>[조억])(?P<rest>(?:[\d{_SPELLED}]?[천백]){{1,2}})")
_ANY_COUNTER = "|".join(sorted({*COUNTERS, *_SAME_COUNTERS}, key=len, reverse=True))
_HALF = r"\s?반(?![가-힣])|\s?반(?=[은이도만을에])|(?<=시간)\s?(?:30|삼십)\s?분"
_COUNTER = rf"(?i)\s?({_ANY_COUNTER})(?![A-Za-z])({_HALF})?"
_NATIVE = (
    rf"(?:(?P<about>{'|'.join(_APPROXIMATE)})|(?P<first>첫)|(?P<tens>{'|'.join(TENS)})?\s?(?P<ones>{'|'.join(ONES)})?)"
    rf"(?=\s?(?:{_ANY_COUNTER}))"
)
NATIVE_STARTS = frozenset(word[0] for word in (*TENS, *ONES, *_APPROXIMATE, "첫"))
_NUMERAL = rf"(?:\d+|[{_SPELLED}십백]+)"
_FRACTION = (
    rf"(?<![가-힣\d])({_NUMERAL})\s?분의\s?({_NUMERAL})(?![천백십]|만\s?(?:[\d{_SPELLED}원명]))"
    r"|(?<![\d/.])(\d{1,2})/(\d{1,2})(?![\d/])"
)
_ONE_SIGN = re.compile("[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")
_HALF_OF = r"(?<![가-힣])반(?=\s?(?:컵|잔|스푼|숟갈|개|병|마리|모|포기|근|통|봉지|그릇)(?![가-힣]))"
_BELOW_ZERO = rf"(?:(?<!\S)[-−]|(?<![가-힣])(?:영하|마이너스)\s?)({_NUMERAL}(?:\.\d+)?)\s?(?:도|℃|°)"
_DECIMAL = (
    rf"(?<![가-힣\d])([영공]|{_NUMERAL})(?:\s?점(?!이\s)\s?([\d영공{_SPELLED}]{{1,3}})(?=\s?(?:{_ANY_COUNTER}))"
    rf"|점(?!이)([\d영공{_SPELLED}]{{1,3}})(?=(?:[은는이가을를로에]|부터|까지|에서|으로|버전|이상)?(?![가-힣])))"
)
"""With a counter, or as one word: 삼점칠. 삼점이 is 3점이 just as often."""
_BARE_TENS = "|".join(word for word in TENS if word not in ("열", "쉰", "스무"))
_BARE = rf"(?P<tens>{'|'.join(TENS)})(?P<ones>하나|둘|셋|넷|다섯|여섯|일곱|여덟|아홉)|(?P<alone>{_BARE_TENS})"
"""Native numerals without a counter: 열 also means heat, and 쉰 sour."""
_BORN = rf"(?<![가-힣])([영공{_SPELLED}]{{2}})\s?(?=년생|학번)"


class Counted(NamedTuple):
    """A counted number as a term, and its place in the text."""

    form: str
    start: int
    end: int


def number(text: str) -> str | None:
    """Return the digits of a number, or None for other texts. Digits alone stay as they are: 010 and 3.50.

    12억 5천 is 12억 5천만, as people say prices.
    """
    if len(text) > MAX_LENGTH:
        return None
    text = text.replace(",", "") if _GROUPED.match(text) else text
    if _PLAIN.fullmatch(text):
        return text
    if shortened := _SHORTENED.fullmatch(text):
        text += {"조": "억", "억": "만"}[shortened["unit"]]
    value, rest = Decimal(0), text
    for unit, scale in LARGE.items():
        before, has_unit, after = rest.partition(unit)
        if has_unit:
            part = _below_ten_thousand(before) if before else Decimal(1)
            if part is None:
                return None
            value, rest = value + part * scale, after
    part = _below_ten_thousand(rest)
    return None if part is None or not text else f"{(value + part).normalize():f}"


def joins(previous: str, following: str, gap: int) -> bool:
    """Return whether a numeral may continue another one `gap` characters before: 3만 5천 and 3 만, but not 2 3."""
    return gap == 0 or (gap == 1 and (previous[-1:] in _UNITS) != (following[:1] in _UNITS))


def unit(text: str) -> str | None:
    """Return the Hangul of a unit abbreviated after a number: 그램 for the g of 500g."""
    return _LATIN_UNITS.get(text)


def same_counter(counter: str) -> str:
    """Return the representative of equal counters: 살 for 세."""
    return _SAME_COUNTERS.get(counter.lower(), counter)


def is_counted(text: str, end: int) -> bool:
    """Return whether a counter follows the number."""
    return compiled(_COUNTER).match(text, end) is not None


def counted(digits: str, text: str, start: int, end: int) -> Iterator[Counted]:
    """Yield the terms of a number with its counter: of 1998년 and 98년, 2시간 반 and 2.5시간."""
    match = compiled(_COUNTER).match(text, end)
    if match is None or match[1] in _NO_UNITS or text.startswith("분의", match.start(1)):
        return
    counter = _SAME_COUNTERS.get(match[1].lower(), match[1])
    if counter == "년" and re.fullmatch(r"(?:19|20)\d\d", digits):
        digits = digits[2:]
    if float(digits) < COUNTED_BELOW:
        yield from _terms(digits, counter, start, match)


def native(text: str, at: int) -> Iterator[Counted]:
    """Yield the terms of a native numeral with its counter: 두 시간 반, 첫 번째, 두세 명, 스물다섯."""
    if bare := compiled(_BARE).match(text, at):
        value = TENS[bare["tens"] or bare["alone"]] + ONES.get(bare["ones"], 0)
        yield Counted(str(value), at, bare.end())
    match = compiled(_NATIVE).match(text, at)
    counter = compiled(_COUNTER).match(text, match.end()) if match and match.end() > at else None
    if match is None or counter is None:
        return
    values = _APPROXIMATE.get(match["about"] or "") or (
        1 if match["first"] else TENS.get(match["tens"], 0) + ONES.get(match["ones"], 0),
    )
    unit = _SAME_COUNTERS.get(counter[1].lower(), counter[1])
    unit = {"분": "명"}.get(unit, unit)  # minutes take the other numerals
    if (
        counter[1] == "세"
        or (unit in _SINO_ONLY and counter[1] not in ("달", "사람"))
        or (values == (1,) and unit == "번")
    ):
        return
    if match["first"] and unit != "번째":
        return
    for value in values:
        yield from _terms(str(value), unit, at, counter)


def phrases(text: str) -> Iterator[Counted]:
    """Yield the terms of fractions, decimals, negative degrees and years of birth: 삼분의 일, 일 점 오, 구팔년생."""
    for signs, terms in _PHRASES.items():
        if any(sign in text for sign in signs):
            yield from terms(text)


def _fractions(text: str) -> Iterator[Counted]:
    for match in compiled(_FRACTION).finditer(text):
        below, above = (number(each) for each in ((match[1], match[2]) if match[1] else (match[4], match[3])))
        if below and above:
            yield Counted(f"{above}/{below}", *match.span())
    for match in _ONE_SIGN.finditer(text):
        yield Counted(unicodedata.normalize("NFKC", match[0]).replace("\u2044", "/"), *match.span())
    for match in compiled(_HALF_OF).finditer(text):
        yield Counted("1/2", *match.span())


def _decimals(text: str) -> Iterator[Counted]:
    for match in compiled(_DECIMAL).finditer(text):
        integer = "0" if match[1] in "영공" else number(match[1])
        if integer is not None:
            decimal = f"{integer}.{''.join(str(DIGITS.get(letter, letter)) for letter in match[2] or match[3])}"
            yield Counted(decimal, *match.span())
            yield from counted(decimal, text, match.start(), match.end())


def _degrees_below_zero(text: str) -> Iterator[Counted]:
    for match in compiled(_BELOW_ZERO).finditer(text):
        if digits := number(match[1]):
            yield Counted(f"-{digits}도", *match.span())


def _years_of_birth(text: str) -> Iterator[Counted]:
    for match in compiled(_BORN).finditer(text):
        yield Counted("".join(str(DIGITS[letter]) for letter in match[1]) + "년", *match.span())


_PHRASES = {
    ("분의", "/", "반", *"½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"): _fractions,
    ("점",): _decimals,
    ("도", "℃", "°"): _degrees_below_zero,
    ("년생", "학번"): _years_of_birth,
}
"""Signs, one of which must occur in a text, and their phrases."""


def _terms(digits: str, counter: str, start: int, match: re.Match[str]) -> Iterator[Counted]:
    digits = f"{Decimal(digits).normalize():f}"
    yield Counted(f"{digits}{counter}", start, match.end(1))
    if match[2]:
        half = "30분" if counter == "시" else f"{Decimal(digits) + Decimal('0.5')}{counter}"
        yield Counted(half, start, match.end())


def _below_ten_thousand(text: str) -> Decimal | None:
    """Return the value of 삼천오백, 3천5백 or 1300, 0 for an empty text, and None for other texts."""
    value, at, last = Decimal(0), 0, 10_000
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        digit, unit, bare_digit = part.groups()
        scale = SMALL[unit] if unit else 1
        if scale >= last:
            return None
        text_of_digit = bare_digit or digit or "1"
        value += scale * Decimal(DIGITS.get(text_of_digit, text_of_digit))
        at, last = part.end(), scale
    return value
