"""The records of a pack: values of the library as JSON, and back from a file of strangers.

What is read is checked and cleaned as captions and metadata from YouTube are: names lose control characters, addresses
must be YouTube's, and times in the future become the present.
"""

import hashlib
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any

from subtitle_rag.captions import FORMATS, MAX_MS, clean_name, is_video_id, video_url
from subtitle_rag.domain import (
    TABS,
    Chapter,
    Details,
    Heat,
    MeasuredTrack,
    Track,
    TrackSelection,
    UsageError,
    Video,
    Window,
    nfc,
)
from subtitle_rag.library import (
    Context,
    FollowedSource,
    Mark,
    OverviewSection,
    SourceOptions,
    VideoSummary,
)
from subtitle_rag.packing import kinds
from subtitle_rag.packing.kinds import FieldError, FieldKind, Fields

Values = dict[str, Any]

WINDOW_ID = kinds.match(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MAX_NAME = 1_000
_VIDEO_ID = kinds.match(r"[A-Za-z0-9_-]{11}|file-[0-9a-f]{16}")
_KEY = kinds.match(r"[0-9a-f]{32}")
_WATCH = r"https://(www\.youtube\.com/watch\?v=|youtu\.be/)"
_LANGUAGE = r"[A-Za-z0-9_-]{2,40}"
"""YouTube names a second track of a language by eleven characters after the code, `_` among them."""
UNKNOWN_LANGUAGE = "und"
MAX_SECONDS = 2**40
MAX_NUMBER = 2**53
MAX_RAW = 64 * 2**20
"""Bytes of one caption track."""
MAX_ITEMS = 100_000
"""The most items of a list in a record: the windows of a video, the lines of a window."""
MAX_LANGUAGES = 20


@dataclass(frozen=True, slots=True)
class PackedVideo:
    """A video with all that belongs to it; `track` is None in packs of version 1 where none was fetched."""

    video: Video
    details: Details
    track: Track | None
    windows: Mapping[str, str] = field(default_factory=dict)
    """Texts of the windows, by id. The windows themselves are cut again from the track."""
    contexts: Sequence[Context] = ()
    overviews: Mapping[str, str] = field(default_factory=dict)
    sections: Sequence[OverviewSection] = ()
    summary: VideoSummary | None = None


@dataclass(frozen=True, slots=True)
class PackedSource:
    """A followed channel or playlist."""

    url: str
    name: str
    channel_id: str | None
    options: SourceOptions


# --- Fields ---


def _read_channel_id(value: Any) -> str:
    id = _NAME.read(value)
    if not id or not id.isprintable():
        raise ValueError
    return id


def _read_day(value: Any) -> date:
    return date.fromisoformat(kinds.match(r"\d{4}-\d\d-\d\d").read(value))


def _read_past(value: Any) -> int:
    """Read Unix seconds. The future would win against all that comes later, so it becomes the present."""
    return min(kinds.integer(0, MAX_SECONDS).read(value), int(time.time()))


def _read_share(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise ValueError
    return float(value)


def _read_pattern(value: Any) -> str:
    pattern = _NAME.read(value)
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError from error
    return pattern


def _shared_languages(languages: Iterable[str]) -> list[str]:
    """Return those of these languages that a reader takes; users may type any text for one."""
    return [language for language in languages if re.fullmatch(_LANGUAGE, language)]


def _address(video_id: str) -> FieldKind[str | None]:
    """Return the kind of a video's address on YouTube, which is written in a form that `read` takes."""
    pattern = _WATCH + re.escape(video_id)

    def write(url: str | None) -> str | None:
        if url is None or not is_video_id(video_id):
            return None
        return url if re.fullmatch(pattern, url) else video_url(video_id)

    return FieldKind(kinds.optional(kinds.match(pattern)).read, write)


_NAME, _TEXT = kinds.text(MAX_NAME), kinds.text(100_000)
_TITLE = FieldKind(lambda value: nfc(clean_name(_NAME.read(value))))
_CHANNEL_ID = FieldKind(_read_channel_id)
_COUNT, _TIME = kinds.integer(0, MAX_NUMBER), kinds.integer(0, MAX_MS)
_TRIES = kinds.integer(0, MAX_NAME)
_PAST = FieldKind(_read_past, lambda seconds: max(0, seconds))
_DAY = kinds.optional(FieldKind(_read_day, date.isoformat))
_TRACK_LANGUAGE = FieldKind(
    kinds.match(_LANGUAGE).read, lambda language: next(iter(_shared_languages([language])), UNKNOWN_LANGUAGE)
)
_DOUBT = FieldKind(kinds.row(lambda **doubt: tuple(doubt.values()), {"kind": _NAME, "text": _TEXT}).read)


# --- Videos ---


FLAGS = ("", "dub", "translated")
"""Flags of a track that every version knows. Later ones are in its selection alone."""

_VIDEO: Fields = {
    "id": _VIDEO_ID,
    "title": _TITLE,
    "channel_id": _CHANNEL_ID,
    "channel": _TITLE,
    "duration_ms": kinds.optional(_TIME),
    "kind": kinds.choice(("", "video", "short", "stream")),
    "published": _DAY,
    "chapters": kinds.items(kinds.row(Chapter, {"start_ms": _TIME, "title": _TITLE}), MAX_ITEMS),
}
_DETAILS: Fields = {
    "description": _TEXT,
    "heatmap": kinds.items(
        kinds.row(Heat, {"start_ms": _TIME, "end_ms": _TIME, "value": FieldKind(_read_share)}), MAX_ITEMS
    ),
}
_MEASURED: Fields = {
    "language": _TRACK_LANGUAGE,
    "kind": kinds.choice(("manual", "asr")),
    "syllables": kinds.optional(_COUNT),
    "failure": kinds.match("[a-z_]{0,40}"),
}
_SELECTION: Fields = {
    "taken": kinds.integer(0, MAX_LANGUAGES - 1),
    "flag": kinds.choice((*FLAGS, "mislabelled")),
    "withheld": kinds.FLAG,
    "tracks": kinds.items(kinds.record(MeasuredTrack, _MEASURED), MAX_LANGUAGES),
}
_TRACK: Fields = {
    "language": _TRACK_LANGUAGE,
    "kind": kinds.choice(("manual", "asr", "file")),
    "format": kinds.choice(FORMATS),
    "flag": FieldKind(kinds.choice(FLAGS).read, lambda flag: flag if flag in FLAGS else ""),
    "sha256": kinds.match(r"[0-9a-f]{64}"),
    "fetched_at": _PAST,
    "selection": kinds.optional(kinds.record(TrackSelection, _SELECTION)),
}
_RAW_TEXT, _RAW_BYTES = kinds.raw_text(MAX_RAW), kinds.base64_bytes(MAX_RAW)
_HEARD: Fields = {"model": _NAME, "settings": _NAME}
_WINDOW: Fields = {
    "id": WINDOW_ID,
    "start_ms": _TIME,
    "end_ms": _TIME,
    "text": _TEXT,
    "lines": kinds.items(kinds.ANYTHING, MAX_ITEMS),
    "overlap_before": kinds.ANYTHING,
    "overlap_after": kinds.ANYTHING,
}
_CONTEXT: Fields = {
    "key": _KEY,
    **dict.fromkeys(("model", "digest", "prompt"), _NAME),
    "scope": kinds.choice(("full", "block")),
    "seed": kinds.integer(-MAX_NUMBER, MAX_NUMBER),
    **dict.fromkeys(("text", "raw"), _TEXT),
    "doubts": kinds.items(_DOUBT, MAX_NAME),
    **dict.fromkeys(("prompt_tokens", "tokens", "prompt_ms", "ms"), _COUNT),
    "tries": _TRIES,
    "stale": kinds.FLAG,
    "written_at": _PAST,
}
_SECTION: Fields = {"key": _KEY, "source": _NAME, "text": _TEXT}
_SUMMARY: Fields = {
    "text": _TEXT,
    **dict.fromkeys(("model", "digest", "prompt"), _NAME),
    "tries": _TRIES,
    "settled": kinds.FLAG,
    **dict.fromkeys(("prompt_tokens", "tokens", "ms"), _COUNT),
    "written_at": _PAST,
}
_OVERVIEWS = kinds.items_by_name(_KEY, _TEXT, MAX_ITEMS)


def video_values(packed: PackedVideo, windows: Sequence[Window]) -> Values:
    """Return a video as JSON has it. The path of its caption file stays at home."""
    video = packed.video
    return {
        **kinds.write_fields(_VIDEO, video),
        "url": _address(video.id).write(video.url),
        **kinds.write_fields(_DETAILS, packed.details),
        "track": _track_values(packed.track) if packed.track else None,
        "windows": [kinds.write_fields(_WINDOW, window) for window in windows],
        "contexts": [{"window": each.window_id, **kinds.write_fields(_CONTEXT, each)} for each in packed.contexts],
        "overviews": _OVERVIEWS.write(dict(packed.overviews)),
        "overview_sections": [kinds.write_fields(_SECTION, each) for each in packed.sections],
        "summary": kinds.write_fields(_SUMMARY, packed.summary) if packed.summary else None,
    }


def read_video(values: Values) -> PackedVideo:
    video = Video(**kinds.read_fields(_VIDEO, values))
    url = kinds.read_field("url", _address(video.id), values)
    video = replace(video, url=url, title=video.title or video.id, channel=video.channel or video.channel_id)
    track = kinds.read_field("track", kinds.optional(FieldKind(_read_track)), values)
    window_list: tuple[Values, ...] = kinds.read_field(
        "windows", kinds.items(kinds.record(dict, _WINDOW), MAX_ITEMS), values
    )
    windows = {window["id"]: window["text"] for window in window_list}
    if len(windows) != len(window_list) or (windows and track is None):
        raise FieldError("windows")

    def context(window: str, **fields: Any) -> Context:
        return Context(window_id=window, video_id=video.id, **fields)

    lists: Fields = {
        "contexts": kinds.items(kinds.record(context, {"window": kinds.choice(windows), **_CONTEXT}), MAX_ITEMS),
        "overviews": _OVERVIEWS,
        "overview_sections": kinds.items(
            kinds.record(partial(OverviewSection, video_id=video.id), _SECTION), MAX_ITEMS
        ),
        "summary": kinds.optional(kinds.record(partial(VideoSummary, video.id), _SUMMARY)),
    }
    contexts, overviews, sections, summary = kinds.read_fields(lists, values).values()
    if len({each.key for each in contexts}) != len(contexts):
        raise FieldError("contexts")
    details = Details(**kinds.read_fields(_DETAILS, values))
    return PackedVideo(video, details, track, windows, contexts, overviews, sections, summary if windows else None)


def _track_values(track: Track) -> Values:
    """Return a track as a reader takes it: a file may be named and dated as it pleases."""
    values = kinds.write_fields(_TRACK, track)
    if track.kind == "local":  # automatic captions to a version that knows of no heard ones
        values |= {"kind": "asr", "heard": kinds.write_fields(_HEARD, track)}
    try:
        return {**values, "text": _RAW_TEXT.write(track.raw)}
    except UnicodeDecodeError:
        return {**values, "base64": _RAW_BYTES.write(track.raw)}


def _read_track(values: Values) -> Track:
    fields = kinds.read_fields({**_TRACK, "heard": kinds.optional(kinds.record(dict, _HEARD))}, values)
    if values.get("base64") is not None:
        raw = kinds.read_field("base64", _RAW_BYTES, values)
    else:
        raw = kinds.read_field("text", _RAW_TEXT, values)
    if hashlib.sha256(raw).hexdigest() != fields["sha256"]:
        raise FieldError("sha256")
    if heard := fields.pop("heard"):
        fields |= {"kind": "local", **heard}
    if selection := fields["selection"]:
        if selection.taken >= len(selection.tracks):
            raise FieldError("taken")
        fields["flag"] = selection.flag
    return Track(raw=raw, **fields)


# --- What belongs to the user ---


_CHANNEL: Fields = {"id": _NAME, "glossary": kinds.items(_NAME, MAX_ITEMS)}
_MARK: Fields = {
    **dict.fromkeys(("start_ms", "end_ms", "at_ms"), _TIME),
    **dict.fromkeys(("title", "channel"), _TITLE),
    **dict.fromkeys(("line", "note"), _TEXT),
    "tag": _NAME,
    "marked_at": _PAST,
}
_SOURCE: Fields = {"url": _NAME, "name": _TITLE, "channel_id": kinds.optional(_NAME)}
_OPTIONS: Fields = {
    "tabs": kinds.items(kinds.choice(TABS), len(TABS)),
    "languages": FieldKind(
        kinds.items(kinds.match(_LANGUAGE), MAX_LANGUAGES).read,
        lambda languages: _shared_languages(languages)[:MAX_LANGUAGES] or SourceOptions().languages,
    ),
    "translated": kinds.FLAG,
    "limit": kinds.optional(kinds.integer(1, MAX_NUMBER)),
    "since": _DAY,
    "match": kinds.optional(FieldKind(_read_pattern)),
}


def channel_values(id: str, name: str, glossary: Iterable[str]) -> Values:
    return {"id": id, "name": name, "glossary": _CHANNEL["glossary"].write(glossary)}


def read_channel(values: Values) -> tuple[str, tuple[str, ...]]:
    """Read the id of a channel, and the glossary that its user gave it."""
    fields = kinds.read_fields(_CHANNEL, values)
    return fields["id"], fields["glossary"]


def mark_values(mark: Mark) -> Values:
    return {
        "video": mark.video_id,
        "url": _address(mark.video_id).write(mark.url),
        **kinds.write_fields(_MARK, mark),
    }


def read_mark(values: Values) -> Mark:
    id = kinds.read_field("video", _VIDEO_ID, values)
    return Mark(id=0, video_id=id, **kinds.read_fields({"url": _address(id), **_MARK}, values))


def source_values(source: FollowedSource) -> Values:
    return {**kinds.write_fields(_SOURCE, source), **kinds.write_fields(_OPTIONS, source.options)}


def read_source(values: Values) -> PackedSource:
    from subtitle_rag.captions import parse_address

    source = PackedSource(
        **kinds.read_fields(_SOURCE, values), options=SourceOptions(**kinds.read_fields(_OPTIONS, values))
    )
    try:
        address = parse_address(source.url)
    except UsageError as error:
        raise FieldError("url") from error
    if address.url != source.url or address.kind == "video":
        raise FieldError("url")
    if not source.options.languages:
        raise FieldError("languages")
    return source
