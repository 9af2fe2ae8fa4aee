"""Values shared by the rooms of retrieval: vectors, points, searches and hits."""

import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple, Protocol

from subtitle_rag.base.domain.values import Video


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term ids (unsigned 32-bit, no duplicates) and their weights (finite, same length)."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DenseVector:
    """Finite numbers, one per dimension of the named vector; compared by cosine."""

    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MultiVector:
    """Dense vectors of a window's pieces; compared with a query by the best piece's cosine."""

    dimensions: int
    packed: bytes = field(repr=False)
    """The numbers in half precision, little-endian, piece by piece."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]]) -> "MultiVector":
        """Pack the vectors of the pieces. Raises ValueError for rows of different lengths, or if there are none."""
        if not rows or {len(row) for row in rows} != {len(rows[0])}:
            raise ValueError("pieces need rows of one length")
        values = [value for row in rows for value in row]
        try:
            return cls(len(rows[0]), struct.pack(f"<{len(values)}e", *values))
        except (OverflowError, struct.error) as error:
            raise ValueError(f"pieces: {error}") from error

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
        """Whether the filter allows a video's points, whatever their ids."""
        day = video.published
        return (
            (not self.channels or video.channel_id in self.channels)
            and (not self.videos or video.id in self.videos)
            and (self.after is None or (day is not None and day >= self.after))
            and (self.before is None or (day is not None and day <= self.before))
        )


class Hit(NamedTuple):
    """A point with its score."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """A search by one named vector."""

    name: str
    query: Vector
    limit: int
    where: Filter = Filter()
    required: SparseVector | None = None
    """Sparse hits among the best `limit` are dropped unless they have one of these terms."""


class Searched(Protocol):
    """The part of `Index` that answers queries."""

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        """Return the best points of each search, best first, ties by id.

        The list is empty for an unknown vector name. Sparse vectors are scored by dot product, dense ones by cosine.
        Multivectors are scored by MaxSim, one by one, so `where` must name a few hundred points.
        """

    def nearest_parts(self, name: str, query: DenseVector, ids: Collection[str]) -> dict[str, int]:
        """Return the index of the part nearest to the query in each point's multivector, for a few dozen points.

        Points without that named vector are left out.
        """
