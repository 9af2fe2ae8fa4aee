"""What the videos and channels are called, and of which kind they are: all that a search can be narrowed to."""

import json
from collections.abc import Collection, Iterable
from datetime import date
from string import ascii_uppercase
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library

_LOWER = {ord(letter): ord(letter.lower()) for letter in ascii_uppercase}
"""SQLite's `lower` knows ASCII alone."""


class VideoFacets(NamedTuple):
    """A video, as far as a search can be narrowed to it."""

    id: str
    title: str
    channel_id: str
    channel: str
    published: date | None
    kind: str
    """As in `Video`."""
    windows: bool
    """It has some, so that it can be found."""


def video_facets(library: "Library") -> list[VideoFacets]:
    """All videos, the newest first."""
    with library.database.read() as db:
        found = db.execute(
            """SELECT video.id, title, channel_id, channel.name, published, kind,
                      EXISTS (SELECT 1 FROM window WHERE video_id = video.id)
               FROM video JOIN channel ON channel.id = channel_id ORDER BY published DESC, title, video.id"""
        ).fetchall()
    return [
        VideoFacets(
            id, title, channel_id, channel, date.fromisoformat(published) if published else None, kind, bool(windows)
        )
        for id, title, channel_id, channel, published, kind, windows in found
    ]


def videos_of_kinds(library: "Library", kinds: Collection[str]) -> frozenset[str]:
    """The ids of the videos of these kinds."""
    with library.database.read() as db:
        found = db.execute(
            "SELECT id FROM video WHERE kind IN (SELECT value FROM json_each(?))", (json.dumps(list(kinds)),)
        )
        return frozenset(id for (id,) in found)


def match_channels(name: str, channels: Iterable[tuple[str, str]]) -> list[str]:
    """Of channels (id, name) the ids of those that have this name or id, else of those whose name holds it.

    Regardless of case and spaces.
    """
    wanted = _squeezed(name)
    known = [(id, _squeezed(full)) for id, full in channels]
    exact = [id for id, full in known if wanted in (full, id.casefold())]
    return exact or [id for id, full in known if wanted in full]


def match_videos(name: str, videos: Iterable[tuple[str, str]]) -> list[str]:
    """Of videos (id, title) those that `Library.find_videos` finds."""
    known = list(videos)
    wanted = "".join(name.translate(_LOWER).split())
    exact = [id for id, _title in known if id == name]
    return exact or [id for id, title in known if wanted and wanted in title.replace(" ", "").translate(_LOWER)]


def _squeezed(name: str) -> str:
    return "".join(name.casefold().split())
