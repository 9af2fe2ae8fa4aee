"""Summaries of videos: a few sentences for each, by the model that writes the contexts.

A summary belongs to one version of the transcript. New captions make it invalid. A new model or prompt leaves it valid
until it is replaced.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from subtitle_rag.library.connection import Database
from subtitle_rag.library.context_store import Recipe

_TRANSCRIPT = """(SELECT track.sha256 || ':' || window.rule_hash FROM track JOIN window USING (video_id)
  WHERE track.video_id = {id} LIMIT 1)"""
_OF_PRESENT_CAPTIONS = f"video_summary WHERE transcript = {_TRANSCRIPT.format(id='video_summary.video_id')}"


@dataclass(frozen=True, slots=True)
class VideoSummary:
    """A model's summary of a video. `text` is empty if nothing of the answer is usable."""

    video_id: str
    text: str
    model: str
    digest: str
    prompt: str
    tries: int
    settled: bool
    """No further request is due by this model and prompt."""
    prompt_tokens: int
    tokens: int
    ms: int
    written_at: int
    """Unix seconds."""


@dataclass(frozen=True, slots=True)
class SummaryCounts:
    """Progress of the summaries."""

    videos: int
    """Videos with captions."""
    written: int
    empty: int
    """Videos without a usable answer."""

    @property
    def due(self) -> int:
        return self.videos - self.written - self.empty


class SummaryStore:
    """The library's table of summaries. Every method can raise the errors of `Library`."""

    def __init__(self, database: Database) -> None:
        self._read = database.read
        self._write = database.write

    def of(self, video_ids: Collection[str]) -> dict[str, str]:
        """Return the valid summaries of these videos, by id; a video without one is left out."""
        with self._read() as db:
            rows = db.execute(
                f"""SELECT video_id, text FROM {_OF_PRESENT_CAPTIONS} AND text <> ''
                      AND video_id IN (SELECT value FROM json_each(?))""",
                (json.dumps(list(video_ids)),),
            )
            return dict(rows.fetchall())

    def all(self) -> dict[str, str]:
        """Return all valid summaries, by video."""
        with self._read() as db:
            return dict(db.execute(f"SELECT video_id, text FROM {_OF_PRESENT_CAPTIONS} AND text <> ''").fetchall())

    def get(self, video_id: str) -> VideoSummary | None:
        """Return a video's valid summary, or the record of tries that gave none."""
        with self._read() as db:
            row = db.execute(
                f"""SELECT video_id, text, model, digest, prompt, tries, settled, prompt_tokens, tokens, ms, written_at
                    FROM {_OF_PRESENT_CAPTIONS} AND video_id = ?""",
                (video_id,),
            ).fetchone()
        if row is None:
            return None
        values = list(row)
        values[6] = bool(values[6])
        return VideoSummary(*values)

    def put(self, summary: VideoSummary, transcript: str | None = None) -> bool:
        """Store a summary in place of the video's last one; an empty text leaves a valid one, and its model, in place.

        Return False if the video has no captions, or others than those of `transcript`.
        """
        with self._write() as db:
            done = db.execute(
                f"""INSERT INTO video_summary
                    SELECT ?1, ?2, ?3, ?4, ?5, present.transcript, ?6, ?7, ?8, ?9, ?10, ?11
                    FROM (SELECT {_TRANSCRIPT.format(id="?1")} AS transcript) AS present
                    WHERE present.transcript = coalesce(?12, present.transcript)
                    ON CONFLICT DO UPDATE SET
                      text = iif(excluded.text = '' AND transcript = excluded.transcript, text, excluded.text),
                      model = iif(excluded.text = '' AND transcript = excluded.transcript, model, excluded.model),
                      digest = excluded.digest, prompt = excluded.prompt, transcript = excluded.transcript,
                      tries = excluded.tries, settled = excluded.settled, prompt_tokens = excluded.prompt_tokens,
                      tokens = excluded.tokens, ms = excluded.ms, written_at = excluded.written_at""",
                (
                    summary.video_id,
                    summary.text,
                    summary.model,
                    summary.digest,
                    summary.prompt,
                    summary.tries,
                    summary.settled,
                    summary.prompt_tokens,
                    summary.tokens,
                    summary.ms,
                    summary.written_at,
                    transcript,
                ),
            )
            return done.rowcount > 0

    def missing(self, recipe: Recipe, *, channels: Sequence[str] = (), videos: Sequence[str] = ()) -> dict[str, int]:
        """Return the videos with captions and without a summary by this recipe, with the tries so far, newest first."""
        with self._read() as db:
            rows = db.execute(
                f"""SELECT video.id, iif(done.digest = :digest AND done.prompt = :prompt, done.tries, 0)
                    FROM video LEFT JOIN (SELECT * FROM {_OF_PRESENT_CAPTIONS}) AS done ON done.video_id = video.id
                    WHERE EXISTS (SELECT 1 FROM window WHERE window.video_id = video.id)
                      AND NOT coalesce(done.settled AND done.prompt = :prompt
                        AND (done.digest = :digest OR :keeps AND done.text <> ''), 0)
                      AND (:channels = '[]' OR channel_id IN (SELECT value FROM json_each(:channels)))
                      AND (:videos = '[]' OR video.id IN (SELECT value FROM json_each(:videos)))
                    ORDER BY published DESC, video.rowid""",
                {
                    "digest": recipe.digest,
                    "prompt": recipe.prompt,
                    "keeps": recipe.keeps,
                    "channels": json.dumps(list(channels)),
                    "videos": json.dumps(list(videos)),
                },
            )
            return dict(rows.fetchall())

    def redo(self, *, channels: Sequence[str] = (), videos: Sequence[str] = ()) -> None:
        """Queue summaries for replacement; they are valid until then."""
        with self._write() as db:
            db.execute(
                """UPDATE video_summary SET settled = 0, tries = 0
                   WHERE (:channels = '[]' OR video_id IN
                       (SELECT id FROM video WHERE channel_id IN (SELECT value FROM json_each(:channels))))
                     AND (:videos = '[]' OR video_id IN (SELECT value FROM json_each(:videos)))""",
                {"channels": json.dumps(list(channels)), "videos": json.dumps(list(videos))},
            )

    def counts(self) -> SummaryCounts:
        with self._read() as db:
            (videos,) = db.execute("SELECT count(DISTINCT video_id) FROM window").fetchone()
            written, empty = db.execute(
                f"""SELECT count(*) FILTER (WHERE text <> ''), count(*) FILTER (WHERE text = '' AND settled)
                    FROM {_OF_PRESENT_CAPTIONS}"""
            ).fetchone()
        return SummaryCounts(videos, written, empty)
