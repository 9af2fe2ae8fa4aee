"""The interface of the index: points with named vectors, filtered search.

It has two implementations: the embedded index (`index_edge`) and a Qdrant server (`index_server`). The index is a cache
of the library: everything in it can be made again from SQLite.
"""

import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol, runtime_checkable

from subtitle_rag.domain import Video

SCHEMA = 1
"""Version of the collection's layout: vector names, payload keys and id rule."""


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term ids (unsigned 32-bit, no duplicates) and their weights (finite, same length)."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DenseVector:
    """Finite numbers, one for each dimension of the named vector; compared by cosine."""

    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MultiVector:
    """Dense vectors of the parts of a text, its tokens or its pieces; two texts are compared by MaxSim.

    MaxSim is the sum over the query's parts of the best cosine with a part of the window (Khattab & Zaharia 2020,
    "ColBERT", arXiv:2004.12832).
    """

    dimensions: int
    packed: bytes = field(repr=False)
    """The numbers in half precision, little-endian, part by part: the tokens of a window have thousands of them."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]]) -> "MultiVector":
        """Pack the vectors of the parts. Raises ValueError for rows of different lengths, and without any."""
        if not rows or {len(row) for row in rows} != {len(rows[0])}:
            raise ValueError("token vectors need rows of one length")
        values = [value for row in rows for value in row]
        try:
            return cls(len(rows[0]), struct.pack(f"<{len(values)}e", *values))
        except (OverflowError, struct.error) as error:
            raise ValueError(f"token vectors: {error}") from error

    @property
    def values(self) -> tuple[float, ...]:
        return struct.unpack(f"<{len(self.packed) // 2}e", self.packed)

    def rows(self) -> list[list[float]]:
        values = self.values
        return [list(values[at : at + self.dimensions]) for at in range(0, len(values), self.dimensions)]


Vector = SparseVector | DenseVector | MultiVector


@dataclass(frozen=True, slots=True)
class Point:
    """One window: a UUID string, its vectors by name, and everything needed to show its scene."""

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

    def has_video(self, video: Video) -> bool:
        """Whether the filter lets a video's points through, whatever their ids are."""
        day = video.published
        return (
            (not self.channels or video.channel_id in self.channels)
            and (not self.videos or video.id in self.videos)
            and (self.after is None or (day is not None and day >= self.after))
            and (self.before is None or (day is not None and day <= self.before))
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """A point with its score."""

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
    required: SparseVector | None = None
    """Hits of a sparse search that share no term with it are dropped from the best `limit`."""


class Searched(Protocol):
    """The part of an `Index` that answers queries."""

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        """Return the best points of each search, best first, ties by id; without payloads unless it says so.

        A list is empty for an unknown vector name. Sparse vectors are scored by dot product, dense ones by cosine,
        multivectors by MaxSim: one by one, so `where` must name a few hundred points.
        """

    def nearest_parts(self, name: str, query: DenseVector, ids: Collection[str]) -> dict[str, int]:
        """Return which part of a point's multivector is nearest to the query, from 0 on, for a few dozen points.

        Points without that named vector are left out.
        """


class Index(Searched, Protocol):
    """All calls are safe from several threads and processes at once. Writes are durable when the call returns.

    The points are windows, beside which there may be points of levels above them (`index_rules.LEVELS`): sections and
    videos. Only `insert`, `replace_vector`, searches by their named vectors and the deletions concern those.

    Raises:
        BusyError: `index_locked`, `index_unreachable`, `disk_full`, `system_limit`, `disk_error`; of a server
            `qdrant_unreachable`.
        BusyError: `library_readonly` too, from calls that write.
        AppError: `index_damaged`, `index_mismatch` (a rebuild mends both); of a server `qdrant_refused`,
            `qdrant_failed`.
        RuntimeError: the index was closed.
        ValueError: an invalid vector, payload or id; nothing of that call has been written.
    """

    @property
    def place(self) -> str:
        """Its address as the library notes it (`library.app_state`)."""

    def insert(self, points: Sequence[Point]) -> None:
        """Write new points; existing ids stay unchanged."""

    def add_vector(self, name: str, dimensions: int | None = None) -> None:
        """Add a named vector to the layout. Repeating a call is harmless.

        Names begin with `dense-`, `late-` or `pieces-`, with `dimensions`, or with `sparse-`, or are among
        `index_rules.LEVELS`. Under `late-` and `pieces-` are multivectors, of tokens and of pieces; the latter are
        stored with a byte for each dimension, and come back with cosines of 0.9999 to what they were.
        """

    def drop_vector(self, name: str) -> None:
        """Delete a named vector from all points; unknown names are ignored."""

    def vectors(self) -> dict[str, int | None]:
        """Return the layout: the dimensions of each named vector, None for sparse ones."""

    def replace_vector(self, name: str, vectors: Mapping[str, Vector]) -> None:
        """Replace one named vector of existing points (point id → vector); other ids are ignored."""

    def replace_payload(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        """Replace the payloads of existing points (point id → payload); other ids are ignored."""

    def delete_levels(self, video_ids: Sequence[str]) -> None:
        """Delete the points above the windows of these videos, a few hundred at most, in one write."""

    def delete_videos(self, video_ids: Sequence[str], *, keep: Collection[str] = ()) -> None:
        """Delete all points of these videos, a few hundred at most, in one write, except the ids in `keep`."""

    def ids(self, video_id: str) -> set[str]:
        """Return the ids of a video's windows."""

    def points(self, after: str | None = None, *, limit: int = 256) -> list[Point]:
        """Return the windows with ids greater than `after`, by id, with vectors and payloads; none behind the last one.

        Fewer than `limit` come at once where they have multivectors.
        Weights come back in half precision, dense vectors with unit length.
        """

    def get(self, ids: Collection[str]) -> list[Point]:
        """Return the existing points among these ids, in no order, as `points` reads them."""

    def get_neural(self, ids: Collection[str]) -> list[Point]:
        """Return the existing points among these ids, a few hundred at most, without payloads and `bm25` vectors."""

    def count(self) -> int:
        """Return the exact number of windows."""

    def clear(self) -> None:
        """Delete all points, and the named vectors that were added."""

    def close(self) -> None:
        """Release the index."""


@runtime_checkable
class StagingIndex(Protocol):
    """The additions of an embedded index: another one can be filled beside it."""

    def stage(self) -> "StagedIndex":
        """Open an empty index, to be filled by this process alone and adopted.

        Raises:
            BusyError: `rebuild_space` if the disk has too little space for it.
        """

    def adopt(self, staged: Any) -> None:
        """Put a staged index into the place of all points and named vectors, all or nothing, and close it."""


class StagedIndex(Index, Protocol):
    """An index that is filled before it takes the place of another one."""

    def discard(self) -> None:
        """Close the index and delete it: it will not be adopted."""
