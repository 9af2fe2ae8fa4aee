"""Days, months, seasons and years as people type them: 2024-01-31, 24.1.31, 작년 3월, 2024년 봄, 석 달 전, 지난 여름.

Weeks begin on Monday, winter in December. The start and the end of a year are three months each: 작년 말.
"""

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from subtitle_rag.korean.numerals import ONES, TENS, number

Period = tuple[date, date]
"""The first and the last day."""
OpenPeriod = tuple[date | None, date | None]
"""The first and last day; None if open."""

FIRST_YEAR = 2005
"""No video is older."""
MAX_DATE_WORDS = 4
"""Most words of a date: 2024년 10월 3일, 지난 석 달 동안."""
_BEHIND_DATE = re.compile(r"(?:에는|에도|에서|에|의|때|쯤|경|도)$")
"""Particles after a date."""
_UPLOADED = re.compile(r"올라온|올라왔던|올린|올렸던|업로드(?:한|된)?|공개(?:한|된)?")
_NUMBERS = re.compile(
    r"(?P<year>\d{4})(?:[-./년](?:(?P<month>\d{1,2})(?:[-./월](?:(?P<day>\d{1,2})[.일]?)?)?)?)?", re.ASCII
)
_SHORT = re.compile(r"(\d{2})([-./])(\d{1,2})\2(\d{1,2})\.?", re.ASCII)
_COUNT = rf"\d{{1,4}}|[일이삼사오육칠팔구십]+|(?:{'|'.join(TENS)})(?:{'|'.join(ONES)})?|{'|'.join(ONES)}"
_AGO = re.compile(rf"(?P<count>{_COUNT})(?P<unit>일|주일?|개월|달|년|해)전")
_RECENT = re.compile(rf"(?:최근|지난|요)(?P<count>{_COUNT})(?P<unit>일|주일?|개월|달|년|해)(?:간|동안)?")
_FROM = re.compile(r"(?P<first>.+?)(?:(?:부터|에서(?=.)|[~∼～〜–])(?P<last>.+?)?(?:까지|사이)?|이후로?)")
_UNTIL = re.compile(r"(?P<last>.+?)(?:까지|이전)")
_YEARS = {"올해": 0, "금년": 0, "thisyear": 0, "작년": 1, "지난해": 1, "lastyear": 1, "재작년": 2, "재재작년": 3}
_YEAR = rf"(?:(?P<year>(?:19|20)\d\d)년?|(?P<short>\d\d)년|(?P<named>{'|'.join(_YEARS)})|(?P<ago>{_COUNT})년전)"
_SEASONS = {"봄": 3, "여름": 6, "가을": 9, "겨울": 12}
"""Season → its first month."""
_NAMES_OF_MONTHS = "일 이 삼 사 오 유 칠 팔 구 시 십일 십이"
_MONTHS_BY_NAME = {name: at for at, name in enumerate(_NAMES_OF_MONTHS.split(), start=1)} | {"육": 6, "십": 10}
_MONTH = (
    rf"(?P<month>\d{{1,2}}|{'|'.join(sorted(_MONTHS_BY_NAME, key=len, reverse=True))})월(?:(?P<day>\d{{1,2}})일?|달)?"
)
_PART = re.compile(
    rf"{_YEAR}의?(?:{_MONTH}|(?P<season>{'|'.join(_SEASONS)})철?|(?P<half>[상하])반기|(?P<quarter>[1-4])분기"
    r"|(?P<edge>초|말))"
)
_SPELLED_YEAR = re.compile(r"(?<![가-힣])(이천[일이삼사오육칠팔구십]{0,3}|이십[일이삼사오육칠팔구])년(?!전)")
_MONTH_ALONE = re.compile(_MONTH)
_PAST = re.compile(rf"(?P<which>지난|작|올|이번)(?:해)?(?:(?P<season>{'|'.join(_SEASONS)})철?|{_MONTH})")
_DAYS = {
    "오늘": 0,
    "today": 0,
    "어제": 1,
    "yesterday": 1,
    "그제": 2,
    "그저께": 2,
    "엊그제": 2,
    "그끄저께": 3,
    "그끄제": 3,
}
_WEEKS = {"이번주": 0, "thisweek": 0, "지난주": 1, "저번주": 1, "lastweek": 1, "지지난주": 2, "저저번주": 2}
_WEEKENDS = {"이번주말": 0, "지난주말": 1, "저번주말": 1, "lastweekend": 1, "지지난주말": 2}
_MONTHS = {
    "이번달": 0,
    "이달": 0,
    "thismonth": 0,
    "지난달": 1,
    "저번달": 1,
    "lastmonth": 1,
    "지지난달": 2,
    "저저번달": 2,
}
_NATIVE_DAYS = {
    "하루": 1,
    "이틀": 2,
    "사흘": 3,
    "나흘": 4,
    "닷새": 5,
    "엿새": 6,
    "이레": 7,
    "여드레": 8,
    "아흐레": 9,
    "열흘": 10,
    "보름": 15,
}
_DAYS_SPAN = re.compile(rf"^(최근|지난|요)?({'|'.join(_NATIVE_DAYS)})(?=전|간|동안|$)")
_ENGLISH_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_ENGLISH_SEASONS = {"spring": "봄", "summer": "여름", "fall": "가을", "autumn": "가을", "winter": "겨울"}
_ENGLISH_UNITS = {"day": "일", "week": "주", "month": "개월", "year": "년"}
_ENGLISH = re.compile(
    rf"(?P<month>[a-z]{{3,9}})(?P<year>\d{{4}})|last(?P<season>{'|'.join(_ENGLISH_SEASONS)})"
    rf"|(?P<ago>\d{{1,4}})(?P<unit>{'|'.join(_ENGLISH_UNITS)})s?ago"
    rf"|(?:last|past)(?P<count>\d{{1,4}})(?P<units>{'|'.join(_ENGLISH_UNITS)})s?",
    re.ASCII,
)


def parse_period(typed: str, today: date) -> Period | None:
    """Return the days that a text names, or None; spaces do not count. 3달 전 is one day."""
    text = _squeezed(typed)
    try:
        if match := _AGO.fullmatch(text):
            return _period_before(_count(match["count"]), match["unit"], today)
        return _period(text, today)
    except (ValueError, OverflowError):  # no such day
        return None


class Uploads(NamedTuple):
    """Words of a text about days of uploads."""

    first: int
    last: int
    """The last word of the date."""
    end: int
    """The index after the last word, with 올라온 after the date included."""
    period: OpenPeriod


def find_uploads(text: str, words: Sequence[tuple[int, int]], today: date) -> Uploads | None:
    """Find the words ([start, end) in `text`) that may name days of uploads; None if no other words would remain."""
    for count in range(min(MAX_DATE_WORDS, len(words)), 0, -1):
        for first in range(len(words) - count + 1):
            last = first + count - 1
            typed = text[words[first][0] : words[last][1]]
            behind = [text[start:end] for start, end in words[last + 1 : last + 2]]
            is_sure = any(map(_UPLOADED.fullmatch, behind))
            spellings = typed, _BEHIND_DATE.sub("", typed)
            if period := next(filter(None, (uploaded_in(each, today, is_sure=is_sure) for each in spellings)), None):
                end = last + 1 + is_sure
                return Uploads(first, last, end, period) if end - first < len(words) else None
    return None


def uploaded_in(typed: str, today: date, *, is_sure: bool = False) -> OpenPeriod | None:
    """Return the days of uploads that words of a query may mean; None for other words.

    3달 전 is the whole month. Ordinary words are no periods (오늘, 24년, 3월) unless `is_sure`, because an upload is
    mentioned; a month is then the latest one that has begun. 작년부터 has no end, and 2020년 이전 no start; a span
    includes both days.
    """
    text = _squeezed(typed)
    if match := _FROM.fullmatch(text):
        first = _uploaded_within(match["first"], today, is_sure=is_sure)
        if first is None or not match["last"]:
            return (first[0], None) if first else None
        year = f"{first[0].year}년" if _MONTH_ALONE.fullmatch(match["last"]) else ""
        last = _uploaded_within(year + match["last"], today, is_sure=is_sure)
        return (first[0], last[1]) if last and last[1] >= first[0] else None
    if match := _UNTIL.fullmatch(text):
        last = _uploaded_within(match["last"], today, is_sure=is_sure)
        return (None, last[1]) if last else None
    return _uploaded_within(text, today, is_sure=is_sure)


def _uploaded_within(text: str, today: date, *, is_sure: bool) -> Period | None:
    period: Period | None
    try:
        if match := _AGO.fullmatch(text):
            period = _unit_ago(_count(match["count"]), match["unit"], today)
        elif match := _RECENT.fullmatch(text):
            period = _period_before(_count(match["count"]), match["unit"], today)[0], today
        elif is_sure and (match := _MONTH_ALONE.fullmatch(text)):
            month, day = _month_number(match["month"]), int(match["day"]) if match["day"] else None
            period = _of_numbers(today.year, month, day)
            if period[0] > today:
                period = _of_numbers(today.year - 1, month, day)
        else:
            period = None if text in _DAYS and not is_sure else _period(text, today)
    except (ValueError, OverflowError):
        return None
    return period if period and period[0].year >= FIRST_YEAR and period[0] <= today else None


def _squeezed(typed: str) -> str:
    """Return a text without spaces, with numerals of dates as digits and English dates in Korean."""
    text = "".join(typed.lower().split()).lstrip("'‘’").replace("반년", "6개월")
    text = re.sub("^올(?=[초말])", "올해", text)
    text = _DAYS_SPAN.sub(lambda match: f"{match[1] or ''}{_NATIVE_DAYS[match[2]]}일", text)
    text = _SPELLED_YEAR.sub(lambda match: f"{number(match[1])}년", text)
    return _translated(match) if (match := _ENGLISH.fullmatch(text)) else text


def _translated(match: re.Match[str]) -> str:
    if match["year"]:
        month = next((at for at, name in enumerate(_ENGLISH_MONTHS, 1) if name.startswith(match["month"])), None)
        return f"{match['year']}-{month}" if month else match[0]
    if match["season"]:
        return f"지난{_ENGLISH_SEASONS[match['season']]}"
    if match["unit"]:
        return f"{match['ago']}{_ENGLISH_UNITS[match['unit']]}전"
    return f"최근{match['count']}{_ENGLISH_UNITS[match['units']]}"


def _period(text: str, today: date) -> Period | None:
    """Return the days of one date; raises ValueError for an impossible day."""
    if match := _NUMBERS.fullmatch(text):
        month, day = (int(part) if part else None for part in match.group("month", "day"))
        return _of_numbers(int(match["year"]), month, day)
    if match := _SHORT.fullmatch(text):
        return _of_numbers(2000 + int(match[1]), int(match[3]), int(match[4]))
    if len(text) == 8 and text.isascii() and text.isdigit():
        return date.fromisoformat(text), date.fromisoformat(text)
    if match := _PART.fullmatch(text):
        return _part_of_year(match, today)
    if match := _PAST.fullmatch(text):
        return _latest(match, today)
    return _named(text, today)


def _count(text: str) -> int:
    """Return the value of a numeral; raises ValueError for other texts."""
    if text.isdigit():
        return int(text)
    if match := re.fullmatch(rf"({'|'.join(TENS)})?({'|'.join(ONES)})?", text):
        return TENS.get(match[1], 0) + ONES.get(match[2], 0)
    return int(number(text) or "")


def _of_numbers(year: int, month: int | None = None, day: int | None = None) -> Period:
    first = date(year, 1 if month is None else month, 1 if day is None else day)
    if day is not None:
        return first, first
    return first, _months(year, 12 if month is None else month, 1)[1]


def _months(year: int, month: int, count: int) -> Period:
    """Return `count` months from this one on, possibly beyond the year."""
    months = year * 12 + month - 1
    last = months + count - 1
    first_day = date(months // 12, months % 12 + 1, 1)
    return first_day, date(last // 12, last % 12 + 1, monthrange(last // 12, last % 12 + 1)[1])


def _part_of_year(match: re.Match[str], today: date) -> Period:
    if match["year"] or match["short"]:
        year = int(match["year"] or f"20{match['short']}")
    else:
        year = today.year - (_YEARS[match["named"]] if match["named"] else _count(match["ago"]))
    if match["season"]:
        return _months(year, _SEASONS[match["season"]], 3)
    if match["half"]:
        return _months(year, 1 if match["half"] == "상" else 7, 6)
    if match["edge"]:
        return _months(year, 1 if match["edge"] == "초" else 10, 3)
    if match["quarter"]:
        return _months(year, 3 * int(match["quarter"]) - 2, 3)
    return _of_numbers(year, _month_number(match["month"]), int(match["day"]) if match["day"] else None)


def _month_number(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS_BY_NAME[text]


def _latest(match: re.Match[str], today: date) -> Period:
    """Return a season or month of this year; with 지난 the last one that is over, with 작 last year's."""
    month, count = (_SEASONS[match["season"]], 3) if match["season"] else (_month_number(match["month"]), 1)
    day = match["day"] if not match["season"] else None
    year = today.year - (match["which"] == "작")
    if match["which"] == "지난" and _months(year, month, count)[1] >= today:
        year -= 1
    return _of_numbers(year, month, int(day)) if day else _months(year, month, count)


def _period_before(count: int, unit: str, today: date) -> Period:
    if unit in ("일", "주", "주일"):
        day = today - timedelta(days=count * (1 if unit == "일" else 7))
        return day, day
    first, last = _month(today, count * (12 if unit in ("년", "해") else 1))
    day = first.replace(day=min(today.day, last.day))
    return day, day


def _unit_ago(count: int, unit: str, today: date) -> Period:
    """Return the whole week, month or year `count` units ago."""
    if unit in ("년", "해"):
        return _of_numbers(today.year - count)
    if unit in ("달", "개월"):
        return _month(today, count)
    if unit == "일":
        return _period_before(count, unit, today)
    return _week(today, count)


def _named(text: str, today: date) -> Period | None:
    if text in _DAYS:
        day = today - timedelta(days=_DAYS[text])
        return day, day
    if text in _WEEKS:
        return _week(today, _WEEKS[text])
    if text in _WEEKENDS:
        monday, sunday = _week(today, _WEEKENDS[text])
        return monday + timedelta(days=5), sunday
    if text in _MONTHS:
        return _month(today, _MONTHS[text])
    if text in _YEARS:
        return _of_numbers(today.year - _YEARS[text])
    return None


def _week(today: date, ago: int) -> Period:
    monday = today - timedelta(days=today.weekday() + 7 * ago)
    return monday, monday + timedelta(days=6)


def _month(today: date, ago: int) -> Period:
    months = today.year * 12 + today.month - 1 - ago
    return _of_numbers(months // 12, months % 12 + 1)
