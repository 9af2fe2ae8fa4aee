"""Query language: words, phrases, exclusions and filters.

    치킨 소스 "찍어 먹" -광고 channel:느긋한식탁 after:2026-01-01 kind:short

Filters accept days, months and years as people type them (`periods`). Between words they stay words, and are offered as
a filter. No query is a pattern or a program: all characters outside this syntax are text.
"""

import re
from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import MAX_TYPED, tidy
from subtitle_rag.base.i18n import _
from subtitle_rag.korean.periods import OpenPeriod, find_uploads, parse_period

MAX_LENGTH = 1_000
"""Longest query, in characters."""

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


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `text` has the words and phrases; it is empty for a query of speakers only."""

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
class PeriodOffer:
    """A filter by date that words of a query may mean."""

    typed: str
    """The words as typed."""
    after: date | None
    """None without a beginning: 2020년까지."""
    before: date | None
    """None without an end: 작년부터."""
    query: str
    """The query with the filter instead of the words."""

    @property
    def sentence(self) -> str:
        """The offer as text: → 2024년 10월에 올라온 것만."""
        if self.after is None:
            return _("→ only what was uploaded up to {day}").format(day=self.before)
        if self.before is None:
            return _("→ only what was uploaded from {day} on").format(day=self.after)
        return _("→ only what was uploaded in {period}").format(period=_period_text(self.after, self.before))


def _period_text(first: date, last: date) -> str:
    if first == last:
        return first.isoformat()
    if first.day > 1 or last.day < monthrange(last.year, last.month)[1]:
        return f"{first}–{last}"
    if first.year == last.year and (first.month, last.month) == (1, 12):
        return _("{year} (year)").format(year=first.year)
    if (first.year, first.month) == (last.year, last.month):
        return _("{year}/{month} (month)").format(year=first.year, month=first.month)
    return f"{first:%Y-%m}–{last:%Y-%m}"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a query: a filter if `name` is set (in English), else a word or a phrase.

    An empty `value` is still to be typed. `start` and `end` are offsets into the tidied text.
    """

    name: str
    typed_name: str
    value: str
    minus: bool
    quoted: bool
    start: int
    end: int


def parse_query(raw: str) -> Query:
    """Parse a query.

    Raises:
        UsageError: `empty_query`, `query_too_long`, `bad_value`, `unknown_value`, `excluded_filter`.
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
        if not part.value:  # an unfinished filter
            continue
        if part.name in ("after", "before"):
            days[part.name] = parse_day(part.name, part.value, label=part.typed_name)  # type: ignore[arg-type]
            continue
        value = kind_named(part.value) if part.name == "kind" else part.value
        values[part.name or ("excluded" if part.minus else "text")].append(value)
        if part.quoted and not (part.name or part.minus):
            values["phrase"].append(value)
    text = " ".join(values["text"])
    if not any(character.isalnum() for character in text) and not values["speaker"]:
        raise UsageError("empty_query")
    phrases, excluded, channels, videos, kinds, speakers = map(
        tuple, (values[name] for name in ("phrase", "excluded", "channel", "video", "kind", "speaker"))
    )
    after, before = days.get("after"), days.get("before")
    return Query(typed, text, phrases, excluded, channels, videos, after, before, kinds, speakers)


def query_parts(tidied: str) -> Iterator[Part]:
    """Yield the parts of a tidied text, in order."""
    for match in _PART.finditer(tidied.translate(_QUOTED)):
        typed_name = match["name"] or ""
        name = typed_name.lower()
        value = " ".join((match["phrase"] or match["day"] or match["word"] or "").split())
        is_sign = value == "&" and not (name or match["minus"])  # of R & D
        if not (is_sign or any(character.isalnum() for character in value)):
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
    """Parse a query and add filters to its own.

    Args:
        text: The query as typed.
        channels: Channels by name or id.
        videos: Videos by title or id.
        after: The first day; replaces the query's own.
        before: The last day; replaces the query's own.
        kinds: Kinds of video.
        speakers: Names of speakers.

    Returns:
        The query with all filters.

    Raises:
        UsageError: `bad_value`, `unknown_value`, and the errors of `parse_query`.
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
    """Parse a filter's day; a month or year gives its first day, or its last for `before`.

    An error names the filter by `label`, as typed (이후), or else by `name`.

    Raises:
        UsageError: `bad_value`.
    """
    days = parse_period(value, today or date.today())
    if days is None:
        raise UsageError(
            "bad_value", value=value, kind=_("date for {name}").format(name=label or name), form="2026-05-31"
        )
    return days[name == "before"]


def kind_named(value: str) -> str:
    """Parse a filter's kind (`Video.kind`); raises UsageError `unknown_value`."""
    try:
        return _KINDS[tidy(value).lower()]
    except KeyError:
        raise UsageError("unknown_value", kind=_("kind of video"), name=value, known="video, short, stream") from None


def offer_period(typed: str, today: date | None = None) -> PeriodOffer | None:
    """Return the filter that words of a query may mean; None without such words or with a filter by date."""
    parts = list(query_parts(typed))
    today = today or date.today()
    if any(part.name in ("after", "before") for part in parts):
        return None
    words = [part for part in parts if not (part.name or part.minus or part.quoted) and part.value]
    uploads = find_uploads(typed, [(word.start, word.end) for word in words], today)
    if uploads is None:
        return None
    date_words = typed[words[uploads.first].start : words[uploads.last].end]
    return PeriodOffer(
        date_words, *uploads.period, _filtered(typed, words[uploads.first : uploads.end], uploads.period, today)
    )


def _filtered(typed: str, words: Sequence[Part], period: OpenPeriod, today: date) -> str:
    """Return the query with filters in place of these words."""
    first, last = period
    days = [day.isoformat() if day else "" for day in period]
    if (not first or first.day == 1) and (not last or last.day == monthrange(last.year, last.month)[1]):
        is_whole_year = (not first or first.month == 1) and (not last or last.month == 12)
        days = [day[: 4 if is_whole_year else 7] for day in days]
    names = ("이후", "이전") if re.search("[가-힣]", typed) else ("after", "before")
    filters = [f"{names[0]}:{days[0]}"] if first else []
    filters += [f"{names[1]}:{days[1]}"] if last and last < today else []
    return tidy(" ".join((typed[: words[0].start], typed[words[-1].end :], *filters)))
