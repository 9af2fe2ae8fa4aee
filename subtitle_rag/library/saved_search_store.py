"""Saved searches, and the new scenes that each has since the user has last looked at it.

Videos are numbered as their captions first arrive. A search is counted up to a number, so counting again reads only the
videos after it. New scenes are kept by video, and leave with it.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from subtitle_rag.domain import UsageError, natural_key, tidy
from subtitle_rag.library.connection import Store
from subtitle_rag.library.rows import UNSEARCHABLE

MAX_NAME = 100
"""Characters of a name."""
MAX_SAVED = 200

_SEARCHES = """SELECT name, query, counted, (SELECT coalesce(sum(scenes), 0) FROM saved_hit WHERE search = name),
                 (SELECT coalesce(json_group_array(video_id), '[]') FROM saved_hit WHERE search = name)
               FROM saved_search"""
_ARRIVED = """SELECT coalesce(
                (SELECT min(number) - 1 FROM arrival WHERE video_id IN (SELECT video_id FROM unsearchable)),
                (SELECT max(number) FROM arrival), 0)"""


@dataclass(frozen=True, slots=True)
class SavedSearch:
    name: str
    query: str
    """As typed, with its filters."""
    counted: int
    """The number of the last video that was looked through."""
    new: int
    """Scenes of videos that came after the last look at it."""
    videos: tuple[str, ...] = ()
    """Ids of the videos with these scenes."""


class SavedSearchStore(Store):
    def save(self, name: str, query: str) -> SavedSearch:
        """Save a search under a name, in the place of one of the same name: from here on its scenes are new.

        Raises:
            UsageError: `bad_search_name`, `searches_full`.
        """
        name = search_name(name)
        if self.find(name) is None and len(self.all()) >= MAX_SAVED:
            raise UsageError("searches_full", limit=MAX_SAVED)
        arrived = self.arrived()
        with self._database.write() as db:
            db.execute("DELETE FROM saved_hit WHERE search = ?", (name,))
            db.execute(
                """INSERT INTO saved_search (name, query, counted) VALUES (?, ?, ?)
                   ON CONFLICT DO UPDATE SET query = excluded.query, counted = excluded.counted""",
                (name, query, arrived),
            )
        return SavedSearch(name, query, arrived, 0)

    def forget(self, name: str) -> bool:
        """Delete a saved search; return whether it existed."""
        return self._database.change("DELETE FROM saved_search WHERE name = ?", (tidy(name),)) > 0

    def all(self) -> list[SavedSearch]:
        """Return the saved searches by name."""
        return sorted(self._read(""), key=lambda search: natural_key(search.name))

    def find(self, name: str) -> SavedSearch | None:
        return next(iter(self._read("WHERE name = ?", tidy(name))), None)

    def _read(self, which: str, *values: object) -> list[SavedSearch]:
        rows = self._database.rows(f"{_SEARCHES} {which}", values)
        return [
            SavedSearch(name, query, counted, new, tuple(json.loads(videos)))
            for name, query, counted, new, videos in rows
        ]

    def arrived(self) -> int:
        """Return the number of the last video before which all can be searched."""
        return int(self._database.row(f"WITH unsearchable AS ({UNSEARCHABLE}) {_ARRIVED}")[0])

    def arrivals(self, after: int, to: int) -> list[str]:
        """Return the videos of these numbers, without the first one."""
        query = "SELECT video_id FROM arrival WHERE number > ? AND number <= ? ORDER BY number"
        return self._database.column(query, (after, to))

    def add_counts(self, search: SavedSearch, to: int, scenes: Mapping[str, int]) -> None:
        """Add new scenes by video, and note the number up to which videos were looked through.

        Nothing is added where the search was counted, saved again or looked at meanwhile.
        """
        with self._database.write() as db:
            is_same = db.execute(
                "UPDATE saved_search SET counted = ? WHERE name = ? AND query = ? AND counted = ?",
                (to, search.name, search.query, search.counted),
            ).rowcount
            if is_same:
                db.executemany(
                    """INSERT OR REPLACE INTO saved_hit (search, video_id, scenes)
                       SELECT ?, id, ? FROM video WHERE id = ?""",
                    ((search.name, count, video) for video, count in scenes.items() if count),
                )

    def look(self, name: str) -> None:
        """Note that the user looks at the scenes of a search: from here on others are new."""
        arrived = self.arrived()
        with self._database.write(is_content=False) as db:
            db.execute("DELETE FROM saved_hit WHERE search = ?", (name,))
            db.execute("UPDATE saved_search SET counted = max(counted, ?) WHERE name = ?", (arrived, name))


def put_arrival(db: sqlite3.Connection, video_id: str) -> None:
    """Number a video whose captions are here for the first time, after all that any search was counted up to."""
    db.execute(
        """INSERT OR IGNORE INTO arrival (number, video_id)
           SELECT 1 + max(coalesce((SELECT max(number) FROM arrival), 0),
                          coalesce((SELECT max(counted) FROM saved_search), 0)), ?""",
        (video_id,),
    )


def search_name(text: str) -> str:
    """Return a name as it is kept. Raises UsageError `bad_search_name`."""
    name = tidy(text)
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise UsageError("bad_search_name", limit=MAX_NAME)
    return name
