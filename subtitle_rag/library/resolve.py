"""Look-up of names that users type: videos, channels and followed sources."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Protocol

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import Video, squeeze, tidy
from subtitle_rag.base.i18n import _
from subtitle_rag.library.sources import FollowedSource
from subtitle_rag.library.store import Library

NAMES_SHOWN = 5
"""Most names shown in `several_named`."""
_LOWER = {ord(letter): ord(letter.lower()) for letter in ascii_uppercase}
"""SQLite's `lower` handles only ASCII."""


class Address(Protocol):
    """An address on YouTube; `captions.Source` is one."""

    @property
    def kind(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def tabs(self) -> tuple[str, ...]: ...
    @property
    def url(self) -> str: ...


@dataclass(frozen=True, slots=True)
class NameMatches:
    """The matches of a name."""

    videos: tuple[str, ...] = ()
    """Ids."""
    channels: tuple[str, ...] = ()
    """Ids."""
    sources: tuple[FollowedSource, ...] = ()
    is_exact: bool = True
    """Whether the id, address or whole name matches; False for a part of the name."""

    def __bool__(self) -> bool:
        return bool(self.videos or self.channels or self.sources)


def resolve_name(library: Library, name: str, addresses: Iterable[Address] = ()) -> NameMatches:
    """Return the matches of `name`: by id, else address, else whole name, else part of a name or title.

    `addresses` are the addresses that the name is. Ignores spaces and case.
    """
    return next(filter(None, _steps(library, tidy(name), addresses)), NameMatches())


def _steps(library: Library, name: str, addresses: Iterable[Address]) -> Iterator[NameMatches]:
    """Yield the matches from the narrowest reading to the widest."""
    if not squeeze(name):
        return
    if library.video(name):
        yield NameMatches(videos=(name,))
    yield from (_at(library, address) for address in addresses)
    channels, followed = library.channels(), library.sources.followed()
    stored_names = dict(channels)  # a channel's videos may have another name than its list
    names = {source.id: {source.name, stored_names.get(source.channel_id or "", source.name)} for source in followed}
    exact_sources = [s for s in followed if exact_channels(name, [(s.channel_id or "", each) for each in names[s.id]])]
    yield NameMatches(channels=tuple(exact_channels(name, channels)), sources=tuple(exact_sources))
    part = squeeze(name)
    ids = tuple(id for id, full_name in channels if part in squeeze(full_name))
    sources = tuple(s for s in followed if any(part in squeeze(each) for each in names[s.id]))
    yield NameMatches(tuple(library.find_videos(name)), ids, sources, is_exact=False)


def _at(library: Library, address: Address) -> NameMatches:
    """Return the video or source at an address, with all tabs of its channel unless the address names one."""
    if address.kind == "video":
        return NameMatches(videos=(address.key,)) if library.video(address.key) else NameMatches()
    source = library.sources.find(address.url)
    if source is None or source.channel_id is None or address.tabs:
        return NameMatches(sources=(source,) if source else ())
    return NameMatches(sources=tuple(s for s in library.sources.followed() if s.channel_id == source.channel_id))


def named_sources(library: Library, name: str, addresses: Iterable[Address] = ()) -> tuple[FollowedSource, ...]:
    """Return the followed sources with this name, as in `resolve_name`; raises UsageError `unknown`."""
    matches = next((each for each in _steps(library, tidy(name), addresses) if each.sources), None)
    if matches is None:
        raise unknown_channel(tidy(name))
    return matches.sources


def unknown_video(name: str) -> UsageError:
    return UsageError("unknown", kind=_("video or scene"), name=name, command="subtitle-rag list")


def unknown_channel(name: str) -> UsageError:
    return UsageError("unknown", kind=_("channel"), name=name, command="subtitle-rag list")


def several_named(name: str, names: Collection[str]) -> UsageError:
    """Return the error for a name with several matches."""
    listed_names = [*sorted(names)[:NAMES_SHOWN], *(["…"] if len(names) > NAMES_SHOWN else [])]
    return UsageError("several_named", name=name, names=", ".join(listed_names))


def named_channel(library: Library, name: str) -> str:
    """Return the id of the only channel with this name; raises UsageError `unknown`, `several_named`."""
    ids = channel_ids(library, [name])
    if len(ids) > 1:
        names = dict(library.channels())
        raise several_named(tidy(name), [f"{names[id]} ({id})" for id in ids])
    return ids[0]


def named_video(library: Library, name: str) -> Video:
    """Return the video with this id, or the only one with this text in its title.

    Raises:
        UsageError: `unknown`, `several_named`.
    """
    name = tidy(name)
    ids = library.find_videos(name)
    video = library.video(ids[0]) if len(ids) == 1 else None
    if video is None:
        titles = [found.title for id in ids if (found := library.video(id))]
        raise several_named(name, titles) if ids else unknown_video(name)
    return video


def channel_ids(library: Library, names: Sequence[str]) -> list[str]:
    """Return the channels that match these names, as in `match_channels`.

    Raises:
        UsageError: `unknown`.
    """
    channels = library.channels() if names else []
    ids: list[str] = []
    for name in map(tidy, names):
        matches = match_channels(name, channels)
        if not matches:
            raise unknown_channel(name)
        ids += matches
    return ids


def video_ids(library: Library, names: Iterable[str]) -> list[str]:
    """Return the videos that match these names, as in `Library.find_videos`.

    Raises:
        UsageError: `unknown`.
    """
    ids: list[str] = []
    for name in map(tidy, names):
        matches = library.find_videos(name)
        if not matches:
            raise unknown_video(name)
        ids += matches
    return ids


def exact_channels(name: str, channels: Iterable[tuple[str, str]]) -> list[str]:
    """Return the ids of channels (id, name) with this name or id, ignoring case and spaces."""
    query = squeeze(name)
    return [id for id, full_name in channels if query in (squeeze(full_name), id.casefold())]


def match_channels(name: str, channels: Sequence[tuple[str, str]]) -> list[str]:
    """Return the ids of `exact_channels`, else of channels whose name contains `name`."""
    query = squeeze(name)
    return exact_channels(name, channels) or [id for id, full_name in channels if query in squeeze(full_name)]


def match_videos(name: str, videos: Iterable[tuple[str, str]]) -> list[str]:
    """Return the ids of videos (id, title) that match as in `Library.find_videos`."""
    videos = list(videos)
    query = "".join(name.translate(_LOWER).split())
    exact = [id for id, _title in videos if id == name]
    return exact or [id for id, title in videos if query and query in title.replace(" ", "").translate(_LOWER)]
