"""Contexts, the expensive part of a library: one transaction each.

A context belongs to a window of one version of the transcript. New captions make it invalid. A new model or prompt
leaves it valid until it is replaced.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from subtitle_rag.library.connection import ONLY, Store, only

GIVEN = "given"
"""Digest and prompt of an imported context, valid for every recipe until it is redone."""
TRIES = 2
"""Requests for a window's context; the second uses another seed."""

TRANSCRIPT = "track.sha256 || ':' || window.rule_hash"
"""The version of a video's captions and windows."""
_COLUMNS = """context.key, context.window_id, context.video_id, model, digest, prompt, scope, seed, context.text,
  context.raw, doubts, prompt_tokens, tokens, prompt_ms, ms, tries, stale, written_at"""
_OF_PRESENT_WINDOWS = f"""context
  JOIN window ON window.id = context.window_id
  JOIN track ON track.video_id = window.video_id AND context.transcript = {TRANSCRIPT}"""
_OF_FEW_WINDOWS = _OF_PRESENT_WINDOWS.replace("JOIN", "CROSS JOIN")
"""Contexts first: SQLite's planner would begin with the windows, most of which have none."""
_ROW_OF_WINDOW = f"""INTO context
  SELECT :key, window.id, window.video_id, {TRANSCRIPT}, :model, :digest, :prompt, :scope, :seed, :text, :raw,
    :doubts, :prompt_tokens, :tokens, :prompt_ms, :ms, :tries, :stale, :written_at
  FROM window JOIN track USING (video_id) WHERE window.id = :window_id"""
"""Insert a context, by `_values`, if its window exists."""
_BY_RECIPE = f"(digest = '{GIVEN}' OR digest = :digest AND prompt = :prompt) AND NOT stale"
"""Test for a context with the fields of a `Recipe`."""
_OLDEST_FIRST = "ORDER BY written_at, context.rowid"
_AGE = """row_number() OVER (PARTITION BY context.window_id ORDER BY written_at DESC, context.rowid DESC) AS age"""
"""1 for the latest context of a window."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The model's digest and the prompt's version."""

    digest: str
    prompt: str


@dataclass(frozen=True, slots=True)
class WindowSelection:
    """Windows to write contexts or make vectors for. Empty means all."""

    channels: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    limit: int | None = None
    """Most windows."""
    redo: bool = False
    """Replace existing ones, which stay valid until then."""

    @property
    def values(self) -> dict[str, str]:
        """The parameters of `ONLY`."""
        return only(self.channels, self.videos)


ALL_WINDOWS = WindowSelection()


@dataclass(frozen=True, slots=True)
class Context:
    """A model's answer for a window. `text` is empty if nothing of `raw` is usable."""

    key: str
    window_id: str
    video_id: str
    model: str
    digest: str
    prompt: str
    scope: str
    """`full`: the prompt had the whole transcript; `block`: an overview and a part of it."""
    seed: int
    text: str
    raw: str
    doubts: tuple[tuple[str, str], ...]
    """(kind, text) of names and numbers without evidence in the video, and of repetitions."""
    prompt_tokens: int
    tokens: int
    prompt_ms: int
    ms: int
    tries: int
    stale: bool
    """Queued for replacement, and valid until then."""
    written_at: int

    @property
    def is_left_out(self) -> bool:
        """Whether search must ignore it: it repeats another window's context, or the video does not support it."""
        return not self.text and bool(self.doubts) and self.tries >= TRIES


@dataclass(frozen=True, slots=True)
class OverviewSection:
    """The summary of one section of a long video; empty if the answer was unusable."""

    key: str
    video_id: str
    source: str
    """The hash of the section's captions."""
    text: str


@dataclass(frozen=True, slots=True)
class ContextCounts:
    """Counts of windows by the state of their contexts, with tokens and time (ms) of all answers."""

    windows: int
    written: int
    empty: int
    """Windows without a usable answer."""
    suspect: int
    prompt_tokens: int
    tokens: int
    ms: int
    in_part: int = 0
    """Windows with a context of scope `block`."""
    left_out: int = 0
    """Windows whose context repeats another one, or has names missing from the video."""

    @property
    def due(self) -> int:
        return self.windows - self.written - self.empty - self.left_out


@dataclass(frozen=True, slots=True)
class ModelCost:
    """Cost of a model's answers for the present windows, with all tries."""

    model: str
    windows: int
    videos: int
    counted: int
    """Windows with a token count from the server; answers that ended early have none."""
    prompt_tokens: int
    tokens: int
    ms: int
    timed_tokens: int
    """Prompt tokens with a reading time from the server."""
    read_tokens: float
    """Tokens that the server reads in the same time without its cache, at the pace of each video's slowest prompt,
    which was not cached.
    """

    @property
    def seconds_a_window(self) -> float:
        return self.ms / 1000 / self.windows

    @property
    def tokens_a_video(self) -> int:
        tokens = (self.prompt_tokens + self.tokens) / max(1, self.counted)
        return round(tokens * self.windows / self.videos)

    @property
    def saved_share(self) -> float | None:
        """Share of reading time saved by the server's cache; None if unknown."""
        return 1 - self.read_tokens / self.timed_tokens if self.timed_tokens else None


class Contexts(Store):
    """Contexts, overviews of long videos, and the settings of channels and models for contexts."""

    def transcript(self, video_id: str) -> str:
        """Return the version of a video's captions and windows; empty without any."""
        query = f"SELECT {TRANSCRIPT} FROM window JOIN track USING (video_id) WHERE video_id = ?"
        row = self._database.row(query, (video_id,))
        return row[0] if row else ""

    def put(self, context: Context, transcript: str | None = None) -> bool:
        """Store a context, replacing one with the same key.

        An empty text never replaces another, but a context to leave out replaces one with doubts. The cost of earlier
        tries is added. Returns False if the window is gone, or if the video's captions are not the version
        `transcript`.
        """
        with self._database.write() as db:
            context = _with_cost_of_tries(db, context)
            if not context.text and _keeps_text(db, context):
                return True
            db.execute(  # its vectors are for another text
                """UPDATE indexed SET source_hash = '' WHERE window_id = ?
                     AND EXISTS (SELECT 1 FROM context WHERE key = ? AND text <> ?)""",
                (context.window_id, context.key, context.text),
            )
            done = db.execute(
                f"INSERT OR REPLACE {_ROW_OF_WINDOW} AND coalesce(:transcript, {TRANSCRIPT}) = {TRANSCRIPT}",
                {**_values(context), "transcript": transcript},
            )
            return done.rowcount > 0

    def put_given(self, contexts: Sequence[Context]) -> int:
        """Import contexts from a file, all or none; return how many of their windows exist."""
        with self._database.write() as db:
            return sum(db.execute(f"INSERT OR REPLACE {_ROW_OF_WINDOW}", _values(each)).rowcount for each in contexts)

    def of_video(self, video_id: str) -> dict[str, Context]:
        """Return the valid contexts by window: the latest with a text."""
        return self._latest("window.video_id = ?", (video_id,))

    def of_windows(self, ids: Sequence[str]) -> dict[str, Context]:
        """Return the valid contexts of these windows, by window: the latest with a text."""
        return self._latest("window.id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))

    def suspects(self) -> dict[str, Context]:
        """Return the valid contexts with doubts."""
        test = "context.window_id IN (SELECT window_id FROM context WHERE doubts <> '[]')"
        return {id: context for id, context in self._latest(test).items() if context.doubts}

    def left_out(self, video_id: str | None = None) -> dict[str, Context]:
        """Return the contexts ignored by search, by window: of one video, or of all."""
        return {id: context for id, context in self.unusable(video_id).items() if context.doubts}

    def unusable(self, video_id: str | None = None) -> dict[str, Context]:
        """Return the last answers for windows without a usable context: of one video, or of all."""
        test = """coalesce(window.video_id = ?, 1) AND context.text = '' AND tries >= ?
            AND NOT EXISTS (SELECT 1 FROM context AS other WHERE other.window_id = context.window_id
              AND other.transcript = context.transcript AND other.text <> '')"""
        return {context.window_id: context for context in self._valid(test, (video_id, TRIES))}

    def texts_of(self, ids: Sequence[str]) -> dict[str, str]:
        """Return only the texts of `of_windows`, by window."""
        query = f"""SELECT context.window_id, context.text FROM {_OF_FEW_WINDOWS}
          WHERE context.text <> '' AND context.window_id IN (SELECT value FROM json_each(?)) {_OLDEST_FIRST}"""
        return dict(self._database.rows(query, (json.dumps(list(ids)),)))

    def texts(self) -> dict[str, str]:
        """Return the texts of all valid contexts, by window."""
        query = f"SELECT context.window_id, context.text FROM {_OF_PRESENT_WINDOWS} WHERE context.text <> ''"
        return dict(self._database.rows(f"{query} {_OLDEST_FIRST}"))

    def _valid(self, test: str, values: tuple[object, ...]) -> list[Context]:
        query = f"SELECT {_COLUMNS} FROM {_OF_PRESENT_WINDOWS} WHERE {test} {_OLDEST_FIRST}"
        return [_context(row) for row in self._database.rows(query, values)]

    def _latest(self, test: str, values: tuple[object, ...] = ()) -> dict[str, Context]:
        return {context.window_id: context for context in self._valid(f"context.text <> '' AND {test}", values)}

    def missing(self, video_id: str, recipe: Recipe) -> dict[str, int]:
        """Return a video's windows without a valid context of this recipe, in order, with the tries so far."""
        query = f"""SELECT own.id, coalesce(max(done.tries), 0) FROM window AS own LEFT JOIN
                      (SELECT window_id, tries, context.text, stale FROM {_OF_PRESENT_WINDOWS}
                       WHERE {_BY_RECIPE} AND window.video_id = :video) AS done
                      ON done.window_id = own.id
                    WHERE own.video_id = :video GROUP BY own.id
                    HAVING count(done.window_id) = 0 OR (max(done.text) = '' AND max(done.tries) < :most)
                    ORDER BY own.ordinal"""
        return dict(self._database.rows(query, {"video": video_id, "most": TRIES, **asdict(recipe)}))

    def work(self, recipe: Recipe, selection: WindowSelection = ALL_WINDOWS) -> dict[str, int]:
        """Count the missing contexts by video, newest first."""
        query = f"""SELECT video.id, count(*) FROM window AS own JOIN video ON video.id = own.video_id
                    WHERE {ONLY} AND NOT EXISTS (SELECT 1 FROM {_OF_PRESENT_WINDOWS} WHERE context.window_id = own.id
                      AND {_BY_RECIPE} AND (context.text <> '' OR tries >= :most))
                    GROUP BY video.id ORDER BY published DESC, video.rowid"""
        return dict(self._database.rows(query, {"most": TRIES, **asdict(recipe), **selection.values}))

    def count_replaced(self, recipe: Recipe, selection: WindowSelection = ALL_WINDOWS) -> int:
        """Count the windows with a valid context by another prompt that this prompt will replace."""
        query = f"""SELECT count(*) FROM
                      (SELECT max(context.text <> '' AND prompt <> :prompt) AS has_other,
                              max(digest = '{GIVEN}'
                                OR prompt = :prompt AND (context.text <> '' OR tries >= :most)) AS is_done
                       FROM {_OF_PRESENT_WINDOWS} JOIN video ON video.id = window.video_id
                       WHERE NOT stale AND {ONLY} GROUP BY window_id)
                    WHERE has_other AND NOT is_done"""
        values = {"prompt": recipe.prompt, "most": TRIES, **selection.values}
        return int(self._database.row(query, values)[0])

    def long_videos(self, characters: int) -> set[str]:
        """Return the videos with more than `characters` characters of captions."""
        query = "SELECT video_id FROM window GROUP BY video_id HAVING sum(length(text)) > ?"
        return set(self._database.column(query, (characters,)))

    def unindexed(self) -> dict[str, list[str]]:
        """Return by video the windows whose `bm25` vector lacks their context, or contains one now left out."""
        window_ids: dict[str, list[str]] = {}
        for video_id, window_id in self._database.rows(
            f"""SELECT video_id, window_id FROM
                  (SELECT window.video_id, context.window_id, context.key, {_AGE}
                   FROM {_OF_PRESENT_WINDOWS} WHERE context.text <> '')
                JOIN indexed USING (window_id)
                WHERE age = 1 AND vector = 'bm25' AND source_hash NOT LIKE '%/' || key
                UNION SELECT video_id, id FROM indexed JOIN window ON id = window_id
                WHERE vector = 'bm25' AND source_hash = ''"""
        ):
            window_ids.setdefault(video_id, []).append(window_id)
        return window_ids

    def redo(self, selection: WindowSelection = ALL_WINDOWS) -> int:
        """Queue contexts for replacement and return their number."""
        query = f"UPDATE context SET stale = 1 WHERE NOT stale AND video_id IN (SELECT id FROM video WHERE {ONLY})"
        return self._database.change(query, selection.values)

    def counts(self) -> ContextCounts:
        (windows,) = self._database.row("SELECT count(*) FROM window")
        with_text, empty, left_out, prompt_tokens, tokens, ms, in_part = self._database.row(
            f"""SELECT count(*) FILTER (WHERE has_text),
                       count(*) FILTER (WHERE given_up AND NOT has_text AND NOT doubted),
                       count(*) FILTER (WHERE given_up AND NOT has_text AND doubted),
                       coalesce(sum(prompt_tokens), 0), coalesce(sum(tokens), 0), coalesce(sum(ms), 0),
                       count(*) FILTER (WHERE in_part)
                FROM (SELECT max(context.text <> '') AS has_text, max(tries >= ?) AS given_up,
                        max(doubts <> '[]') AS doubted,
                        max(context.text <> '' AND scope = 'block') AS in_part,
                        sum(prompt_tokens) AS prompt_tokens, sum(tokens) AS tokens, sum(ms) AS ms
                      FROM {_OF_PRESENT_WINDOWS} GROUP BY window_id)""",
            (TRIES,),
        )
        suspect = len(self.suspects())
        return ContextCounts(windows, with_text, empty, suspect, prompt_tokens, tokens, ms, in_part, left_out)

    def model_costs(self) -> list[ModelCost]:
        """Return the cost of the models' answers; imported contexts cost nothing."""
        query = f"""SELECT model, count(DISTINCT window_id), count(DISTINCT video_id),
                      count(DISTINCT window_id) FILTER (WHERE prompt_tokens > 0),
                      sum(prompt_tokens), sum(tokens), sum(ms),
                      coalesce(sum(prompt_tokens) FILTER (WHERE pace > 0), 0),
                      coalesce(sum(prompt_tokens * pace / slowest), 0)
                    FROM (SELECT *, max(pace) OVER (PARTITION BY digest, video_id) AS slowest
                          FROM (SELECT context.model, context.digest, context.window_id, context.video_id,
                                  prompt_tokens, tokens, ms, 1.0 * prompt_ms / nullif(prompt_tokens, 0) AS pace
                                FROM {_OF_PRESENT_WINDOWS} WHERE ms > 0))
                    GROUP BY model, digest ORDER BY model, digest"""
        return [ModelCost(*row) for row in self._database.rows(query)]

    # Glossaries, overviews of long videos

    def glossary(self, channel_id: str) -> tuple[str, ...]:
        """Return the user's proper nouns of a channel."""
        row = self._database.row("SELECT names FROM glossary WHERE channel_id = ?", (channel_id,))
        return tuple(json.loads(row[0])) if row else ()

    def put_glossary(self, channel_id: str, names: Sequence[str]) -> None:
        packed = json.dumps(list(names), ensure_ascii=False)
        self._database.change("INSERT OR REPLACE INTO glossary VALUES (?, ?)", (channel_id, packed))

    def overview(self, key: str) -> str | None:
        """Return the stored summary of a video too long for one prompt."""
        row = self._database.row("SELECT text FROM overview WHERE key = ?", (key,))
        return row[0] if row else None

    def put_overview(self, key: str, video_id: str, text: str) -> None:
        self._database.change("INSERT OR REPLACE INTO overview VALUES (?, ?, ?)", (key, video_id, text))

    def overview_sections(self, video_id: str) -> dict[str, str]:
        """Return the stored summaries of a long video's sections, by key."""
        return dict(self._database.rows("SELECT key, text FROM overview_section WHERE video_id = ?", (video_id,)))

    def put_overview_section(self, section: OverviewSection, transcript: str) -> bool:
        """Store a section's summary unless the video's captions are no longer `transcript`; return whether it was
        stored.
        """
        query = f"""INSERT OR REPLACE INTO overview_section SELECT :key, :video_id, :source, :text WHERE EXISTS
                      (SELECT 1 FROM window JOIN track USING (video_id)
                       WHERE video_id = :video_id AND {TRANSCRIPT} = :transcript)"""
        return self._database.change(query, {**asdict(section), "transcript": transcript}) > 0

    def keep_overview_sections(self, video_id: str, sources: Sequence[str]) -> None:
        """Delete a video's summaries of changed sections; `sources` are the hashes of the current ones."""
        query = "DELETE FROM overview_section WHERE video_id = ? AND source NOT IN (SELECT value FROM json_each(?))"
        self._database.change(query, (video_id, json.dumps(list(sources))))

    def mean_ms(self, digest: str | None = None) -> float | None:
        """Return the mean time of a model's answers, or of all; None without any."""
        query = "SELECT avg(ms) FROM context WHERE digest = coalesce(?, digest) AND ms > 0"
        (mean,) = self._database.row(query, (digest,))
        return float(mean) if mean else None

    def tokens_per_character(self, digest: str) -> float | None:
        """Return the measured token rate of a model for Korean."""
        ratio = self._database.get_setting(f"tokens {digest}")
        return float(ratio) if ratio else None

    def put_tokens_per_character(self, digest: str, ratio: float) -> None:
        self._database.put_setting(f"tokens {digest}", f"{ratio:.4f}")


def _with_cost_of_tries(db: sqlite3.Connection, context: Context) -> Context:
    """Return a context with the cost of earlier tries added."""
    query = "SELECT prompt_tokens, tokens, prompt_ms, ms FROM context WHERE key = ? AND tries < ? AND NOT stale"
    before = db.execute(query, (context.key, context.tries)).fetchone()
    if before is None:
        return context
    prompt_tokens, tokens, prompt_ms, ms = before
    return replace(
        context,
        prompt_tokens=context.prompt_tokens + prompt_tokens,
        tokens=context.tokens + tokens,
        prompt_ms=context.prompt_ms + prompt_ms,
        ms=context.ms + ms,
    )


def _keeps_text(db: sqlite3.Connection, context: Context) -> bool:
    """Return whether an earlier text outlives this empty one; after the last try it is no longer queued.

    A text with doubts does not outlive a context to leave out.
    """
    again = context.tries < TRIES
    done = db.execute(
        "UPDATE context SET stale = ? WHERE key = ? AND text <> '' AND NOT (? AND doubts <> '[]')",
        (again, context.key, context.is_left_out),
    )
    return done.rowcount > 0


def drop_outdated(db: sqlite3.Connection, video_id: str) -> None:
    """Delete the contexts of a video's earlier captions."""
    db.execute(
        f"""DELETE FROM context WHERE video_id = ? AND NOT EXISTS
              (SELECT 1 FROM window JOIN track USING (video_id) WHERE window.id = context.window_id
                 AND context.transcript = {TRANSCRIPT})""",
        (video_id,),
    )


def _values(context: Context) -> dict[str, Any]:
    return {**asdict(context), "doubts": json.dumps(context.doubts, ensure_ascii=False)}


def _context(row: Sequence[object]) -> Context:
    values = list(row)
    values[10] = tuple((kind, what) for kind, what in json.loads(str(row[10])))
    values[16] = bool(row[16])
    return Context(*values)  # type: ignore[arg-type]
