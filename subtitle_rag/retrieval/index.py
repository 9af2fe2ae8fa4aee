"""The index as the rest of the program sees it: points with named vectors, filtered search.

Two implementations meet this interface: the embedded one (`index_edge`) and a Qdrant server (`index_server`), which
several libraries may share. The index is a cache of the library: everything in it can be made again from SQLite.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

SCHEMA = 1
"""Version of the collection's layout: vector names, payload keys and id rule."""


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term ids (unsigned 32-bit, no duplicates) and their weights (finite, same length)."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DenseVector:
    """Finite numbers, as many as the named vector has dimensions; compared by their cosine."""

    values: tuple[float, ...]


Vector = SparseVector | DenseVector


@dataclass(frozen=True, slots=True)
class Point:
    """One window: `id` is a UUID string, `payload` holds all that a scene needs to be shown."""

    id: str
    vectors: Mapping[str, Vector]
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Filter:
    """Restricts a search; empty fields restrict nothing. `after` and `before` are inclusive days of publication."""

    channels: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None
    only: frozenset[str] | None = None
    """Point ids; None means any."""
    without: frozenset[str] = frozenset()
    """Point ids to leave out."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A found point with its score."""

    id: str
    score: float
    payload: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """A search by one named vector."""

    name: str
    query: Vector
    limit: int
    where: Filter | None = None


class Searched(Protocol):
    """The part of an `Index` that answers queries."""

    def search(
        self,
        name: str,
        query: Vector,
        *,
        limit: int,
        where: Filter | None = None,
        payload: Sequence[str] | None = None,
    ) -> list[Hit]:
        """The best `limit` points that have the named vector, best first; ties by id. None where there is no room for
        such a vector. Sparse ones are scored by their dot product, dense ones by their cosine.

        Hits carry the payload's keys that `payload` names, or all of them; none are much faster to get.
        """

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        """The hits of each of these searches, without payloads."""

    def shared_payloads(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        """The payloads of those of these points that may be other libraries'; none where no other shares the index,
        because what the library does not know there is what has left it."""


class Index(Searched, Protocol):
    """All calls are safe from several threads and processes at once.

    Raises:
        BusyError: `index_locked`, `index_unreachable`, `disk_full`; of a server `qdrant_unreachable`.
        BusyError: `library_readonly` too, from calls that write.
        AppError: `index_damaged`, `index_mismatch` (both mended by a rebuild); of a server `qdrant_refused`,
            `qdrant_failed`.
        RuntimeError: the index was closed.
        ValueError: a vector or an id that the index cannot hold; nothing of that call has been written.
    """

    @property
    def place(self) -> str:
        """Where it is, as `library.app_state` notes it."""

    def insert(self, points: Sequence[Point]) -> None:
        """Write points that are durable when the call returns; an id that is already there keeps all it has."""

    def add_vector(self, name: str, dimensions: int | None = None) -> None:
        """Make room for a named vector on all points, dense with so many dimensions or sparse; twice is harmless.

        Names begin with `dense-` or `sparse-`.
        """

    def drop_vector(self, name: str) -> None:
        """Forget a named vector on all points; one that is not there is dropped already."""

    def vectors(self) -> dict[str, int | None]:
        """The named vectors that there is room for: their dimensions, None where they are sparse."""

    def replace_vector(self, name: str, vectors: Mapping[str, Vector]) -> None:
        """Replace one named vector of existing points (point id → vector); other names stay."""

    def replace_payload(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        """Replace the whole payload of existing points (point id → payload); other ids are passed over."""

    def delete_video(self, video_id: str, *, keep: Collection[str] = ()) -> None:
        """Delete a video's points except the ids in `keep`; durable when the call returns."""

    def ids(self, video_id: str) -> set[str]:
        """The ids of a video's points."""

    def points(self, after: str | None = None, *, limit: int = 256) -> list[Point]:
        """The points with ids greater than `after`, by id, with all that they have.

        Weights come back as the index holds them: half precision, dense vectors of unit length.
        """

    def get(self, ids: Collection[str]) -> list[Point]:
        """Those of these points that are there, in no order, as `points` reads them."""

    def count(self) -> int:
        """The exact number of points."""

    def clear(self, videos: Collection[str] = ()) -> None:
        """Empty the index of a library with these videos. Where no other library can share it, everything goes, named
        vectors too, and an empty collection begins; else the points of these videos go, and nothing else does."""

    def close(self) -> None:
        """Let go of the index. Written data stays."""
