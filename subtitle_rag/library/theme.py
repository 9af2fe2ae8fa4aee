"""The theme that somebody chose in the app; a config that names one comes before it."""

import logging
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library

logger = logging.getLogger(__name__)

_KEY = "theme"


def remembered_theme(path: Path) -> str:
    """As the library at `path` has it; empty where it has none or cannot be asked at once.

    The app wants to know before its first paint, and before a library is opened, which may mean to migrate it.
    """
    import sqlite3

    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as db:
            row = db.execute("SELECT value FROM setting WHERE key = ?", (_KEY,)).fetchone()
            return str(row[0]) if row else ""
    except sqlite3.Error:
        logger.debug("no theme is remembered", exc_info=True)
        return ""


def remember_theme(library: "Library", name: str) -> None:
    with library.database.write() as db:
        db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (_KEY, name))
