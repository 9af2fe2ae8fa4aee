"""The library's schema; `PRAGMA user_version` holds the version of a file."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import lru_cache

from subtitle_rag.base.domain.errors import AppError

SCHEMA_VERSION = 24
"""Increase it with every change of `SCHEMA`."""


def make_schema(db: sqlite3.Connection, path: str) -> None:
    """Create the schema in an empty file, unless another process has done so.

    Raises:
        AppError: `newer_version`, `library_older`.
    """
    if not schema_version(db):
        db.execute("BEGIN IMMEDIATE")
        with db:
            if not schema_version(db):
                for statement in SCHEMA:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    refuse_newer(db, path)
    version = schema_version(db)
    if version < SCHEMA_VERSION:
        raise AppError("library_older", path=path, found=version, known=SCHEMA_VERSION)


def refuse_newer(db: sqlite3.Connection, path: str) -> None:
    """Raise `newer_version` for the file of a newer program."""
    version = schema_version(db)
    if version > SCHEMA_VERSION:
        raise AppError("newer_version", path=path, found=version, known=SCHEMA_VERSION)


def schema_version(db: sqlite3.Connection) -> int:
    """Return the version of the file's schema; 0 before it exists."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)


@lru_cache
def columns() -> Mapping[str, frozenset[str]]:
    """Return the tables of the current schema with their columns."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for statement in SCHEMA:
            db.execute(statement)
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {table: frozenset(row[1] for row in db.execute(f"PRAGMA table_info({table})")) for table in tables}


SCHEMA = (
    "CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    # channels, videos and their metadata
    "CREATE TABLE channel (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT",
    """CREATE TABLE video (
         id TEXT PRIMARY KEY,
         channel_id TEXT NOT NULL REFERENCES channel (id),
         title TEXT NOT NULL, url TEXT, published TEXT, duration_ms INTEGER, chapters TEXT NOT NULL, source TEXT,
         kind TEXT NOT NULL DEFAULT ''
       ) STRICT""",
    "CREATE INDEX video_channel ON video (channel_id)",
    """CREATE TABLE detail (
         video_id TEXT PRIMARY KEY REFERENCES video (id) ON DELETE CASCADE,
         description TEXT NOT NULL, thumbnail TEXT, heatmap TEXT NOT NULL
       ) STRICT, WITHOUT ROWID""",
    # the state of each stage by video
    """CREATE TABLE stage (
         video_id TEXT NOT NULL REFERENCES video (id) ON DELETE CASCADE,
         name TEXT NOT NULL CHECK (name IN ('captions', 'contexts', 'vectors')),
         state TEXT NOT NULL CHECK (state IN ('due', 'done', 'failed')),
         failure TEXT, details TEXT, since INTEGER,
         tries INTEGER NOT NULL DEFAULT 0,
         retry_at INTEGER,
         PRIMARY KEY (video_id, name)
       ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX stage_state ON stage (state, retry_at)",
    # captions; `track_selection` is separate because `track` has long rows, and has rows only for a choice or a doubt
    """CREATE TABLE track (
         video_id TEXT PRIMARY KEY REFERENCES video (id) ON DELETE CASCADE,
         language TEXT NOT NULL,
         kind TEXT NOT NULL CHECK (kind IN ('manual', 'asr', 'file', 'local')),
         format TEXT NOT NULL, raw BLOB NOT NULL, sha256 TEXT NOT NULL, fetched_at INTEGER NOT NULL,
         flag TEXT NOT NULL DEFAULT '', heard_by TEXT NOT NULL DEFAULT '', heard_with TEXT NOT NULL DEFAULT ''
       ) STRICT""",
    """CREATE TABLE track_selection (
         video_id TEXT PRIMARY KEY REFERENCES video (id) ON DELETE CASCADE,
         tracks TEXT NOT NULL, taken INTEGER NOT NULL, flag TEXT NOT NULL, withheld INTEGER NOT NULL
       ) STRICT, WITHOUT ROWID""",
    # videos to transcribe on this machine, and their finished stretches
    """CREATE TABLE listening (
         video_id TEXT PRIMARY KEY REFERENCES video (id) ON DELETE CASCADE,
         state TEXT NOT NULL CHECK (state IN ('due', 'done', 'failed')),
         asked_at INTEGER NOT NULL,
         model TEXT NOT NULL DEFAULT '', settings TEXT NOT NULL DEFAULT '',
         length_ms INTEGER NOT NULL DEFAULT 0,
         failure TEXT, details TEXT
       ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE heard (
         video_id TEXT NOT NULL REFERENCES listening (video_id) ON DELETE CASCADE,
         begin_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, language TEXT NOT NULL, gap TEXT NOT NULL,
         cues TEXT NOT NULL,
         PRIMARY KEY (video_id, begin_ms)
       ) STRICT, WITHOUT ROWID""",
    # windows, and their vectors in the index
    """CREATE TABLE window (
         id TEXT PRIMARY KEY,
         video_id TEXT NOT NULL REFERENCES video (id) ON DELETE CASCADE,
         ordinal INTEGER NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, text TEXT NOT NULL,
         lines TEXT NOT NULL, overlap_before TEXT NOT NULL, overlap_after TEXT NOT NULL, rule_hash TEXT NOT NULL,
         UNIQUE (video_id, ordinal)
       ) STRICT""",
    # every search needs the ordinals of 150 windows; among the texts each would be on its own page
    "CREATE INDEX window_place ON window (id, video_id, ordinal)",
    """CREATE TABLE indexed (
         window_id TEXT NOT NULL REFERENCES window (id) ON DELETE CASCADE,
         vector TEXT NOT NULL, encoder TEXT NOT NULL, source_hash TEXT NOT NULL,
         PRIMARY KEY (window_id, vector)
       ) STRICT, WITHOUT ROWID""",
    "CREATE TABLE purge (video_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
    # words: of windows, of the library, and of titles and contexts but no caption of the video
    """CREATE TABLE analysis (
         window_id TEXT PRIMARY KEY REFERENCES window (id) ON DELETE CASCADE,
         count INTEGER NOT NULL, morphemes BLOB NOT NULL
       ) STRICT, WITHOUT ROWID""",
    "CREATE TABLE term (form TEXT PRIMARY KEY, windows INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    # see `library.said_words`
    """CREATE TABLE said_video (
         number INTEGER PRIMARY KEY,
         video_id TEXT NOT NULL UNIQUE REFERENCES video (id) ON DELETE CASCADE
       ) STRICT""",
    """CREATE VIRTUAL TABLE said USING fts5(
         forms, content='', detail=none, tokenize="ascii tokenchars '_'"
       )""",
    """CREATE TABLE context_term (
         form TEXT NOT NULL,
         window_id TEXT NOT NULL REFERENCES window (id) ON DELETE CASCADE,
         PRIMARY KEY (form, window_id)
       ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX context_term_window ON context_term (window_id)",
    # followed sources and their lists; `removed` distinguishes videos removed by the user from those the options
    # exclude, `unlisted` counts videos that YouTube counts but does not list
    """CREATE TABLE source (
         id INTEGER PRIMARY KEY,
         url TEXT NOT NULL UNIQUE,
         channel_id TEXT, name TEXT NOT NULL, options TEXT NOT NULL,
         whole INTEGER NOT NULL DEFAULT 0,
         listed_at INTEGER,
         unlisted INTEGER NOT NULL DEFAULT 0
       ) STRICT""",
    """CREATE TABLE alias (
         url TEXT PRIMARY KEY,
         source_id INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE
       ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE listed (
         source_id INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
         video_id TEXT NOT NULL, removed INTEGER NOT NULL DEFAULT 0,
         PRIMARY KEY (source_id, video_id)
       ) STRICT, WITHOUT ROWID""",
    # the YouTube player client that got a channel's captions when the first client got none
    "CREATE TABLE channel_client (channel_id TEXT PRIMARY KEY, client TEXT NOT NULL) STRICT, WITHOUT ROWID",
    # contexts and summaries; `transcript` is the version of captions and windows, `source` the hash of a section's
    # captions
    """CREATE TABLE context (
         key TEXT PRIMARY KEY,
         window_id TEXT NOT NULL,
         video_id TEXT NOT NULL REFERENCES video (id) ON DELETE CASCADE,
         transcript TEXT NOT NULL, model TEXT NOT NULL, digest TEXT NOT NULL, prompt TEXT NOT NULL,
         scope TEXT NOT NULL CHECK (scope IN ('full', 'block')),
         seed INTEGER NOT NULL, text TEXT NOT NULL, raw TEXT NOT NULL, doubts TEXT NOT NULL,
         prompt_tokens INTEGER NOT NULL, tokens INTEGER NOT NULL, prompt_ms INTEGER NOT NULL, ms INTEGER NOT NULL,
         tries INTEGER NOT NULL, stale INTEGER NOT NULL, written_at INTEGER NOT NULL
       ) STRICT""",
    "CREATE INDEX context_window ON context (window_id)",
    "CREATE INDEX context_video ON context (video_id)",
    "CREATE TABLE glossary (channel_id TEXT PRIMARY KEY, names TEXT NOT NULL) STRICT, WITHOUT ROWID",
    """CREATE TABLE overview (
         key TEXT PRIMARY KEY,
         video_id TEXT NOT NULL REFERENCES video (id) ON DELETE CASCADE,
         text TEXT NOT NULL
       ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE overview_section (
         key TEXT PRIMARY KEY,
         video_id TEXT NOT NULL REFERENCES video (id) ON DELETE CASCADE,
         source TEXT NOT NULL, text TEXT NOT NULL
       ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX overview_section_video ON overview_section (video_id)",
    """CREATE TABLE video_summary (
         video_id TEXT PRIMARY KEY REFERENCES video (id) ON DELETE CASCADE,
         text TEXT NOT NULL, model TEXT NOT NULL, digest TEXT NOT NULL, prompt TEXT NOT NULL,
         transcript TEXT NOT NULL, tries INTEGER NOT NULL, settled INTEGER NOT NULL,
         prompt_tokens INTEGER NOT NULL, tokens INTEGER NOT NULL, ms INTEGER NOT NULL, written_at INTEGER NOT NULL
       ) STRICT, WITHOUT ROWID""",
    # the user's own data: answers, and marked scenes, by video and time because windows can be cut again. A mark
    # outlives its video, so it repeats its metadata
    """CREATE TABLE answer (
         id INTEGER PRIMARY KEY,
         asked_at INTEGER NOT NULL, question TEXT NOT NULL, text TEXT NOT NULL, model TEXT NOT NULL,
         prompt TEXT NOT NULL, way TEXT NOT NULL, ending TEXT NOT NULL, sources TEXT NOT NULL,
         citations TEXT NOT NULL, unfounded TEXT NOT NULL DEFAULT '[]'
       ) STRICT""",
    """CREATE TABLE mark (
         id INTEGER PRIMARY KEY,
         video_id TEXT NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, at_ms INTEGER NOT NULL,
         title TEXT NOT NULL, channel TEXT NOT NULL, url TEXT, line TEXT NOT NULL, note TEXT NOT NULL,
         tag TEXT NOT NULL, marked_at INTEGER NOT NULL,
         UNIQUE (video_id, start_ms, end_ms)
       ) STRICT""",
)
