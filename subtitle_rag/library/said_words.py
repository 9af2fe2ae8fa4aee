"""Counts of windows by their words, from an index, without reading any text.

The table `said` is an inverted index (FTS5) of the windows' morphemes. A window's row number combines the number of its
video with its ordinal, so the numbers alone give both counts.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from subtitle_rag.library.connection import ONLY, Database, only

_ORDINAL_BITS = 20
_NUMBERS = f"""SELECT window.id, (number << {_ORDINAL_BITS}) | ordinal AS place
               FROM window JOIN said_video ON said_video.video_id = window.video_id"""
_SPLITTING = re.compile(r"[\x00-\t\x0b-/:-@\[-`{-\x7f]")
_AMONG = "window.id IN (SELECT value FROM json_each(?))"

Spelling = Collection[str]
"""Morphemes that together make a word."""


class PlaceCount(NamedTuple):
    """Number of windows, and of their videos."""

    videos: int
    places: int


def put_said(db: sqlite3.Connection, forms: Mapping[str, Collection[str]]) -> None:
    """Add the morphemes of windows missing from the table."""
    db.execute(
        f"INSERT OR IGNORE INTO said_video (video_id) SELECT DISTINCT video_id FROM window WHERE {_AMONG}",
        (json.dumps(list(forms)),),
    )
    db.executemany("INSERT INTO said (rowid, forms) VALUES (?, ?)", _rows(db, forms))


def forget_said(db: sqlite3.Connection, forms: Mapping[str, Collection[str]]) -> None:
    """Remove windows from the table; `forms` must be the stored ones."""
    db.executemany("INSERT INTO said (said, rowid, forms) VALUES ('delete', ?, ?)", _rows(db, forms))


def forget_all_said(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO said (said) VALUES ('delete-all')")


def _rows(db: sqlite3.Connection, forms: Mapping[str, Collection[str]]) -> list[tuple[int, str]]:
    numbers = db.execute(f"{_NUMBERS} WHERE {_AMONG}", (json.dumps(list(forms)),)).fetchall()
    tokens = {id: set(_tokens("\n".join(forms[id])).split("\n")) for id, _number in numbers}
    return [(number, " ".join(sorted(tokens[id]))) for id, number in numbers]


def count_places(
    database: Database,
    words: Sequence[Sequence[Spelling]],
    *,
    channels: Sequence[str] = (),
    videos: Sequence[str] = (),
    after: date | None = None,
    before: date | None = None,
    among: Collection[str] | None = None,
    without: Collection[str] = (),
) -> PlaceCount:
    """Count the windows with every word, in any of its spellings.

    Args:
        database: The library's database.
        words: The spellings of each word; without words counts all windows that pass the filters.
        channels: Ids; empty for all.
        videos: Ids; empty for all.
        after: First day of publication.
        before: Last day of publication.
        among: Ids of windows; None for all.
        without: Ids of windows to skip.

    Returns:
        The number of windows, and of their videos.
    """
    query, values = "SELECT rowid AS place FROM said", dict[str, object]()
    if words:
        query += " WHERE said MATCH :words"
        values["words"] = " AND ".join(f"({' OR '.join(map(_all_of, spellings))})" for spellings in words)
    tests = ["TRUE"]
    if channels or videos or after or before:
        # A video without a date is in no period.
        tests.append(
            f"""(place >> {_ORDINAL_BITS}) IN (
                  SELECT number FROM said_video JOIN video ON video.id = said_video.video_id WHERE {ONLY}
                  AND (:after IS NULL OR published >= :after) AND (:before IS NULL OR published <= :before))"""
        )
        days = {"after": after and after.isoformat(), "before": before and before.isoformat()}
        values |= only(channels, videos) | days
    for name, ids, test in (("among", among, "IN"), ("without", without or None, "NOT IN")):
        if ids is not None:
            numbers = f"SELECT place FROM ({_NUMBERS} WHERE window.id IN (SELECT value FROM json_each(:{name})))"
            tests.append(f"+place {test} ({numbers})")  # the plus keeps SQLite from one search per number
            values[name] = json.dumps(list(ids))
    counted = f"count(DISTINCT place >> {_ORDINAL_BITS}), count(*)"
    return PlaceCount(*database.row(f"SELECT {counted} FROM ({query}) WHERE {' AND '.join(tests)}", values))


def _all_of(spelling: Spelling) -> str:
    return "({})".format(" AND ".join(f'"{_tokens(form)}"' for form in sorted(spelling)))


def _tokens(forms: str) -> str:
    """Return morphemes, one per line, as one token each: the table's tokenizer splits at ASCII punctuation."""
    return _SPLITTING.sub("_", forms)
