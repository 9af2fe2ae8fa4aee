"""Days, months and years as they are typed: 2024-01-31, 2024.1.31, 2024년 1월, 작년, 지난달."""

import re
from calendar import monthrange
from datetime import date, timedelta

Period = tuple[date, date]
"""The first and the last day."""

_NUMBERS = re.compile(
    r"(?P<year>\d{4})(?:[-./년](?:(?P<month>\d{1,2})(?:[-./월](?:(?P<day>\d{1,2})[.일]?)?)?)?)?", re.ASCII
)
_AGO = re.compile(r"(\d{1,4})(일|주일?|개월|달|년)전", re.ASCII)
_DAYS = {"오늘": 0, "today": 0, "어제": 1, "yesterday": 1, "그제": 2, "그저께": 2}
_WEEKS = {"이번주": 0, "thisweek": 0, "지난주": 1, "저번주": 1, "lastweek": 1}
_MONTHS = {"이번달": 0, "이달": 0, "thismonth": 0, "지난달": 1, "저번달": 1, "lastmonth": 1, "지지난달": 2}
_YEARS = {"올해": 0, "금년": 0, "thisyear": 0, "작년": 1, "지난해": 1, "lastyear": 1, "재작년": 2}


def period(typed: str, today: date) -> Period | None:
    """Return the days that a text names, None if it names none; spaces do not count. A week begins on Monday."""
    text = "".join(typed.lower().split())
    try:
        if match := _NUMBERS.fullmatch(text):
            month, day = (int(part) if part else None for part in match.group("month", "day"))
            return _of_numbers(int(match["year"]), month, day)
        if len(text) == 8 and text.isascii() and text.isdigit():
            return date.fromisoformat(text), date.fromisoformat(text)
        if match := _AGO.fullmatch(text):
            return _ago(int(match[1]), match[2], today)
        return _named(text, today)
    except (ValueError, OverflowError):  # no such day
        return None


def _of_numbers(year: int, month: int | None = None, day: int | None = None) -> Period:
    first = date(year, 1 if month is None else month, 1 if day is None else day)
    if day is not None:
        return first, first
    last_month = 12 if month is None else month
    return first, date(year, last_month, monthrange(year, last_month)[1])


def _ago(count: int, unit: str, today: date) -> Period:
    if unit in ("일", "주", "주일"):
        day = today - timedelta(days=count * (1 if unit == "일" else 7))
        return day, day
    first, last = _month(today, count * (12 if unit == "년" else 1))
    day = first.replace(day=min(today.day, last.day))
    return day, day


def _named(text: str, today: date) -> Period | None:
    if text in _DAYS:
        day = today - timedelta(days=_DAYS[text])
        return day, day
    if text in _WEEKS:
        monday = today - timedelta(days=today.weekday() + 7 * _WEEKS[text])
        return monday, monday + timedelta(days=6)
    if text in _MONTHS:
        return _month(today, _MONTHS[text])
    if text in _YEARS:
        return _of_numbers(today.year - _YEARS[text])
    return None


def _month(today: date, ago: int) -> Period:
    months = today.year * 12 + today.month - 1 - ago
    return _of_numbers(months // 12, months % 12 + 1)
