"""Backup of the neural vectors while the index is rebuilt: a rebuild takes minutes, encoding hours.

The backup is an SQLite file next to the library, deleted after the rebuild. If a rebuild is killed, the next one uses
the file. A vector is restored only if its window's passage is unchanged.
"""

import json
import logging
import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.vectors.batches import split_batches
from subtitle_rag.base.vectors.named_vectors import OF_PIECES, pieces_name, vector_names
from subtitle_rag.base.vectors.points import DenseVector, MultiVector, Point, SparseVector, Vector
from subtitle_rag.index.index_client import HostedIndex
from subtitle_rag.index.index_document import IndexDocument
from subtitle_rag.index.interface import SCHEMA, Index
from subtitle_rag.library.connection import translate_sqlite_errors
from subtitle_rag.library.store import Library
from subtitle_rag.library.vector_store import StoredVector

logger = logging.getLogger(__name__)

PAGE = 256
"""Points per read: 5 MB."""
CRASHES = 20
"""Crashes of the host on damaged files before reading stops."""
DAMAGE_SIGNALS = frozenset({"SIGBUS", "SIGSEGV"})
"""Signals of a crash on damaged files; others mean that the host ran out of memory or was killed."""

Numbers = tuple[bytes, bytes | None, bytes | None, int | None, bytes | None]
"""Dense vector, sparse terms and weights, and the width and values of the pieces' vectors."""
Row = tuple[str, str, str, bytes, bytes | None, bytes | None, int | None, bytes | None]
"""Name, encoder and source, then the fields of `Numbers`."""
NamedVectors = dict[str, dict[str, Vector]]
"""Window id → its named vectors."""


def backup_path(library: Library) -> Path:
    return library.path.with_name("vectors.kept")


def back_up_vectors(folder: Path, library: Library) -> None:
    """Back up the vectors of the unusable embedded index in `folder`.

    Skips unreadable vectors and vectors of another schema.

    Raises:
        BusyError: as `VectorBackup.save` does.
    """
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        if meta["schema"] != SCHEMA:
            return
    except (OSError, ValueError, KeyError, TypeError):
        logger.info("no record of the index", exc_info=True)  # points are read by the library's ids
    if not any((folder / name).exists() for name in ("shard", "shard.old")):
        return
    with closing(VectorBackup(backup_path(library))) as backup:
        try:
            index = HostedIndex(folder, None)
        except BusyError:
            raise
        except AppError:
            logger.warning("the index's vectors cannot be kept", exc_info=True)
            return
        with closing(index):
            backup.save(index, library)


class VectorBackup:
    """The vectors in the file `path`, which is created if missing.

    Raises:
        BusyError: `disk_full`, `library_readonly`.
        AppError: `library_damaged`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._delete_on_close = False
        self.is_new = not path.exists()
        """Whether there was no backup from an earlier rebuild."""
        self._crashes = 0
        with translate_sqlite_errors(path):
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute(
                """CREATE TABLE IF NOT EXISTS kept (window_id TEXT, name TEXT, encoder TEXT, source TEXT,
                     dense BLOB, indices BLOB, weights BLOB, width INTEGER, pieces BLOB,
                     PRIMARY KEY (window_id, name)) WITHOUT ROWID"""
            )

    def close(self) -> None:
        self._db.close()
        if self._delete_on_close:
            for suffix in ("", "-journal"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def delete_on_close(self) -> None:
        """Make `close` delete the file, after a complete rebuild."""
        self._delete_on_close = True

    def save(self, index: Index, library: Library) -> None:
        """Copy the vectors that the library lists, as far as the index is readable.

        Raises:
            BusyError: as above, and the index's codes; nothing is lost then.
        """
        for page in split_batches(library.vectors.windows(), PAGE):
            self._put(self._readable(index, page), library.vectors.stored(page))

    def _readable(self, index: Index, ids: Sequence[str]) -> list[Point]:
        """Read these points, except in damaged parts of the index, whose windows are encoded again."""
        if self._crashes >= CRASHES:
            return []
        try:
            return index.get_neural(ids)
        except AppError as error:
            if isinstance(error, BusyError):
                if error.details.get("signal") not in DAMAGE_SIGNALS:
                    raise
                self._crashes += 1
            logger.warning("%d vectors cannot be read from the index", len(ids), exc_info=True)
        if len(ids) == 1:
            return []
        middle = len(ids) // 2
        return [*self._readable(index, ids[:middle]), *self._readable(index, ids[middle:])]

    def _put(self, points: Sequence[Point], notes: Mapping[str, Sequence[StoredVector]]) -> None:
        rows = [
            (point.id, note.name, note.encoder, note.source, *_packed(point, note))
            for point in points
            for note in notes.get(point.id, ())
            if note.name in point.vectors
        ]
        if rows:
            with translate_sqlite_errors(self._path), self._db:
                self._db.execute("BEGIN")
                self._db.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def add_vector_names(self, index: Index) -> None:
        """Declare the backup's named vectors in the index."""
        with translate_sqlite_errors(self._path):
            rows = self._db.execute(
                "SELECT encoder, min(length(dense)), count(indices), max(width) FROM kept GROUP BY encoder, name"
            ).fetchall()
        for encoder, size, sparse_count, width in rows:
            dense, sparse = vector_names(encoder)
            if size:
                index.add_vector(dense, size // array("f").itemsize)
            if sparse_count:
                index.add_vector(sparse)
            if width:
                index.add_vector(pieces_name(encoder), width)

    def restore(self, document: IndexDocument) -> tuple[NamedVectors, dict[str, list[StoredVector]]]:
        """Return the vectors of the document's unchanged passages, and the library's records of them, by window."""
        vectors: NamedVectors = {}
        notes: dict[str, list[StoredVector]] = {}
        query = "SELECT name, encoder, source, dense, indices, weights, width, pieces FROM kept WHERE window_id = ?"
        for window in document.windows:
            with translate_sqlite_errors(self._path):
                rows: list[Row] = self._db.execute(query, (window.id,)).fetchall()
            for row in rows:
                if row[2] == document.passage_source(window.id, pieces=OF_PIECES in row[1]):
                    notes.setdefault(window.id, []).append(StoredVector(*row[:3]))
                    vectors.setdefault(window.id, {}).update(_unpacked(row))
        return vectors, notes


def _packed(point: Point, note: StoredVector) -> Numbers:
    dense, sparse = (point.vectors.get(name) for name in vector_names(note.encoder))
    packed = array("f", dense.values).tobytes() if dense is not None else b""
    pieces = point.vectors.get(pieces_name(note.encoder)) if OF_PIECES in note.encoder else None
    packed_pieces = (pieces.dimensions, pieces.packed) if isinstance(pieces, MultiVector) else (None, None)
    if not isinstance(sparse, SparseVector):
        return packed, None, None, *packed_pieces
    return packed, array("I", sparse.indices).tobytes(), array("f", sparse.values).tobytes(), *packed_pieces


def _unpacked(row: Row) -> dict[str, Vector]:
    name, encoder, _source, dense, indices, weights, width, pieces = row
    vectors: dict[str, Vector] = {name: DenseVector(tuple(array("f", dense)))} if dense else {}
    if indices is not None and weights is not None:
        vectors[vector_names(encoder)[1]] = SparseVector(tuple(array("I", indices)), tuple(array("f", weights)))
    if width is not None and pieces is not None:
        vectors[pieces_name(encoder)] = MultiVector(width, pieces)
    return vectors
