"""What the app was asked to do and has not done yet, so that its end, of whatever kind, loses none of it."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library

_KEY = "errands"


def kept_errands(library: "Library") -> list[dict[str, Any]]:
    """The errands in their order, as they were written down."""
    with library.database.read() as db:
        row = db.execute("SELECT value FROM setting WHERE key = ?", (_KEY,)).fetchone()
    return list(json.loads(row[0])) if row else []


def keep_errands(library: "Library", errands: Sequence[Mapping[str, Any]]) -> None:
    """Write down these, in the place of all others."""
    with library.database.write() as db:
        if errands:
            written = json.dumps(errands, ensure_ascii=False)
            db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (_KEY, written))
        else:
            db.execute("DELETE FROM setting WHERE key = ?", (_KEY,))
