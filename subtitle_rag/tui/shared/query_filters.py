"""Filters in a query: read, added and removed in its text, which is the only place that stores them.

A new filter never goes to the end: after an open quotation mark it would become a part of the phrase.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from subtitle_rag.base import i18n
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import squeeze, tidy
from subtitle_rag.search.query import KINDS, KOREAN, QUOTES, Part, kind_named, parse_day, query_parts
from subtitle_rag.tui.shared.clean_text import clean

MAX_TITLE = 200
"""Most characters of a title in a filter."""
DAYS = ("after", "before")
"""Filters that apply once: the last one typed wins."""


@dataclass(frozen=True, slots=True)
class Chip:
    """An active filter: English name and value; dates in ISO format, kinds as in `Video`."""

    name: str
    value: str

    @property
    def key(self) -> tuple[str, str]:
        """Equal for filters of equal meaning."""
        return self.name, squeeze(self.value)


def query_chips(text: str) -> tuple[Chip, ...]:
    """Return the complete filters of a query, each once, in order."""
    chips: dict[tuple[str, str], Chip] = {}
    for _part, chip in _chips(tidy(text)):
        for key in [key for key in chips if chip.name in DAYS and key[0] == chip.name]:
            del chips[key]
        chips.setdefault(chip.key, chip)
    return tuple(chips.values())


def with_filter(text: str, chip: Chip) -> str:
    """Return the text with this filter among its leading ones; a day replaces the previous one."""
    typed = tidy(text)
    if any(present.key == chip.key for present in query_chips(typed)):
        return typed
    empty = [part for part in query_parts(typed) if part.name and not part.value and not part.minus]
    replaced = [part for part, present in _chips(typed) if chip.name in DAYS and present.name == chip.name]
    typed = _cut(typed, [*empty, *replaced])
    at = 0
    for part in query_parts(typed):
        is_separate = not (typed[at : part.start].strip() or typed[part.end : part.end + 1].strip())
        if not (part.name and part.value and is_separate):
            break
        at = part.end
    return " ".join(f"{typed[:at]} {filter_text(chip)} {typed[at:]}".split())


def without_filter(text: str, chip: Chip) -> str:
    """Return the text without any occurrence of this filter."""
    typed = tidy(text)
    same = [p for p, present in _chips(typed) if present.key == chip.key or chip.name == present.name in DAYS]
    return _cut(typed, same)


def transfer_filters(text: str, before: str, after: str) -> str:
    """Return `text` with the filter changes between `before` and `after`: the user may have typed meanwhile."""
    if tidy(text) == tidy(before):
        return after
    removed = [chip for chip in query_chips(before) if chip.key not in {each.key for each in query_chips(after)}]
    added = [chip for chip in query_chips(after) if chip.key not in {each.key for each in query_chips(before)}]
    for chip in removed:
        text = without_filter(text, chip)
    for chip in added:
        text = with_filter(text, chip)
    return tidy(text)


def without_filters(text: str) -> str:
    """Return the text without filters, even unfinished and wrong ones."""
    typed = tidy(text)
    return _cut(typed, [part for part in query_parts(typed) if part.name])


def filter_text(chip: Chip) -> str:
    """Return the filter as typed in the language of the interface."""
    value = filter_value_text(chip)
    return f'{filter_word(chip.name)}:"{value}"' if " " in value else f"{filter_word(chip.name)}:{value}"


def in_video(video_id: str, title: str) -> str:
    """Return the filter for one video: by title, or by id if the title is long or has a quotation mark."""
    plain = len(title) <= MAX_TITLE and any(c.isalnum() for c in title) and not any(c in title for c in QUOTES)
    return filter_text(Chip("video", clean(title) if plain else video_id))


def filter_label(chip: Chip) -> str:
    """Return the filter as one safe line: its value may be outside text."""
    return clean(f"{filter_word(chip.name)} {filter_value_text(chip)}")


def filter_word(name: str) -> str:
    """Return the name of a filter in the language of the interface."""
    return KOREAN[name] if _korean() else name


def filter_value_text(chip: Chip) -> str:
    """Return the value without quotation marks, which queries cannot contain; kinds in the interface's language."""
    if chip.name == "kind":
        return next(word for word in KINDS[chip.value] if word.isascii() != _korean())
    return tidy(chip.value.translate(dict.fromkeys(map(ord, QUOTES), " ")))


def _korean() -> bool:
    return i18n.system_language() == "ko"


def _chips(typed: str) -> Iterator[tuple[Part, Chip]]:
    for part in query_parts(typed):
        if part.name and part.value and not part.minus:
            try:
                yield part, Chip(part.name, _value(part))
            except UsageError:  # a date still being typed
                continue


def _value(part: Part) -> str:
    if part.name in DAYS:
        return parse_day(part.name, part.value).isoformat()  # type: ignore[arg-type]
    return kind_named(part.value) if part.name == "kind" else part.value


def _cut(typed: str, some: Iterable[Part]) -> str:
    for part in sorted(some, key=lambda part: part.start, reverse=True):
        rest = typed[part.end :]
        # A minus right after the filter excluded nothing, and must not begin to: empty quotes neutralise it.
        guard = '""' if rest.startswith("-") else ""
        typed = f"{typed[: part.start]} {guard}{rest}"
    return " ".join(typed.split())
