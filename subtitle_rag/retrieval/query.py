"""The query language: words, phrases, exclusions and filters.

    치킨 소스 "찍어 먹" -광고 channel:느긋한식탁 after:2026-01-01 kind:short

No query is a pattern or a program: every character outside this syntax is text.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from subtitle_rag.domain import MAX_TYPED, UsageError, tidy
from subtitle_rag.retrieval.dates import period

MAX_LENGTH = 1_000
"""Characters. The longest sensible query is a sentence or two."""

QUOTES = '"“”„‟″「」『』'
"""Characters read as the quotation mark."""
_PART = re.compile(
    r"""(?P<minus>(?<!\S)-)?
        (?:(?P<name>channel|video|after|before|kind|채널|영상|이후|이전|종류):)?
        (?:"(?P<phrase>[^"]*)"
          |(?<=[rReE후전]:)(?P<day>\d{4}(?:[ ]?년[ ]?\d{1,2}월(?:[ ]?\d{1,2}일)?|\.[ ]?\d{1,2}\.[ ]?\d{1,2}\.?)
            |(?:지난|저번|이번|last|this)[ ](?:달|주|year|month|week))(?![^\s])
          |(?P<word>[^\s"]+)|(?<=:)(?!\S))  # the last: a filter only begun""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,  # ASCII: else İ would pass for the i of video
)
KOREAN = {"channel": "채널", "video": "영상", "after": "이후", "before": "이전", "kind": "종류"}
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


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a query: a filter if it has a name (in English), else a word or a phrase.

    An empty `value` is not typed yet. `start` and `end` are offsets into the tidied text.
    """

    name: str
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
    for part in parts(typed):
        if part.name and part.minus:
            raise UsageError("excluded_filter", name=part.name)
        if not part.value:  # a filter not typed to its end
            continue
        if part.name in ("after", "before"):
            days[part.name] = day(part.name, part.value)  # type: ignore[arg-type]
            continue
        value = kind_named(part.value) if part.name == "kind" else part.value
        values[part.name or ("excluded" if part.minus else "text")].append(value)
        if part.quoted and not (part.name or part.minus):
            values["phrase"].append(value)
    text = " ".join(values["text"])
    if not any(character.isalnum() for character in text):
        raise UsageError("only_exclusions" if values["excluded"] else "empty_query")
    phrases, excluded, channels, videos, kinds = map(
        tuple, (values[name] for name in ("phrase", "excluded", "channel", "video", "kind"))
    )
    return Query(typed, text, phrases, excluded, channels, videos, days.get("after"), days.get("before"), kinds)


def parts(tidied: str) -> Iterator[Part]:
    """Yield the pieces of a tidied text, in order."""
    for match in _PART.finditer(tidied.translate(_QUOTED)):
        name = (match["name"] or "").lower()
        value = " ".join((match["phrase"] or match["day"] or match["word"] or "").split())
        if not any(character.isalnum() for character in value):
            value = ""
        quoted = match["phrase"] is not None
        yield Part(_NAMES.get(name, name), value, bool(match["minus"]), quoted, match.start(), match.end())


def day(name: Literal["after", "before", "since"], value: str, today: date | None = None) -> date:
    """Parse a filter's day: of a month or a year the first one, for `before` the last.

    Raises:
        UsageError: `bad_filter`.
    """
    days = period(value, today or date.today())
    if days is None:
        raise UsageError("bad_filter", name=name, value=value)
    return days[name == "before"]


def kind_named(value: str) -> str:
    """Parse a filter's kind (`Video.kind`); raises UsageError `unknown_kind`."""
    try:
        return _KINDS[tidy(value).lower()]
    except KeyError:
        raise UsageError("unknown_kind", value=value) from None
