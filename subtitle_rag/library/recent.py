"""The searches that somebody made last, as they were typed, the newest first; the library keeps them."""

import json
from typing import TYPE_CHECKING

from subtitle_rag.domain import nfc

if TYPE_CHECKING:
    import sqlite3

    from subtitle_rag.library.store import Library

KEPT = 50
_KEY = "recent_searches"


def recent_searches(library: "Library") -> list[str]:
    with library.database.read() as db:
        return _read(db)


def note_search(library: "Library", text: str) -> list[str]:
    """Put a search first, once; returns all that are kept. One that is first already is not written again."""
    text = nfc(" ".join(text.split()))
    with library.database.read() as db:
        kept = _read(db)
    if not text or kept[:1] == [text]:
        return kept
    with library.database.write() as db:
        kept = [text, *(other for other in _read(db) if other != text)][:KEPT]
        db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (_KEY, json.dumps(kept, ensure_ascii=False)))
    return kept


def forget_searches(library: "Library") -> None:
    with library.database.write() as db:
        db.execute("DELETE FROM setting WHERE key = ?", (_KEY,))


def _read(db: "sqlite3.Connection") -> list[str]:
    row = db.execute("SELECT value FROM setting WHERE key = ?", (_KEY,)).fetchone()
    return [str(text) for text in json.loads(row[0])] if row else []
