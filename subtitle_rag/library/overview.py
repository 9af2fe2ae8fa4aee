"""The library's channels and playlists in sums, for whoever wants to see what is in it and how it stands.

What would surprise: a video stands in several rows. Its channel has it, and so has each playlist that lists it.
"""

import json
import sqlite3
from dataclasses import dataclass, field, replace
from typing import Literal

from subtitle_rag.library.connection import Database

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
    """A channel or a playlist, with how much of it is in the library and how far it has come."""

    key: str
    """Of its row, the same as long as it is there."""
    name: str
    kind: Literal["channel", "playlist"]
    channel_id: str | None = None
    """None of a playlist."""
    sources: tuple[int, ...] = ()
    """Under which it is followed, the first one named first; a channel can be followed by its tabs. None: it came with
    files, or with single videos and lists."""
    urls: tuple[str, ...] = ()
    """Of the sources."""
    listed_at: int | None = None
    """When the list was last read to its end (Unix seconds); None: never."""
    videos: int = 0
    windows: int = 0
    due: int = 0
    """Videos whose captions are still to be fetched."""
    done: int = 0
    """Videos whose captions are there."""
    tracks: dict[str, int] = field(default_factory=dict)
    """Videos by the kind of their track: `manual`, `asr`, `file`."""
    failures: dict[str, int] = field(default_factory=dict)
    """Videos by the code of what keeps them out."""
    listed: frozenset[str] = frozenset()
    """Of a playlist: the videos that it names."""

    @property
    def source_id(self) -> int | None:
        """The source under which it is followed, the first of several."""
        return self.sources[0] if self.sources else None


def channel_states(database: Database) -> list[ChannelState]:
    """All channels and playlists: those that are followed first, each part by name.

    Raises what `Library` raises. 50 ms at 300 channels, 5,000 videos and 100,000 windows.
    """
    with database.read() as db:
        rows = {f"channel {id}": ChannelState(f"channel {id}", name, "channel", id) for id, name in _channels(db)}
        _put_sources(db, rows)
        _put_sums(db, rows)
    return sorted(rows.values(), key=lambda row: (not row.sources, row.name.casefold(), row.key))


def _channels(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return db.execute("SELECT id, name FROM channel").fetchall()


def _put_sources(db: sqlite3.Connection, rows: dict[str, ChannelState]) -> None:
    """What is followed, videos or none."""
    listed: dict[int, set[str]] = {}
    for source, video_id in db.execute(
        "SELECT source_id, video_id FROM listed JOIN source ON source.id = source_id WHERE channel_id IS NULL"
    ):
        listed.setdefault(source, set()).add(video_id)
    for id, url, channel, name, at in db.execute("SELECT id, url, channel_id, name, listed_at FROM source ORDER BY id"):
        key = f"channel {channel}" if channel else f"source {id}"
        named = ChannelState(key, name, "channel" if channel else "playlist", channel)
        row = rows.get(key, named)
        ends = [one for one in (row.listed_at, at) if one is not None]
        rows[key] = replace(
            row,
            sources=(*row.sources, id),
            urls=(*row.urls, url),
            listed_at=max(ends, default=None),
            listed=frozenset(listed.get(id, ())),
        )


def _put_sums(db: sqlite3.Connection, rows: dict[str, ChannelState]) -> None:
    for key, videos, windows, due, done, parts in db.execute(_SUMS):
        if key not in rows:  # it has come since the channels were read
            continue
        tracks: dict[str, int] = {}
        failures: dict[str, int] = {}
        for kind, failed, count in json.loads(parts):
            if kind:
                tracks[kind] = tracks.get(kind, 0) + count
            if failed:
                failures[failed] = failures.get(failed, 0) + count
        rows[key] = replace(
            rows[key], videos=videos, windows=windows, due=due, done=done, tracks=tracks, failures=failures
        )
