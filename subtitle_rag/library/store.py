"""The library: videos, raw tracks, windows and the state of every stage, in one SQLite file.

Each method is one transaction. The index is only a cache of this file. The table `purge` has the changed and deleted
videos whose points may still be in the index.
"""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.values import (
    NEGATED,
    Details,
    Morphemes,
    Track,
    TrackSelection,
    Video,
    Window,
    is_named,
    natural_key,
)
from subtitle_rag.library import rows
from subtitle_rag.library.answers import Answers
from subtitle_rag.library.connection import Database, write_setting
from subtitle_rag.library.context_store import Contexts, drop_outdated
from subtitle_rag.library.listening_store import ListeningStore
from subtitle_rag.library.mark_store import MarkStore
from subtitle_rag.library.rows import Counts, VideoState
from subtitle_rag.library.said_words import forget_all_said, forget_said, put_said
from subtitle_rag.library.sources import Sources, drop_empty_channels, put_metadata
from subtitle_rag.library.summary_store import SummaryStore
from subtitle_rag.library.vector_store import Vectors

ALL = "*"
"""Purge of every point of the index."""

_UNINDEXED = "id NOT IN (SELECT window_id FROM indexed WHERE vector = 'bm25')"
"""Test for a row of `window` that no search by words finds."""

STAGING = "staging"
"""Setting: windows and contexts missing from the index in use while another one is filled."""


class Library:
    """One library file, with one connection per thread.

    Raises, in every method:
        BusyError: `library_readonly`, `disk_full`, `locked`.
        AppError: `library_damaged`, `library_moved`; on opening also `newer_version`, `library_older`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = Database(path)
        self.sources = Sources(self.database)
        self.contexts = Contexts(self.database)
        self.answers = Answers(self.database)
        self.marks = MarkStore(self.database)
        self.summaries = SummaryStore(self.database)
        self.listenings = ListeningStore(self.database)
        self.vectors = Vectors(self.database)

    def close(self) -> None:
        """Close this thread's connection; ended threads have closed theirs."""
        self.database.close()

    # Videos and their captions

    def put_video(
        self, video: Video, track: Track, windows: Sequence[Window], rule: str, details: Details | None = None
    ) -> None:
        """Store or replace a video with its captions.

        Args:
            video: The video.
            track: The captions as fetched.
            windows: The windows cut from them.
            rule: The rule of the windows.
            details: Further metadata; None keeps the stored ones.
        """
        with self.database.write() as db:
            _drop_windows(db, video.id)
            put_metadata(db, video)
            if details is not None:
                _put_details(db, video.id, details)
            rows.put_track(db, video.id, track)
            _put_selection(db, video.id, track.selection)
            _put_windows(db, windows, rule)
            drop_outdated(db, video.id)
            _put_done(db, video.id)
            drop_empty_channels(db)

    def put_selection(self, video_id: str, selection: TrackSelection | None) -> None:
        """Replace the reason why a video has its track; does nothing if it is the same."""
        if self.selections(video_id).get(video_id) != selection:
            with self.database.write() as db:
                db.execute(
                    "UPDATE track SET flag = ? WHERE video_id = ?", (selection.flag if selection else "", video_id)
                )
                _put_selection(db, video_id, selection)

    def put_done(self, video_id: str) -> None:
        """Record that the stored captions are current, and delete any failure since."""
        stage = self.sources.stage(video_id)
        if stage is None or stage.state != "done":
            with self.database.write() as db:
                _put_done(db, video_id)

    def put_windows(self, video_id: str, windows: Sequence[Window], rule: str) -> None:
        """Replace a video's windows, cut again from the stored track."""
        with self.database.write() as db:
            _drop_windows(db, video_id)
            _put_windows(db, windows, rule)
            drop_outdated(db, video_id)

    def put_details(self, video_id: str, details: Details) -> None:
        with self.database.write() as db:
            _put_details(db, video_id, details)

    def has(self, video: Video, sha256: str, rule: str, *, failed: bool = False) -> int | None:
        """Return the number of windows if the video is stored with this metadata, track and rule, else None.

        With `failed` also after a later failed attempt, which keeps the stored captions.
        """
        row = self.database.row(
            """SELECT count(window.id), count(window.id) FILTER (WHERE rule_hash <> ?)
               FROM track JOIN stage USING (video_id) LEFT JOIN window USING (video_id)
               WHERE video_id = ? AND sha256 = ? AND stage.name = 'captions' AND (state = 'done' OR ?)
               GROUP BY video_id""",
            (rule, video.id, sha256, failed),
        )
        if row is None or row[1] or self.video(video.id) != video:
            return None
        return int(row[0])

    def files(self) -> list[tuple[str, str | None, str]]:
        """Return (id, path, SHA-256) of every video with captions from a file."""
        return self.database.rows(
            "SELECT id, source, sha256 FROM video JOIN track ON video_id = id WHERE track.kind = 'file'"
        )

    def put_metadata(self, video: Video) -> None:
        """Replace a video's metadata, and keep its captions, windows and everything made from them."""
        with self.database.write() as db:
            put_metadata(db, video)
            _put_done(db, video.id)
            drop_empty_channels(db)

    def is_cut(self, video: Video, sha256: str, rule: str) -> bool:
        """Whether a video's windows come from these captions, this rule and the same chapters."""
        stored = self.video(video.id)
        return (
            stored is not None
            and stored.chapters == video.chapters
            and self.has(stored, sha256, rule, failed=True) is not None
        )

    def stale(self, rule: str) -> list[str]:
        """Return the videos with windows of another rule, or with captions but no windows."""
        if self.database.get_setting("rule") == rule:
            return []
        return self.database.column(
            """SELECT DISTINCT video_id FROM window WHERE rule_hash <> ?
               UNION SELECT video_id FROM track WHERE video_id NOT IN (SELECT video_id FROM window)""",
            (rule,),
        )

    def put_rule(self, rule: str) -> None:
        """Record that all windows follow this rule."""
        self.database.put_setting("rule", rule)

    def put_failure(self, video: Video, code: str, details: Mapping[str, Any]) -> None:
        """Store why a video's captions are unusable. Earlier captions stay; does nothing for the same failure."""
        details_json = json.dumps(details, ensure_ascii=False, sort_keys=True, default=str)
        with self.database.write() as db:
            failure = db.execute(
                "SELECT failure, details FROM stage WHERE video_id = ? AND name = 'captions'", (video.id,)
            ).fetchone()
            if failure == (code, details_json):
                return
            if failure is None:
                put_metadata(db, video)
            db.execute(
                """INSERT INTO stage (video_id, name, state, failure, details, since, tries)
                   VALUES (?, 'captions', 'failed', ?, ?, ?, 1)
                   ON CONFLICT DO UPDATE SET state = 'failed', failure = excluded.failure,
                     details = excluded.details, since = excluded.since, tries = tries + 1""",
                (video.id, code, details_json, int(time.time())),
            )

    def failure_details(self, code: str) -> list[dict[str, Any]]:
        query = "SELECT details FROM stage WHERE state = 'failed' AND failure = ?"
        return [json.loads(details or "{}") for details in self.database.column(query, (code,))]

    def remove_videos(self, video_ids: Sequence[str]) -> None:
        """Delete videos with their marks. Their sources do not fetch them again.

        The next purge removes their points from the index.
        """
        ids = json.dumps(list(video_ids))
        with self.database.write() as db:
            _drop_windows(db, *video_ids)
            db.execute("DELETE FROM mark WHERE video_id IN (SELECT value FROM json_each(?))", (ids,))
            db.execute("UPDATE listed SET removed = 1 WHERE video_id IN (SELECT value FROM json_each(?))", (ids,))
            db.execute("DELETE FROM video WHERE id IN (SELECT value FROM json_each(?))", (ids,))
            drop_empty_channels(db)

    def video(self, video_id: str) -> Video | None:
        return self.videos_by_id(video_id).get(video_id)

    def videos_by_id(self, *ids: str) -> dict[str, Video]:
        """Return the stored videos among these ids."""
        query = f"SELECT {rows.VIDEO_COLUMNS} WHERE video.id IN (SELECT value FROM json_each(?))"
        return {row[0]: rows.video_from(row) for row in self.database.rows(query, (json.dumps(ids),))}

    def track(self, video_id: str) -> Track | None:
        row = self.database.row(f"SELECT {rows.TRACK_COLUMNS} FROM track WHERE video_id = ?", (video_id,))
        return rows.track_from(row, self.selections(video_id).get(video_id)) if row else None

    def selections(self, video_id: str | None = None) -> dict[str, TrackSelection]:
        """Return why videos have their tracks, by video: one, or all with a reason or a flag."""
        query = """SELECT video_id, tracks, taken, flag, withheld FROM track_selection
                   WHERE :video IS NULL OR video_id = :video"""
        return {row[0]: rows.selection_from(row[1:]) for row in self.database.rows(query, {"video": video_id})}

    def details(self, video_id: str) -> Details:
        """Return the details of a video, empty by default."""
        query = "SELECT description, thumbnail, heatmap FROM detail WHERE video_id = ?"
        row = self.database.row(query, (video_id,))
        return rows.details_from(row) if row else Details()

    def videos(self) -> list[VideoState]:
        """Return all videos with their state, by channel, then newest first, then by title."""
        windows = dict(self.database.rows("SELECT video_id, count(*) FROM window GROUP BY video_id"))
        missing = dict(self.database.rows(rows.UNSEARCHABLE))
        open_ = {
            video_id: (state == "due", failure, json.loads(details or "{}"), retry_at)
            for video_id, state, failure, details, retry_at in self.database.rows(
                "SELECT video_id, state, failure, details, retry_at FROM stage WHERE state <> 'done'"
            )
        }
        selections, listenings = self.selections(), self.listenings.all()
        heard_by = dict(self.database.rows("SELECT video_id, heard_by FROM track WHERE kind = 'local'"))
        video_rows = self.database.rows(f"SELECT {rows.VIDEO_COLUMNS} ORDER BY published DESC, video.id")
        states = [
            VideoState(
                rows.video_from(row),
                windows.get(row[0], 0),
                windows.get(row[0], 0) - missing.get(row[0], 0),
                *open_.get(row[0], (False, None, {}, None)),
                selections.get(row[0]),
                heard_by.get(row[0], ""),
                listenings.get(row[0]),
            )
            for row in video_rows
        ]
        states.sort(key=lambda state: natural_key(state.video.title))
        states.sort(key=lambda state: state.video.published or date.min, reverse=True)
        return sorted(states, key=lambda state: (natural_key(state.video.channel), state.video.channel_id))

    def find_videos(self, name: str) -> list[str]:
        """Return the id of the video `name`, else of all with it in the title, ignoring spaces and ASCII case."""
        ids = self.database.column("SELECT id FROM video WHERE id = ?", (name,))
        if not ids and (title := _squeezed(name)):
            query = "SELECT id FROM video WHERE instr(lower(replace(title, ' ', '')), ?) ORDER BY id"
            return self.database.column(query, (title,))
        return ids

    def channels(self) -> list[tuple[str, str]]:
        """Return (id, name) of every channel, by name."""
        return self.database.rows("SELECT id, name FROM channel ORDER BY name, id")

    def counts(self) -> Counts:
        row = self.database.row(
            """SELECT (SELECT count(*) FROM channel), (SELECT count(*) FROM video),
                      (SELECT count(*) FROM stage WHERE state = 'due'),
                      (SELECT count(*) FROM stage WHERE state = 'failed'), (SELECT count(*) FROM window),
                      (SELECT count(*) FROM indexed WHERE vector = 'bm25')"""
        )
        return Counts(*row)

    # Windows

    def window(self, window_id: str) -> Window | None:
        return self.windows([window_id]).get(window_id)

    def windows(self, ids: Sequence[str]) -> dict[str, Window]:
        """Return the stored windows among these ids."""
        query = f"SELECT {rows.WINDOW_COLUMNS} FROM window WHERE id IN (SELECT value FROM json_each(?))"
        return {row[0]: rows.window_from(row) for row in self.database.rows(query, (json.dumps(list(ids)),))}

    def places(self, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Return video and ordinal of the stored windows among these ids."""
        query = """SELECT id, video_id, ordinal FROM window INDEXED BY window_place
                   WHERE id IN (SELECT value FROM json_each(?))"""
        positions = self.database.rows(query, (json.dumps(list(ids)),))
        return {id: (video_id, ordinal) for id, video_id, ordinal in positions}

    def spans(self, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return start and end (ms) of the stored windows among these ids."""
        query = "SELECT id, start_ms, end_ms FROM window WHERE id IN (SELECT value FROM json_each(?))"
        return {id: (start, end) for id, start, end in self.database.rows(query, (json.dumps(list(ids)),))}

    def window_count(self, video_id: str) -> int:
        return int(self.database.row("SELECT count(*) FROM window WHERE video_id = ?", (video_id,))[0])

    def last_ends(self, video_ids: Iterable[str]) -> dict[str, int]:
        """Return the end (ms) of the last window of each video."""
        query = """SELECT video_id, max(end_ms) FROM window
                   WHERE video_id IN (SELECT value FROM json_each(?)) GROUP BY video_id"""
        return dict(self.database.rows(query, (json.dumps(list(video_ids)),)))

    def windows_of(self, video_id: str) -> list[Window]:
        """Return a video's windows, in order."""
        query = f"SELECT {rows.WINDOW_COLUMNS} FROM window WHERE video_id = ? ORDER BY ordinal"
        return [rows.window_from(row) for row in self.database.rows(query, (video_id,))]

    def morphemes(self, ids: Sequence[str]) -> dict[str, Morphemes]:
        """Return the stored morphemes of these windows."""
        return {id: rows.unpack(packed, count) for id, packed, count in self._packed_morphemes(ids)}

    def forms(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the morphemes of each window, with a line break before and after each."""
        return {id: rows.unpack_forms(packed, count) for id, packed, count in self._packed_morphemes(ids)}

    def _packed_morphemes(self, ids: Sequence[str]) -> list[rows.Row]:
        query = "SELECT window_id, morphemes, count FROM analysis WHERE window_id IN (SELECT value FROM json_each(?))"
        return self.database.rows(query, (json.dumps(list(ids)),))

    def containing(self, phrases: Sequence[str]) -> frozenset[str]:
        """Return the ids of windows whose text contains all `phrases`, ignoring spaces and ASCII case."""
        tests = " AND ".join("instr(lower(replace(text, ' ', '')), ?)" for _ in phrases)
        squeezed_phrases = [_squeezed(phrase) for phrase in phrases]
        return frozenset(self.database.column(f"SELECT id FROM window WHERE {tests}", squeezed_phrases))

    def said_by(self, speakers: Sequence[str]) -> frozenset[str]:
        """Return the ids of windows with a speaker whose name contains one of these, ignoring spaces and case."""
        rows_of_speakers = self.database.rows(
            "SELECT id, lines FROM window WHERE instr(lines, '\"')"  # only names have quotation marks there
        )
        return frozenset(
            id
            for id, lines in rows_of_speakers
            if any(is_named(speaker, speakers) for speaker in rows.speakers_of(lines))
        )

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        """Return the texts of these windows."""
        query = "SELECT id, text FROM window WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self.database.rows(query, (json.dumps(list(ids)),)))

    # The bm25 stage

    def pending(self) -> Iterator[tuple[Video, list[Window]]]:
        """Yield each video that has a window without `bm25` vector, with all its windows."""
        query = f"SELECT DISTINCT video_id FROM window WHERE {_UNINDEXED} ORDER BY video_id"
        yield from self._with_windows(self.database.column(query))

    def with_windows(self) -> Iterator[tuple[Video, list[Window]]]:
        """Yield each video that has windows, with its windows."""
        yield from self._with_windows(self.database.column("SELECT DISTINCT video_id FROM window ORDER BY video_id"))

    def _with_windows(self, ids: Sequence[str]) -> Iterator[tuple[Video, list[Window]]]:
        for video_id in ids:
            if video := self.video(video_id):
                yield video, self.windows_of(video_id)

    def put_indexed(
        self,
        encoder: str,
        analyses: Mapping[str, tuple[str, Morphemes]],
        context_terms: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """Record the windows' `bm25` vectors in the index: window id → (source hash, morphemes).

        `context_terms`: window id → forms of its context that no window of its video has. Skips windows deleted
        meanwhile.
        """
        with self.database.write() as db:
            present = _present(db, analyses)
            _forget_analyses(db, present)
            db.executemany(
                "INSERT INTO analysis VALUES (?, ?, ?)",
                ((id, len(analyses[id][1].forms), rows.pack(analyses[id][1])) for id in present),
            )
            put_said(db, {id: analyses[id][1].forms for id in present})
            db.executemany(
                "INSERT OR REPLACE INTO indexed VALUES (?, 'bm25', ?, ?)",
                ((id, encoder, analyses[id][0]) for id in present),
            )
            counts = Counter(form for id in present for form in set(analyses[id][1].forms))
            db.executemany(
                "INSERT INTO term VALUES (?, ?) ON CONFLICT DO UPDATE SET windows = windows + excluded.windows",
                counts.items(),
            )
            _put_context_terms(db, present, context_terms or {})

    def put_source_hashes(
        self, hashes: Mapping[str, str], context_terms: Mapping[str, Collection[str]] | None = None
    ) -> None:
        """Record the source hashes of replaced `bm25` vectors by window, with `context_terms` as in `put_indexed`."""
        with self.database.write() as db:
            _put_context_terms(db, _present(db, hashes), context_terms or {})
            db.executemany(
                "UPDATE indexed SET source_hash = ? WHERE window_id = ? AND vector = 'bm25'",
                ((source, window_id) for window_id, source in hashes.items()),
            )

    def term_counts(self, forms: Collection[str]) -> dict[str, int]:
        """Return the document frequency of each form in captions, titles and contexts. Leaves out unknown forms."""
        return {form: sum(counts) for form, counts in self.term_sources(forms).items()}

    def term_sources(self, forms: Collection[str]) -> dict[str, tuple[int, int]]:
        """Return by form the number of windows with it, and of contexts and titles; leaves out unknown forms."""
        query = """WITH asked AS (SELECT value AS form FROM json_each(?))
                   SELECT form, sum(said), sum(written) FROM (
                     SELECT form, windows AS said, 0 AS written FROM term WHERE form IN asked
                     UNION ALL
                     SELECT form, 0, count(*) FROM context_term WHERE form IN asked GROUP BY form
                   ) GROUP BY form"""
        rows = self.database.rows(query, (json.dumps(list(forms), ensure_ascii=False),))
        return {form: (window_count, other_count) for form, window_count, other_count in rows}

    def version(self) -> int:
        """Return a number that changes with every commit of another connection, in this or another process."""
        return int(self.database.row("PRAGMA data_version")[0])

    def vocabulary(self, *, letters: int) -> list[str]:
        """Return the forms of at least `letters` letters in captions, titles and contexts, sorted, without negated
        ones.
        """
        return self.database.column(
            """SELECT form FROM (
                 SELECT form FROM term WHERE windows > 0 UNION SELECT form FROM context_term
               ) WHERE length(form) >= :letters AND form NOT GLOB :negated ORDER BY form""",
            {"letters": letters, "negated": f"{NEGATED}*"},
        )

    # Purges of the index

    def pending_index_deletes(self) -> list[str]:
        """Return the videos to purge from the index before new points are added; `ALL` means every point."""
        return self.database.column("SELECT video_id FROM purge ORDER BY video_id")

    def finish_purge(self, *video_ids: str) -> None:
        """Record that the index has no more points of these videos (or `ALL`)."""
        with self.database.write() as db:
            if ALL in video_ids:
                db.execute("DELETE FROM purge")
            else:
                db.executemany("DELETE FROM purge WHERE video_id = ?", ((id,) for id in video_ids))

    def forget_indexed(self, ids: Collection[str]) -> None:
        """Mark these windows as not indexed, with all their vectors."""
        with self.database.write() as db:
            _forget_analyses(db, list(ids))
            query = "DELETE FROM indexed WHERE window_id IN (SELECT value FROM json_each(?))"
            db.execute(query, (json.dumps(list(ids)),))

    # An index filled while another is in use, and recorded before it is adopted

    def begin_staging(self) -> None:
        """Start to record windows and contexts missing from the index in use."""
        lacking = self.database.column(f"SELECT id FROM window WHERE {_UNINDEXED}")
        late = [id for ids in self.contexts.unindexed().values() for id in ids]
        values = {"windows": lacking, "contexts": late, "since": int(time.time())}
        self.database.put_setting(STAGING, json.dumps(values))

    def end_staging(self) -> None:
        """Record that the index was adopted."""
        self.database.put_setting(STAGING, None)

    def forget_staged(self) -> None:
        """Delete the records of an index that was not adopted, perhaps because of a kill."""
        noted = self.database.get_setting(STAGING)
        if noted is None:
            return
        values = json.loads(noted)
        self.forget_indexed(values["windows"])
        with self.database.write() as db:
            db.execute(
                """UPDATE indexed SET source_hash = '' WHERE vector = 'bm25' AND (
                     window_id IN (SELECT value FROM json_each(?))
                     OR window_id IN (SELECT window_id FROM context WHERE written_at >= ?))""",
                (json.dumps(values["contexts"]), values["since"]),
            )
            write_setting(db, STAGING, None)

    def forget_index(self) -> None:
        """Mark every window as not indexed, and queue a purge of the whole index."""
        with self.database.write() as db:
            for table in ("indexed", "analysis", "term", "context_term"):
                db.execute(f"DELETE FROM {table}")
            forget_all_said(db)
            db.execute("INSERT OR IGNORE INTO purge VALUES (?)", (ALL,))


def _squeezed(text: str) -> str:
    """Return `text` like SQL's `lower(replace(text, ' ', ''))`. SQLite's `lower` changes only ASCII."""
    return "".join(c.lower() if c.isascii() else c for c in text if not c.isspace())


def _put_done(db: sqlite3.Connection, video_id: str) -> None:
    db.execute("INSERT OR REPLACE INTO stage (video_id, name, state) VALUES (?, 'captions', 'done')", (video_id,))


def _put_selection(db: sqlite3.Connection, video_id: str, selection: TrackSelection | None) -> None:
    db.execute("DELETE FROM track_selection WHERE video_id = ?", (video_id,))
    if selection:
        db.execute("INSERT INTO track_selection VALUES (?, ?, ?, ?, ?)", rows.selection_values(video_id, selection))


def _put_details(db: sqlite3.Connection, video_id: str, details: Details) -> None:
    values = rows.details_values(video_id, details)
    db.execute("INSERT OR REPLACE INTO detail VALUES (?, ?, ?, ?)", values)


def _put_windows(db: sqlite3.Connection, windows: Sequence[Window], rule: str) -> None:
    db.executemany("INSERT INTO window VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows.window_values(windows, rule))


def _drop_windows(db: sqlite3.Connection, *video_ids: str) -> None:
    videos = "(SELECT value FROM json_each(?))"
    rows = db.execute(
        f"SELECT id, video_id FROM window WHERE video_id IN {videos}", (json.dumps(video_ids),)
    ).fetchall()
    if rows:
        _forget_analyses(db, [id for id, _video_id in rows])
        with_windows = sorted({video_id for _id, video_id in rows})
        db.executemany("INSERT OR IGNORE INTO purge VALUES (?)", ((id,) for id in with_windows))
        db.execute(f"DELETE FROM window WHERE video_id IN {videos}", (json.dumps(with_windows),))


def _put_context_terms(db: sqlite3.Connection, ids: Sequence[str], forms: Mapping[str, Collection[str]]) -> None:
    db.execute("DELETE FROM context_term WHERE window_id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))
    db.executemany("INSERT INTO context_term VALUES (?, ?)", ((form, id) for id in ids for form in forms.get(id, ())))


def _forget_analyses(db: sqlite3.Connection, ids: Sequence[str]) -> None:
    _put_context_terms(db, ids, {})
    query = """DELETE FROM analysis WHERE window_id IN (SELECT value FROM json_each(?))
               RETURNING window_id, morphemes, count"""
    analyses = db.execute(query, (json.dumps(list(ids)),)).fetchall()
    forms = {id: set(rows.unpack(packed, count).forms) for id, packed, count in analyses}
    forget_said(db, forms)
    counts = Counter(form for of_window in forms.values() for form in of_window)
    db.executemany(
        "UPDATE term SET windows = windows - ? WHERE form = ?", ((count, form) for form, count in counts.items())
    )
    if counts:
        db.execute("DELETE FROM term WHERE windows <= 0")


def _present(db: sqlite3.Connection, ids: Mapping[str, Any]) -> list[str]:
    query = "SELECT id FROM window WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
    return [id for (id,) in db.execute(query, (json.dumps(list(ids)),))]
