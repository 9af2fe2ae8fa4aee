"""The library: videos, their raw tracks, their windows and the state of every stage, in one SQLite file.

Each method is one transaction. What a run has committed survives whatever happens next; the index is only a cache of
what stands here, and the table `purge` remembers the points that it may still hold of videos that changed or left.
"""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from subtitle_rag.domain import Details, Morphemes, Track, Video, Window
from subtitle_rag.library import rows
from subtitle_rag.library.answers import Answers
from subtitle_rag.library.connection import Database
from subtitle_rag.library.context_store import Contexts, drop_outdated
from subtitle_rag.library.rows import Counts, VideoState
from subtitle_rag.library.sources import Sources, drop_empty_channels, put_metadata
from subtitle_rag.library.vector_store import Vectors

ALL = "*"
"""In the list of purges: every point of the index."""


class Library:
    """One library file, usable from any thread (each has a connection of its own).

    Raises, in every method:
        BusyError: `library_readonly`, `disk_full`, `library_locked`.
        AppError: `library_damaged`; on opening also `library_newer`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = Database(path)
        self.sources = Sources(self.database)
        self.contexts = Contexts(self.database)
        self.answers = Answers(self.database)
        self.vectors = Vectors(self.database)
        self._read = self.database.read
        self._write = self.database.write

    def close(self) -> None:
        """Close this thread's connection; those of ended threads are closed already."""
        self.database.close()

    # Videos and their captions

    def put_video(
        self, video: Video, track: Track, windows: Sequence[Window], rule: str, details: Details | None = None
    ) -> None:
        """Store a video whose captions were read; whatever was there of it before is replaced."""
        with self._write() as db:
            _drop_windows(db, video.id)
            put_metadata(db, video)
            if details is not None:
                _put_details(db, video.id, details)
            values = rows.track_values(video.id, track)
            db.execute("INSERT OR REPLACE INTO track VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
            _put_windows(db, windows, rule)
            drop_outdated(db, video.id)
            db.execute(
                "INSERT OR REPLACE INTO stage (video_id, name, state) VALUES (?, 'captions', 'done')",
                (video.id,),
            )
            drop_empty_channels(db)

    def put_windows(self, video_id: str, windows: Sequence[Window], rule: str) -> None:
        """Replace a video's windows, made anew from the track that is there."""
        with self._write() as db:
            _drop_windows(db, video_id)
            _put_windows(db, windows, rule)
            drop_outdated(db, video_id)

    def put_details(self, video_id: str, details: Details) -> None:
        with self._write() as db:
            _put_details(db, video_id, details)

    def has(self, video: Video, sha256: str, rule: str) -> int | None:
        """The number of windows of a video that is there with just this metadata, track and rule, else None."""
        with self._read() as db:
            found = db.execute(
                """SELECT count(window.id), count(window.id) FILTER (WHERE rule_hash <> ?)
                   FROM track JOIN stage USING (video_id) LEFT JOIN window USING (video_id)
                   WHERE video_id = ? AND sha256 = ? AND stage.name = 'captions' AND state = 'done'
                   GROUP BY video_id""",
                (rule, video.id, sha256),
            ).fetchone()
        if found is None or found[1] or self.video(video.id) != video:
            return None
        return int(found[0])

    def stale(self, rule: str) -> list[str]:
        """The videos that have windows of another rule than this."""
        if self.database.get_setting("rule") == rule:
            return []
        with self._read() as db:
            return [id for (id,) in db.execute("SELECT DISTINCT video_id FROM window WHERE rule_hash <> ?", (rule,))]

    def put_rule(self, rule: str) -> None:
        """Note that no window is of another rule."""
        self.database.put_setting("rule", rule)

    def put_failure(self, video: Video, code: str, details: Mapping[str, Any]) -> None:
        """Remember why a video's captions could not be used; what was stored of it before stays.

        A failure that is known already changes nothing.
        """
        told = json.dumps(details, ensure_ascii=False, sort_keys=True, default=str)
        with self._write() as db:
            known = db.execute(
                "SELECT failure, details FROM stage WHERE video_id = ? AND name = 'captions'", (video.id,)
            ).fetchone()
            if known == (code, told):
                return
            if known is None:
                put_metadata(db, video)
            db.execute(
                """INSERT INTO stage (video_id, name, state, failure, details, since, tries)
                   VALUES (?, 'captions', 'failed', ?, ?, ?, 1)
                   ON CONFLICT DO UPDATE SET state = 'failed', failure = excluded.failure,
                     details = excluded.details, since = excluded.since, tries = tries + 1""",
                (video.id, code, told, int(time.time())),
            )

    def failure_details(self, code: str) -> list[dict[str, Any]]:
        """The details of the videos' failures of one code."""
        with self._read() as db:
            rows = db.execute("SELECT details FROM stage WHERE state = 'failed' AND failure = ?", (code,)).fetchall()
        return [json.loads(details or "{}") for (details,) in rows]

    def remove_video(self, video_id: str) -> None:
        """Forget a video; its points leave the index with the next purge."""
        with self._write() as db:
            _drop_windows(db, video_id)
            db.execute("DELETE FROM video WHERE id = ?", (video_id,))
            drop_empty_channels(db)

    def video(self, video_id: str) -> Video | None:
        return self.videos_by_id(video_id).get(video_id)

    def videos_by_id(self, *ids: str) -> dict[str, Video]:
        """The videos of these ids that are there."""
        wanted = f"SELECT {rows.VIDEO_COLUMNS} WHERE video.id IN (SELECT value FROM json_each(?))"
        with self._read() as db:
            return {row[0]: rows.video_from(row) for row in db.execute(wanted, (json.dumps(ids),))}

    def track(self, video_id: str) -> Track | None:
        """The raw caption track of a video, as it came."""
        with self._read() as db:
            row = db.execute(
                "SELECT language, kind, format, raw, sha256, fetched_at, flag FROM track WHERE video_id = ?",
                (video_id,),
            ).fetchone()
        return rows.track_from(row) if row else None

    def details(self, video_id: str) -> Details:
        """What YouTube says of a video; empty where nothing is known."""
        with self._read() as db:
            row = db.execute(
                "SELECT description, thumbnail, storyboard, heatmap FROM detail WHERE video_id = ?", (video_id,)
            ).fetchone()
        return rows.details_from(row) if row else Details()

    def videos(self) -> list[VideoState]:
        """All videos with their state, by channel, newest first."""
        with self._read() as db:
            windows = dict(db.execute("SELECT video_id, count(*) FROM window GROUP BY video_id"))
            missing = dict(db.execute(rows.UNSEARCHABLE))
            open_ = {
                video_id: (state == "due", failure, json.loads(details or "{}"), retry_at)
                for video_id, state, failure, details, retry_at in db.execute(
                    "SELECT video_id, state, failure, details, retry_at FROM stage WHERE state <> 'done'"
                )
            }
            found = db.execute(
                f"SELECT {rows.VIDEO_COLUMNS} ORDER BY channel.name, channel_id, published DESC, title, video.id"
            ).fetchall()
        return [
            VideoState(
                rows.video_from(row),
                windows.get(row[0], 0),
                windows.get(row[0], 0) - missing.get(row[0], 0),
                *open_.get(row[0], (False, None, {}, None)),
            )
            for row in found
        ]

    def find_videos(self, name: str) -> list[str]:
        """The id of the video `name`, else of all videos whose title holds it, regardless of spaces and ASCII case."""
        with self._read() as db:
            found = db.execute("SELECT id FROM video WHERE id = ?", (name,)).fetchall()
            if not found and (wanted := _squeezed(name)):
                found = db.execute(
                    "SELECT id FROM video WHERE instr(lower(replace(title, ' ', '')), ?) ORDER BY id", (wanted,)
                ).fetchall()
            return [id for (id,) in found]

    def channels(self) -> list[tuple[str, str]]:
        """(id, name) of every channel, by name."""
        with self._read() as db:
            return list(db.execute("SELECT id, name FROM channel ORDER BY name, id"))

    def counts(self) -> Counts:
        with self._read() as db:
            row = db.execute(
                """SELECT (SELECT count(*) FROM channel), (SELECT count(*) FROM video),
                          (SELECT count(*) FROM stage WHERE state = 'due'),
                          (SELECT count(*) FROM stage WHERE state = 'failed'), (SELECT count(*) FROM window),
                          (SELECT count(*) FROM indexed WHERE vector = 'bm25')"""
            ).fetchone()
        return Counts(*row)

    # Windows

    def window(self, window_id: str) -> Window | None:
        return next(iter(self.windows([window_id]).values()), None)

    def windows(self, ids: Sequence[str]) -> dict[str, Window]:
        """The windows of these ids that are there."""
        with self._read() as db:
            found = db.execute(
                f"SELECT {rows.WINDOW_COLUMNS} FROM window WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(ids)),),
            )
            return {row[0]: rows.window_from(row) for row in found}

    def places(self, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """The video and ordinal of those of these windows that are there."""
        with self._read() as db:
            found = db.execute(
                """SELECT id, video_id, ordinal FROM window INDEXED BY window_place
                   WHERE id IN (SELECT value FROM json_each(?))""",
                (json.dumps(list(ids)),),
            )
            return {id: (video_id, ordinal) for id, video_id, ordinal in found}

    def window_count(self, video_id: str) -> int:
        """How many windows a video has."""
        with self._read() as db:
            return int(db.execute("SELECT count(*) FROM window WHERE video_id = ?", (video_id,)).fetchone()[0])

    def windows_of(self, video_id: str) -> list[Window]:
        """A video's windows, in order."""
        with self._read() as db:
            found = db.execute(
                f"SELECT {rows.WINDOW_COLUMNS} FROM window WHERE video_id = ? ORDER BY ordinal", (video_id,)
            )
            return [rows.window_from(row) for row in found]

    def morphemes(self, ids: Sequence[str]) -> dict[str, Morphemes]:
        """The stored morphemes of these windows."""
        with self._read() as db:
            found = db.execute(
                "SELECT window_id, morphemes, count FROM analysis WHERE window_id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(ids)),),
            )
            return {row[0]: rows.unpack(row[1], row[2]) for row in found}

    def containing(self, phrases: Sequence[str]) -> frozenset[str]:
        """The ids of the windows whose text holds all `phrases`, regardless of spaces and of ASCII case."""
        tests = " AND ".join("instr(lower(replace(text, ' ', '')), ?)" for _ in phrases)
        wanted = [_squeezed(phrase) for phrase in phrases]
        with self._read() as db:
            return frozenset(id for (id,) in db.execute(f"SELECT id FROM window WHERE {tests}", wanted))

    # The bm25 stage

    def pending(self, encoder: str) -> Iterator[tuple[Video, list[Window]]]:
        """Videos with windows that have no `bm25` vector of this encoder, each with all its windows."""
        with self._read() as db:
            ids = db.execute(
                """SELECT DISTINCT video_id FROM window LEFT JOIN indexed
                   ON window_id = window.id AND vector = 'bm25' AND encoder = ?
                   WHERE window_id IS NULL ORDER BY video_id""",
                (encoder,),
            ).fetchall()
        for (video_id,) in ids:
            video = self.video(video_id)
            if video is not None:
                yield video, self.windows_of(video_id)

    def put_indexed(self, encoder: str, analyses: Mapping[str, tuple[str, Morphemes]]) -> None:
        """Note that the index holds these windows' `bm25` vectors: window id → (source hash, morphemes).

        A window that has left the library in the meantime is passed over.
        """
        with self._write() as db:
            present = _present(db, analyses)
            _forget_analyses(db, present)
            db.executemany(
                "INSERT INTO analysis VALUES (?, ?, ?)",
                ((id, len(analyses[id][1].forms), rows.pack(analyses[id][1])) for id in present),
            )
            db.executemany(
                "INSERT OR REPLACE INTO indexed VALUES (?, 'bm25', ?, ?)",
                ((id, encoder, analyses[id][0]) for id in present),
            )
            counts = Counter(form for id in present for form in set(analyses[id][1].forms))
            db.executemany(
                "INSERT INTO term VALUES (?, ?) ON CONFLICT DO UPDATE SET windows = windows + excluded.windows",
                counts.items(),
            )

    def put_source_hashes(self, encoder: str, hashes: Mapping[str, str]) -> None:
        """Note of what the index's `bm25` vectors of these windows are made, where they were made anew."""
        with self._write() as db:
            db.executemany(
                "UPDATE indexed SET source_hash = ? WHERE window_id = ? AND vector = 'bm25' AND encoder = ?",
                ((source, window_id, encoder) for window_id, source in hashes.items()),
            )

    def term_counts(self, forms: Sequence[str]) -> dict[str, int]:
        """In how many windows each form stands; forms that stand nowhere are left out."""
        with self._read() as db:
            return dict(
                db.execute(
                    "SELECT form, windows FROM term WHERE form IN (SELECT value FROM json_each(?))",
                    (json.dumps(list(forms), ensure_ascii=False),),
                )
            )

    def version(self) -> int:
        """Changes when another connection (of this or another process) has committed something."""
        with self._read() as db:
            return int(db.execute("PRAGMA data_version").fetchone()[0])

    def vocabulary(self, *, letters: int) -> list[str]:
        """The forms of at least so many letters that stand in some window."""
        with self._read() as db:
            found = db.execute("SELECT form FROM term WHERE length(form) >= ? AND windows > 0", (letters,))
            return [form for (form,) in found]

    # What the index must let go of

    def purges(self) -> list[str]:
        """Videos whose points must leave the index before new ones enter; `ALL` means every point of the library."""
        with self._read() as db:
            return [video_id for (video_id,) in db.execute("SELECT video_id FROM purge ORDER BY video_id")]

    def finish_purge(self, video_id: str) -> None:
        """The index has let go of this video's points (or of `ALL`)."""
        with self._write() as db:
            if video_id == ALL:
                db.execute("DELETE FROM purge")
            else:
                db.execute("DELETE FROM purge WHERE video_id = ?", (video_id,))

    def forget_index(self) -> None:
        """Treat every window as not indexed, and have the index emptied before it is filled again."""
        with self._write() as db:
            for table in ("indexed", "analysis", "term"):
                db.execute(f"DELETE FROM {table}")
            db.execute("INSERT OR IGNORE INTO purge VALUES (?)", (ALL,))


def _squeezed(text: str) -> str:
    """`text` as SQL's `lower(replace(text, ' ', ''))` has it: SQLite's `lower` knows ASCII alone."""
    return "".join(c.lower() if c.isascii() else c for c in text if not c.isspace())


def _put_details(db: sqlite3.Connection, video_id: str, details: Details) -> None:
    values = rows.details_values(video_id, details)
    db.execute("INSERT OR REPLACE INTO detail VALUES (?, ?, ?, ?, ?)", values)


def _put_windows(db: sqlite3.Connection, windows: Sequence[Window], rule: str) -> None:
    db.executemany("INSERT INTO window VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows.window_values(windows, rule))


def _drop_windows(db: sqlite3.Connection, video_id: str) -> None:
    ids = [id for (id,) in db.execute("SELECT id FROM window WHERE video_id = ?", (video_id,))]
    if ids:
        _forget_analyses(db, ids)
        db.execute("INSERT OR IGNORE INTO purge VALUES (?)", (video_id,))
        db.execute("DELETE FROM window WHERE video_id = ?", (video_id,))


def _forget_analyses(db: sqlite3.Connection, ids: Sequence[str]) -> None:
    found = db.execute(
        """DELETE FROM analysis WHERE window_id IN (SELECT value FROM json_each(?))
           RETURNING morphemes, count""",
        (json.dumps(list(ids)),),
    ).fetchall()
    counts = Counter(form for packed, count in found for form in set(rows.unpack(packed, count).forms))
    db.executemany(
        "UPDATE term SET windows = windows - ? WHERE form = ?",
        ((count, form) for form, count in counts.items()),
    )
    if counts:
        db.execute("DELETE FROM term WHERE windows <= 0")


def _present(db: sqlite3.Connection, ids: Mapping[str, Any]) -> list[str]:
    found = db.execute(
        "SELECT id FROM window WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps(list(ids)),),
    )
    return [id for (id,) in found]
