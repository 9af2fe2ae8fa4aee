"""The player that somebody has chosen for every jump; a config that names one comes before it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library

_KEY = "player"


def preferred_player(library: "Library") -> str | None:
    with library.database.read() as db:
        row = db.execute("SELECT value FROM setting WHERE key = ?", (_KEY,)).fetchone()
    return str(row[0]) if row else None


def prefer_player(library: "Library", name: str) -> None:
    with library.database.write() as db:
        db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (_KEY, name))
