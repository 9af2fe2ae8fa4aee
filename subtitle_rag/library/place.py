"""Which index a library's stages are about: what is noted as searchable is searchable there."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library

EMBEDDED = "embedded"
"""The index in the library's own folder."""


def index_place(library: "Library") -> str:
    """`EMBEDDED`, or the address of a Qdrant server."""
    with library.database.read() as db:
        row = db.execute("SELECT value FROM setting WHERE key = 'index'").fetchone()
    return str(row[0]) if row else EMBEDDED


def put_index_place(library: "Library", place: str) -> None:
    """Note it; a place that is known already writes nothing."""
    if index_place(library) != place:
        with library.database.write() as db:
            db.execute("INSERT OR REPLACE INTO setting VALUES ('index', ?)", (place,))
