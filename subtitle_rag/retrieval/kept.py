"""Neural vectors that outlive the index that held them: to make them anew takes hours, a rebuild minutes.

They lie in an SQLite file beside the library until the rebuild is through. A rebuild that is killed leaves it to the
next one; whatever the file holds counts only for a window whose passage is still the same.
"""

import json
import logging
import sqlite3
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.library.connection import translated
from subtitle_rag.library.store import Library
from subtitle_rag.library.vector_store import Noted
from subtitle_rag.retrieval.index import SCHEMA, DenseVector, Index, Point, SparseVector, Vector
from subtitle_rag.retrieval.index_client import open_index
from subtitle_rag.retrieval.material import Material
from subtitle_rag.retrieval.neural import vector_names

logger = logging.getLogger(__name__)

PAGE = 256
"""Points read at once: 5 MB."""

Restored = dict[str, dict[str, Vector]]
"""Window id → its named vectors."""


def kept_path(library: Library) -> Path:
    """Where a library's vectors are kept."""
    return library.path.with_name("vectors.kept")


def keep(folder: Path, library: Library) -> None:
    """Keep the vectors of the embedded index in `folder`, which was made by other rules for words: a rebuild of that
    library brings them back. Nothing is kept of what cannot be read.

    Raises:
        BusyError: as `Kept.take` does.
    """
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        if meta["schema"] != SCHEMA:
            return
    except (OSError, ValueError, KeyError, TypeError):
        logger.info("no record of the index", exc_info=True)
        return
    with closing(Kept(kept_path(library))) as kept:
        try:
            index = open_index(folder, meta)
        except BusyError:
            raise
        except AppError:
            logger.warning("the index's vectors cannot be kept", exc_info=True)
            return
        with closing(index):
            kept.take(index, library)


class Kept:
    """The vectors in the file `path`, which is made where there is none.

    Raises:
        BusyError: `disk_full`, `library_readonly`.
        AppError: `library_damaged`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._through = False
        with translated(path):
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute(
                """CREATE TABLE IF NOT EXISTS kept (window_id TEXT, name TEXT, encoder TEXT, source TEXT,
                     dense BLOB, indices BLOB, weights BLOB, PRIMARY KEY (window_id, name)) WITHOUT ROWID"""
            )

    def close(self) -> None:
        self._db.close()
        if self._through:
            for suffix in ("", "-journal"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def done(self) -> None:
        """The rebuild is through: `close` throws the file away."""
        self._through = True

    def take(self, index: Index, library: Library) -> None:
        """Read what the library knows the index to hold, as far as the index can be read.

        Raises:
            BusyError: as above, and `index_locked`.
        """
        ids = library.vectors.windows()
        for start in range(0, len(ids), PAGE):
            page = ids[start : start + PAGE]
            try:
                points = index.get(page)
            except AppError as error:
                if isinstance(error, BusyError) and error.code != "index_unreachable":
                    raise
                logger.warning("vectors cannot be read from the index", exc_info=True)
                return  # it is damaged: the rest is made anew
            self._put(points, library.vectors.noted(page))

    def _put(self, points: Sequence[Point], noted: Mapping[str, Sequence[Noted]]) -> None:
        rows = [
            (point.id, one.name, one.encoder, one.source, *_packed(point, one))
            for point in points
            for one in noted.get(point.id, ())
            if one.name in point.vectors
        ]
        if rows:
            with translated(self._path), self._db:
                self._db.execute("BEGIN")
                self._db.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def make_room(self, index: Index) -> None:
        """Have the index hold all that is here."""
        with translated(self._path):
            found = self._db.execute(
                "SELECT encoder, min(length(dense)), count(indices) FROM kept GROUP BY encoder, name"
            ).fetchall()
        for encoder, size, lexical in found:
            dense, sparse = vector_names(encoder)
            index.add_vector(dense, size // array("f").itemsize)
            if lexical:
                index.add_vector(sparse)

    def of(self, material: Material) -> tuple[Restored, dict[str, list[Noted]]]:
        """The vectors of those of these windows whose passages they were made of, and what is to be noted of them."""
        vectors: Restored = {}
        noted: dict[str, list[Noted]] = {}
        for window in material.windows:
            for row in self._rows(window.id):
                if row[2] == material.passage_source(window.id):
                    noted.setdefault(window.id, []).append(Noted(row[0], row[1], row[2]))
                    vectors.setdefault(window.id, {}).update(_unpacked(row))
        return vectors, noted

    def _rows(self, window_id: str) -> Iterator[tuple[str, str, str, bytes, bytes | None, bytes | None]]:
        with translated(self._path):
            yield from self._db.execute(
                "SELECT name, encoder, source, dense, indices, weights FROM kept WHERE window_id = ?", (window_id,)
            ).fetchall()


def _packed(point: Point, noted: Noted) -> tuple[bytes, bytes | None, bytes | None]:
    dense, sparse = point.vectors[noted.name], point.vectors.get(vector_names(noted.encoder)[1])
    packed = array("f", dense.values).tobytes()
    if not isinstance(sparse, SparseVector):
        return packed, None, None
    return packed, array("I", sparse.indices).tobytes(), array("f", sparse.values).tobytes()


def _unpacked(row: tuple[str, str, str, bytes, bytes | None, bytes | None]) -> dict[str, Vector]:
    name, encoder, _source, dense, indices, weights = row
    found: dict[str, Vector] = {name: DenseVector(tuple(array("f", dense)))}
    if indices is not None and weights is not None:
        found[vector_names(encoder)[1]] = SparseVector(tuple(array("I", indices)), tuple(array("f", weights)))
    return found
