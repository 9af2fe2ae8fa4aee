"""Marked scenes with the user's notes and tags.

A mark is stored by video and time, so it stays when windows are cut again.
"""

import json
import time
from collections.abc import Collection
from dataclasses import dataclass

from subtitle_rag.base.domain.values import Video
from subtitle_rag.library.connection import Store

_COLUMNS = "video_id, start_ms, end_ms, at_ms, title, channel, url, line, note, tag, marked_at"
_NAMES = """SELECT video.id, video.title, channel.name FROM video JOIN channel ON channel.id = channel_id
            WHERE EXISTS (SELECT 1 FROM track WHERE video_id = video.id)"""
_MARKS = f"""SELECT mark.id, video_id, start_ms, end_ms, at_ms, coalesce(named.title, mark.title),
               coalesce(named.name, mark.channel), url, line, note, tag, marked_at
             FROM mark LEFT JOIN ({_NAMES}) AS named ON named.id = video_id"""
_INSERT = f"INSERT INTO mark ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Mark:
    id: int
    video_id: str
    start_ms: int
    end_ms: int
    at_ms: int
    """The time to jump to."""
    title: str
    """The video's title, as its channel and link; those of a removed video are kept with its marks."""
    channel: str
    url: str | None
    line: str
    """The caption line at the time to jump to."""
    note: str
    tag: str
    marked_at: int
    """Unix seconds."""


class MarkStore(Store):
    def add(
        self, video: Video, start_ms: int, end_ms: int, at_ms: int, line: str, *, note: str = "", tag: str = ""
    ) -> Mark:
        """Mark a scene, or update its mark: an empty tag keeps the old one, and a new note is appended.

        Args:
            video: The video.
            start_ms: Where the scene begins.
            end_ms: Where it ends.
            at_ms: The time to jump to.
            line: The caption line at that time.
            note: The user's note.
            tag: The user's tag.

        Returns:
            The mark as stored.
        """
        scene = (video.id, start_ms, end_ms)
        with self._database.write() as db:
            db.execute(
                f"""{_INSERT} ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms, title = excluded.title,
                      channel = excluded.channel, url = excluded.url, line = excluded.line,
                      note = iif(excluded.note = '' OR instr(note, excluded.note), note,
                                 iif(note = '', '', note || ' · ') || excluded.note),
                      tag = iif(excluded.tag = '', tag, excluded.tag)""",
                (*scene, at_ms, video.title, video.channel, video.url, line, note, tag, int(time.time())),
            )
            row = db.execute(f"{_MARKS} WHERE (video_id, start_ms, end_ms) = (?, ?, ?)", scene).fetchone()
        return Mark(*row)

    def all(self, tag: str | None = None) -> list[Mark]:
        """Return all marks in the order of their creation, or those with a tag."""
        rows = self._database.rows(f"{_MARKS} WHERE ? IS NULL OR tag = ? ORDER BY mark.id", (tag, tag))
        return [Mark(*row) for row in rows]

    def of_videos(self, video_ids: Collection[str]) -> list[Mark]:
        query = f"{_MARKS} WHERE video_id IN (SELECT value FROM json_each(?)) ORDER BY mark.id"
        return [Mark(*row) for row in self._database.rows(query, (json.dumps(list(video_ids)),))]

    def put_note(self, id: int, note: str) -> bool:
        """Replace the note of a mark; return whether the mark exists."""
        return self._database.change("UPDATE mark SET note = ? WHERE id = ?", (note, id)) > 0

    def put_tag(self, id: int, tag: str) -> bool:
        """Replace the tag of a mark; return whether the mark exists."""
        return self._database.change("UPDATE mark SET tag = ? WHERE id = ?", (tag, id)) > 0

    def remove(self, id: int) -> bool:
        """Remove a mark; return whether it existed."""
        return self._database.change("DELETE FROM mark WHERE id = ?", (id,)) > 0
