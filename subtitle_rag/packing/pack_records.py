"""The records of a pack: values of the library as JSON, and back from a file of strangers.

What is read is checked and cleaned as captions and metadata from YouTube are: names lose control characters, addresses
must be YouTube's, and times in the future become the present.
"""

import base64
import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from subtitle_rag.captions import MAX_MS, named
from subtitle_rag.domain import (
    EXPECTED,
    TABS,
    AppError,
    Chapter,
    Citation,
    Details,
    Heat,
    Track,
    UsageError,
    Video,
    Window,
    nfc,
)
from subtitle_rag.library import (
    CitedScene,
    Context,
    FollowedSource,
    Mark,
    OverviewSection,
    SourceOptions,
    StoredAnswer,
    VideoSummary,
)
from subtitle_rag.packing.fields import FieldError, Fields

Values = dict[str, Any]

VIDEO_ID = r"[A-Za-z0-9_-]{11}|file-[0-9a-f]{16}"
WINDOW_ID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
KEY = r"[0-9a-f]{32}"
DIGEST = r"[0-9a-f]{64}"
_WATCH = r"https://(www\.youtube\.com/watch\?v=|youtu\.be/)"
_LANGUAGE = r"[A-Za-z0-9-]{2,40}"
MAX_SECONDS = 2**40
MAX_NUMBER = 2**53
MAX_NAME = 1_000
MAX_TEXT = 100_000
MAX_RAW = 64 * 2**20
"""Bytes of one caption track."""
MAX_ITEMS = 100_000
"""Of a list in a record: the windows of a video, the lines of a window."""
MAX_LISTED = 1_000_000


@dataclass(frozen=True, slots=True)
class PackedVideo:
    """A video with all that belongs to it; `track` is None where its captions are still to be fetched."""

    video: Video
    details: Details
    track: Track | None
    windows: Mapping[str, str] = field(default_factory=dict)
    """Texts of the windows, by id. The windows themselves are cut again from the track."""
    contexts: Sequence[Context] = ()
    overviews: Mapping[str, str] = field(default_factory=dict)
    sections: Sequence[OverviewSection] = ()
    summary: VideoSummary | None = None
    failure: tuple[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class PackedChannel:
    """The user's settings for a channel."""

    id: str
    glossary: tuple[str, ...] = ()
    model: str | None = None
    """None: not in the pack."""


@dataclass(frozen=True, slots=True)
class PackedSource:
    """A followed channel or playlist, with the videos on its list if the pack has the whole library."""

    url: str
    name: str
    channel_id: str | None
    options: SourceOptions
    complete: bool = False
    listed: tuple[str, ...] = ()


# --- Videos ---


def video_values(packed: PackedVideo, windows: Sequence[Window]) -> Values:
    """Return a video as JSON has it. The path of its caption file stays at home."""
    video, details = packed.video, packed.details
    return {
        "id": video.id,
        "title": video.title,
        "channel_id": video.channel_id,
        "channel": video.channel,
        "url": _shared_url(video.url, video.id),
        "published": video.published.isoformat() if video.published else None,
        "duration_ms": video.duration_ms,
        "kind": video.kind,
        "chapters": [[chapter.start_ms, chapter.title] for chapter in video.chapters],
        "description": details.description,
        "heatmap": [list(heat) for heat in details.heatmap],
        "track": _track_values(packed.track) if packed.track else None,
        "failure": {"code": packed.failure[0], "details": dict(packed.failure[1])} if packed.failure else None,
        "windows": [
            {
                "id": w.id,
                "start_ms": w.start_ms,
                "end_ms": w.end_ms,
                "text": w.text,
                "lines": [list(line) for line in w.lines],
                "overlap_before": w.overlap_before,
                "overlap_after": w.overlap_after,
            }
            for w in windows
        ],
        "contexts": [_context_values(context) for context in packed.contexts],
        "overviews": dict(packed.overviews),
        "overview_sections": [
            {"key": each.key, "source": each.source, "text": each.text[:MAX_TEXT]} for each in packed.sections
        ],
        "summary": _summary_values(packed.summary) if packed.summary else None,
    }


def read_video(fields: Fields) -> PackedVideo:
    id = fields.match("id", VIDEO_ID)
    track = _track(fields.record("track")) if fields.has("track") else None
    windows = {each.match("id", WINDOW_ID): _window_text(each) for each in fields.records("windows", MAX_ITEMS)}
    if len(windows) != len(fields.items("windows", MAX_ITEMS)) or (windows and track is None):
        raise FieldError("windows")
    contexts = [_context(each, id, windows) for each in fields.records("contexts", MAX_ITEMS)]
    if len({context.key for context in contexts}) != len(contexts):
        raise FieldError("contexts")
    overviews = fields.items_by_name("overviews", MAX_ITEMS)
    sections = [_section(each, id) for each in fields.records("overview_sections", MAX_ITEMS)]
    video = Video(
        id=id,
        title=_name(fields, "title") or id,
        channel_id=_channel_id(fields),
        channel=_name(fields, "channel") or _channel_id(fields),
        url=fields.optional_match("url", _WATCH + re.escape(id)),
        published=_day(fields, "published"),
        duration_ms=fields.optional_integer("duration_ms", 0, MAX_MS),
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
    failure = _failure(fields.record("failure")) if fields.has("failure") and track is None else None
    summary = _summary(fields.record("summary"), id) if windows and fields.has("summary") else None
    return PackedVideo(video, details, track, windows, contexts, keys, sections, summary, failure)


def shareable_failure(code: str | None, details: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """Return a failure that may leave the machine: a usual one of YouTube, without a path; else None."""
    try:
        return _failure(Fields({"code": code, "details": dict(details)}))
    except FieldError:
        return None


def _failure(fields: Fields) -> tuple[str, Mapping[str, Any]]:
    code = fields.choice("code", sorted(EXPECTED))
    details = fields.items_by_name("details", 20)
    if "path" in details or not all(
        isinstance(value, str | int) and len(str(value)) < 1_000 for value in details.values()
    ):
        raise FieldError("details")
    try:
        _sentences = str(AppError(code, **details))
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise FieldError("details") from error
    return code, details


def _shared_url(url: str | None, id: str) -> str | None:
    """Return a video's address in a form that a reader takes."""
    if url is None or not re.fullmatch(r"[A-Za-z0-9_-]{11}", id):
        return None
    return url if re.fullmatch(_WATCH + re.escape(id), url) else f"https://www.youtube.com/watch?v={id}"


def _track_values(track: Track) -> Values:
    values: Values = {
        "language": track.language,
        "kind": track.kind,
        "format": track.format,
        "flag": track.flag,
        "sha256": track.sha256,
        "fetched_at": track.fetched_at,
    }
    try:
        return {**values, "text": track.raw.decode()}
    except UnicodeDecodeError:
        return {**values, "base64": _encoded(track.raw)}


def _track(fields: Fields) -> Track:
    raw = fields.decoded("base64", MAX_RAW) if fields.has("base64") else fields.raw("text", MAX_RAW)
    sha256 = fields.match("sha256", DIGEST)
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise FieldError("sha256")
    return Track(
        language=fields.match("language", _LANGUAGE),
        kind=fields.choice("kind", ("manual", "asr", "file")),
        format=fields.choice("format", ("vtt", "srt", "sbv", "json3")),
        raw=raw,
        sha256=sha256,
        fetched_at=_past(fields, "fetched_at"),
        flag=fields.choice("flag", ("", "dub", "translated")),
    )


def _window_text(fields: Fields) -> str:
    fields.integer("start_ms", 0, MAX_MS)
    fields.integer("end_ms", 0, MAX_MS)
    fields.items("lines", MAX_ITEMS)
    return fields.text("text", MAX_TEXT)


def _chapter(item: Any) -> Chapter:
    fields = _row("chapters", item, "start_ms", "title")
    return Chapter(fields.integer("start_ms", 0, MAX_MS), _name(fields, "title"))


def _heat(item: Any) -> Heat:
    fields = _row("heatmap", item, "start_ms", "end_ms", "value")
    value = item[2]
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise FieldError("heatmap")
    return Heat(fields.integer("start_ms", 0, MAX_MS), fields.integer("end_ms", 0, MAX_MS), value)


def _row(name: str, item: Any, *names: str) -> Fields:
    if not isinstance(item, list) or len(item) != len(names):
        raise FieldError(name)
    return Fields(dict(zip(names, item, strict=True)))


# --- Contexts ---


def _context_values(context: Context) -> Values:
    return {
        "key": context.key,
        "window": context.window_id,
        "model": context.model,
        "digest": context.digest,
        "prompt": context.prompt,
        "scope": context.scope,
        "seed": context.seed,
        "text": context.text,
        "raw": context.raw[:MAX_TEXT],
        "doubts": [list(doubt) for doubt in context.doubts],
        "prompt_tokens": context.prompt_tokens,
        "tokens": context.tokens,
        "prompt_ms": context.prompt_ms,
        "ms": context.ms,
        "tries": context.tries,
        "stale": context.stale,
        "written_at": context.written_at,
    }


def _context(fields: Fields, video_id: str, windows: Mapping[str, str]) -> Context:
    window_id = fields.choice("window", windows)
    doubts = [_row("doubts", item, "kind", "text") for item in fields.items("doubts", MAX_NAME)]
    return Context(
        key=fields.match("key", KEY),
        window_id=window_id,
        video_id=video_id,
        model=fields.text("model", MAX_NAME),
        digest=fields.text("digest", MAX_NAME),
        prompt=fields.text("prompt", MAX_NAME),
        scope=fields.choice("scope", ("full", "block")),
        seed=fields.integer("seed", -MAX_NUMBER, MAX_NUMBER),
        text=fields.text("text", MAX_TEXT),
        raw=fields.text("raw", MAX_TEXT),
        doubts=tuple((each.text("kind", MAX_NAME), each.text("text", MAX_TEXT)) for each in doubts),
        prompt_tokens=fields.integer("prompt_tokens", 0, MAX_NUMBER),
        tokens=fields.integer("tokens", 0, MAX_NUMBER),
        prompt_ms=fields.integer("prompt_ms", 0, MAX_NUMBER),
        ms=fields.integer("ms", 0, MAX_NUMBER),
        tries=fields.integer("tries", 0, MAX_NAME),
        stale=fields.flag("stale"),
        written_at=_past(fields, "written_at"),
    )


def _section(fields: Fields, video_id: str) -> OverviewSection:
    return OverviewSection(
        fields.match("key", KEY), video_id, fields.text("source", MAX_NAME), fields.text("text", MAX_TEXT)
    )


def _summary_values(summary: VideoSummary) -> Values:
    return {name: value for name, value in asdict(summary).items() if name != "video_id"}


def _summary(fields: Fields, video_id: str) -> VideoSummary:
    return VideoSummary(
        video_id=video_id,
        text=fields.text("text", MAX_TEXT),
        model=fields.text("model", MAX_NAME),
        digest=fields.text("digest", MAX_NAME),
        prompt=fields.text("prompt", MAX_NAME),
        tries=fields.integer("tries", 0, MAX_NAME),
        settled=fields.flag("settled"),
        prompt_tokens=fields.integer("prompt_tokens", 0, MAX_NUMBER),
        tokens=fields.integer("tokens", 0, MAX_NUMBER),
        ms=fields.integer("ms", 0, MAX_NUMBER),
        written_at=_past(fields, "written_at"),
    )


# --- What belongs to the user ---


def channel_values(channel: PackedChannel, name: str) -> Values:
    return {"id": channel.id, "name": name, "glossary": list(channel.glossary), "model": channel.model}


def read_channel(fields: Fields) -> PackedChannel:
    model = fields.text("model", MAX_NAME) if fields.has("model") else None
    id = fields.text("id", MAX_NAME)
    return PackedChannel(id, fields.texts("glossary", MAX_ITEMS, MAX_NAME), model)


def mark_values(mark: Mark) -> Values:
    return {
        "video": mark.video_id,
        "start_ms": mark.start_ms,
        "end_ms": mark.end_ms,
        "at_ms": mark.at_ms,
        "title": mark.title,
        "channel": mark.channel,
        "url": _shared_url(mark.url, mark.video_id),
        "line": mark.line,
        "note": mark.note,
        "tag": mark.tag,
        "marked_at": mark.marked_at,
    }


def read_mark(fields: Fields) -> Mark:
    video_id = fields.match("video", VIDEO_ID)
    return Mark(
        id=0,
        video_id=video_id,
        start_ms=fields.integer("start_ms", 0, MAX_MS),
        end_ms=fields.integer("end_ms", 0, MAX_MS),
        at_ms=fields.integer("at_ms", 0, MAX_MS),
        title=_name(fields, "title"),
        channel=_name(fields, "channel"),
        url=fields.optional_match("url", _WATCH + re.escape(video_id)),
        line=fields.text("line", MAX_TEXT),
        note=fields.text("note", MAX_TEXT),
        tag=fields.text("tag", MAX_NAME),
        marked_at=_past(fields, "marked_at"),
    )


def source_values(source: FollowedSource, listed: Sequence[str], *, whole: bool) -> Values:
    options = source.options
    return {
        "url": source.url,
        "name": source.name,
        "channel_id": source.channel_id,
        "tabs": list(options.tabs),
        "languages": list(options.languages),
        "translated": options.translated,
        "limit": options.limit,
        "since": options.since.isoformat() if options.since else None,
        "match": options.match,
        "complete": whole and source.complete,
        "listed": list(listed) if whole else [],
    }


def read_source(fields: Fields) -> PackedSource:
    from subtitle_rag.captions import parse_address

    url = fields.text("url", MAX_NAME)
    try:
        if parse_address(url).url != url or parse_address(url).kind == "video":
            raise FieldError("url")
    except UsageError as error:
        raise FieldError("url") from error
    listed = fields.texts("listed", MAX_LISTED, 11)
    if not all(re.fullmatch(r"[A-Za-z0-9_-]{11}", id) for id in listed):
        raise FieldError("listed")
    options = SourceOptions(
        tabs=fields.texts("tabs", len(TABS), MAX_NAME),
        languages=fields.texts("languages", 20, 40),
        translated=fields.flag("translated"),
        limit=fields.optional_integer("limit", 1, MAX_NUMBER),
        since=_day(fields, "since"),
        match=_pattern(fields) if fields.has("match") else None,
    )
    if not options.languages or not all(re.fullmatch(_LANGUAGE, each) for each in options.languages):
        raise FieldError("languages")
    if not set(options.tabs) <= set(TABS):
        raise FieldError("tabs")
    channel_id = fields.text("channel_id", MAX_NAME) if fields.has("channel_id") else None
    return PackedSource(url, _name(fields, "name"), channel_id, options, fields.flag("complete"), listed)


def answer_values(answer: StoredAnswer) -> Values:
    return {
        "asked_at": answer.asked_at,
        "question": answer.question,
        "text": answer.text,
        "model": answer.model,
        "prompt": answer.prompt,
        "way": answer.way,
        "ending": answer.ending,
        "sources": [
            {"number": s.number, "scene": s.scene, "video": s.video, "title": s.title, "at_ms": s.at_ms, "line": s.line}
            for s in answer.sources
        ],
        "citations": [asdict(citation) for citation in answer.citations],
    }


def read_answer(fields: Fields) -> StoredAnswer:
    text = fields.text("text", MAX_TEXT)
    return StoredAnswer(
        id=0,
        asked_at=_past(fields, "asked_at"),
        question=fields.text("question", MAX_TEXT),
        text=text,
        model=fields.text("model", MAX_NAME),
        prompt=fields.text("prompt", MAX_NAME),
        way=fields.choice("way", ("search", "transcript", "library", "map", "groups", "count")),
        ending=fields.choice("ending", ("whole", "cut", "loop", "stopped", "failed", "no_model", "no_scenes")),
        sources=tuple(_cited(each) for each in fields.records("sources", MAX_ITEMS)),
        citations=tuple(_citation(each, len(text)) for each in fields.records("citations", MAX_ITEMS)),
    )


def _citation(fields: Fields, length: int) -> Citation:
    return Citation(
        fields.integer("number", 0, MAX_NUMBER),
        fields.choice("status", ("supported", "unsupported", "unknown")),  # type: ignore[arg-type]
        _span(fields, "span", length),
        _span(fields, "claim", length),
        fields.texts("missing", MAX_NAME, MAX_NAME),
        fields.optional_integer("at_ms", 0, MAX_MS),
    )


def _span(fields: Fields, name: str, length: int) -> tuple[int, int]:
    row = _row(name, fields.items(name, 2), "start", "end")
    start = row.integer("start", 0, length)
    return start, row.integer("end", start, length)


def _cited(fields: Fields) -> CitedScene:
    return CitedScene(
        fields.integer("number", 0, MAX_NUMBER),
        fields.match("scene", WINDOW_ID),
        fields.match("video", VIDEO_ID),
        _name(fields, "title"),
        fields.integer("at_ms", 0, MAX_MS),
        fields.text("line", MAX_TEXT),
    )


def _pattern(fields: Fields) -> str:
    text = fields.text("match", MAX_NAME)
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise FieldError("match") from error
    return text


def _name(fields: Fields, name: str) -> str:
    return nfc(named(fields.text(name, MAX_NAME)))


def _channel_id(fields: Fields) -> str:
    id = fields.text("channel_id", MAX_NAME)
    if not id or not id.isprintable():
        raise FieldError("channel_id")
    return id


def _day(fields: Fields, name: str) -> date | None:
    text = fields.optional_match(name, r"\d{4}-\d\d-\d\d")
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise FieldError(name) from error


def _past(fields: Fields, name: str) -> int:
    """Read Unix seconds. The future would win against all that comes later, so it becomes the present."""
    return min(fields.integer(name, 0, MAX_SECONDS), int(time.time()))


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
