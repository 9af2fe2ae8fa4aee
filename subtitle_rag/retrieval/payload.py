"""The payload of an index point: everything needed to show its scene, so that other libraries can read it too.

The windows of other libraries in a shared index are read from it.

A shared index also holds payloads from other programs, so every field is checked when it is read.
"""

import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from subtitle_rag.domain import Line, Morphemes, Video, Window
from subtitle_rag.library import Library
from subtitle_rag.retrieval.index import Hit
from subtitle_rag.retrieval.morphemes import QueryMorphemes
from subtitle_rag.retrieval.scenes import OwnWindows

_YOUTUBE_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


SCENE_KEYS = (
    *("video", "title", "channel_id", "channel", "url", "published", "ordinal", "start_ms", "end_ms", "text", "lines"),
    *("overlap_before", "overlap_after", "context"),
)
"""The keys of `to_payload`."""
CACHE_SIZE = 2_000
"""Windows cached between the steps of searches, about 5 MB."""


@dataclass(frozen=True, slots=True)
class WindowPayload:
    """A payload as values of the domain."""

    video: Video
    window: Window
    context: str | None


def to_payload(video: Video, window: Window, context: str | None = None) -> dict[str, Any]:
    return {
        "video": video.id,
        "title": video.title,
        "channel_id": video.channel_id,
        "channel": video.channel,
        "url": video.url,
        "published": video.published.isoformat() if video.published else None,
        "ordinal": window.ordinal,
        "start_ms": window.start_ms,
        "end_ms": window.end_ms,
        "text": window.text,
        "lines": [list(line[:2]) for line in window.lines],
        **({"speakers": speakers} if any(speakers := [line.speaker for line in window.lines]) else {}),
        "overlap_before": window.overlap_before,
        "overlap_after": window.overlap_after,
        "context": context,
    }


def read_payload(id: str, payload: Mapping[str, Any]) -> WindowPayload | None:
    """Return the payload of the window `id`, or None if `to_payload` cannot have written it."""
    try:
        published = payload["published"]
        text = _text(payload["text"])
        places = [(_number(offset), _number(start)) for offset, start in payload["lines"]]
        speakers = [_text(name) for name in payload.get("speakers", [""] * len(places))]
        lines = tuple(Line(*place, speaker) for place, speaker in zip(places, speakers, strict=True))
        offsets = [line.offset for line in lines]
        if not text or offsets != sorted(set(offsets)) or offsets[:1] != [0] or offsets[-1] >= len(text):
            return None
        video_id = _text(payload["video"])
        video = Video(
            id=video_id,
            title=_text(payload["title"]),
            channel_id=_text(payload["channel_id"]),
            channel=_text(payload["channel"]),
            url=f"https://www.youtube.com/watch?v={video_id}"
            if payload["url"] and _YOUTUBE_ID.fullmatch(video_id)
            else None,
            published=date.fromisoformat(published) if published else None,
        )
        window = Window(
            id=id,
            video_id=video.id,
            ordinal=_number(payload["ordinal"]),
            start_ms=_number(payload["start_ms"]),
            end_ms=_number(payload["end_ms"]),
            text=text,
            lines=lines,
            overlap_before=_text(payload["overlap_before"]),
            overlap_after=_text(payload["overlap_after"]),
        )
        context = payload.get("context")
        return WindowPayload(video, window, _text(context) if context else None)
    except (KeyError, TypeError, ValueError):
        return None


def _text(value: Any) -> str:
    """Replace control characters, which a terminal would obey, and halves of others by blanks; offsets stay valid."""
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return _CONTROLS.sub(" ", value)


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(type(value).__name__)
    return value


class SharedIndexWindows:
    """`Windows` of the library first, then of other libraries in the same index. Thread-safe.

    `payloads` is `SharedIndex.shared_payloads`, for hits that come without theirs. Points of the library's own videos
    are left out unless the library knows them: they are other versions, or are about to be removed.
    """

    def __init__(
        self,
        library: Library,
        payloads: Callable[[Collection[str]], Mapping[str, Mapping[str, Any]]],
        analyzer: QueryMorphemes,
    ) -> None:
        self._library = library
        self._own = OwnWindows(library)
        self._payloads = payloads
        self._analyzer = analyzer
        self._lock = threading.Lock()
        self._cache: dict[str, WindowPayload] = {}

    def places(self, hits: Sequence[Hit]) -> dict[str, tuple[str, int]]:
        places = self._own.places(hits)
        unknown = [hit for hit in hits if hit.id not in places]
        payloads: dict[str, Mapping[str, Any]] = {hit.id: hit.payload for hit in unknown if hit.payload}
        entries = self._cached(hit.id for hit in unknown)
        if missing := [hit.id for hit in unknown if hit.id not in payloads and hit.id not in entries]:
            payloads |= self._payloads(missing)
        entries |= {id: entry for id, payload in payloads.items() if (entry := read_payload(id, payload))}
        hidden = self._hidden({entry.video.id for entry in entries.values()})
        entries = {id: entry for id, entry in entries.items() if entry.video.id not in hidden}
        with self._lock:
            for id, entry in entries.items():
                self._cache.pop(id, None)
                self._cache[id] = entry
            for id in list(self._cache)[:-CACHE_SIZE]:
                del self._cache[id]
        return places | {id: (entry.video.id, entry.window.ordinal) for id, entry in entries.items()}

    def _hidden(self, videos: set[str]) -> set[str]:
        """Return the videos that the library has or has just removed."""
        return self._own.videos(videos).keys() | (videos & set(self._library.purges()) if videos else set())

    def _cached(self, ids: Iterable[str]) -> dict[str, WindowPayload]:
        with self._lock:
            return {id: self._cache[id] for id in ids if id in self._cache}

    def windows(self, ids: Sequence[str]) -> dict[str, Window]:
        return {id: entry.window for id, entry in self._cached(ids).items()} | self._own.windows(ids)

    def morphemes(self, ids: Sequence[str]) -> dict[str, Morphemes]:
        """Return the stored morphemes; windows of other libraries are analysed now."""
        stored = self._own.morphemes(ids)
        entries = {id: entry for id, entry in self._cached(ids).items() if id not in stored}
        analyses = self._analyzer.morphemes([entry.window.text for entry in entries.values()]) if entries else ()
        return stored | dict(zip(entries, analyses, strict=True))

    def contexts(self, ids: Sequence[str]) -> dict[str, str]:
        return {id: entry.context for id, entry in self._cached(ids).items() if entry.context} | self._own.contexts(ids)

    def videos(self, ids: Iterable[str]) -> dict[str, Video]:
        own_videos = self._own.videos(ids)
        with self._lock:
            videos = {entry.video.id: entry.video for entry in self._cache.values()}
        return {id: videos[id] for id in ids if id in videos} | own_videos
