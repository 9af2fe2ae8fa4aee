"""Conversion between rows of the library and values of the domain."""

import json
import sqlite3
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from itertools import starmap
from typing import Any

from subtitle_rag.base.domain.values import (
    Chapter,
    Details,
    Heat,
    Line,
    MeasuredTrack,
    Morphemes,
    Track,
    TrackSelection,
    Video,
    Window,
)

Row = Sequence[Any]

VIDEO_COLUMNS = """video.id, title, channel_id, channel.name, url, published, duration_ms, chapters, source, kind
  FROM video JOIN channel ON channel.id = channel_id"""
UNSEARCHABLE = """SELECT video_id, count(*) FROM window WHERE id IN (
  SELECT id FROM window LEFT JOIN indexed ON window_id = id AND vector = 'bm25' WHERE window_id IS NULL
) GROUP BY video_id"""
"""Windows without `bm25` vector, by video. The inner query reads only an index of ids, eight times as fast."""
ANALYSES = 1_024
"""Decompressed morphemes in the cache, 3 KB each. The next typed key needs mostly the same ones."""
TRACK_LEVEL = 4
"""Compression level: the next one takes a third longer and saves one per cent."""
TRACK_COLUMNS = "language, kind, format, raw, sha256, fetched_at, flag, heard_by, heard_with"
"""Columns of the tracks in use, and of the alternatives."""
WINDOW_COLUMNS = "id, video_id, ordinal, start_ms, end_ms, text, lines, overlap_before, overlap_after"


@dataclass(frozen=True, slots=True)
class Listening:
    """Progress of a video's transcription on this machine: `state` is `due`, `done` or `failed`."""

    state: str
    heard_ms: int = 0
    """Transcribed sound; 0 once the captions are complete."""
    length_ms: int = 0
    """0 if not known yet."""
    failure: str = ""
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VideoState:
    """A video with its windows, its searchable windows, and its error."""

    video: Video
    windows: int
    searchable: int
    due: bool
    """Whether its captions are still to be fetched."""
    failure: str | None
    details: dict[str, Any]
    retry_at: int | None
    """Time of the automatic retry in Unix seconds; None: no retry."""
    selection: TrackSelection | None = None
    """As in `Track`."""
    heard_by: str = ""
    """The model that transcribed it on this machine; empty for other captions."""
    listening: Listening | None = None
    """None if the user never asked to transcribe it."""


@dataclass(frozen=True, slots=True)
class Counts:
    channels: int
    videos: int
    due: int
    """Videos with captions still to fetch."""
    failed: int
    windows: int
    searchable: int

    @property
    def waiting(self) -> int:
        """Windows not in the index yet."""
        return self.windows - self.searchable


def pack(morphemes: Morphemes) -> bytes:
    spans = array("I", (*morphemes.starts, *morphemes.ends)).tobytes()
    return zlib.compress(spans + "\n".join(morphemes.forms).encode(), 1)


@lru_cache(ANALYSES)
def _decompressed(packed: bytes) -> bytes:
    return zlib.decompress(packed)


def unpack(packed: bytes, count: int) -> Morphemes:
    raw = _decompressed(packed)
    spans = array("I", raw[: 8 * count])
    forms = tuple(raw[8 * count :].decode().split("\n")) if count else ()
    return Morphemes(forms, tuple(spans[:count]), tuple(spans[count:]))


def unpack_forms(packed: bytes, count: int) -> str:
    """Return only the forms of packed morphemes, one per line: building a set takes four times as long."""
    return f"\n{_decompressed(packed)[8 * count :].decode()}\n"


def video_from(row: Row) -> Video:
    id, title, channel_id, channel, url, published, duration_ms, packed_chapters, source, kind = row
    day = date.fromisoformat(published) if published else None
    chapters = tuple(Chapter(*chapter) for chapter in json.loads(packed_chapters))
    return Video(id, title, channel_id, channel, url, day, duration_ms, chapters, source, kind)


def video_values(video: Video) -> tuple[Any, ...]:
    chapters = json.dumps([[c.start_ms, c.title] for c in video.chapters], ensure_ascii=False)
    published = video.published.isoformat() if video.published else None
    names = (video.id, video.channel_id, video.title, video.url)
    return (*names, published, video.duration_ms, chapters, video.source, video.kind)


def put_track(db: sqlite3.Connection, video_id: str, track: Track) -> None:
    """Store or replace a track of a video."""
    packed = zlib.compress(track.raw, TRACK_LEVEL)
    about = (track.language, track.kind, track.format, packed, track.sha256, track.fetched_at, track.flag)
    values = (video_id, *about, track.model, track.settings)
    db.execute("INSERT OR REPLACE INTO track VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


def track_from(row: Row, selection: TrackSelection | None = None) -> Track:
    language, kind, form, packed, sha256, fetched_at, flag, *heard_by = row
    return Track(language, kind, form, zlib.decompress(packed), sha256, fetched_at, flag, selection, *heard_by)


def selection_values(video_id: str, selection: TrackSelection) -> tuple[Any, ...]:
    tracks = json.dumps([[each.language, each.kind, each.syllables, each.failure] for each in selection.tracks])
    return video_id, tracks, selection.taken, selection.flag, selection.withheld


def selection_from(row: Row) -> TrackSelection:
    tracks, taken_at, flag, withheld = row
    return TrackSelection(tuple(MeasuredTrack(*each) for each in json.loads(tracks)), taken_at, flag, bool(withheld))


def details_values(video_id: str, details: Details) -> tuple[Any, ...]:
    return video_id, details.description, details.thumbnail, json.dumps(details.heatmap, separators=(",", ":"))


def details_from(row: Row) -> Details:
    description, thumbnail, heatmap = row
    return Details(
        description=description,
        thumbnail=thumbnail,
        heatmap=tuple(map(Heat._make, json.loads(heatmap))),
    )


def window_from(row: Row) -> Window:
    lines = tuple(starmap(Line, json.loads(row[6])))
    return Window(row[0], row[1], row[2], row[3], row[4], row[5], lines, row[7], row[8])


def speakers_of(lines: str) -> set[str]:
    """Return the speakers in the stored lines of a window."""
    return {line[2] for line in json.loads(lines) if len(line) > 2}


def window_values(windows: Iterable[Window], rule: str) -> Iterable[tuple[Any, ...]]:
    for w in windows:
        own_lines = [line if line.speaker else line[:2] for line in w.lines]
        lines = json.dumps(own_lines, separators=(",", ":"), ensure_ascii=False)
        overlaps = (w.overlap_before, w.overlap_after)
        yield (w.id, w.video_id, w.ordinal, w.start_ms, w.end_ms, w.text, lines, *overlaps, rule)
