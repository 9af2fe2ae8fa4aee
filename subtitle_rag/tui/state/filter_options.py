"""What a search can be narrowed to: the kinds, days, channels and videos that somebody may choose from."""

import re
import unicodedata
from calendar import monthrange
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.library.names import Named, channels_called, videos_called
from subtitle_rag.retrieval.query import KINDS, QUOTES, tidy
from subtitle_rag.tui.state import query_filters
from subtitle_rag.tui.state.query_filters import Chip

MOST = 100
"""Channels, and videos, that are listed at once."""
LONGEST = 40
"""Characters of a name that are written into the query."""
SPANS = ((N_("today"), 1), (N_("last 7 days"), 7), (N_("last 30 days"), 30), (N_("last 365 days"), 365))
"""Days up to today, which counts."""
_INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class FilterOption:
    """Something to narrow a search to: a filter, or a channel or video (`id`) whose filter is still to be spelled."""

    name: str
    """The filter's."""
    said: str
    note: str = ""
    chip: Chip | None = None
    id: str = ""
    squeezed: str = field(default="", repr=False)
    """What is compared with what is typed."""
    initials: str = field(default="", repr=False)
    """The same with syllables as their first consonants."""


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """What is listed, and how many channels and videos there are to list."""

    rows: tuple[FilterOption, ...]
    channels: int
    videos: int


class FilterCatalogue:
    """What a library offers; made once, for all that is typed."""

    def __init__(self, videos: Sequence[Named]) -> None:
        found = [video for video in videos if video.windows]
        names = {video.channel_id: video.channel for video in found}
        counts = Counter(video.channel_id for video in found)
        kinds = Counter(video.kind for video in found if video.kind in KINDS)
        self._titles = [(video.id, video.title) for video in videos]
        self._names = list({(video.channel_id, video.channel) for video in videos})
        self._kinds = [_whole(Chip("kind", kind), kinds[kind], KINDS[kind]) for kind in KINDS if kinds[kind]]
        self._channels = [
            _offer("channel", name, _videos(counts[id]), id)
            for id, name in sorted(names.items(), key=lambda one: (one[1].casefold(), one[0]))
        ]
        self._videos = [_offer("video", video.title, _about(video), video.id) for video in found]

    def offers(self, typed: str, chips: Sequence[Chip], taken: frozenset[str], today: date) -> FilterOptions:
        """What fits what is typed beside the filters that there are, and beside the ids `taken` by them.

        Videos only where something is typed.
        """
        wanted = _squeezed(tidy(typed))
        keys = {chip.key for chip in chips}
        first = [*_fitting([*self._kinds, *_spans(today)], wanted), *_days(wanted)]
        channels = [offer for offer in _fitting(self._channels, wanted) if offer.id not in taken]
        videos = [offer for offer in _fitting(self._videos, wanted) if offer.id not in taken] if wanted else []
        rows = [offer for offer in first if offer.chip and offer.chip.key not in keys]
        return FilterOptions((*rows, *channels[:MOST], *videos[:MOST]), len(channels), len(videos))

    def taken(self, chips: Iterable[Chip]) -> frozenset[str]:
        """The ids of the channels and videos that filters let pass."""
        called = {"channel": self._channels_called, "video": self._videos_called}
        return frozenset(id for chip in chips if chip.name in called for id in called[chip.name](chip.value))

    def chip(self, offer: FilterOption) -> Chip:
        """The filter of what is offered."""
        called = self._channels_called if offer.name == "channel" else self._videos_called
        return offer.chip or Chip(offer.name, spelled(offer.said, offer.id, called))

    def _channels_called(self, name: str) -> list[str]:
        return channels_called(name, self._names)

    def _videos_called(self, name: str) -> list[str]:
        return videos_called(name, self._titles)


def spelled(name: str, id: str, called: Callable[[str], list[str]]) -> str:
    """How a filter names this and nothing else: by its name, by a part that no other name holds, or by its id.

    A query holds no quotation marks and nothing invisible: of names with such there are parts. `called` tells which
    ids a filter means.
    """
    parts = "".join("\0" if c in QUOTES or unicodedata.category(c)[0] == "C" else c for c in name).split("\0")
    for part in sorted(map(tidy, parts), key=len, reverse=True):
        written = part[:LONGEST].strip()
        if any(character.isalnum() for character in written) and called(written) == [id]:
            return written
    return id


def _offer(
    name: str, said: str, note: str = "", id: str = "", *, chip: Chip | None = None, meant: str = ""
) -> FilterOption:
    squeezed = _squeezed(tidy(f"{said} {meant}"))
    initials = "".join(_INITIALS[(ord(c) - ord("가")) // 588] if "가" <= c <= "힣" else c for c in squeezed)
    return FilterOption(name, said, note, chip, id, squeezed, initials)


def _whole(chip: Chip, videos: int, words: Iterable[str]) -> FilterOption:
    return _offer(chip.name, query_filters.spoken(chip), _videos(videos), chip=chip, meant=" ".join(words))


def _fitting(offers: Sequence[FilterOption], wanted: str) -> list[FilterOption]:
    """Those that hold what is wanted, or whose syllables begin with these consonants; first those that begin so."""
    if wanted and all(letter in _INITIALS for letter in wanted):
        found = [offer for offer in offers if wanted in offer.initials]
        return sorted(found, key=lambda offer: not offer.initials.startswith(wanted))
    found = [offer for offer in offers if wanted in offer.squeezed]
    return sorted(found, key=lambda offer: not offer.squeezed.startswith(wanted))


def _spans(today: date) -> Iterator[FilterOption]:
    """Days up to today."""
    begun = [(_(said), today - timedelta(days=days - 1)) for said, days in SPANS]
    for said, day in [*begun, (_("this year"), today.replace(month=1, day=1))]:
        chip = Chip("after", day.isoformat())
        yield _offer("after", said, chip.value, chip=chip)


def _days(wanted: str) -> Iterator[FilterOption]:
    """The day, month or year that is typed, as the first and as the last one."""
    if match := _DAY.fullmatch(wanted):
        year, month, day = (int(part) if part else None for part in match.groups())
        try:
            first = date(year or 0, month or 1, day or 1)
            last = date(year or 0, month or 12, day or monthrange(year or 0, month or 12)[1])
        except ValueError:  # no such day
            return
        yield _offer("after", first.isoformat(), chip=Chip("after", first.isoformat()))
        yield _offer("before", last.isoformat(), chip=Chip("before", last.isoformat()))


def _squeezed(text: str) -> str:
    return "".join(text.casefold().split())


def _videos(count: int) -> str:
    return n_("{n} video", "{n} videos", count).format(n=f"{count:,}")


def _about(video: Named) -> str:
    return " · ".join(filter(None, (video.published.isoformat() if video.published else "", video.channel)))
