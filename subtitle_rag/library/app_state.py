"""State of the app between its runs, in the table `setting`: theme, player, searches, scenes, jobs, the index.

A plain value is read and written by `Database.get_setting` and `Database.put_setting` under one of these keys.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.domain import nfc

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library

logger = logging.getLogger(__name__)

THEME = "theme"
PLAYER = "player"
"""The player for every jump. The config's comes first, as it does for the theme."""
MODEL_OFFER = "models_offer"
"""Set once the offer of models for search by meaning is dismissed."""
EMBEDDED = "embedded"
"""The index in the library's own folder."""
_INDEX = "index"
_MIGRATION = "migration"
_REMOVAL = "removal"
_JOBS = "errands"
_SEARCHES = "recent_searches"
_SCENES = "found_scenes"

MAX_SEARCHES = 50


def theme_at(path: Path) -> str:
    """Return the theme in the library at `path`, or an empty string if it cannot be read at once.

    The app needs it before its first paint. Opening the `Library` could migrate it.
    """
    import sqlite3

    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as db:
            row = db.execute("SELECT value FROM setting WHERE key = ?", (THEME,)).fetchone()
            return str(row[0]) if row else ""
    except sqlite3.Error:
        logger.debug("no theme is remembered", exc_info=True)
        return ""


def index_address(library: "Library") -> str:
    """Return the address of the index that the library has filled."""
    return library.database.get_setting(_INDEX) or EMBEDDED


def put_index_address(library: "Library", address: str) -> None:
    """Note the address of the index that the library has filled. A known one, the default too, is not written."""
    if index_address(library) != address:
        library.database.put_setting(_INDEX, address)


def last_migration(library: "Library") -> dict[str, Any]:
    """Read the values of `put_migration`; empty before the first migration."""
    return dict(json.loads(library.database.get_setting(_MIGRATION) or "{}"))


def put_migration(library: "Library", values: Mapping[str, Any]) -> None:
    """Note a complete migration, so that the same command can tell of it again."""
    library.database.put_setting(_MIGRATION, json.dumps(values))


def unfinished_removal(library: "Library") -> tuple[list[str], dict[str, str]]:
    """Read what `put_unfinished_removal` noted; empty if the last removal was finished."""
    targets, titles = json.loads(library.database.get_setting(_REMOVAL) or "[[], {}]")
    return targets, titles


def put_unfinished_removal(library: "Library", targets: Sequence[str], titles: Mapping[str, str]) -> None:
    """Note the targets of a removal and its videos (id → title); without targets it is finished."""
    library.database.put_setting(_REMOVAL, json.dumps([targets, titles], ensure_ascii=False) if targets else None)


def unfinished_jobs(library: "Library") -> list[dict[str, Any]]:
    """Read the job requests that the app has not finished, in their order."""
    return list(json.loads(library.database.get_setting(_JOBS) or "[]"))


def put_unfinished_jobs(library: "Library", jobs: Sequence[Mapping[str, Any]]) -> None:
    """Replace all unfinished job requests."""
    library.database.put_setting(_JOBS, json.dumps(jobs, ensure_ascii=False) if jobs else None)


def recent_searches(library: "Library") -> list[str]:
    """Read the last searches as they were typed, the newest first."""
    return _searches(library.database.get_setting(_SEARCHES))


def note_search(library: "Library", text: str) -> list[str]:
    """Put a search first, once, and return all recent ones. A search that is first already is not written again."""
    from subtitle_rag.library.connection import read_setting, write_setting

    text = nfc(" ".join(text.split()))
    searches = recent_searches(library)
    if not text or searches[:1] == [text]:
        return searches

    with library.database.write(is_content=False) as db:
        searches = [text, *(search for search in _searches(read_setting(db, _SEARCHES)) if search != text)]
        searches = searches[:MAX_SEARCHES]
        write_setting(db, _SEARCHES, json.dumps(searches, ensure_ascii=False))
    return searches


def forget_searches(library: "Library") -> None:
    library.database.put_setting(_SEARCHES, None)


def put_found_scenes(library: "Library", scenes: Sequence[tuple[str, int]]) -> None:
    """Replace the scenes of the last search of the command line: id and time (ms), in their order."""
    library.database.put_setting(_SCENES, json.dumps(scenes) if scenes else None)


def found_scenes(library: "Library") -> list[tuple[str, int]]:
    """Read the scenes of the last search of the command line."""
    return [(str(id), int(at_ms)) for id, at_ms in json.loads(library.database.get_setting(_SCENES) or "[]")]


def _searches(value: str | None) -> list[str]:
    return [str(text) for text in json.loads(value or "[]")]
