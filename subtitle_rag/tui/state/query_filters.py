"""The filters of a query, which stand in its text and nowhere else: read, put in and taken away there.

Where a filter goes in is not its end: behind a quotation mark that is still open it would become a part of the phrase.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from subtitle_rag import i18n
from subtitle_rag.errors import UsageError
from subtitle_rag.retrieval.query import KINDS, KOREAN, QUOTES, Part, day, kind_named, parts, tidy
from subtitle_rag.tui.state.clean_text import clean

DAYS = ("after", "before")
"""Filters of which a query has one each: the last that is typed."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that is in force: its name in English and its value, of dates in ISO's form, of kinds as in `Video`."""

    name: str
    value: str

    @property
    def key(self) -> tuple[str, str]:
        """The same for filters that mean the same."""
        return self.name, "".join(self.value.casefold().split())


def of(text: str) -> tuple[Chip, ...]:
    """The filters of a query, each once, in their order; what is no filter yet is left out."""
    found: dict[tuple[str, str], Chip] = {}
    for _part, chip in _chips(tidy(text)):
        for key in [key for key in found if chip.name in DAYS and key[0] == chip.name]:
            del found[key]
        found.setdefault(chip.key, chip)
    return tuple(found.values())


def with_(text: str, chip: Chip) -> str:
    """The text with this filter among those that it begins with; of days it takes the place of another."""
    typed = tidy(text)
    if any(other.key == chip.key for other in of(typed)):
        return typed
    begun = [part for part in parts(typed) if part.name and not part.value and not part.minus]
    given_up = [part for part, other in _chips(typed) if chip.name in DAYS and other.name == chip.name]
    typed = _cut(typed, [*begun, *given_up])
    at = 0
    for part in parts(typed):
        apart = not (typed[at : part.start].strip() or typed[part.end : part.end + 1].strip())
        if not (part.name and part.value and apart):
            break
        at = part.end
    return " ".join(f"{typed[:at]} {written(chip)} {typed[at:]}".split())


def without(text: str, chip: Chip) -> str:
    """The text without this filter, however often it stands there."""
    typed = tidy(text)
    same = [p for p, other in _chips(typed) if other.key == chip.key or chip.name == other.name in DAYS]
    return _cut(typed, same)


def cleared(text: str) -> str:
    """The text without any filter, also those that are only begun or wrong."""
    typed = tidy(text)
    return _cut(typed, [part for part in parts(typed) if part.name])


def written(chip: Chip) -> str:
    """As it is typed, in the language of the interface."""
    value = spoken(chip)
    return f'{word(chip.name)}:"{value}"' if " " in value else f"{word(chip.name)}:{value}"


def label(chip: Chip) -> str:
    """As it is shown, on one line: outside text may be in it."""
    return clean(f"{word(chip.name)} {spoken(chip)}")


def told(chips: Iterable[Chip]) -> str:
    """Several, as they are shown."""
    return " · ".join(map(label, chips))


def word(name: str) -> str:
    """The name of a filter in the language of the interface."""
    return KOREAN[name] if _korean() else name


def spoken(chip: Chip) -> str:
    """The value, of kinds in the language of the interface; without the quotation marks that no query can hold."""
    if chip.name == "kind":
        return next(word for word in KINDS[chip.value] if word.isascii() != _korean())
    return tidy(chip.value.translate(dict.fromkeys(map(ord, QUOTES), " ")))


def _korean() -> bool:
    return i18n.system_language() == "ko"


def _chips(typed: str) -> Iterator[tuple[Part, Chip]]:
    for part in parts(typed):
        if part.name and part.value and not part.minus:
            try:
                yield part, Chip(part.name, _value(part))
            except UsageError:  # half a date
                continue


def _value(part: Part) -> str:
    if part.name in DAYS:
        return day(part.name, part.value).isoformat()  # type: ignore[arg-type]
    return kind_named(part.value) if part.name == "kind" else part.value


def _cut(typed: str, some: Iterable[Part]) -> str:
    """The text without these parts of it."""
    for part in sorted(some, key=lambda part: part.start, reverse=True):
        rest = typed[part.end :]
        # a minus that clung to the filter left nothing out, and must not begin to: empty quotes hold it as it was
        held = '""' if rest.startswith("-") else ""
        typed = f"{typed[: part.start]} {held}{rest}"
    return " ".join(typed.split())
