"""The records of a pack: values of the library as JSON, and back from a file of strangers.

What is read is checked and cleaned as captions and metadata from YouTube are: names lose control characters, addresses
must be YouTube's, and times in the future become the present.
"""

import base64
import hashlib
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
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
from subtitle_rag.packing.json_checks import Checks, FieldError, Fields

Values = dict[str, Any]

VIDEO_ID = r"[A-Za-z0-9_-]{11}|file-[0-9a-f]{16}"
WINDOW_ID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
KEY = r"[0-9a-f]{32}"
DIGEST = r"[0-9a-f]{64}"
_WATCH = r"https://(www\.youtube\.com/watch\?v=|youtu\.be/)"
_LANGUAGE = r"[A-Za-z0-9_-]{2,40}"
"""YouTube names a second track of a language by eleven characters after the code, `_` among them."""
UNKNOWN_LANGUAGE = "und"
MAX_SECONDS = 2**40
MAX_NUMBER = 2**53
MAX_NAME = 1_000
MAX_TEXT = 100_000
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


def _pattern(fields: Fields, name: str) -> str:
    text = fields.text(name, MAX_NAME)
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise FieldError(name) from error
    return text


def _name(fields: Fields, name: str) -> str:
    return nfc(clean_name(fields.text(name, MAX_NAME)))


def _channel_id(fields: Fields) -> str:
    id = fields.text("channel_id", MAX_NAME)
    if not id or not id.isprintable():
        raise FieldError("channel_id")
    return id


def _day(fields: Fields, name: str) -> date | None:
    text = fields.optional(name, Fields.match, r"\d{4}-\d\d-\d\d")
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise FieldError(name) from error


def _past(fields: Fields, name: str) -> int:
    """Read Unix seconds. The future would win against all that comes later, so it becomes the present."""
    return min(fields.integer(name, 0, MAX_SECONDS), int(time.time()))


def _doubts(fields: Fields, name: str) -> tuple[tuple[str, str], ...]:
    rows = [_row(name, item, "kind", "text") for item in fields.items(name, MAX_NAME)]
    return tuple((row.text("kind", MAX_NAME), row.text("text", MAX_TEXT)) for row in rows)


def _values(record: object, names: Iterable[str]) -> Values:
    return {name: getattr(record, name) for name in names}


_NAME = (Fields.text, MAX_NAME)
_TEXT = (Fields.text, MAX_TEXT)
_COUNT = (Fields.integer, 0, MAX_NUMBER)
_TIME = (Fields.integer, 0, MAX_MS)
_WINDOW = ("id", "start_ms", "end_ms", "text", "lines", "overlap_before", "overlap_after")


# --- Videos ---


def video_values(packed: PackedVideo, windows: Sequence[Window]) -> Values:
    """Return a video as JSON has it. The path of its caption file stays at home."""
    video, details = packed.video, packed.details
    return {
        **_values(video, ("id", "title", "channel_id", "channel", "duration_ms", "kind")),
        "url": _shared_url(video.url, video.id),
        "published": video.published.isoformat() if video.published else None,
        "chapters": [[chapter.start_ms, chapter.title] for chapter in video.chapters],
        "description": details.description,
        "heatmap": details.heatmap,
        "track": _track_values(packed.track) if packed.track else None,
        "windows": [_values(window, _WINDOW) for window in windows],
        "contexts": [_context_values(context) for context in packed.contexts],
        "overviews": dict(packed.overviews),
        "overview_sections": [{**_values(each, _SECTION), "text": each.text[:MAX_TEXT]} for each in packed.sections],
        "summary": _values(packed.summary, _SUMMARY) if packed.summary else None,
    }


def read_video(fields: Fields) -> PackedVideo:
    id = fields.match("id", VIDEO_ID)
    track = _track(fields.record("track")) if fields.has("track") else None
    windows = {each.match("id", WINDOW_ID): _window_text(each) for each in fields.records("windows", MAX_ITEMS)}
    if len(windows) != len(fields.items("windows", MAX_ITEMS)) or (windows and track is None):
        raise FieldError("windows")
    contexts = [
        Context(window_id=each.choice("window", windows), video_id=id, **each.read(_CONTEXT))
        for each in fields.records("contexts", MAX_ITEMS)
    ]
    if len({context.key for context in contexts}) != len(contexts):
        raise FieldError("contexts")
    overviews = fields.items_by_name("overviews", MAX_ITEMS)
    sections = [
        OverviewSection(video_id=id, **each.read(_SECTION)) for each in fields.records("overview_sections", MAX_ITEMS)
    ]
    video = Video(
        id=id,
        title=_name(fields, "title") or id,
        channel_id=_channel_id(fields),
        channel=_name(fields, "channel") or _channel_id(fields),
        url=fields.optional("url", Fields.match, _WATCH + re.escape(id)),
        published=_day(fields, "published"),
        duration_ms=fields.optional("duration_ms", *_TIME),
        chapters=tuple(_chapter(item) for item in fields.items("chapters", MAX_ITEMS)),
        kind=fields.choice("kind", ("", "video", "short", "stream")),
    )
    details = Details(
        description=fields.text("description", MAX_TEXT),
        heatmap=tuple(_heat(item) for item in fields.items("heatmap", MAX_ITEMS)),
    )
    keys = {key: Fields({"text": text}).text("text", MAX_TEXT) for key, text in overviews.items()}
    if not all(re.fullmatch(KEY, key) for key in keys):
        raise FieldError("overviews")
    summary = VideoSummary(id, **fields.record("summary").read(_SUMMARY)) if windows and fields.has("summary") else None
    return PackedVideo(video, details, track, windows, contexts, keys, sections, summary)


def _shared_url(url: str | None, id: str) -> str | None:
    """Return a video's address in a form that a reader takes."""
    if url is None or not is_video_id(id):
        return None
    return url if re.fullmatch(_WATCH + re.escape(id), url) else video_url(id)


FLAGS = ("", "dub", "translated")
"""Flags of a track that every version knows. Later ones are in its selection alone."""
_TRACK: Checks = {
    "language": (Fields.match, _LANGUAGE),
    "kind": (Fields.choice, ("manual", "asr", "file")),
    "format": (Fields.choice, tuple(FORMATS)),
    "flag": (Fields.choice, FLAGS),
    "sha256": (Fields.match, DIGEST),
    "fetched_at": (_past,),
}


def _track_values(track: Track) -> Values:
    """Return a track as a reader takes it: a file may be named and dated as it pleases."""
    flag = track.flag if track.flag in FLAGS else ""
    own = {"language": _shared_language(track.language), "fetched_at": max(0, track.fetched_at), "flag": flag}
    values = {**_values(track, _TRACK), **own, "selection": _selection_values(track.selection)}
    if track.kind == "local":  # automatic captions to a version that knows of no heard ones
        values |= {"kind": "asr", "heard": _values(track, ("model", "settings"))}
    try:
        return {**values, "text": track.raw.decode()}
    except UnicodeDecodeError:
        return {**values, "base64": base64.b64encode(track.raw).decode()}


def _shared_languages(languages: Iterable[str]) -> list[str]:
    """Return those of these languages that a reader takes; users may type any text for one."""
    return [language for language in languages if re.fullmatch(_LANGUAGE, language)]


def _shared_language(language: str) -> str:
    return next(iter(_shared_languages([language])), UNKNOWN_LANGUAGE)


def _selection_values(selection: TrackSelection | None) -> Values | None:
    if selection is None:
        return None
    tracks = [{**asdict(track), "language": _shared_language(track.language)} for track in selection.tracks]
    return {**_values(selection, ("taken", "flag", "withheld")), "tracks": tracks}


def _track(fields: Fields) -> Track:
    raw = fields.decoded("base64", MAX_RAW) if fields.has("base64") else fields.raw("text", MAX_RAW)
    track = Track(raw=raw, **fields.read(_TRACK))
    if hashlib.sha256(raw).hexdigest() != track.sha256:
        raise FieldError("sha256")
    if fields.has("heard"):
        heard = fields.record("heard").read({"model": (Fields.text, MAX_NAME), "settings": (Fields.text, MAX_NAME)})
        track = replace(track, kind="local", **heard)
    selection = _selection(fields.record("selection")) if fields.has("selection") else None
    return replace(track, selection=selection, flag=selection.flag if selection else track.flag)


def _selection(fields: Fields) -> TrackSelection:
    tracks = tuple(
        MeasuredTrack(
            language=each.match("language", _LANGUAGE),
            kind=each.choice("kind", ("manual", "asr")),
            syllables=each.optional("syllables", *_COUNT),
            failure=each.match("failure", "[a-z_]{0,40}"),
        )
        for each in fields.records("tracks", MAX_LANGUAGES)
    )
    taken = fields.integer("taken", 0, len(tracks) - 1)
    flag = fields.choice("flag", (*FLAGS, "mislabelled"))
    return TrackSelection(tracks, taken, flag, fields.flag("withheld"))


def _window_text(fields: Fields) -> str:
    fields.read({"start_ms": _TIME, "end_ms": _TIME, "lines": (Fields.items, MAX_ITEMS)})
    return fields.text("text", MAX_TEXT)


def _chapter(item: Any) -> Chapter:
    fields = _row("chapters", item, "start_ms", "title")
    return Chapter(**fields.read({"start_ms": _TIME, "title": (_name,)}))


def _heat(item: Any) -> Heat:
    fields = _row("heatmap", item, "start_ms", "end_ms", "value")
    value = item[2]
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise FieldError("heatmap")
    return Heat(**fields.read({"start_ms": _TIME, "end_ms": _TIME}), value=value)


def _row(name: str, item: Any, *names: str) -> Fields:
    if not isinstance(item, list) or len(item) != len(names):
        raise FieldError(name)
    return Fields(dict(zip(names, item, strict=True)))


# --- Contexts ---


_CONTEXT: Checks = {
    "key": (Fields.match, KEY),
    **dict.fromkeys(("model", "digest", "prompt"), _NAME),
    "scope": (Fields.choice, ("full", "block")),
    "seed": (Fields.integer, -MAX_NUMBER, MAX_NUMBER),
    **dict.fromkeys(("text", "raw"), _TEXT),
    "doubts": (_doubts,),
    **dict.fromkeys(("prompt_tokens", "tokens", "prompt_ms", "ms"), _COUNT),
    "tries": (Fields.integer, 0, MAX_NAME),
    "stale": (Fields.flag,),
    "written_at": (_past,),
}
_SECTION: Checks = {"key": (Fields.match, KEY), "source": _NAME, "text": _TEXT}
_SUMMARY: Checks = {
    "text": _TEXT,
    **dict.fromkeys(("model", "digest", "prompt"), _NAME),
    "tries": (Fields.integer, 0, MAX_NAME),
    "settled": (Fields.flag,),
    **dict.fromkeys(("prompt_tokens", "tokens", "ms"), _COUNT),
    "written_at": (_past,),
}


def _context_values(context: Context) -> Values:
    return {"window": context.window_id, **_values(context, _CONTEXT), "raw": context.raw[:MAX_TEXT]}


# --- What belongs to the user ---


def channel_values(id: str, name: str, glossary: Iterable[str]) -> Values:
    return {"id": id, "name": name, "glossary": [each[:MAX_NAME] for each in glossary]}


def read_channel(fields: Fields) -> tuple[str, tuple[str, ...]]:
    """Read the id of a channel, and the glossary that its user gave it."""
    return fields.text("id", MAX_NAME), fields.texts("glossary", MAX_ITEMS, MAX_NAME)


_MARK: Checks = {
    **dict.fromkeys(("start_ms", "end_ms", "at_ms"), _TIME),
    **dict.fromkeys(("title", "channel"), (_name,)),
    **dict.fromkeys(("line", "note"), _TEXT),
    "tag": _NAME,
    "marked_at": (_past,),
}


def mark_values(mark: Mark) -> Values:
    url, tag = _shared_url(mark.url, mark.video_id), mark.tag[:MAX_NAME]
    return {"video": mark.video_id, "url": url, **_values(mark, _MARK), "tag": tag}


def read_mark(fields: Fields) -> Mark:
    id = fields.match("video", VIDEO_ID)
    url = fields.optional("url", Fields.match, _WATCH + re.escape(id))
    return Mark(id=0, video_id=id, url=url, **fields.read(_MARK))


_OPTIONS: Checks = {
    "tabs": (Fields.texts, len(TABS), MAX_NAME),
    "languages": (Fields.texts, MAX_LANGUAGES, 40),
    "translated": (Fields.flag,),
    "limit": (Fields.optional, Fields.integer, 1, MAX_NUMBER),
    "since": (_day,),
    "match": (Fields.optional, _pattern),
}


def source_values(source: FollowedSource) -> Values:
    since = source.options.since
    return {
        **_values(source, ("url", "name", "channel_id")),
        **_values(source.options, _OPTIONS),
        "languages": _shared_languages(source.options.languages)[:MAX_LANGUAGES] or SourceOptions().languages,
        "since": since.isoformat() if since else None,
    }


def read_source(fields: Fields) -> PackedSource:
    from subtitle_rag.captions import parse_address

    url = fields.text("url", MAX_NAME)
    try:
        if parse_address(url).url != url or parse_address(url).kind == "video":
            raise FieldError("url")
    except UsageError as error:
        raise FieldError("url") from error
    options = SourceOptions(**fields.read(_OPTIONS))
    if not options.languages or not all(re.fullmatch(_LANGUAGE, each) for each in options.languages):
        raise FieldError("languages")
    if not set(options.tabs) <= set(TABS):
        raise FieldError("tabs")
    channel_id = fields.optional("channel_id", *_NAME)
    return PackedSource(url, _name(fields, "name"), channel_id, options)
