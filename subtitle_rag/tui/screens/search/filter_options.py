"""The options of the filter dialog: kinds, days, channels and videos."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.values import squeeze, tidy
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.korean.keyboard import FIRST_CONSONANTS, first_consonants
from subtitle_rag.korean.periods import parse_period
from subtitle_rag.search.query import KINDS, QUOTES
from subtitle_rag.tui.shared.query_filters import Chip, filter_value_text

if TYPE_CHECKING:
    from subtitle_rag.library.names import VideoFacets

MOST = 100
"""Most channels, and most videos, in one list."""
LONGEST = 40
"""Longest name in the query, in characters."""
SPANS = ((N_("today"), 1), (N_("last 7 days"), 7), (N_("last 30 days"), 30), (N_("last 365 days"), 365))
"""Spans of days up to and including today."""


@dataclass(frozen=True, slots=True)
class FilterOption:
    """One option: a filter, or a channel or video (`id`) whose filter `FilterCatalogue.chip` makes."""

    name: str
    """Name of the filter."""
    label: str
    note: str = ""
    chip: Chip | None = None
    id: str = ""
    squeezed: str = field(default="", repr=False)
    """The label in the form that is compared with typed text."""
    initials: str = field(default="", repr=False)
    """The label with each syllable reduced to its first consonant."""


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """The listed options, and the number of matching channels and videos."""

    rows: tuple[FilterOption, ...]
    channels: int
    videos: int


class FilterCatalogue:
    """The options of a library, built once for all typed text."""

    def __init__(self, videos: "Sequence[VideoFacets]") -> None:
        self.is_empty = not videos
        searchable = [video for video in videos if video.windows]
        names = {video.channel_id: video.channel for video in searchable}
        counts = Counter(video.channel_id for video in searchable)
        kinds = Counter(video.kind for video in searchable if video.kind in KINDS)
        self._titles = [(video.id, video.title) for video in videos]
        self._names = list({(video.channel_id, video.channel) for video in videos})
        kind_chips = [Chip("kind", kind) for kind in KINDS if kinds[kind]]
        self._kinds = [
            _option("kind", filter_value_text(chip), _videos(kinds[chip.value]), chip=chip, synonyms=KINDS[chip.value])
            for chip in kind_chips
        ]
        self._channels = [
            _option("channel", name, _videos(counts[id]), id)
            for id, name in sorted(names.items(), key=lambda item: (item[1].casefold(), item[0]))
        ]
        self._videos = [_option("video", video.title, _about(video), video.id) for video in searchable]

    def options(self, typed: str, chips: Sequence[Chip], covered: frozenset[str], today: date) -> FilterOptions:
        """Return the options that match `typed`, without the filters in `chips` and the ids that they cover.

        Videos need typed text.
        """
        needle = squeeze(tidy(typed))
        keys = {chip.key for chip in chips}
        first = [*_matching([*self._kinds, *_spans(today)], needle), *_days(needle, today)]
        channels = [option for option in _matching(self._channels, needle) if option.id not in covered]
        videos = [option for option in _matching(self._videos, needle) if option.id not in covered] if needle else []
        rows = [option for option in first if option.chip and option.chip.key not in keys]
        return FilterOptions((*rows, *channels[:MOST], *videos[:MOST]), len(channels), len(videos))

    def covered_ids(self, chips: Iterable[Chip]) -> frozenset[str]:
        """Return the ids of the channels and videos that the filters name."""
        lookups = {"channel": self._channels_called, "video": self._videos_called}
        return frozenset(id for chip in chips if chip.name in lookups for id in lookups[chip.name](chip.value))

    def chip(self, option: FilterOption) -> Chip:
        lookup = self._channels_called if option.name == "channel" else self._videos_called
        return option.chip or Chip(option.name, spelled(option.label, option.id, lookup))

    def _channels_called(self, name: str) -> list[str]:
        from subtitle_rag.library.resolve import match_channels

        return match_channels(name, self._names)

    def _videos_called(self, name: str) -> list[str]:
        from subtitle_rag.library.resolve import match_videos

        return match_videos(name, self._titles)


def spelled(name: str, id: str, lookup: Callable[[str], list[str]]) -> str:
    """Return a value that matches only `id`: its name, a unique part of the name, or the id.

    A query cannot contain quotation marks and invisible characters: such names are cut into parts. `lookup` returns the
    ids that match a value.
    """
    parts = "".join("\0" if c in QUOTES or unicodedata.category(c)[0] == "C" else c for c in name).split("\0")
    for part in sorted(map(tidy, parts), key=len, reverse=True):
        phrase = part[:LONGEST].strip()
        if any(character.isalnum() for character in phrase) and lookup(phrase) == [id]:
            return phrase
    return id


def _option(
    name: str, label: str, note: str = "", id: str = "", *, chip: Chip | None = None, synonyms: Iterable[str] = ()
) -> FilterOption:
    """Return an option with its forms for comparison.

    Args:
        name: The filter.
        label: The displayed text.
        note: A note after it.
        id: The id of a channel or video.
        chip: The filter's chip.
        synonyms: Other words that match.

    Returns:
        The option.
    """
    squeezed = squeeze(tidy(" ".join((label, *synonyms))))
    return FilterOption(name, label, note, chip, id, squeezed, first_consonants(squeezed))


def _matching(options: Sequence[FilterOption], needle: str) -> list[FilterOption]:
    """Return the options that contain `needle`, or whose syllables begin with its consonants; prefixes come first."""
    if needle and all(letter in FIRST_CONSONANTS for letter in needle):
        matches = [option for option in options if needle in option.initials]
        return sorted(matches, key=lambda option: not option.initials.startswith(needle))
    matches = [option for option in options if needle in option.squeezed]
    return sorted(matches, key=lambda option: not option.squeezed.startswith(needle))


def _spans(today: date) -> Iterator[FilterOption]:
    """Yield spans of days up to today."""
    spans = [(_(label), today - timedelta(days=days - 1)) for label, days in SPANS]
    for label, day in [*spans, (_("this year"), today.replace(month=1, day=1))]:
        chip = Chip("after", day.isoformat())
        yield _option("after", label, chip.value, chip=chip)


def _days(typed: str, today: date) -> Iterator[FilterOption]:
    """Yield the typed day, month or year as the first and as the last day."""
    if days := parse_period(typed, today):
        for name, day in zip(("after", "before"), days, strict=True):
            yield _option(name, day.isoformat(), chip=Chip(name, day.isoformat()))


def _videos(count: int) -> str:
    return n_("{n} video", "{n} videos", count, n=f"{count:,}")


def _about(video: "VideoFacets") -> str:
    return " · ".join(filter(None, (video.published.isoformat() if video.published else "", video.channel)))
