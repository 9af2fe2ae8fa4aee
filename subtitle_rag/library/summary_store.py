"""Summaries of videos: a few sentences each, by the model of the contexts.

A summary belongs to one version of the transcript. New captions make it invalid. A new model or prompt leaves it valid
until it is replaced.
"""

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace

from subtitle_rag.library.connection import ONLY, Store
from subtitle_rag.library.context_store import ALL_WINDOWS, TRANSCRIPT, Recipe, WindowSelection

_PRESENT = f"SELECT {TRANSCRIPT} FROM track JOIN window USING (video_id) WHERE track.video_id"
_OF_PRESENT_CAPTIONS = f"video_summary WHERE transcript = ({_PRESENT} = video_summary.video_id LIMIT 1)"


@dataclass(frozen=True, slots=True)
class VideoSummary:
    """A model's summary of a video. `text` is empty if the answer is unusable."""

    video_id: str
    text: str
    model: str
    digest: str
    prompt: str
    tries: int
    settled: bool
    """Whether this model and prompt need no further request."""
    prompt_tokens: int
    tokens: int
    ms: int
    written_at: int
    """Unix seconds."""


@dataclass(frozen=True, slots=True)
class SummaryCounts:
    videos: int
    """Videos with captions."""
    written: int
    empty: int
    """Videos without a usable answer."""

    @property
    def due(self) -> int:
        return self.videos - self.written - self.empty


class SummaryStore(Store):
    def of(self, video_ids: Collection[str]) -> dict[str, str]:
        """Return the valid summaries of these videos, by id."""
        query = f"""SELECT video_id, text FROM {_OF_PRESENT_CAPTIONS} AND text <> ''
                      AND video_id IN (SELECT value FROM json_each(?))"""
        return dict(self._database.rows(query, (json.dumps(list(video_ids)),)))

    def all(self) -> dict[str, str]:
        """Return all valid summaries, by video."""
        return dict(self._database.rows(f"SELECT video_id, text FROM {_OF_PRESENT_CAPTIONS} AND text <> ''"))

    def get(self, video_id: str) -> VideoSummary | None:
        """Return a video's valid summary, or the record of failed tries."""
        row = self._database.row(
            f"""SELECT video_id, text, model, digest, prompt, tries, settled, prompt_tokens, tokens, ms, written_at
                FROM {_OF_PRESENT_CAPTIONS} AND video_id = ?""",
            (video_id,),
        )
        if row is None:
            return None
        summary = VideoSummary(*row)
        return replace(summary, settled=bool(summary.settled))

    def put(self, summary: VideoSummary, transcript: str | None = None) -> bool:
        """Store a summary, replacing the video's last one; an empty text keeps a valid one and its model.

        Returns False if the video has no captions, or not the version `transcript`.
        """
        query = f"""INSERT INTO video_summary
                    SELECT :video_id, :text, :model, :digest, :prompt, present.transcript, :tries, :settled,
                      :prompt_tokens, :tokens, :ms, :written_at
                    FROM (SELECT ({_PRESENT} = :video_id LIMIT 1) AS transcript) AS present
                    WHERE present.transcript = coalesce(:transcript, present.transcript)
                    ON CONFLICT DO UPDATE SET
                      text = iif(excluded.text = '' AND transcript = excluded.transcript, text, excluded.text),
                      model = iif(excluded.text = '' AND transcript = excluded.transcript, model, excluded.model),
                      digest = excluded.digest, prompt = excluded.prompt, transcript = excluded.transcript,
                      tries = excluded.tries, settled = excluded.settled, prompt_tokens = excluded.prompt_tokens,
                      tokens = excluded.tokens, ms = excluded.ms, written_at = excluded.written_at"""
        return self._database.change(query, {**asdict(summary), "transcript": transcript}) > 0

    def missing(self, recipe: Recipe, selection: WindowSelection = ALL_WINDOWS) -> dict[str, int]:
        """Return the videos with captions but no summary by this recipe, with the tries so far, newest first."""
        query = f"""SELECT video.id, iif(done.digest = :digest AND done.prompt = :prompt, done.tries, 0)
                    FROM video LEFT JOIN (SELECT * FROM {_OF_PRESENT_CAPTIONS}) AS done ON done.video_id = video.id
                    WHERE EXISTS (SELECT 1 FROM window WHERE window.video_id = video.id)
                      AND NOT coalesce(done.settled AND done.prompt = :prompt
                        AND done.digest = :digest, 0)
                      AND {ONLY}
                    ORDER BY published DESC, video.rowid"""
        return dict(self._database.rows(query, {**asdict(recipe), **selection.values}))

    def redo(self, selection: WindowSelection = ALL_WINDOWS) -> None:
        """Queue summaries for replacement; they are valid until then."""
        query = f"""UPDATE video_summary SET settled = 0, tries = 0
                    WHERE video_id IN (SELECT id FROM video WHERE {ONLY})"""
        self._database.change(query, selection.values)

    def counts(self) -> SummaryCounts:
        (videos,) = self._database.row("SELECT count(DISTINCT video_id) FROM window")
        written, empty = self._database.row(
            f"""SELECT count(*) FILTER (WHERE text <> ''), count(*) FILTER (WHERE text = '' AND settled)
                FROM {_OF_PRESENT_CAPTIONS}"""
        )
        return SummaryCounts(videos, written, empty)
