"""Names for shell completion, read fast, without creating, changing or locking anything."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

PATIENCE_S = 0.2
MAX_NAMES = 2_000


class CompletionName(NamedTuple):
    """A name and its description."""

    name: str
    about: str = ""


def channel_names(path: Path) -> list[CompletionName]:
    """Return the channels of the library at `path`; an empty list if it is missing or unreadable."""
    return _read(path, "SELECT DISTINCT name, '' FROM channel ORDER BY name LIMIT ?")


def video_names(path: Path) -> list[CompletionName]:
    """Return the ids and titles of the videos, the newest first."""
    return _read(path, "SELECT id, title FROM video ORDER BY published DESC, title LIMIT ?")


def context_models(path: Path) -> list[CompletionName]:
    """Return the models of contexts, and the channels' own ones."""
    both = "SELECT model FROM context UNION SELECT model FROM channel_model"
    return _read(path, f"SELECT model, '' FROM ({both}) ORDER BY model LIMIT ?")  # noqa: S608 - a constant


def _read(path: Path, query: str) -> list[CompletionName]:
    try:
        with closing(_connect(path)) as db:
            return [CompletionName(*row) for row in db.execute(query, (MAX_NAMES,))]
    except (OSError, sqlite3.Error):
        return []


def _connect(path: Path) -> sqlite3.Connection:
    """Connect without leaving files: a reader of a closed library would create SQLite's `-wal` and `-shm`."""
    is_open = Path(f"{path}-wal").exists()
    address = f"file:{quote(str(path))}?mode=ro{'' if is_open else '&immutable=1'}"
    return sqlite3.connect(address, uri=True, timeout=PATIENCE_S)
