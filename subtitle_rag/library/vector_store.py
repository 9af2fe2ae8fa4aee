"""Which windows have neural vectors, of which encoder, and whose vectors are searched.

One row of `indexed`, under the name of an encoder's dense vector, stands for all that a pass over a window made. Its
`source_hash` is the passage's digest, a slash, and the key of the context that the passage held: where another context
counts since, the window is due again. Without a slash it is a claim: a run is making the vectors, or was ended.
"""

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from subtitle_rag.library.connection import Database, write_setting

ACTIVE = "encoder"
"""The setting that names the encoder whose vectors are searched."""
RECENT = 64
"""Contexts that tell which videos are being written: more than hosts write side by side."""

# `drop_outdated` leaves no context of other captions than those that are there
_KEY = """coalesce((SELECT key FROM context WHERE context.window_id = window.id AND context.text <> ''
  ORDER BY written_at DESC, context.rowid DESC LIMIT 1), '')"""
_CURRENT = f"""(instr(source_hash, '/') > 0 AND substr(source_hash, instr(source_hash, '/') + 1) = {_KEY})"""
_ONLY = """(:channels = '[]' OR video.channel_id IN (SELECT value FROM json_each(:channels)))
  AND (:videos = '[]' OR video.id IN (SELECT value FROM json_each(:videos)))"""


@dataclass(frozen=True, slots=True)
class DueWindow:
    """A window whose vectors are to be made."""

    id: str
    video_id: str
    asked: bool
    """A model has been asked for its context."""


@dataclass(frozen=True, slots=True)
class VectorCounts:
    """How far an encoder's vectors have come."""

    windows: int
    made: int
    """Windows whose vectors are those of their present text and context."""

    @property
    def due(self) -> int:
        return self.windows - self.made


@dataclass(frozen=True, slots=True)
class StoredVector:
    """Of what a window's vectors are made: the dense one's name, the encoder, and the passage's source."""

    name: str
    encoder: str
    source: str


class Vectors:
    """The part of a library that is about neural vectors. Raises what `Library` raises."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read = database.read
        self._write = database.write

    # Whose vectors are searched

    def active(self) -> str | None:
        """The id of the encoder whose vectors are searched; None where there is none yet."""
        return self._database.get_setting(ACTIVE)

    def activate(self, encoder_id: str, *, forget: Iterable[str] = ()) -> None:
        """Have this encoder's vectors searched, and forget what is noted of others."""
        with self._write() as db:
            write_setting(db, ACTIVE, encoder_id)
            db.executemany("DELETE FROM indexed WHERE encoder = ? AND vector <> 'bm25'", ((id,) for id in forget))

    def encoders(self) -> dict[str, tuple[str, int]]:
        """The encoders of which something is noted: the dense vector's name, and how many windows."""
        with self._read() as db:
            rows = db.execute(
                "SELECT encoder, vector, count(*) FROM indexed WHERE vector <> 'bm25' GROUP BY encoder, vector"
            )
            return {encoder: (name, count) for encoder, name, count in rows}

    # What is to be made

    def due(
        self,
        encoder_id: str,
        *,
        channels: Sequence[str] = (),
        videos: Sequence[str] = (),
        without: bool = False,
    ) -> list[DueWindow]:
        """The searchable windows whose vectors are missing or of an earlier context, those of the newest videos
        first, in the order in which contexts are written; of some channels or videos.

        `without`: only those that have none. A second at 100,000 windows, half of one where `without`.
        """
        test = "coalesce(instr(source_hash, '/'), 0) = 0" if without else f"own.window_id IS NULL OR NOT {_CURRENT}"
        with self._read() as db:
            rows = db.execute(
                f"""SELECT window.id, video_id, EXISTS (SELECT 1 FROM context WHERE context.window_id = window.id)
                    FROM video JOIN window ON window.video_id = video.id
                      LEFT JOIN indexed AS own
                        ON own.window_id = window.id AND own.encoder = :encoder AND own.vector <> 'bm25'
                    WHERE ({test}) AND {_ONLY} AND EXISTS
                      (SELECT 1 FROM indexed WHERE indexed.window_id = window.id AND vector = 'bm25')
                    ORDER BY published DESC, video.rowid, ordinal""",
                {"encoder": encoder_id, **_only(channels, videos)},
            )
            return [DueWindow(id, video_id, bool(asked)) for id, video_id, asked in rows]

    def counts(self, encoder_id: str | None) -> VectorCounts:
        """How far this encoder's vectors have come; of no encoder, none."""
        with self._read() as db:
            (windows,) = db.execute("SELECT count(*) FROM window").fetchone()
            (made,) = db.execute(
                f"""SELECT count(*) FROM indexed AS own JOIN window ON window.id = own.window_id
                    WHERE own.encoder = ? AND own.vector <> 'bm25' AND {_CURRENT}""",
                (encoder_id,),
            ).fetchone()
        return VectorCounts(windows, made)

    def videos_in_work(self, now: float, seconds: float) -> set[str]:
        """The videos of the latest contexts that were written within so many seconds of `now` (Unix seconds)."""
        with self._read() as db:
            rows = db.execute(
                """SELECT video_id FROM (SELECT video_id, written_at FROM context ORDER BY rowid DESC LIMIT ?)
                   WHERE abs(? - written_at) <= ?""",
                (RECENT, now, seconds),
            )
            return {video_id for (video_id,) in rows}

    # What was made

    def claim(self, encoder_id: str, name: str, ids: Sequence[str]) -> str:
        """Begin to make vectors of these windows, the dense ones called `name`; read them after this.

        The claim ends where a window leaves, its captions or its context change, or the index is emptied.
        """
        claim = secrets.token_hex(8)
        with self._write() as db:
            db.execute(
                """INSERT OR REPLACE INTO indexed
                   SELECT id, ?, ?, ? FROM window WHERE id IN (SELECT value FROM json_each(?))""",
                (name, encoder_id, claim, json.dumps(list(ids))),
            )
        return claim

    def note(self, claim: str, sources: Mapping[str, str]) -> list[str]:
        """Note that the index holds the vectors (window id → source); the ids of those whose claim still stands."""
        with self._write() as db:
            return [
                id
                for id, source in sources.items()
                if db.execute(
                    """UPDATE indexed SET source_hash = ? WHERE window_id = ? AND source_hash = ?
                         AND vector <> 'bm25'""",
                    (source, id, claim),
                ).rowcount
            ]

    def redo(self, encoder_id: str, *, channels: Sequence[str] = (), videos: Sequence[str] = ()) -> int:
        """Have this encoder's vectors, or those of some channels or videos, made anew; how many. They are searched
        until they are replaced."""
        with self._write() as db:
            return db.execute(
                f"""DELETE FROM indexed WHERE encoder = :encoder AND vector <> 'bm25' AND window_id IN
                      (SELECT window.id FROM window JOIN video ON video.id = window.video_id WHERE {_ONLY})""",
                {"encoder": encoder_id, **_only(channels, videos)},
            ).rowcount

    def windows(self) -> list[str]:
        """The ids of all windows that have vectors."""
        with self._read() as db:
            rows = db.execute(
                "SELECT DISTINCT window_id FROM indexed WHERE vector <> 'bm25' AND instr(source_hash, '/') > 0"
            )
            return [id for (id,) in rows]

    def stored(self, ids: Sequence[str]) -> dict[str, list[StoredVector]]:
        """What the index holds of these windows."""
        found: dict[str, list[StoredVector]] = {}
        with self._read() as db:
            for id, *values in db.execute(
                """SELECT window_id, vector, encoder, source_hash FROM indexed
                   WHERE window_id IN (SELECT value FROM json_each(?)) AND vector <> 'bm25'
                     AND instr(source_hash, '/') > 0""",
                (json.dumps(list(ids)),),
            ):
                found.setdefault(id, []).append(StoredVector(*values))
        return found

    def put(self, made: Mapping[str, Sequence[StoredVector]]) -> None:
        """Note what the index holds of windows, where it was brought there otherwise than by a claim."""
        values = [(one.name, one.encoder, one.source, id) for id, own in made.items() for one in own]
        if values:
            with self._write() as db:
                db.executemany(
                    "INSERT OR REPLACE INTO indexed SELECT id, ?, ?, ? FROM window WHERE id = ?",
                    values,
                )


def _only(channels: Sequence[str], videos: Sequence[str]) -> dict[str, str]:
    return {"channels": json.dumps(list(channels)), "videos": json.dumps(list(videos))}
