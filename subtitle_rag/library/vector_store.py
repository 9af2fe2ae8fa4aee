"""Neural vectors of windows by encoder, and the encoder in use for searches.

One row of `indexed`, under the name of an encoder's dense vector, covers all vectors of one pass over a window. Its
`source_hash` is the passage's digest, a slash, and the key of the passage's context: with another valid context the
window is due again. A hash without a slash is the claim of a run, which may have ended early.
"""

import json
import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from subtitle_rag.base.vectors.named_vectors import OF_PIECES
from subtitle_rag.library.connection import ONLY, Store, write_setting
from subtitle_rag.library.context_store import ALL_WINDOWS, WindowSelection

ACTIVE = "encoder"
"""Key of the setting with the encoder in use for searches."""
RECENT = 64
"""Latest contexts to check for videos in progress: more than hosts write at once."""

# `drop_outdated` deletes the contexts of earlier captions.
_KEY = """coalesce((SELECT key FROM context WHERE context.window_id = window.id AND context.text <> ''
  ORDER BY written_at DESC, context.rowid DESC LIMIT 1), '')"""
_CURRENT = f"""(instr(source_hash, '/') > 0 AND substr(source_hash, instr(source_hash, '/') + 1) = {_KEY})"""
_OF_PIECES = f"instr(encoder, ? || '{OF_PIECES}') = 1"
_OF_ENCODER = f"(encoder = ? OR {_OF_PIECES})"
_ROW_OF_WINDOW = "INTO indexed SELECT id, ?, ?, ? FROM window WHERE id"


@dataclass(frozen=True, slots=True)
class DueWindow:
    """A window without current vectors."""

    id: str
    video_id: str
    asked: bool
    """Whether it has a context, or a try of one."""


@dataclass(frozen=True, slots=True)
class VectorCounts:
    windows: int
    made: int
    """Windows with vectors of their current text and context."""

    @property
    def due(self) -> int:
        return self.windows - self.made


@dataclass(frozen=True, slots=True)
class StoredVector:
    """Record of a window's vectors: name of the dense one, encoder, and source of the passage."""

    name: str
    encoder: str
    source: str


class Vectors(Store):
    def active(self) -> str | None:
        """Return the id of the encoder in use for searches; None at first."""
        return self._database.get_setting(ACTIVE)

    def activate(self, encoder_id: str, *, forget: Iterable[str] = ()) -> None:
        """Use this encoder for searches, and delete the records of the encoders in `forget`."""
        with self._database.write() as db:
            write_setting(db, ACTIVE, encoder_id)
            db.executemany(f"DELETE FROM indexed WHERE {_OF_ENCODER} AND vector <> 'bm25'", ((id, id) for id in forget))

    def forget_pieces(self, encoder_id: str) -> None:
        """Delete the records of an encoder's vectors of pieces."""
        self._database.change(f"DELETE FROM indexed WHERE {_OF_PIECES}", (encoder_id,))

    def encoders(self) -> dict[str, tuple[str, int]]:
        """Return the encoders with vectors: id → (name of the dense vector, number of windows)."""
        query = """SELECT encoder, vector, count(*) FROM indexed WHERE vector <> 'bm25' AND NOT instr(encoder, ?)
                   GROUP BY encoder, vector"""
        return {encoder: (name, count) for encoder, name, count in self._database.rows(query, (OF_PIECES,))}

    def due(self, encoder_id: str, selection: WindowSelection = ALL_WINDOWS) -> list[DueWindow]:
        """Return the searchable windows with missing or outdated vectors, newest videos first.

        Takes 1 s at 100,000 windows.
        """
        rows = self._database.rows(
            f"""SELECT window.id, video_id, EXISTS (SELECT 1 FROM context WHERE context.window_id = window.id)
                FROM video JOIN window ON window.video_id = video.id
                  LEFT JOIN indexed AS own
                    ON own.window_id = window.id AND own.encoder = :encoder AND own.vector <> 'bm25'
                WHERE (own.window_id IS NULL OR NOT {_CURRENT}) AND {ONLY} AND EXISTS
                  (SELECT 1 FROM indexed WHERE indexed.window_id = window.id AND vector = 'bm25')
                ORDER BY published DESC, video.rowid, ordinal""",
            {"encoder": encoder_id, **selection.values},
        )
        return [DueWindow(id, video_id, bool(has_context)) for id, video_id, has_context in rows]

    def counts(self, encoder_id: str | None) -> VectorCounts:
        (windows,) = self._database.row("SELECT count(*) FROM window")
        (current,) = self._database.row(
            f"""SELECT count(*) FROM indexed AS own JOIN window ON window.id = own.window_id
                WHERE own.encoder = ? AND own.vector <> 'bm25' AND {_CURRENT}""",
            (encoder_id,),
        )
        return VectorCounts(windows, current)

    def sample(self, count: int) -> list[str]:
        """Return the ids of some windows, in an order unrelated to their videos."""
        return self._database.column("SELECT id FROM window ORDER BY id LIMIT ?", (count,))

    def videos_in_work(self, now: float, seconds: float) -> set[str]:
        """Return the videos of the latest contexts, written at most `seconds` from `now` (Unix seconds)."""
        query = """SELECT video_id FROM (SELECT video_id, written_at FROM context ORDER BY rowid DESC LIMIT ?)
                   WHERE abs(? - written_at) <= ?"""
        return set(self._database.column(query, (RECENT, now, seconds)))

    def claim(self, encoder_id: str, name: str, ids: Sequence[str]) -> str:
        """Claim these windows for a run, with dense vectors named `name`. Read their texts afterwards.

        A window's claim ends with its deletion, a change of captions or context, or an emptied index.
        """
        claim = secrets.token_hex(8)
        query = f"INSERT OR REPLACE {_ROW_OF_WINDOW} IN (SELECT value FROM json_each(?))"
        self._database.change(query, (name, encoder_id, claim, json.dumps(list(ids))))
        return claim

    def note(self, claim: str, sources: Mapping[str, str]) -> list[str]:
        """Record vectors in the index (window id → source), and return the ids whose claim still holds."""
        query = "UPDATE indexed SET source_hash = ? WHERE window_id = ? AND source_hash = ? AND vector <> 'bm25'"
        with self._database.write() as db:
            return [id for id, source in sources.items() if db.execute(query, (source, id, claim)).rowcount]

    def redo(self, encoder_id: str, selection: WindowSelection = ALL_WINDOWS) -> int:
        """Queue this encoder's vectors for replacement and return their number. Searches use them until then."""
        query = f"""DELETE FROM indexed WHERE encoder = :encoder AND vector <> 'bm25' AND window_id IN
                      (SELECT window.id FROM window JOIN video ON video.id = window.video_id WHERE {ONLY})"""
        return self._database.change(query, {"encoder": encoder_id, **selection.values})

    def windows(self) -> list[str]:
        """Return the ids of all windows with vectors."""
        return self._database.column(
            "SELECT DISTINCT window_id FROM indexed WHERE vector <> 'bm25' AND instr(source_hash, '/') > 0"
        )

    def stored(self, ids: Sequence[str]) -> dict[str, list[StoredVector]]:
        """Return the records of these windows' vectors."""
        vectors: dict[str, list[StoredVector]] = {}
        query = """SELECT window_id, vector, encoder, source_hash FROM indexed
                   WHERE window_id IN (SELECT value FROM json_each(?)) AND vector <> 'bm25'
                     AND instr(source_hash, '/') > 0"""
        for id, *values in self._database.rows(query, (json.dumps(list(ids)),)):
            vectors.setdefault(id, []).append(StoredVector(*values))
        return vectors

    def replace(self, vectors: Mapping[str, Sequence[StoredVector]]) -> None:
        """Replace all records and claims of the current index with these vectors, by window."""
        with self._database.write() as db:
            db.execute("DELETE FROM indexed WHERE vector <> 'bm25'")
            _put(db, vectors)

    def put(self, vectors: Mapping[str, Sequence[StoredVector]]) -> None:
        """Record vectors added to the index without a claim, by window."""
        if vectors:
            with self._database.write() as db:
                _put(db, vectors)


def _put(db: sqlite3.Connection, vectors: Mapping[str, Sequence[StoredVector]]) -> None:
    values = [(v.name, v.encoder, v.source, id) for id, window_vectors in vectors.items() for v in window_vectors]
    db.executemany(f"INSERT OR REPLACE {_ROW_OF_WINDOW} = ?", values)
