"""Videos to transcribe on this machine, and their finished stretches.

Each stretch is one commit, so a killed run loses only the current one. Once all of a video is transcribed, its captions
are a normal track, and the stretches are deleted.
"""

import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from subtitle_rag.base.domain.errors import SILENT, AppError
from subtitle_rag.base.domain.values import Cue, GapReason, HeardStretch, Video
from subtitle_rag.library.connection import Store
from subtitle_rag.library.rows import Listening
from subtitle_rag.library.sources import has_video, put_metadata


@dataclass(frozen=True, slots=True)
class DueListening:
    """A video to transcribe."""

    video_id: str
    heard_ms: int
    """End of its last stretch."""
    length_ms: int


class ListeningStore(Store):
    def ask(self, video_ids: Collection[str], *, again: bool = False) -> int:
        """Queue these videos for transcription; return how many were added.

        A failed one continues where it ended. With `again` all but the queued ones start from the beginning.
        """
        ids = json.dumps(list(video_ids))
        with self._database.write() as db:
            before = db.execute("SELECT count(*) FROM listening WHERE state = 'due'").fetchone()[0]
            if again:
                query = "DELETE FROM listening WHERE state <> 'due' AND video_id IN (SELECT value FROM json_each(?))"
                db.execute(query, (ids,))
            db.execute(
                """INSERT INTO listening (video_id, state, asked_at)
                   SELECT value, 'due', ? FROM json_each(?) WHERE value IN (SELECT id FROM video)
                   ON CONFLICT DO UPDATE SET state = iif(state = 'failed', 'due', state)""",
                (int(time.time()), ids),
            )
            return int(db.execute("SELECT count(*) FROM listening WHERE state = 'due'").fetchone()[0]) - int(before)

    def put_silent(self, video: Video, error: AppError) -> None:
        """Store a video without captions, with its error. If it is in the library, only its film is updated."""
        with self._database.write() as db:
            if has_video(db, video.id):
                db.execute(
                    "UPDATE video SET source = ? WHERE id = ? AND source IS NULL AND NOT EXISTS"
                    " (SELECT 1 FROM track WHERE video_id = video.id)",
                    (video.source, video.id),
                )
                return
            put_metadata(db, video)
            db.execute(
                """INSERT INTO stage (video_id, name, state, failure, details, since, tries)
                   VALUES (?, 'captions', 'failed', ?, ?, ?, 1)""",
                (video.id, error.code, json.dumps(error.details, ensure_ascii=False, sort_keys=True), int(time.time())),
            )

    def is_due(self, video_id: str) -> bool:
        """Whether a video is still to be transcribed; it may have been removed."""
        return (
            self._database.row("SELECT 1 FROM listening WHERE video_id = ? AND state = 'due'", (video_id,)) is not None
        )

    def cancel(self, video_ids: Collection[str]) -> None:
        """Cancel the transcription of these videos; deletes their stretches, but no captions."""
        query = "DELETE FROM listening WHERE state <> 'done' AND video_id IN (SELECT value FROM json_each(?))"
        self._database.change(query, (json.dumps(list(video_ids)),))

    def due(self, video_ids: Collection[str] | None = None) -> list[DueListening]:
        """Return the videos to transcribe, or those in `video_ids`: started ones first, then the newest."""
        rows = self._database.rows(
            """SELECT video_id,
                 (SELECT coalesce(max(end_ms), 0) FROM heard WHERE heard.video_id = listening.video_id) AS heard_ms,
                 coalesce(nullif(length_ms, 0), duration_ms, 0)
               FROM listening JOIN video ON video.id = video_id
               WHERE state = 'due' AND (:ids IS NULL OR video_id IN (SELECT value FROM json_each(:ids)))
               ORDER BY heard_ms > 0 DESC, published DESC NULLS LAST, asked_at DESC, video_id""",
            {"ids": None if video_ids is None else json.dumps(list(video_ids))},
        )
        return [DueListening(*row) for row in rows]

    def begin(self, video_id: str, model: str, settings: str, length_ms: int) -> int:
        """Record the model and settings for a video; return where its transcription continues.

        Deletes stretches by another model or other settings.
        """
        with self._database.write() as db:
            before = db.execute("SELECT model, settings FROM listening WHERE video_id = ?", (video_id,)).fetchone()
            if before != (model, settings):
                db.execute("DELETE FROM heard WHERE video_id = ?", (video_id,))
            db.execute(
                "UPDATE listening SET model = ?, settings = ?, length_ms = ? WHERE video_id = ?",
                (model, settings, length_ms, video_id),
            )
            query = "SELECT coalesce(max(end_ms), 0) FROM heard WHERE video_id = ?"
            return int(db.execute(query, (video_id,)).fetchone()[0])

    def length_ms(self, video_id: str) -> int:
        """Return the length of a video's sound; 0 before it has begun."""
        row = self._database.row("SELECT length_ms FROM listening WHERE video_id = ?", (video_id,))
        return int(row[0]) if row else 0

    def put_stretch(self, video_id: str, stretch: HeardStretch) -> None:
        """Store a finished stretch, unless its video was removed."""
        cues = [cue.to_record() for cue in stretch.cues]
        self._database.change(
            """INSERT OR REPLACE INTO heard (video_id, begin_ms, end_ms, language, gap, cues)
               SELECT video_id, ?, ?, ?, ?, ? FROM listening WHERE video_id = ?""",
            (
                stretch.begin_ms,
                stretch.end_ms,
                stretch.language,
                stretch.gap or "",
                json.dumps(cues, ensure_ascii=False, separators=(",", ":")),
                video_id,
            ),
        )

    def stretches(self, video_id: str) -> list[HeardStretch]:
        """Return a video's finished stretches, in order."""
        query = "SELECT begin_ms, end_ms, language, gap, cues FROM heard WHERE video_id = ? ORDER BY begin_ms"
        return [
            HeardStretch(
                begin, end, tuple(map(Cue.from_record, json.loads(cues))), GapReason(gap) if gap else None, language
            )
            for begin, end, language, gap, cues in self._database.rows(query, (video_id,))
        ]

    def put_done(self, video_id: str, look_at: int | None) -> None:
        """Record that a video's captions are complete, and delete its stretches.

        `look_at` is when to ask YouTube again for captions (Unix seconds); None: never.
        """
        with self._database.write() as db:
            db.execute("DELETE FROM heard WHERE video_id = ?", (video_id,))
            db.execute(
                "UPDATE listening SET state = 'done', failure = NULL, details = NULL WHERE video_id = ?", (video_id,)
            )
            db.execute("UPDATE stage SET retry_at = ? WHERE video_id = ? AND name = 'captions'", (look_at, video_id))

    def put_failed(self, video_id: str, code: str, details: Mapping[str, Any]) -> None:
        """Record why a video cannot be transcribed."""
        self._database.change(
            "UPDATE listening SET state = 'failed', failure = ?, details = ? WHERE video_id = ?",
            (code, json.dumps(details, ensure_ascii=False, sort_keys=True, default=str), video_id),
        )

    def failed(self) -> set[str]:
        """Return the videos that cannot be transcribed."""
        return set(self._database.column("SELECT video_id FROM listening WHERE state = 'failed'"))

    def all(self) -> dict[str, Listening]:
        """Return the progress of each queued video."""
        rows = self._database.rows(
            """SELECT listening.video_id, state, coalesce(sum(end_ms - begin_ms), 0), length_ms, failure, details
               FROM listening LEFT JOIN heard ON heard.video_id = listening.video_id GROUP BY listening.video_id"""
        )
        return {
            id: Listening(state, heard_ms, length_ms, failure or "", json.loads(details or "{}"))
            for id, state, heard_ms, length_ms, failure, details in rows
        }

    def candidates(self, video_ids: Collection[str] | None = None) -> list[str]:
        """Return the videos without captions, or those in `video_ids`, newest first."""
        return self._database.column(
            """SELECT video.id FROM video JOIN stage ON stage.video_id = video.id AND stage.name = 'captions'
               WHERE state = 'failed' AND failure IN (SELECT value FROM json_each(:silent))
                 AND NOT EXISTS (SELECT 1 FROM track WHERE track.video_id = video.id)
                 AND (:ids IS NULL OR video.id IN (SELECT value FROM json_each(:ids)))
               ORDER BY published DESC NULLS LAST, video.id""",
            {"silent": json.dumps(sorted(SILENT)), "ids": None if video_ids is None else json.dumps(list(video_ids))},
        )

    def is_heard(self, video_id: str) -> bool:
        """Whether a video's captions were transcribed on this machine."""
        query = "SELECT 1 FROM track WHERE video_id = ? AND kind = 'local'"
        return self._database.row(query, (video_id,)) is not None

    def look_again(self, video_id: str, at: int | None) -> None:
        """Record when to ask YouTube again for captions of a transcribed video."""
        self._database.change(
            "UPDATE stage SET state = 'done', retry_at = ? WHERE video_id = ? AND name = 'captions'", (at, video_id)
        )
