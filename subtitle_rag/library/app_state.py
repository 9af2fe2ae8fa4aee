"""State of the app between runs, in the table `setting`: theme, player, searches, scenes, jobs, the index.

A plain value is read and written by `Database.get_setting` and `Database.put_setting` under one of these keys.
"""

import json
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from subtitle_rag.base.domain.values import Video, nfc

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library

logger = logging.getLogger(__name__)

THEME = "theme"
MODEL_OFFER = "models_offer"
"""Set when the user dismisses the offer of models for search by meaning."""
LAST_LOOK = "last_look"
"""When the app was last opened (Unix seconds)."""
EMBEDDED = "embedded"
"""The index in the library's own folder."""
_INDEX = "index"
_ID = "library_id"
_ALTERNATIVES = "fetched_alternatives"
_LISTENING = "listening_rates"
_REMOVALS = "removals"
_SYNC = "last_sync"
_SEARCHES = "recent_searches"
_SCENES = "found_scenes"
_PLACE = "last_place"
_RUN = "run"

MAX_SEARCHES = 50


def theme_at(path: Path) -> str:
    """Return the theme in the library at `path`, or an empty string if it cannot be read at once.

    The app needs it before its first paint, and opening the `Library` could create it.
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
    """Return the address of the index that holds this library."""
    return library.database.get_setting(_INDEX) or EMBEDDED


def put_index_address(library: "Library", address: str) -> None:
    """Store the address of the index that holds this library, unless it is stored already or the default."""
    if index_address(library) != address:
        library.database.put_setting(_INDEX, address)


def library_id(library: "Library") -> str:
    """Return the library's id, which names its collection on a server; creates it at first use."""
    id = library.database.get_setting(_ID)
    if not id:
        id = os.urandom(8).hex()
        library.database.put_setting(_ID, id)
    return id


def _values(library: "Library", key: str, default: Any) -> Any:
    """Read a setting's JSON, or `default`."""
    text = library.database.get_setting(key)
    return json.loads(text) if text else default


def _put_values(library: "Library", key: str, values: Any) -> None:
    """Write a setting as JSON, or delete it for empty values."""
    library.database.put_setting(key, json.dumps(values, ensure_ascii=False) if values else None)


def new_videos(library: "Library") -> int:
    """Count the videos whose captions arrived since the app was last opened; 0 the first time."""
    last_look = library.database.get_setting(LAST_LOOK)
    return (
        library.database.row("SELECT count(*) FROM track WHERE fetched_at > ?", (int(last_look),))[0]
        if last_look
        else 0
    )


class LastSync(NamedTuple):
    """The last check of all followed sources for new videos."""

    at: int
    """Its end (Unix seconds)."""
    new: int
    failed: int
    code: str
    """Why the check of YouTube ended early; empty if it was complete."""


def last_sync(library: "Library") -> LastSync | None:
    values = _values(library, _SYNC, None)
    return LastSync(*values) if values else None


def put_last_sync(library: "Library", sync: LastSync) -> None:
    _put_values(library, _SYNC, sync)


def listening_rate(library: "Library", model: str) -> float | None:
    """Return the seconds of sound transcribed per second by this model in its last run; None before any."""
    rate = _values(library, _LISTENING, {}).get(model)
    return float(rate) if rate else None


def put_listening_rate(library: "Library", model: str, rate: float) -> None:
    """Store the seconds of sound transcribed per second by this model."""
    _put_values(library, _LISTENING, {**_values(library, _LISTENING, {}), model: round(rate, 3)})


def fetched_alternatives(library: "Library") -> dict[str, str]:
    """Read the models downloaded under another name (name → other name)."""
    return dict(_values(library, _ALTERNATIVES, {}))


def put_fetched_alternative(library: "Library", name: str, alternative: str | None) -> None:
    """Store the other name under which a model was downloaded; None for its own name."""
    names = {**fetched_alternatives(library), name: alternative}
    _put_values(library, _ALTERNATIVES, {each: name_there for each, name_there in names.items() if name_there})


class RemovalNote(NamedTuple):
    """A removal that has begun but not ended."""

    names: Sequence[str]
    """As the user gave them."""
    titles: Mapping[str, str]
    """Video id → title."""
    urls: Sequence[str]
    """Addresses of the sources to unfollow."""


def unfinished_removals(library: "Library") -> list[RemovalNote]:
    """Read the removals that have begun but not ended."""
    return [RemovalNote(*values) for values in _values(library, _REMOVALS, [])]


def put_unfinished_removals(library: "Library", notes: Sequence[RemovalNote]) -> None:
    """Replace the notes of all unfinished removals."""
    _put_values(library, _REMOVALS, notes)


def recent_searches(library: "Library") -> list[str]:
    """Read the last searches as typed, newest first."""
    return list(_values(library, _SEARCHES, []))


def note_search(library: "Library", text: str) -> list[str]:
    """Put a search first, once, and return all recent ones. Writes nothing if it is first already."""
    from subtitle_rag.library.connection import read_setting, write_setting

    text = nfc(" ".join(text.split()))
    searches = recent_searches(library)
    if not text or searches[:1] == [text]:
        return searches

    with library.database.write(is_content=False) as db:
        searches = [text, *(search for search in json.loads(read_setting(db, _SEARCHES) or "[]") if search != text)]
        searches = searches[:MAX_SEARCHES]
        write_setting(db, _SEARCHES, json.dumps(searches, ensure_ascii=False))
    return searches


def forget_searches(library: "Library") -> None:
    """Delete the last searches and the last place played."""
    library.database.put_setting(_SEARCHES, None)
    library.database.put_setting(_PLACE, None)


class FoundScene(NamedTuple):
    """A scene of the last search on the command line."""

    id: str
    """The id of its best window."""
    at_ms: int
    start_ms: int
    end_ms: int


def put_found_scenes(library: "Library", scenes: Sequence[FoundScene]) -> None:
    """Replace the scenes of the last search on the command line, in order."""
    library.database.put_setting(_SCENES, json.dumps(scenes))


def found_scenes(library: "Library") -> list[FoundScene] | None:
    """Read the scenes of the last search on the command line; None before any."""
    text = library.database.get_setting(_SCENES)
    return [FoundScene(*values) for values in json.loads(text)] if text else None


def put_last_place(library: "Library", video_id: str, at_ms: int) -> None:
    """Store the last place played."""
    _put_values(library, _PLACE, (video_id, at_ms))


def last_place(library: "Library") -> tuple[Video, int] | None:
    """Read the last place played; None if its video has left the library."""
    id, at_ms = _values(library, _PLACE, ("", 0))
    video = library.video(id) if id else None
    return (video, at_ms) if video else None


def put_run_progress(library: "Library", progress: tuple[int, int] | None) -> None:
    """Store how many videos a run has read from its files, for other processes; None at its end."""
    _put_values(library, _RUN, progress)


def run_progress(library: "Library") -> tuple[int, int] | None:
    """Read the progress of the run that holds the library's lock: videos read from its files, and all of them."""
    values = _values(library, _RUN, None)
    return tuple(values) if values else None
