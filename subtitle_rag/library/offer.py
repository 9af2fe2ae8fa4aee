"""Whether somebody has put away the offer of models for search by meaning: nobody is asked twice."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library

_KEY = "models_offer"


def offer_dismissed(library: "Library") -> bool:
    with library.database.read() as db:
        return db.execute("SELECT 1 FROM setting WHERE key = ?", (_KEY,)).fetchone() is not None


def dismiss_offer(library: "Library") -> None:
    with library.database.write() as db:
        db.execute("INSERT OR REPLACE INTO setting VALUES (?, 'dismissed')", (_KEY,))
