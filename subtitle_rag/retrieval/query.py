"""The query language: words, phrases, exclusions and filters.

    치킨 소스 "찍어 먹" -광고 channel:느긋한식탁 after:2026-01-01 kind:short

Days, months and years are written as people type them: 2024-01-31, 2024.1.31, 2024년 1월, 작년, 지난달. No query is a
pattern or a program: every character outside this syntax is text.
"""

import re
from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

from subtitle_rag.domain import MAX_TYPED, UsageError, tidy

MAX_LENGTH = 1_000
"""Characters. The longest sensible query is a sentence or two."""

QUOTES = '"“”„‟″「」『』'
"""Characters read as the quotation mark."""
_PART = re.compile(
    r"""(?P<minus>(?<!\S)-(?!\d+(?:\.\d+)?[ ]?[도℃°]))?  # -10도 is a temperature
        (?:(?P<name>channel|video|after|before|kind|speaker|채널|영상|이후|이전|종류|화자):)?
        (?:"(?P<phrase>[^"]*)"
          |(?<=[rReE후전]:)(?P<day>\d{4}(?:[ ]?년[ ]?\d{1,2}월(?:[ ]?\d{1,2}일)?|\.[ ]?\d{1,2}\.[ ]?\d{1,2}\.?)
            |(?:지난|저번|이번|last|this)[ ](?:달|주|year|month|week))(?![^\s])
          |(?P<word>[^\s"]+)|(?<=:)(?!\S))  # the last: a filter only begun""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,  # ASCII: else İ would pass for the i of video
)
KOREAN = {"channel": "채널", "video": "영상", "after": "이후", "before": "이전", "kind": "종류", "speaker": "화자"}
"""Filters and their Korean names."""
KINDS = {
    "video": ("video", "videos", "영상"),
    "short": ("short", "shorts", "쇼츠"),
    "stream": ("stream", "streams", "live", "라이브", "생방송"),
}
"""The values of `Video.kind`, and their spellings."""
_QUOTED = dict.fromkeys(map(ord, QUOTES), '"')
_NAMES = {korean: name for name, korean in KOREAN.items()}
_KINDS = {word: kind for kind, words in KINDS.items() for word in words}

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


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `text` has the words and phrases, without exclusions and filters."""

    raw: str
    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None
    kinds: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a query: a filter if it has a name (in English), else a word or a phrase.

    An empty `value` is not typed yet. `start` and `end` are offsets into the tidied text.
    """

    name: str
    typed_name: str
    value: str
    minus: bool
    quoted: bool
    start: int
    end: int


def parse_query(raw: str) -> Query:
    """Read a query.

    Raises:
        UsageError: `empty_query`, `only_exclusions`, `query_too_long`, `bad_filter`, `unknown_kind`,
            `excluded_filter`.
    """
    if len(raw) > MAX_TYPED:
        raise UsageError("query_too_long", length=len(raw), limit=MAX_LENGTH)
    typed = tidy(raw)
    if len(typed) > MAX_LENGTH:
        raise UsageError("query_too_long", length=len(typed), limit=MAX_LENGTH)
    values: defaultdict[str, list[str]] = defaultdict(list)
    days: dict[str, date] = {}
    for part in query_parts(typed):
        if part.name and part.minus:
            raise UsageError("excluded_filter", name=part.typed_name)
        if not part.value:  # a filter not typed to its end
            continue
        if part.name in ("after", "before"):
            days[part.name] = parse_day(part.name, part.value, label=part.typed_name)  # type: ignore[arg-type]
            continue
        value = kind_named(part.value) if part.name == "kind" else part.value
        values[part.name or ("excluded" if part.minus else "text")].append(value)
        if part.quoted and not (part.name or part.minus):
            values["phrase"].append(value)
    text = " ".join(values["text"])
    if not any(character.isalnum() for character in text):
        raise UsageError("only_exclusions" if values["excluded"] else "empty_query")
    phrases, excluded, channels, videos, kinds, speakers = map(
        tuple, (values[name] for name in ("phrase", "excluded", "channel", "video", "kind", "speaker"))
    )
    after, before = days.get("after"), days.get("before")
    return Query(typed, text, phrases, excluded, channels, videos, after, before, kinds, speakers)


def query_parts(tidied: str) -> Iterator[Part]:
    """Yield the pieces of a tidied text, in order."""
    for match in _PART.finditer(tidied.translate(_QUOTED)):
        typed_name = match["name"] or ""
        name = typed_name.lower()
        value = " ".join((match["phrase"] or match["day"] or match["word"] or "").split())
        if not any(character.isalnum() for character in value):
            value = ""
        quoted = match["phrase"] is not None
        yield Part(_NAMES.get(name, name), typed_name, value, bool(match["minus"]), quoted, match.start(), match.end())


def parse_filtered(
    text: str,
    channels: Iterable[str] = (),
    videos: Iterable[str] = (),
    after: str | None = None,
    before: str | None = None,
    kinds: Iterable[str] = (),
    speakers: Iterable[str] = (),
) -> Query:
    """Parse a query, and add these filters to its own; the days come before its own.

    Raises:
        UsageError: `bad_filter`, `unknown_kind`, and those of `parse_query`.
    """
    query = parse_query(text)
    return replace(
        query,
        channels=(*query.channels, *map(tidy, channels)),
        videos=(*query.videos, *map(tidy, videos)),
        after=query.after if after is None else parse_day("after", after),
        before=query.before if before is None else parse_day("before", before),
        kinds=(*query.kinds, *map(kind_named, kinds)),
        speakers=(*query.speakers, *map(tidy, speakers)),
    )


def parse_day(
    name: Literal["after", "before", "since"], value: str, today: date | None = None, *, label: str = ""
) -> date:
    """Parse a filter's day: of a month or a year the first one, for `before` the last.

    A failure names the filter by `label`, as the user has typed it (이후), or by `name`.

    Raises:
        UsageError: `bad_filter`.
    """
    days = parse_period(value, today or date.today())
    if days is None:
        raise UsageError("bad_filter", name=label or name, value=value)
    return days[name == "before"]


def kind_named(value: str) -> str:
    """Parse a filter's kind (`Video.kind`); raises UsageError `unknown_kind`."""
    try:
        return _KINDS[tidy(value).lower()]
    except KeyError:
        raise UsageError("unknown_kind", value=value) from None


def parse_period(typed: str, today: date) -> Period | None:
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
