"""What a shell's completion reads of a library: quickly, and without making, changing or locking anything."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

PATIENCE_S = 0.2
MOST = 2_000
"""Names of a kind; nobody reads on among more."""


class CompletionName(NamedTuple):
    """A name, and what stands beside it."""

    name: str
    about: str = ""


def channel_names(path: Path) -> list[CompletionName]:
    """The channels of the library at `path`; none where there is no library, or none that can be read."""
    return _read(path, "SELECT DISTINCT name, '' FROM channel ORDER BY name LIMIT ?")


def video_names(path: Path) -> list[CompletionName]:
    """The ids and titles of the videos, the newest first."""
    return _read(path, "SELECT id, title FROM video ORDER BY published DESC, title LIMIT ?")


def context_models(path: Path) -> list[CompletionName]:
    """The models that have written contexts, and those that channels have of their own."""
    both = "SELECT model FROM context UNION SELECT model FROM channel_model"
    return _read(path, f"SELECT model, '' FROM ({both}) ORDER BY model LIMIT ?")  # noqa: S608 - a constant


def _read(path: Path, query: str) -> list[CompletionName]:
    try:
        with closing(_opened(path)) as db:
            return [CompletionName(*row) for row in db.execute(query, (MOST,))]
    except (OSError, sqlite3.Error):
        return []


def _opened(path: Path) -> sqlite3.Connection:
    """A connection that leaves no file behind: readers of a library that is closed would make SQLite's two others."""
    used = Path(f"{path}-wal").exists()
    address = f"file:{quote(str(path))}?mode=ro{'' if used else '&immutable=1'}"
    return sqlite3.connect(address, uri=True, timeout=PATIENCE_S)
