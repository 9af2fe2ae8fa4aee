"""Interface of the index: points with named vectors, filtered search.

Two implementations: the embedded index (`index_edge`) and a Qdrant server (`index_server`). The index is a cache of the
library: everything in it can be rebuilt from SQLite.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from subtitle_rag.base.vectors.points import Point, Searched, Vector

SCHEMA = 1
"""Version of the collection's layout: vector names, payload keys and id rule."""


class Index(Searched, Protocol):
    """Points of windows. Safe from several threads and processes; writes are durable when a call returns.

    Raises:
        BusyError: `locked`, `index_unreachable`, `disk_full`, `system_limit`, `disk_error`; for a server
            `qdrant_unreachable`; for writes also `library_readonly`.
        AppError: `index_damaged`, `index_mismatch` (a rebuild repairs both); for a server `qdrant_refused`,
            `qdrant_failed`.
        RuntimeError: the index was closed.
        ValueError: an invalid vector, payload or id; nothing of that call has been written.
    """

    @property
    def place(self) -> str:
        """Its address as recorded in the library (`library.app_state`)."""

    def insert(self, points: Sequence[Point]) -> None:
        """Write new points; existing ids stay unchanged."""

    def add_vector(self, name: str, dimensions: int | None = None) -> None:
        """Add a named vector to the layout. Repeating a call is harmless.

        Names begin with `dense-` or `pieces-`, with `dimensions`, or with `sparse-`. `pieces-` has multivectors, stored
        with a byte per dimension: read back, they have a cosine of 0.9999 with the originals.
        """

    def drop_vector(self, name: str) -> None:
        """Delete a named vector from all points; unknown names are ignored."""

    def vectors(self) -> dict[str, int | None]:
        """Return the layout: the dimensions of each named vector, None for sparse ones."""

    def replace_vector(self, name: str, vectors: Mapping[str, Vector]) -> None:
        """Replace one named vector of existing points (point id → vector); other ids are ignored."""

    def replace_payload(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        """Replace the payloads of existing points (point id → payload); other ids are ignored."""

    def delete_videos(self, video_ids: Sequence[str], *, keep: Collection[str] = ()) -> None:
        """Delete all points of these videos, a few hundred at most, in one write, except the ids in `keep`."""

    def ids(self, video_id: str) -> set[str]:
        """Return the ids of a video's windows."""

    def points(self, after: str | None = None, *, limit: int = 256) -> list[Point]:
        """Return the windows with ids greater than `after`, by id, with vectors and payloads; none after the last one.

        Fewer than `limit` are returned at once if they have multivectors. Weights come back in half precision, dense
        vectors with unit length.
        """

    def get(self, ids: Collection[str]) -> list[Point]:
        """Return the existing points among these ids, in no order, with vectors and payloads as in `points`."""

    def get_neural(self, ids: Collection[str]) -> list[Point]:
        """Return the existing points among these ids, a few hundred at most, without payloads and `bm25` vectors."""

    def count(self) -> int:
        """Return the exact number of windows."""

    def clear(self) -> None:
        """Delete all points and all added named vectors."""

    def close(self) -> None:
        """Release the index."""


@runtime_checkable
class StagingIndex(Protocol):
    """Additional methods of an embedded index: a second one can be filled next to it."""

    def stage(self) -> "StagedIndex":
        """Open an empty index, to be filled only by this process and then adopted.

        Raises:
            BusyError: `disk_short` if the disk lacks the space for it.
        """

    def adopt(self, staged: Any) -> None:
        """Replace all points and named vectors by a staged index, atomically, and close it."""


class StagedIndex(Index, Protocol):
    """An index that is filled before it replaces another one."""

    def discard(self) -> None:
        """Close the index and delete it instead of adopting it."""
