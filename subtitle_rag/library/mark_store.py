"""Marked scenes with the user's notes and tags.

A mark is stored by video and time. It stays when windows are cut anew and when its video is removed, and has its scene
back when the video returns.
"""

import json
import time
from collections.abc import Collection
from dataclasses import dataclass

from subtitle_rag.domain import Video
from subtitle_rag.library.connection import Database

_MARKS = "SELECT id, video_id, start_ms, end_ms, at_ms, title, channel, url, line, note, tag, marked_at FROM mark"


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked scene."""

    id: int
    video_id: str
    start_ms: int
    end_ms: int
    at_ms: int
    """The second to jump to."""
    title: str
    """The video's, as its channel and link: a removed video has left them with its marks."""
    channel: str
    url: str | None
    line: str
    """The caption line at the second to jump to."""
    note: str
    tag: str
    marked_at: int
    """Unix seconds."""


class MarkStore:
    """The library's table of marks. Every method can raise the errors of `Library`."""

    def __init__(self, database: Database) -> None:
        self._read = database.read
        self._write = database.write

    def add(
        self, video: Video, start_ms: int, end_ms: int, at_ms: int, line: str, *, note: str = "", tag: str = ""
    ) -> Mark:
        """Mark a scene. One that is marked keeps its note and tag, unless others are given."""
        place = (video.id, start_ms, end_ms)
        with self._write() as db:
            db.execute(
                """INSERT INTO mark (video_id, start_ms, end_ms, at_ms, title, channel, url, line, note, tag, marked_at)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                   ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms, title = excluded.title,
                     channel = excluded.channel, url = excluded.url, line = excluded.line,
                     note = iif(excluded.note = '', note, excluded.note),
                     tag = iif(excluded.tag = '', tag, excluded.tag)""",
                (*place, at_ms, video.title, video.channel, video.url, line, note, tag, int(time.time())),
            )
            row = db.execute(f"{_MARKS} WHERE (video_id, start_ms, end_ms) = (?, ?, ?)", place).fetchone()
        return Mark(*row)

    def adopt(self, mark: Mark) -> bool:
        """Store another library's mark, with its time; return False if the scene is marked already."""
        values = (mark.video_id, mark.start_ms, mark.end_ms, mark.at_ms, mark.title, mark.channel, mark.url)
        with self._write() as db:
            done = db.execute(
                """INSERT INTO mark (video_id, start_ms, end_ms, at_ms, title, channel, url, line, note, tag, marked_at)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING""",
                (*values, mark.line, mark.note, mark.tag, mark.marked_at),
            )
            return done.rowcount > 0

    def all(self, tag: str | None = None) -> list[Mark]:
        """Return the marks in the order in which they were made, or those with a tag."""
        with self._read() as db:
            rows = db.execute(f"{_MARKS} WHERE ? IS NULL OR tag = ? ORDER BY id", (tag, tag))
            return [Mark(*row) for row in rows]

    def of_videos(self, video_ids: Collection[str]) -> list[Mark]:
        """Return the marks of these videos."""
        with self._read() as db:
            in_these = "video_id IN (SELECT value FROM json_each(?))"
            rows = db.execute(f"{_MARKS} WHERE {in_these} ORDER BY id", (json.dumps(list(video_ids)),))
            return [Mark(*row) for row in rows]

    def put_note(self, id: int, note: str) -> bool:
        """Replace the note of a mark; return whether the mark exists."""
        with self._write() as db:
            return db.execute("UPDATE mark SET note = ? WHERE id = ?", (note, id)).rowcount > 0

    def put_tag(self, id: int, tag: str) -> bool:
        """Replace the tag of a mark; return whether the mark exists."""
        with self._write() as db:
            return db.execute("UPDATE mark SET tag = ? WHERE id = ?", (tag, id)).rowcount > 0

    def remove(self, id: int) -> bool:
        """Remove a mark; return whether it existed."""
        with self._write() as db:
            return db.execute("DELETE FROM mark WHERE id = ?", (id,)).rowcount > 0
