"""Followed sources, the videos on their lists, and the fetching state of each video.

A listed video is due at once, so a run that ends early leaves its remaining work in the library.
"""

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from subtitle_rag.base.domain.values import Video
from subtitle_rag.library import rows
from subtitle_rag.library.connection import Store

REST = "youtube_rest"
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Options of a source: which of its videos, and in which languages."""

    tabs: tuple[str, ...] = ()
    """Tabs of a channel; empty for the config's."""
    languages: tuple[str, ...] = ("ko",)
    """Best first."""
    translated: bool = False
    """Fall back to machine translations."""
    limit: int | None = None
    """Only the newest videos, at most this many."""
    since: date | None = None
    match: str | None = None
    """Regular expression for titles."""


@dataclass(frozen=True, slots=True)
class FollowedSource:
    """A channel or playlist that `sync` checks for new videos."""

    id: int
    url: str
    channel_id: str | None
    """None for a playlist."""
    name: str
    options: SourceOptions
    complete: bool
    """Whether the list was read to the end set by the options, so that only new entries are read."""
    listed_at: int | None
    videos: int
    unlisted: int = 0
    """Videos that YouTube counts but does not list."""


@dataclass(frozen=True, slots=True)
class FetchState:
    """State of a video's captions. `tries` counts consecutive failures."""

    state: str
    tries: int = 0
    retry_at: int | None = None
    failure: str | None = None


class Sources(Store):
    def follow(
        self, url: str, *, name: str, channel_id: str | None, options: SourceOptions, aliases: Iterable[str] = ()
    ) -> FollowedSource:
        """Follow a source. Changed options make it read its list from the start; removed videos stay away.

        Args:
            url: The address.
            name: Its name on YouTube.
            channel_id: The channel's id; None for a playlist.
            options: Which videos, and in which languages.
            aliases: Other spellings of the address.

        Returns:
            The source as stored.
        """
        packed_options = _packed(options)
        with self._database.write() as db:
            db.execute(
                """DELETE FROM listed WHERE NOT removed
                   AND source_id IN (SELECT id FROM source WHERE url = ? AND options <> ?)""",
                (url, packed_options),
            )
            db.execute(
                """INSERT INTO source (url, channel_id, name, options) VALUES (?, ?, ?, ?)
                   ON CONFLICT DO UPDATE SET name = excluded.name, channel_id = excluded.channel_id,
                     whole = whole AND options = excluded.options, options = excluded.options""",
                (url, channel_id, name, packed_options),
            )
            (id,) = db.execute("SELECT id FROM source WHERE url = ?", (url,)).fetchone()
            db.executemany("INSERT OR REPLACE INTO alias VALUES (?, ?)", ((alias, id) for alias in {url, *aliases}))
        return self._followed("WHERE id = ?", (id,))[0]

    def find(self, url: str) -> FollowedSource | None:
        return next(iter(self._followed("WHERE id = (SELECT source_id FROM alias WHERE alias.url = ?)", (url,))), None)

    def lister(self, video_id: str) -> FollowedSource | None:
        """Return the first source that lists a video."""
        which = "WHERE id = (SELECT min(source_id) FROM listed WHERE video_id = ?)"
        return next(iter(self._followed(which, (video_id,))), None)

    def followed(self) -> list[FollowedSource]:
        """Return all sources in the order of their addition."""
        return self._followed("ORDER BY id")

    def _followed(self, which: str, values: Sequence[object] = ()) -> list[FollowedSource]:
        query = f"""SELECT id, url, channel_id, name, options, whole, listed_at,
                      (SELECT count(*) FROM listed WHERE source_id = source.id), unlisted FROM source {which}"""
        return [
            FollowedSource(id, url, channel_id, name, _unpacked(options), bool(complete), *rest)
            for id, url, channel_id, name, options, complete, *rest in self._database.rows(query, values)
        ]

    def unfollow(self, source_ids: Iterable[int]) -> None:
        with self._database.write() as db:
            db.executemany("DELETE FROM source WHERE id = ?", ((id,) for id in source_ids))

    def only_of(self, source_ids: Iterable[int]) -> list[str]:
        """Return the videos in the library that only these sources list."""
        return self._database.column(
            """WITH leaving AS (SELECT value AS id FROM json_each(?))
               SELECT DISTINCT video_id FROM listed JOIN video ON video.id = video_id
               WHERE source_id IN (SELECT id FROM leaving) AND NOT EXISTS
               (SELECT 1 FROM listed AS other WHERE other.video_id = video.id
                  AND other.source_id NOT IN (SELECT id FROM leaving))""",
            (json.dumps(list(source_ids)),),
        )

    def listed_videos(self, source_ids: Iterable[int]) -> list[str]:
        """Return the videos in the library that these sources list."""
        query = """SELECT DISTINCT video_id FROM listed JOIN video ON video.id = video_id
                   WHERE source_id IN (SELECT value FROM json_each(?))"""
        return self._database.column(query, (json.dumps(list(source_ids)),))

    def addresses(self, source_ids: Iterable[int]) -> frozenset[str]:
        """Return all spellings of these sources' addresses."""
        query = "SELECT url FROM alias WHERE source_id IN (SELECT value FROM json_each(?))"
        return frozenset(self._database.column(query, (json.dumps(list(source_ids)),)))

    def player_client(self, channel_id: str) -> str:
        """Return the player client that got the captions of a channel's latest video; empty if unknown."""
        row = self._database.row("SELECT client FROM channel_client WHERE channel_id = ?", (channel_id,))
        return row[0] if row else ""

    def put_player_client(self, channel_id: str, client: str) -> None:
        self._database.change("INSERT OR REPLACE INTO channel_client VALUES (?, ?)", (channel_id, client))

    def rest(self) -> tuple[int, str]:
        """Return the end of the queue's pause (Unix seconds), and its error code."""
        until, code = (self._database.get_setting(REST) or "0 ").split(" ")
        return int(until), code

    def current_rest(self, rest_s: int) -> tuple[int, str]:
        """Return end and code of the current pause, else (0, "").

        `rest_s` is the length of a pause in the config. A pause longer than both that and a day comes from a wrong
        clock, and is over.
        """
        until, code = self.rest()
        return (until, code) if 0 < until - time.time() <= max(rest_s, DAY_S) else (0, "")

    def put_rest(self, until: int, code: str) -> None:
        self._database.put_setting(REST, f"{until} {code}")

    def end_rest(self) -> None:
        self._database.put_setting(REST, None)

    def listed(self, source_id: int, ids: Sequence[str]) -> frozenset[str]:
        """Return the ids that the source has listed before, in the library or not."""
        query = "SELECT video_id FROM listed WHERE source_id = ? AND video_id IN (SELECT value FROM json_each(?))"
        return frozenset(self._database.column(query, (source_id, json.dumps(list(ids)))))

    def put_listed(self, source_id: int, videos: Sequence[Video], passed_over: Sequence[str] = ()) -> None:
        """Store listed videos. Of `videos`, those missing from the library become due; `passed_over` do not."""
        with self._database.write() as db:
            ids = [*(video.id for video in videos), *passed_over]
            db.executemany(
                "INSERT OR IGNORE INTO listed (source_id, video_id) VALUES (?, ?)", ((source_id, id) for id in ids)
            )
            for video in videos:
                _put_due(db, video)

    def mark_complete(self, source_id: int, unlisted: int | None = None) -> None:
        """Record that all new entries of the list were read, and how many it omits; None: as before."""
        query = "UPDATE source SET whole = 1, listed_at = ?, unlisted = ifnull(?, unlisted) WHERE id = ?"
        self._database.change(query, (int(time.time()), unlisted, source_id))

    def mark_incomplete(self, source_id: int) -> None:
        """Record that a run is reading new entries from the top, so that older ones may be missing until it ends."""
        self._database.change("UPDATE source SET whole = 0 WHERE id = ?", (source_id,))

    def put_due(self, video: Video) -> None:
        """Make a video due unless it is in the library."""
        with self._database.write() as db:
            _put_due(db, video)

    def put_title(self, video: Video) -> None:
        """Store the metadata of a video without captions: lists may give its title in another language."""
        with self._database.write() as db:
            if not db.execute("SELECT 1 FROM track WHERE video_id = ?", (video.id,)).fetchone():
                put_metadata(db, video)
                drop_empty_channels(db)

    def stage(self, video_id: str) -> FetchState | None:
        query = "SELECT state, tries, retry_at, failure FROM stage WHERE video_id = ? AND name = 'captions'"
        row = self._database.row(query, (video_id,))
        return FetchState(*row) if row else None

    def refusal(self, video_id: str) -> tuple[int, bool]:
        """Return the time of a video's refusal (Unix seconds), and whether a list reported it.

        The video's own page gives a reason.
        """
        query = "SELECT since, details FROM stage WHERE video_id = ? AND name = 'captions'"
        since, details = self._database.row(query, (video_id,))
        return since or 0, "reason" not in json.loads(details or "{}")

    def due(self, now: int, *, source_id: int | None = None, all_failed: bool = False) -> list[str]:
        """Return the videos due at `now` (Unix seconds): of one source, or of all.

        Videos never refused come first; both groups are in the order of the lists.

        `all_failed` adds failed videos before their retry or without one. Videos of files are never due; a transcribed
        one is, when YouTube is to be asked for captions again. A failure in the future comes from a wrong clock: its
        retry is due.
        """
        return self._database.column(
            """SELECT video.id FROM stage JOIN video ON video.id = video_id
               WHERE stage.name = 'captions' AND video.source IS NULL
                 AND (:source IS NULL OR video.id IN (SELECT video_id FROM listed WHERE source_id = :source))
                 AND (state = 'due' OR state = 'done' AND retry_at <= :now OR state = 'failed'
                   AND (:all OR retry_at <= :now OR retry_at >= since AND since > :now))
               ORDER BY state <> 'due', video.rowid""",
            {"source": source_id, "now": now, "all": all_failed},
        )

    def pass_over(self, video_id: str) -> None:
        """Delete a due video that the options exclude; its source does not list it as new again. Keeps one with
        captions.
        """
        query = "DELETE FROM video WHERE id = :id AND NOT EXISTS (SELECT 1 FROM track WHERE video_id = :id)"
        with self._database.write() as db:
            db.execute(query, {"id": video_id})
            drop_empty_channels(db)

    def put_refused(self, video: Video, code: str, details: Mapping[str, Any], retry_at: int | None) -> None:
        """Store a refusal and its retry time (Unix seconds; None: no retry). The stored captions stay."""
        with self._database.write() as db:
            if not has_video(db, video.id):
                put_metadata(db, video)
            db.execute(
                """INSERT INTO stage (video_id, name, state, failure, details, since, tries, retry_at)
                   VALUES (?, 'captions', 'failed', ?, ?, ?, 1, ?)
                   ON CONFLICT DO UPDATE SET state = 'failed', failure = excluded.failure, details = excluded.details,
                     since = iif(failure IS excluded.failure, since, excluded.since),
                     tries = iif(failure IS excluded.failure, tries + 1, 1),
                     retry_at = excluded.retry_at""",
                (video.id, code, json.dumps(details, sort_keys=True, default=str), int(time.time()), retry_at),
            )


def _put_due(db: sqlite3.Connection, video: Video) -> None:
    if not has_video(db, video.id):
        put_metadata(db, video)
        db.execute("INSERT INTO stage (video_id, name, state) VALUES (?, 'captions', 'due')", (video.id,))
        db.execute("UPDATE listed SET removed = 0 WHERE video_id = ?", (video.id,))


def has_video(db: sqlite3.Connection, video_id: str) -> bool:
    return db.execute("SELECT 1 FROM video WHERE id = ?", (video_id,)).fetchone() is not None


def drop_empty_channels(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM channel WHERE id NOT IN (SELECT channel_id FROM video)")


def put_metadata(db: sqlite3.Connection, video: Video) -> None:
    """Write or replace the rows of a video and its channel."""
    db.execute(
        "INSERT INTO channel VALUES (?, ?) ON CONFLICT DO UPDATE SET name = excluded.name",
        (video.channel_id, video.channel),
    )
    db.execute(
        """INSERT INTO video VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET channel_id = excluded.channel_id, title = excluded.title, url = excluded.url,
             published = excluded.published, duration_ms = excluded.duration_ms, chapters = excluded.chapters,
             source = excluded.source, kind = excluded.kind""",
        rows.video_values(video),
    )


def _packed(options: SourceOptions) -> str:
    return json.dumps(asdict(options), sort_keys=True, default=str)


def _unpacked(text: str) -> SourceOptions:
    values = json.loads(text)
    since = date.fromisoformat(values["since"]) if values["since"] else None
    tuples = {name: tuple(values[name]) for name in ("tabs", "languages")}
    return SourceOptions(**{**values, **tuples, "since": since})
