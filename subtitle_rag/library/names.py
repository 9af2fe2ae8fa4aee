"""Names of videos and channels, for filters and shell completion.

Completion reads fast, and creates, changes or locks nothing.
"""

import json
import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from subtitle_rag.library.connection import ONLY, only
from subtitle_rag.library.store import Library

PATIENCE_S = 0.2
MAX_NAMES = 2_000


class VideoFacets(NamedTuple):
    """The filterable values of a video."""

    id: str
    title: str
    channel_id: str
    channel: str
    published: date | None
    kind: str
    """As in `Video`."""
    windows: bool
    """Whether it has windows, so that a search can find it."""


def video_facets(library: Library) -> list[VideoFacets]:
    """Return all videos, newest first."""
    rows = library.database.rows(
        """SELECT video.id, title, channel_id, channel.name, published, kind,
                  EXISTS (SELECT 1 FROM window WHERE video_id = video.id)
           FROM video JOIN channel ON channel.id = channel_id ORDER BY published DESC, title, video.id"""
    )
    return [
        VideoFacets(
            id, title, channel_id, channel, date.fromisoformat(published) if published else None, kind, bool(windows)
        )
        for id, title, channel_id, channel, published, kind, windows in rows
    ]


def videos_of_kinds(library: Library, kinds: Collection[str]) -> frozenset[str]:
    query = "SELECT id FROM video WHERE kind IN (SELECT value FROM json_each(?))"
    return frozenset(library.database.column(query, (json.dumps(list(kinds)),)))


def undated_videos(library: Library, channels: Sequence[str], videos: Sequence[str]) -> int:
    """Count the videos with windows but without a date, in these channels and videos (ids), if any."""
    dateless = "published IS NULL AND EXISTS (SELECT 1 FROM window WHERE video_id = video.id)"
    query = f"SELECT count(*) FROM video WHERE {dateless} AND {ONLY}"  # noqa: S608 - constants
    return int(library.database.row(query, only(channels, videos))[0])


class CompletionName(NamedTuple):
    """A name and its description."""

    name: str
    about: str = ""


def channel_names(path: Path) -> list[CompletionName]:
    """Return the channels of the library at `path`; an empty list if it is missing or unreadable."""
    return _read(path, "SELECT DISTINCT name, '' FROM channel ORDER BY name LIMIT ?")


def video_names(path: Path) -> list[CompletionName]:
    """Return the ids and titles of the videos, newest first."""
    return _read(path, "SELECT id, title FROM video ORDER BY published DESC, title LIMIT ?")


def context_models(path: Path) -> list[CompletionName]:
    """Return the models that have written contexts."""
    return _read(path, "SELECT DISTINCT model, '' FROM context ORDER BY model LIMIT ?")


def _read(path: Path, query: str) -> list[CompletionName]:
    try:
        with closing(_connect(path)) as db:
            return [CompletionName(*row) for row in db.execute(query, (MAX_NAMES,))]
    except (OSError, sqlite3.Error):
        return []


def _connect(path: Path) -> sqlite3.Connection:
    """Connect without leaving files: reading a closed library would create SQLite's `-wal` and `-shm`."""
    is_open = Path(f"{path}-wal").exists()
    address = f"file:{quote(str(path))}?mode=ro{'' if is_open else '&immutable=1'}"
    return sqlite3.connect(address, uri=True, timeout=PATIENCE_S)
