"""The library's channels and playlists with counts.

A video counts in its channel and in each playlist that lists it.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from subtitle_rag.base.domain.values import natural_key
from subtitle_rag.library.connection import Database
from subtitle_rag.library.store import Library

_SUMS = """
  WITH fact AS MATERIALIZED (
    SELECT video.id, video.channel_id, coalesce(stage.state, '') AS state, stage.failure, track.kind,
           (SELECT count(*) FROM window WHERE window.video_id = video.id) AS windows
    FROM video LEFT JOIN stage ON stage.video_id = video.id AND stage.name = 'captions'
      LEFT JOIN track ON track.video_id = video.id),
  place AS (
    SELECT 'channel ' || channel_id AS key, id FROM fact
    UNION ALL
    SELECT 'source ' || source_id, video_id FROM listed JOIN source ON source.id = source_id
    WHERE source.channel_id IS NULL),
  sums AS (
    SELECT key, coalesce(kind, '') AS kind, iif(state = 'failed', failure, '') AS failed, count(*) AS videos,
           sum(windows) AS windows, sum(state = 'due') AS due, sum(state = 'done') AS done
    FROM place JOIN fact USING (id) GROUP BY key, 2, 3)
  SELECT key, sum(videos), sum(windows), sum(due), sum(done), json_group_array(json_array(kind, failed, videos))
  FROM sums GROUP BY key"""


@dataclass(frozen=True, slots=True)
class ChannelState:
    """A channel or playlist with its counts."""

    key: str
    """Stable id of the row."""
    name: str
    kind: Literal["channel", "playlist"]
    channel_id: str | None = None
    """None for a playlist."""
    sources: tuple[int, ...] = ()
    """Followed sources in the order of their addition, several for the tabs of one channel. Empty for channels of
    files, single videos and playlists.
    """
    urls: tuple[str, ...] = ()
    """Addresses of the sources."""
    listed_at: int | None = None
    """Time of the last complete reading of the list (Unix seconds); None: never."""
    videos: int = 0
    windows: int = 0
    due: int = 0
    """Videos with captions still to fetch."""
    done: int = 0
    """Videos with captions."""
    tracks: dict[str, int] = field(default_factory=dict)
    """Videos by the kind of their track: `manual`, `asr`, `file`, `local`."""
    failures: dict[str, int] = field(default_factory=dict)
    """Failed videos by error code."""
    listed: frozenset[str] = frozenset()
    """Videos on the playlist."""


def channel_states(database: Database) -> list[ChannelState]:
    """Return all channels and playlists: followed ones first, then the others, each by name.

    Raises the errors of `Library`. Takes 50 ms for 300 channels, 5,000 videos and 100,000 windows.
    """
    channels = database.rows("SELECT id, name FROM channel")
    rows = {f"channel {id}": ChannelState(f"channel {id}", name, "channel", id) for id, name in channels}
    _put_sources(database, rows)
    _put_sums(database, rows)
    return sorted(rows.values(), key=lambda row: (not row.sources, natural_key(row.name), row.key))


def _put_sources(database: Database, rows: dict[str, ChannelState]) -> None:
    """Add the followed sources, even without videos."""
    listed: dict[int, set[str]] = {}
    for source, video_id in database.rows(
        "SELECT source_id, video_id FROM listed JOIN source ON source.id = source_id WHERE channel_id IS NULL"
    ):
        listed.setdefault(source, set()).add(video_id)
    query = "SELECT id, url, channel_id, name, listed_at FROM source ORDER BY id"
    for id, url, channel, name, at in database.rows(query):
        key = f"channel {channel}" if channel else f"source {id}"
        row = rows.get(key) or ChannelState(key, name, "channel" if channel else "playlist", channel)
        listed_at = [seconds for seconds in (row.listed_at, at) if seconds is not None]
        rows[key] = replace(
            row,
            sources=(*row.sources, id),
            urls=(*row.urls, url),
            listed_at=max(listed_at, default=None),
            listed=frozenset(listed.get(id, ())),
        )


def _put_sums(database: Database, rows: dict[str, ChannelState]) -> None:
    for key, videos, windows, due_count, done, parts in database.rows(_SUMS):
        if key not in rows:  # inserted after the channels were read
            continue
        tracks: Counter[str] = Counter()
        failures: Counter[str] = Counter()
        for kind, failed, count in json.loads(parts):
            tracks[kind] += count
            failures[failed] += count
        del tracks[""], failures[""]
        rows[key] = replace(
            rows[key], videos=videos, windows=windows, due=due_count, done=done, tracks=tracks, failures=failures
        )


def window_counts(library: Library, videos: Iterable[str]) -> tuple[int, int]:
    """Count the windows of these videos, and the windows with a context."""
    windows, with_context = library.database.row(
        """SELECT count(*), count(*) FILTER (WHERE id IN (SELECT window_id FROM context WHERE text <> ''))
           FROM window WHERE video_id IN (SELECT value FROM json_each(?))""",
        (json.dumps(list(videos)),),
    )
    return windows, with_context
