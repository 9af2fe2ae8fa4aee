"""What a user typed, as a request: words, phrases, exclusions and filters.

    치킨 소스 "찍어 먹" -광고 channel:느긋한식탁 after:2026-01-01

Nothing of it is ever a pattern or a program: every character that is not part of this little syntax is text.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from subtitle_rag.domain import nfc
from subtitle_rag.errors import UsageError

MAX_LENGTH = 1_000
"""Characters. The longest sensible query is a sentence or two."""

_QUOTES = str.maketrans("“”„‟″「」『』", '"' * 9)
_PART = re.compile(
    r"""(?P<minus>(?<!\S)-)?
        (?:(?P<name>channel|video|after|before|채널|영상|이후|이전):)?
        (?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+)|(?<=:)(?!\S))  # the last: a filter only begun""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,  # ASCII: else İ would pass for the i of video
)
_NAMES = {"채널": "channel", "영상": "video", "이후": "after", "이전": "before"}


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `text` is what is looked for (phrases included), without exclusions and filters."""

    raw: str
    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None


@dataclass(slots=True)
class _Parts:
    text: list[str] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    channel: list[str] = field(default_factory=list)
    video: list[str] = field(default_factory=list)
    after: date | None = None
    before: date | None = None


def parse(raw: str) -> Query:
    """Read a query.

    Raises:
        UsageError: `empty_query`, `only_exclusions`, `query_too_long`, `bad_filter`, `excluded_filter`.
    """
    typed = tidy(raw)
    if len(typed) > MAX_LENGTH:
        raise UsageError("query_too_long", length=len(typed), limit=MAX_LENGTH)
    parts = _Parts()
    for match in _PART.finditer(typed.translate(_QUOTES)):
        _take(parts, match)
    text = " ".join(parts.text)
    if not any(character.isalnum() for character in text):
        raise UsageError("only_exclusions" if parts.excluded else "empty_query")
    return Query(
        typed,
        text,
        tuple(parts.phrases),
        tuple(parts.excluded),
        tuple(parts.channel),
        tuple(parts.video),
        parts.after,
        parts.before,
    )


def tidy(raw: str) -> str:
    """NFC on one line, without control and other invisible characters (some terminals deliver decomposed Hangul)."""
    visible = (" " if c.isspace() else c for c in raw if c.isspace() or unicodedata.category(c)[0] != "C")
    return nfc(" ".join("".join(visible).split()))


def day(name: Literal["after", "before", "since"], value: str) -> date:
    """The day that a filter names; raises UsageError `bad_filter`."""
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise UsageError("bad_filter", name=name, value=value) from None


def _take(parts: _Parts, match: re.Match[str]) -> None:
    name = (match["name"] or "").lower()
    name = _NAMES.get(name, name)
    value = " ".join((match["phrase"] or match["word"] or "").split())
    meaningful = any(character.isalnum() for character in value)
    if name and match["minus"]:
        raise UsageError("excluded_filter", name=name)
    if name and not meaningful:  # its value is still to be typed
        return
    if name in ("after", "before"):
        setattr(parts, name, day(name, value))  # type: ignore[arg-type]
    elif name:
        getattr(parts, name).append(value)
    elif match["minus"]:
        if meaningful:
            parts.excluded.append(value)
    elif meaningful:
        parts.text.append(value)
        if match["phrase"] is not None:
            parts.phrases.append(value)
