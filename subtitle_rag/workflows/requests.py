"""Requests of users: files and sources, from typed, pasted or given text."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import tidy
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.captions.address_lists import AddressList
from subtitle_rag.captions.addresses import Source, parse_address
from subtitle_rag.captions.formats import suffix_list
from subtitle_rag.captions.typed_sources import read_typed

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library


@dataclass(frozen=True, slots=True)
class JobRequest:
    """Caption files or folders, and sources on YouTube; if both are empty, a sync of all followed sources."""

    paths: tuple[Path, ...] = ()
    sources: tuple[Source, ...] = ()

    @classmethod
    def of_address(cls, url: str) -> "JobRequest":
        return cls(sources=(parse_address(url),))

    @property
    def source(self) -> Source | None:
        """The source of a request with one; None for files or a sync."""
        return self.sources[0] if self.sources else None


@dataclass(frozen=True, slots=True)
class ListedSources:
    """The entries of address lists that are not in the library yet."""

    sources: tuple[Source, ...]
    present: int
    """Number of entries already followed, or in the library as a video."""
    others: int
    """Addresses of no channel, playlist or video."""
    is_cut: bool

    @property
    def question(self) -> str:
        """“Fetch 37 channels, 2 playlists?”"""
        kinds = Counter(source.kind for source in self.sources)
        counts = (
            n_("{n} channel", "{n} channels", kinds["channel"]) if kinds["channel"] else "",
            n_("{n} playlist", "{n} playlists", kinds["playlist"]) if kinds["playlist"] else "",
            n_("{n} video", "{n} videos", kinds["video"]) if kinds["video"] else "",
        )
        return _("Fetch {things}?").format(things=", ".join(filter(None, counts)))

    def notes(self) -> Iterator[str]:
        """Yield notes for the user's decision. YouTube reports the number of videos for one list per request."""
        if any(source.kind != "video" for source in self.sources):
            yield _("The number of videos shows as their lists are read.")
        if self.present:
            yield n_("{n} other is in the library already.", "{n} others are in the library already.", self.present)
        if self.others:
            yield n_(
                "{n} other address is left out: it names no channel, playlist or video.",
                "{n} other addresses are left out: they name no channel, playlist or video.",
                self.others,
            )
        if self.is_cut:
            yield _("The list is longer: these are its first {n}.").format(n=len(self.sources) + self.present)


def listed_sources(library: "Library", lists: Iterable[AddressList]) -> ListedSources:
    """Return the entries of lists that are not in the library."""
    lists = list(lists)
    entries = dict.fromkeys(source for each in lists for source in each.sources)
    sources = tuple(source for source in entries if not _is_present(library, source))
    others = sum(each.others for each in lists)
    return ListedSources(sources, len(entries) - len(sources), others, any(each.is_cut for each in lists))


def _is_present(library: "Library", source: Source) -> bool:
    match = library.video(source.key) if source.kind == "video" else library.sources.find(source.url)
    return match is not None


def parse_request(texts: Iterable[str], wants_list: Callable[[Source], bool] = lambda _source: False) -> JobRequest:
    """Return the request in these texts. `wants_list` decides whether a video's link stands for its list.

    Raises:
        UsageError: `unsupported_source` for neither file nor address, `unsupported_url`.
    """
    paths: list[Path] = []
    sources: list[Source] = []
    for text in texts:
        typed = read_typed(text)
        sources += [video_or_list(source, wants_list) for source in typed.sources]
        if not typed.sources:
            if not typed.paths or not all(os.path.lexists(path) for path in typed.paths):
                raise UsageError("unsupported_source", source=tidy(text), formats=suffix_list())
            paths += typed.paths
    return JobRequest(tuple(paths), tuple(dict.fromkeys(sources)))


def video_or_list(source: Source, wants_list: Callable[[Source], bool]) -> Source:
    """Return the source, but for a video's link with a list: the list, or only the video."""
    if source.playlist is None:
        return source
    return Source("playlist", source.playlist) if wants_list(source) else replace(source, playlist=None)
