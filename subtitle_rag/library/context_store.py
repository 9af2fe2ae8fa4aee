"""Contexts, the expensive part of a library: each is stored in one transaction.

A context belongs to a window of one version of the transcript. New captions make it invalid. A new model or prompt
leaves it valid until it is replaced.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from subtitle_rag.library.connection import Database

TRIES = 2
"""Requests for a window's context; the second one has another seed."""

_COLUMNS = """context.key, context.window_id, context.video_id, model, digest, prompt, scope, seed, context.text,
  context.raw, doubts, prompt_tokens, tokens, prompt_ms, ms, tries, stale, written_at"""
_OF_PRESENT_WINDOWS = """context
  JOIN window ON window.id = context.window_id
  JOIN track ON track.video_id = window.video_id AND context.transcript = track.sha256 || ':' || window.rule_hash"""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The model's digest and the prompt's version."""

    digest: str
    prompt: str
    keeps: bool = False
    """Contexts of other models by the same prompt are valid too."""


@dataclass(frozen=True, slots=True)
class WindowSelection:
    """Windows to write contexts for. Empty means all."""

    channels: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    limit: int | None = None
    """Windows, at most."""
    anew: bool = False
    """Replace existing contexts, which stay valid until then."""


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
    """`full`: the prompt held the whole transcript; `block`: an overview and a part of it."""
    seed: int
    text: str
    raw: str
    doubts: tuple[tuple[str, str], ...]
    """(kind, text) of names and numbers without support in the video."""
    prompt_tokens: int
    tokens: int
    prompt_ms: int
    ms: int
    tries: int
    stale: bool
    """Queued for replacement, and valid until then."""
    written_at: int


@dataclass(frozen=True, slots=True)
class ContextCounts:
    """Progress and cost of the contexts."""

    windows: int
    written: int
    empty: int
    """Windows without a usable answer."""
    suspect: int
    prompt_tokens: int
    tokens: int
    ms: int
    in_part: int = 0
    """Windows whose context has the scope `block`."""

    @property
    def due(self) -> int:
        return self.windows - self.written - self.empty


class Contexts:
    """The library's tables of contexts. Every method can raise the errors of `Library`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read = database.read
        self._write = database.write

    def transcript(self, video_id: str) -> str:
        """Return the version of a video's captions and windows; empty without any."""
        with self._read() as db:
            row = db.execute(
                "SELECT track.sha256 || ':' || rule_hash FROM window JOIN track USING (video_id) WHERE video_id = ?",
                (video_id,),
            ).fetchone()
        return row[0] if row else ""

    def put(self, context: Context, transcript: str | None = None) -> bool:
        """Store a context in place of one with the same key. An empty text never replaces another.

        Return False if its window is gone, or if the video's captions are not those of `transcript`.
        """
        with self._write() as db:
            if not context.text and _keeps_text(db, context):
                return True
            db.execute(  # its vectors are of another text
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
        """Return the valid contexts by window: the latest with a text."""
        return self._latest("window.video_id = ?", (video_id,))

    def of_windows(self, ids: Sequence[str]) -> dict[str, Context]:
        """Return the valid contexts of these windows."""
        return self._latest("window.id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))

    def suspects(self) -> dict[str, Context]:
        """Return the valid contexts with doubts."""
        test = "context.window_id IN (SELECT window_id FROM context WHERE doubts <> '[]')"
        return {id: context for id, context in self._latest(test, ()).items() if context.doubts}

    def _latest(self, test: str, values: tuple[object, ...]) -> dict[str, Context]:
        with self._read() as db:
            rows = db.execute(
                f"""SELECT {_COLUMNS} FROM {_OF_PRESENT_WINDOWS} WHERE context.text <> '' AND {test}
                    ORDER BY written_at, context.rowid""",
                values,
            )
            return {row[1]: _context(row) for row in rows}

    def missing(self, video_id: str, recipe: Recipe) -> dict[str, int]:
        """Return a video's windows without a valid context of this recipe, in order, with the tries so far."""
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
        """Count the missing contexts by video, the newest first."""
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
        """Return the windows whose `bm25` vector lacks their context: video → window ids."""
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
        window_ids: dict[str, list[str]] = {}
        for video_id, window_id in rows:
            window_ids.setdefault(video_id, []).append(window_id)
        return window_ids

    def redo(self, *, channels: Sequence[str] = (), videos: Sequence[str] = ()) -> int:
        """Queue contexts for replacement and return their number."""
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
        with_text, empty, prompt_tokens, tokens, ms, in_part = row
        return ContextCounts(windows, with_text, empty, len(self.suspects()), prompt_tokens, tokens, ms, in_part)

    def by_model(self) -> dict[str, dict[str, int]]:
        """Count the valid contexts: channel → model → windows."""
        with self._read() as db:
            rows = db.execute(
                f"""SELECT channel_id, model, count(*) FROM
                      (SELECT window.video_id, model, row_number() OVER (PARTITION BY context.window_id
                                ORDER BY written_at DESC, context.rowid DESC) AS age
                       FROM {_OF_PRESENT_WINDOWS} WHERE context.text <> '')
                    JOIN video ON video.id = video_id WHERE age = 1 GROUP BY channel_id, model ORDER BY 1, 2"""
            ).fetchall()
        counts: dict[str, dict[str, int]] = {}
        for channel_id, model, windows in rows:
            counts.setdefault(channel_id, {})[model] = windows
        return counts

    # Settings of channels and models

    def models(self) -> dict[str, str]:
        """Return the channels' own models; empty: the usual one, set again."""
        with self._read() as db:
            return dict(db.execute("SELECT channel_id, model FROM channel_model ORDER BY channel_id"))

    def put_model(self, channel_id: str, model: str) -> None:
        """Set a channel's own model for new contexts; empty: the usual one.

        Existing contexts stay. From this call on a change of models replaces none of this channel.
        """
        with self._write() as db:
            if model or db.execute("SELECT 1 FROM channel_model WHERE channel_id = ?", (channel_id,)).fetchone():
                db.execute("INSERT OR REPLACE INTO channel_model VALUES (?, ?)", (channel_id, model))

    def glossary(self, channel_id: str) -> tuple[str, ...]:
        """Return the user's proper nouns of a channel."""
        with self._read() as db:
            row = db.execute("SELECT names FROM glossary WHERE channel_id = ?", (channel_id,)).fetchone()
        return tuple(json.loads(row[0])) if row else ()

    def put_glossary(self, channel_id: str, names: Sequence[str]) -> None:
        with self._write() as db:
            packed = json.dumps(list(names), ensure_ascii=False)
            db.execute("INSERT OR REPLACE INTO glossary VALUES (?, ?)", (channel_id, packed))

    def overview(self, key: str) -> str | None:
        """Return the stored summary of a video too long for one prompt."""
        with self._read() as db:
            row = db.execute("SELECT text FROM overview WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def put_overview(self, key: str, video_id: str, text: str) -> None:
        with self._write() as db:
            db.execute("INSERT OR REPLACE INTO overview VALUES (?, ?, ?)", (key, video_id, text))

    def tokens_per_character(self, digest: str) -> float | None:
        """Return the measured token rate of a model for Korean."""
        ratio = self._database.get_setting(f"tokens {digest}")
        return float(ratio) if ratio else None

    def put_tokens_per_character(self, digest: str, ratio: float) -> None:
        self._database.put_setting(f"tokens {digest}", f"{ratio:.4f}")


def _keeps_text(db: sqlite3.Connection, context: Context) -> bool:
    """Return whether an earlier text stays in place of this empty one. After the last try it is not queued again."""
    again = context.tries < TRIES
    done = db.execute("UPDATE context SET stale = ? WHERE key = ? AND text <> ''", (again, context.key))
    return done.rowcount > 0


def drop_outdated(db: sqlite3.Connection, video_id: str) -> None:
    """Delete the contexts of a video's earlier captions."""
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
