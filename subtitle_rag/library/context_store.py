"""Contexts, the expensive part of a library: each is stored in one transaction.

A context belongs to a window of one version of the transcript. New captions make it invalid. A new model or prompt
leaves it valid until it is replaced.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from subtitle_rag.library.connection import Database

GIVEN = "given"
"""The digest and prompt of a context from a file. It is valid for every recipe until it is redone."""
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
    """(kind, text) of names and numbers without support in the video, and of repetitions."""
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
        """Whether search must not use `raw`: it repeats another window's context, or the video does not bear it out."""
        return not self.text and bool(self.doubts) and self.tries >= TRIES


@dataclass(frozen=True, slots=True)
class OverviewSection:
    """The summary of one section of a long video; empty if nothing of the answer could be used."""

    key: str
    video_id: str
    source: str
    """The hash of the section's captions."""
    text: str


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
    left_out: int = 0
    """Windows whose context repeats another one, or names what the video does not."""

    @property
    def due(self) -> int:
        return self.windows - self.written - self.empty - self.left_out


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
        """Store a context in place of one with the same key.

        An empty text never replaces another, but a context that is left out replaces one with doubts.

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

    def put_given(self, contexts: Sequence[Context]) -> int:
        """Store contexts from a file, all or none; return how many of their windows exist."""
        stored = 0
        with self._write() as db:
            for context in contexts:
                done = db.execute(
                    """INSERT OR REPLACE INTO context
                       SELECT ?1, window.id, window.video_id, track.sha256 || ':' || window.rule_hash,
                         ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17
                       FROM window JOIN track USING (video_id) WHERE window.id = ?2""",
                    _values(context),
                )
                stored += done.rowcount
        return stored

    def of_video(self, video_id: str) -> dict[str, Context]:
        """Return the valid contexts by window: the latest with a text."""
        return self._latest("window.video_id = ?", (video_id,))

    def of_windows(self, ids: Sequence[str]) -> dict[str, Context]:
        """Return the valid contexts of these windows."""
        return self._latest("window.id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))

    def all_valid(self, video_id: str) -> list[Context]:
        """Return all contexts of a video's captions, of every model and without a text too, the oldest first."""
        with self._read() as db:
            rows = db.execute(
                f"""SELECT {_COLUMNS} FROM {_OF_PRESENT_WINDOWS} WHERE window.video_id = ?
                    ORDER BY written_at, context.rowid""",
                (video_id,),
            )
            return [_context(row) for row in rows]

    def adopt(self, video_id: str, contexts: Sequence[Context]) -> int:
        """Store another library's contexts of a video's windows; return how many were not stored before.

        A window with a text of its own keeps it: its new ones are left out. So is a key of another window.
        """
        written_ids = self.of_video(video_id)
        count = 0
        with self._write() as db:
            for context in contexts:
                if context.video_id != video_id or context.window_id in written_ids:
                    continue
                done = db.execute(
                    """INSERT INTO context
                       SELECT ?1, window.id, window.video_id, track.sha256 || ':' || window.rule_hash,
                         ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17
                       FROM window JOIN track USING (video_id) WHERE window.id = ?2 AND window.video_id = ?18
                       ON CONFLICT DO UPDATE SET text = excluded.text, raw = excluded.raw, doubts = excluded.doubts,
                         seed = excluded.seed, tries = excluded.tries, written_at = excluded.written_at
                       WHERE text = '' AND excluded.text <> '' AND window_id = excluded.window_id""",
                    (*_values(context), video_id),
                )
                count += done.rowcount
        return count

    def suspects(self) -> dict[str, Context]:
        """Return the valid contexts with doubts."""
        test = "context.window_id IN (SELECT window_id FROM context WHERE doubts <> '[]')"
        return {id: context for id, context in self._latest(test, ()).items() if context.doubts}

    def left_out(self, video_id: str | None = None) -> dict[str, Context]:
        """Return the contexts that search does not use, by window: of a video, or of all."""
        with self._read() as db:
            rows = db.execute(
                f"""SELECT {_COLUMNS} FROM {_OF_PRESENT_WINDOWS}
                    WHERE coalesce(window.video_id = ?, 1) AND context.text = '' AND doubts <> '[]' AND tries >= ?
                      AND NOT EXISTS (SELECT 1 FROM context AS other WHERE other.window_id = context.window_id
                        AND other.transcript = context.transcript AND other.text <> '')
                    ORDER BY written_at, context.rowid""",
                (video_id, TRIES),
            )
            return {row[1]: _context(row) for row in rows}

    def texts(self) -> dict[str, str]:
        """Return the texts of all valid contexts, by window."""
        with self._read() as db:
            return dict(
                db.execute(
                    f"""SELECT context.window_id, context.text FROM {_OF_PRESENT_WINDOWS} WHERE context.text <> ''
                        ORDER BY written_at, context.rowid"""
                ).fetchall()
            )

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
                       WHERE (digest = '{GIVEN}' OR (digest = ?2 OR ?5 AND context.text <> '') AND prompt = ?3)
                         AND NOT stale
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
                        AND (digest = '{GIVEN}'
                          OR (digest = :digest OR :keeps AND context.text <> '') AND prompt = :prompt)
                        AND NOT stale
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

    def count_replaced(self, recipe: Recipe, *, channels: Sequence[str] = (), videos: Sequence[str] = ()) -> int:
        """Count the windows with a valid context by another prompt that one by this prompt will replace."""
        with self._read() as db:
            (count,) = db.execute(
                f"""SELECT count(*) FROM
                      (SELECT max(context.text <> '' AND prompt <> :prompt) AS has_other,
                              max(digest = '{GIVEN}'
                                OR prompt = :prompt AND (context.text <> '' OR tries >= :tries)) AS is_done
                       FROM {_OF_PRESENT_WINDOWS} JOIN video ON video.id = window.video_id
                       WHERE NOT stale
                         AND (:channels = '[]' OR channel_id IN (SELECT value FROM json_each(:channels)))
                         AND (:videos = '[]' OR video.id IN (SELECT value FROM json_each(:videos)))
                       GROUP BY window_id)
                    WHERE has_other AND NOT is_done""",
                {"prompt": recipe.prompt, "tries": TRIES, **_only(channels, videos)},
            ).fetchone()
        return int(count)

    def long_videos(self, characters: int) -> set[str]:
        """Return the videos with more than so many characters of captions."""
        with self._read() as db:
            rows = db.execute(
                "SELECT video_id FROM window GROUP BY video_id HAVING sum(length(text)) > ?", (characters,)
            )
            return {id for (id,) in rows}

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
            ).fetchone()
        with_text, empty, left_out, prompt_tokens, tokens, ms, in_part = row
        suspect = len(self.suspects())
        return ContextCounts(windows, with_text, empty, suspect, prompt_tokens, tokens, ms, in_part, left_out)

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

    def overviews(self, video_id: str) -> dict[str, str]:
        """Return the stored summaries of a long video, by key."""
        with self._read() as db:
            return dict(db.execute("SELECT key, text FROM overview WHERE video_id = ?", (video_id,)))

    def adopt_overviews(self, video_id: str, overviews: Mapping[str, str], sections: Sequence[OverviewSection]) -> None:
        """Store another library's summaries of a video; those that are stored stay."""
        with self._write() as db:
            values = [(key, video_id, text) for key, text in overviews.items()]
            db.executemany("INSERT OR IGNORE INTO overview VALUES (?, ?, ?)", values)
            section_values = [(each.key, video_id, each.source, each.text) for each in sections]
            db.executemany("INSERT OR IGNORE INTO overview_section VALUES (?, ?, ?, ?)", section_values)

    def put_overview(self, key: str, video_id: str, text: str) -> None:
        with self._write() as db:
            db.execute("INSERT OR REPLACE INTO overview VALUES (?, ?, ?)", (key, video_id, text))

    def overview_sections(self, video_id: str) -> dict[str, str]:
        """Return the stored summaries of a long video's sections, by key."""
        with self._read() as db:
            return dict(db.execute("SELECT key, text FROM overview_section WHERE video_id = ?", (video_id,)))

    def put_overview_section(self, section: OverviewSection, transcript: str) -> bool:
        """Store a section's summary, unless the video has other captions than `transcript`; return whether it did."""
        with self._write() as db:
            done = db.execute(
                """INSERT OR REPLACE INTO overview_section SELECT ?1, ?2, ?3, ?4 WHERE EXISTS
                     (SELECT 1 FROM window JOIN track USING (video_id)
                      WHERE video_id = ?2 AND track.sha256 || ':' || window.rule_hash = ?5)""",
                (section.key, section.video_id, section.source, section.text, transcript),
            )
            return done.rowcount > 0

    def sections_of(self, video_id: str) -> list[OverviewSection]:
        """Return the stored summaries of a long video's sections."""
        with self._read() as db:
            rows = db.execute(
                "SELECT key, video_id, source, text FROM overview_section WHERE video_id = ?", (video_id,)
            )
            return [OverviewSection(*row) for row in rows]

    def keep_overview_sections(self, video_id: str, sources: Sequence[str]) -> None:
        """Delete a video's summaries of sections that it has no more."""
        with self._write() as db:
            db.execute(
                """DELETE FROM overview_section
                   WHERE video_id = ? AND source NOT IN (SELECT value FROM json_each(?))""",
                (video_id, json.dumps(list(sources))),
            )

    def mean_ms(self, digest: str | None = None) -> float | None:
        """Return the mean time of a model's answers, or of all; None without any."""
        with self._read() as db:
            (mean,) = db.execute(
                "SELECT avg(ms) FROM context WHERE digest = coalesce(?, digest) AND ms > 0", (digest,)
            ).fetchone()
        return float(mean) if mean else None

    def tokens_per_character(self, digest: str) -> float | None:
        """Return the measured token rate of a model for Korean."""
        ratio = self._database.get_setting(f"tokens {digest}")
        return float(ratio) if ratio else None

    def put_tokens_per_character(self, digest: str, ratio: float) -> None:
        self._database.put_setting(f"tokens {digest}", f"{ratio:.4f}")

    def tokens_per_second(self, digest: str) -> float | None:
        """Return the measured speed at which a model reads a prompt."""
        speed = self._database.get_setting(f"speed {digest}")
        return float(speed) if speed else None

    def put_tokens_per_second(self, digest: str, speed: float) -> None:
        self._database.put_setting(f"speed {digest}", f"{speed:.1f}")


def _keeps_text(db: sqlite3.Connection, context: Context) -> bool:
    """Return whether an earlier text stays in place of this empty one. After the last try it is not queued again.

    A text with doubts does not stay where the new one is left out.
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
