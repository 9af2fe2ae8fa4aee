"""The levels above a video's windows that the index holds: its sections, and the video itself."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from subtitle_rag.library.connection import Store

Level = Literal["section", "video"]


@dataclass(frozen=True, slots=True)
class LevelPlace:
    """The windows below a point of a level, by their ordinals in the video."""

    video_id: str
    level: Level
    first: int
    last: int


class LevelStore(Store):
    def put(self, video_id: str, source: str, points: Mapping[str, LevelPlace]) -> None:
        """Note the points (id → place) of a video in place of earlier ones; `source` is what they are made from."""
        with self._database.write() as db:
            db.execute("DELETE FROM level WHERE video_id = ?", (video_id,))
            db.executemany(
                "INSERT INTO level (id, video_id, level, first, last, source) VALUES (?, ?, ?, ?, ?, ?)",
                ((id, video_id, place.level, place.first, place.last, source) for id, place in points.items()),
            )

    def sources(self) -> dict[str, str]:
        """Return by video what its points are made from."""
        return dict(self._database.rows("SELECT video_id, min(source) FROM level GROUP BY video_id"))

    def places(self, ids: Collection[str]) -> dict[str, LevelPlace]:
        """Return the places of those points that are noted."""
        query = "SELECT id, video_id, level, first, last FROM level WHERE id IN (SELECT value FROM json_each(?))"
        return {id: LevelPlace(*row) for id, *row in self._database.rows(query, (json.dumps(list(ids)),))}
