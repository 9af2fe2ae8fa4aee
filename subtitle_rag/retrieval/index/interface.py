"""The interface of the index: points with named vectors, filtered search.

It has two implementations: the embedded index (`index_edge`) and a Qdrant server (`index_server`). The index is a cache
of the library: everything in it can be made again from SQLite.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from subtitle_rag.retrieval.values import Point, Searched, Vector

SCHEMA = 1
"""Version of the collection's layout: vector names, payload keys and id rule."""


class Index(Searched, Protocol):
    """All calls are safe from several threads and processes at once. Writes are durable when the call returns.

    Each point is a window.

    Raises:
        BusyError: `locked`, `index_unreachable`, `disk_full`, `system_limit`, `disk_error`; of a server
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

        Names begin with `dense-` or `pieces-`, with `dimensions`, or with `sparse-`. Under `pieces-` are multivectors,
        stored with a byte for each dimension: they come back with cosines of 0.9999 to what they were.
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
            BusyError: `disk_short` if the disk has too little space for it.
        """

    def adopt(self, staged: Any) -> None:
        """Put a staged index into the place of all points and named vectors, all or nothing, and close it."""


class StagedIndex(Index, Protocol):
    """An index that is filled before it takes the place of another one."""

    def discard(self) -> None:
        """Close the index and delete it: it will not be adopted."""
