"""The contexts that models have written, the expensive part of a library: each is one transaction.

A context belongs to a window of a certain transcript. Where captions change, what was written of them before no longer
counts; where a model or a prompt changes, it counts until it is replaced.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from subtitle_rag.library.connection import Database

TRIES = 2
"""Times that a model is asked for a window's context; the second time with another seed."""

_COLUMNS = """context.key, context.window_id, context.video_id, model, digest, prompt, scope, seed, context.text,
  context.raw, doubts, prompt_tokens, tokens, prompt_ms, ms, tries, stale, written_at"""
_OF_PRESENT_WINDOWS = """context
  JOIN window ON window.id = context.window_id
  JOIN track ON track.video_id = window.video_id AND context.transcript = track.sha256 || ':' || window.rule_hash"""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What contexts are made by: the model's digest and the prompt's version."""

    digest: str
    prompt: str
    keeps: bool = False
    """What other models have written by this prompt need not be written anew."""


@dataclass(frozen=True, slots=True)
class WindowSelection:
    """What contexts are to be written for; empty means all."""

    channels: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    limit: int | None = None
    """Windows, at most."""
    anew: bool = False
    """Also those that have one; it counts until it is replaced."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a model answered for a window. `text` is empty where nothing of `raw` could be used."""

    key: str
    window_id: str
    video_id: str
    model: str
    digest: str
    prompt: str
    scope: str
    """`full` where the model saw the whole transcript, `block` where it saw an overview and a part."""
    seed: int
    text: str
    raw: str
    doubts: tuple[tuple[str, str], ...]
    """(kind, what) of names and numbers that stand nowhere in the video."""
    prompt_tokens: int
    tokens: int
    prompt_ms: int
    ms: int
    tries: int
    stale: bool
    """To be written anew; it counts until then."""
    written_at: int


@dataclass(frozen=True, slots=True)
class ContextCounts:
    """How far the contexts have come, and what they have cost."""

    windows: int
    written: int
    empty: int
    """Windows for which no answer could be used."""
    suspect: int
    prompt_tokens: int
    tokens: int
    ms: int
    in_part: int = 0
    """Windows of videos too long for the model, which saw an overview and the part around them."""

    @property
    def due(self) -> int:
        return self.windows - self.written - self.empty


class Contexts:
    """The part of a library that is about contexts. Raises what `Library` raises."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read = database.read
        self._write = database.write

    def transcript(self, video_id: str) -> str:
        """Names the captions and windows that a video has now; empty where it has none."""
        with self._read() as db:
            row = db.execute(
                "SELECT track.sha256 || ':' || rule_hash FROM window JOIN track USING (video_id) WHERE video_id = ?",
                (video_id,),
            ).fetchone()
        return row[0] if row else ""

    def put(self, context: Context, transcript: str | None = None) -> bool:
        """Store a context; one of the same key is replaced, but a text never by nothing.

        False where its window has left, or where its video's captions are no longer those of `transcript`.
        """
        with self._write() as db:
            if not context.text and _keeps_text(db, context):
                return True
            db.execute(  # its vectors are made of another text now
                """UPDATE indexed SET source_hash = '' WHERE window_id = ?1
                     AND EXISTS (SELECT 1 FROM context WHERE key = ?2 AND text <> ?3)""",
                (context.window_id, context.key, context.text),
            )
            done = db.execute(
                """INSERT OR REPLACE INTO context
                   SELECT ?1, window.id, window.video_id, track.sha256 || ':' || window.rule_hash,
                     ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17
                   FROM window JOIN track USING (video_id) WHERE window.id = ?2
                     AND coalesce(?18, track.sha256 || ':' || window.rule_hash)
                       = track.sha256 || ':' || window.rule_hash""",
                (*_values(context), transcript),
            )
            return done.rowcount > 0

    def of_video(self, video_id: str) -> dict[str, Context]:
        """The contexts that count, by window: of each the latest with a text."""
        return self._latest("window.video_id = ?", (video_id,))

    def of_windows(self, ids: Sequence[str]) -> dict[str, Context]:
        """The contexts that count of these windows."""
        return self._latest("window.id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))

    def suspects(self) -> dict[str, Context]:
        """Those of them that name what stands nowhere in their video."""
        test = "context.window_id IN (SELECT window_id FROM context WHERE doubts <> '[]')"
        return {id: one for id, one in self._latest(test, ()).items() if one.doubts}

    def _latest(self, test: str, values: tuple[object, ...]) -> dict[str, Context]:
        with self._read() as db:
            rows = db.execute(
                f"""SELECT {_COLUMNS} FROM {_OF_PRESENT_WINDOWS} WHERE context.text <> '' AND {test}
                    ORDER BY written_at, context.rowid""",
                values,
            )
            return {row[1]: _context(row) for row in rows}

    def missing(self, video_id: str, recipe: Recipe) -> dict[str, int]:
        """The windows of a video for which a context of this recipe is still to be asked, in order, with the tries
        so far."""
        with self._read() as db:
            rows = db.execute(
                f"""SELECT own.id, coalesce(max(done.tries), 0) FROM window AS own LEFT JOIN
                      (SELECT window_id, tries, context.text, stale FROM {_OF_PRESENT_WINDOWS}
                       WHERE (digest = ?2 OR ?5 AND context.text <> '') AND prompt = ?3 AND NOT stale
                         AND window.video_id = ?1) AS done
                      ON done.window_id = own.id
                    WHERE own.video_id = ?1 GROUP BY own.id
                    HAVING count(done.window_id) = 0 OR (max(done.text) = '' AND max(done.tries) < ?4)
                    ORDER BY own.ordinal""",
                (video_id, recipe.digest, recipe.prompt, TRIES, recipe.keeps),
            )
            return dict(rows.fetchall())

    def work(self, recipe: Recipe, *, channels: Sequence[str] = (), videos: Sequence[str] = ()) -> dict[str, int]:
        """Videos with windows to be asked for, the newest first, and how many each has; of some channels or videos."""
        with self._read() as db:
            rows = db.execute(
                f"""SELECT video.id, count(*) FROM window AS own JOIN video ON video.id = own.video_id
                    WHERE NOT EXISTS (SELECT 1 FROM {_OF_PRESENT_WINDOWS} WHERE context.window_id = own.id
                        AND (digest = :digest OR :keeps AND context.text <> '') AND prompt = :prompt AND NOT stale
                        AND (context.text <> '' OR tries >= :tries))
                      AND (:channels = '[]' OR channel_id IN (SELECT value FROM json_each(:channels)))
                      AND (:videos = '[]' OR video.id IN (SELECT value FROM json_each(:videos)))
                    GROUP BY video.id ORDER BY published DESC, video.rowid""",
                {
                    "digest": recipe.digest,
                    "prompt": recipe.prompt,
                    "keeps": recipe.keeps,
                    "tries": TRIES,
                    **_only(channels, videos),
                },
            )
            return dict(rows.fetchall())

    def unindexed(self) -> dict[str, list[str]]:
        """Windows whose `bm25` vector was made before their context came: video → window ids."""
        with self._read() as db:
            rows = db.execute(
                f"""SELECT video_id, window_id FROM
                      (SELECT window.video_id, context.window_id, context.key,
                              row_number() OVER (PARTITION BY context.window_id
                                ORDER BY written_at DESC, context.rowid DESC) AS age
                       FROM {_OF_PRESENT_WINDOWS} WHERE context.text <> '')
                    JOIN indexed USING (window_id)
                    WHERE age = 1 AND vector = 'bm25' AND source_hash NOT LIKE '%/' || key"""
            ).fetchall()
        late: dict[str, list[str]] = {}
        for video_id, window_id in rows:
            late.setdefault(video_id, []).append(window_id)
        return late

    def redo(self, *, channels: Sequence[str] = (), videos: Sequence[str] = ()) -> int:
        """Have all contexts, or those of some channels or videos, written anew; how many."""
        with self._write() as db:
            return db.execute(
                """UPDATE context SET stale = 1 WHERE NOT stale
                     AND (:channels = '[]' OR video_id IN
                       (SELECT id FROM video WHERE channel_id IN (SELECT value FROM json_each(:channels))))
                     AND (:videos = '[]' OR video_id IN (SELECT value FROM json_each(:videos)))""",
                _only(channels, videos),
            ).rowcount

    def counts(self) -> ContextCounts:
        with self._read() as db:
            (windows,) = db.execute("SELECT count(*) FROM window").fetchone()
            row = db.execute(
                f"""SELECT count(*) FILTER (WHERE has_text), count(*) FILTER (WHERE given_up AND NOT has_text),
                           coalesce(sum(prompt_tokens), 0), coalesce(sum(tokens), 0), coalesce(sum(ms), 0),
                           count(*) FILTER (WHERE in_part)
                    FROM (SELECT max(context.text <> '') AS has_text, max(tries >= ?) AS given_up,
                            max(context.text <> '' AND scope = 'block') AS in_part,
                            sum(prompt_tokens) AS prompt_tokens, sum(tokens) AS tokens, sum(ms) AS ms
                          FROM {_OF_PRESENT_WINDOWS} GROUP BY window_id)""",
                (TRIES,),
            ).fetchone()
        written, empty, prompt_tokens, tokens, ms, in_part = row
        return ContextCounts(windows, written, empty, len(self.suspects()), prompt_tokens, tokens, ms, in_part)

    def by_model(self) -> dict[str, dict[str, int]]:
        """How many of the contexts that count each model has written: channel → model → windows."""
        with self._read() as db:
            rows = db.execute(
                f"""SELECT channel_id, model, count(*) FROM
                      (SELECT window.video_id, model, row_number() OVER (PARTITION BY context.window_id
                                ORDER BY written_at DESC, context.rowid DESC) AS age
                       FROM {_OF_PRESENT_WINDOWS} WHERE context.text <> '')
                    JOIN video ON video.id = video_id WHERE age = 1 GROUP BY channel_id, model ORDER BY 1, 2"""
            ).fetchall()
        written: dict[str, dict[str, int]] = {}
        for channel_id, model, windows in rows:
            written.setdefault(channel_id, {})[model] = windows
        return written

    # What is known beside

    def models(self) -> dict[str, str]:
        """The channels whose model was chosen, with the model; empty for the usual one, chosen again."""
        with self._read() as db:
            return dict(db.execute("SELECT channel_id, model FROM channel_model ORDER BY channel_id"))

    def put_model(self, channel_id: str, model: str) -> None:
        """Have a channel's contexts written by this model from here on; empty: by the usual one.

        What is written stays: from now on a change of models is no reason to write this channel's contexts anew.
        """
        with self._write() as db:
            if model or db.execute("SELECT 1 FROM channel_model WHERE channel_id = ?", (channel_id,)).fetchone():
                db.execute("INSERT OR REPLACE INTO channel_model VALUES (?, ?)", (channel_id, model))

    def glossary(self, channel_id: str) -> tuple[str, ...]:
        """The proper nouns of a channel, as the user has them."""
        with self._read() as db:
            row = db.execute("SELECT names FROM glossary WHERE channel_id = ?", (channel_id,)).fetchone()
        return tuple(json.loads(row[0])) if row else ()

    def put_glossary(self, channel_id: str, names: Sequence[str]) -> None:
        with self._write() as db:
            packed = json.dumps(list(names), ensure_ascii=False)
            db.execute("INSERT OR REPLACE INTO glossary VALUES (?, ?)", (channel_id, packed))

    def overview(self, key: str) -> str | None:
        """What a model wrote of a video that is too long to be shown whole."""
        with self._read() as db:
            row = db.execute("SELECT text FROM overview WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def put_overview(self, key: str, video_id: str, text: str) -> None:
        with self._write() as db:
            db.execute("INSERT OR REPLACE INTO overview VALUES (?, ?, ?)", (key, video_id, text))

    def tokens_per_character(self, digest: str) -> float | None:
        """What a model's tokenizer makes of Korean, as measured."""
        ratio = self._database.get_setting(f"tokens {digest}")
        return float(ratio) if ratio else None

    def put_tokens_per_character(self, digest: str, ratio: float) -> None:
        self._database.put_setting(f"tokens {digest}", f"{ratio:.4f}")


def _keeps_text(db: sqlite3.Connection, context: Context) -> bool:
    """Whether an earlier answer stays, because nothing could be used of this one; after the last try for good."""
    again = context.tries < TRIES
    done = db.execute("UPDATE context SET stale = ? WHERE key = ? AND text <> ''", (again, context.key))
    return done.rowcount > 0


def drop_outdated(db: sqlite3.Connection, video_id: str) -> None:
    """Forget what was written of a video's earlier captions."""
    db.execute(
        """DELETE FROM context WHERE video_id = ?1 AND NOT EXISTS
             (SELECT 1 FROM window JOIN track USING (video_id) WHERE window.id = context.window_id
                AND context.transcript = track.sha256 || ':' || window.rule_hash)""",
        (video_id,),
    )


def _values(context: Context) -> tuple[str | int, ...]:
    return (
        context.key,
        context.window_id,
        context.model,
        context.digest,
        context.prompt,
        context.scope,
        context.seed,
        context.text,
        context.raw,
        json.dumps(context.doubts, ensure_ascii=False),
        context.prompt_tokens,
        context.tokens,
        context.prompt_ms,
        context.ms,
        context.tries,
        context.stale,
        context.written_at,
    )


def _only(channels: Sequence[str], videos: Sequence[str]) -> dict[str, str]:
    return {"channels": json.dumps(list(channels)), "videos": json.dumps(list(videos))}


def _context(row: Sequence[object]) -> Context:
    values = list(row)
    values[10] = tuple((kind, what) for kind, what in json.loads(str(row[10])))
    values[16] = bool(row[16])
    return Context(*values)  # type: ignore[arg-type]
