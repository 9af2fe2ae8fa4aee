"""Windows that other libraries have put into a shared index, as the payloads of their points tell them.

A payload holds all that a scene needs to be shown (`indexing.payload`), but another program wrote it: what is not as it
should be is left out.
"""

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from subtitle_rag.domain import Line, Morphemes, Video, Window
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.index import Searched
from subtitle_rag.retrieval.morphemes import QueryMorphemes
from subtitle_rag.retrieval.scenes import OwnWindows

KEPT = 2_000
"""Windows that are kept between the steps of searches, some 5 MB."""
_YOUTUBE_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Foreign:
    """A window of another library."""

    video: Video
    window: Window
    context: str | None


def foreign_from(id: str, payload: Mapping[str, Any]) -> Foreign | None:
    """What a payload tells of the window `id`; None where it is not as `indexing.payload` makes it."""
    try:
        published = payload["published"]
        text = _text(payload["text"])
        lines = tuple(Line(_number(offset), _number(start)) for offset, start in payload["lines"])
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
        return Foreign(video, window, _text(context) if context else None)
    except (KeyError, TypeError, ValueError):
        return None


def _text(value: Any) -> str:
    """The text without what a terminal would obey; every character keeps its place."""
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return _CONTROLS.sub(" ", value)


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(type(value).__name__)
    return value


def without(
    words: Sequence[str], places: Mapping[str, tuple[str, int]], windows: Mapping[str, Window]
) -> dict[str, tuple[str, int]]:
    """The places of those windows whose text holds none of the words, regardless of spaces and case."""
    unwanted = [_squeezed(word) for word in words]
    kept = {id for id, window in windows.items() if not any(word in _squeezed(window.text) for word in unwanted)}
    return {id: place for id, place in places.items() if id in kept}


def _squeezed(text: str) -> str:
    return "".join(text.lower().split())


class SharedWindows:
    """`Windows` of the library and, where it does not know them, of others that share its index.

    What the index holds of the library's own videos beside its windows is left out: other versions of them, and what is
    about to leave. Safe from several threads.
    """

    def __init__(self, library: Library, index: Searched, analyzer: QueryMorphemes) -> None:
        self._library = library
        self._own = OwnWindows(library)
        self._index = index
        self._analyzer = analyzer
        self._lock = threading.Lock()
        self._seen: dict[str, Foreign] = {}

    def places(self, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        known = self._own.places(ids)
        unknown = [id for id in ids if id not in known]
        payloads = self._index.foreign(unknown) if unknown else {}
        found = {id: made for id, payload in payloads.items() if (made := foreign_from(id, payload))}
        hidden = self._hidden({one.video.id for one in found.values()})
        found = {id: one for id, one in found.items() if one.video.id not in hidden}
        with self._lock:
            for id, one in found.items():
                self._seen.pop(id, None)
                self._seen[id] = one
            for id in list(self._seen)[:-KEPT]:
                del self._seen[id]
        return known | {id: (one.video.id, one.window.ordinal) for id, one in found.items()}

    def _hidden(self, videos: set[str]) -> set[str]:
        """Those of the videos that the library has, or has just removed."""
        return self._own.videos(videos).keys() | (videos & set(self._library.purges()) if videos else set())

    def _foreign(self, ids: Iterable[str]) -> dict[str, Foreign]:
        with self._lock:
            return {id: self._seen[id] for id in ids if id in self._seen}

    def windows(self, ids: Sequence[str]) -> dict[str, Window]:
        return {id: one.window for id, one in self._foreign(ids).items()} | self._own.windows(ids)

    def morphemes(self, ids: Sequence[str]) -> dict[str, Morphemes]:
        """Those of other libraries' windows are analysed on the spot."""
        known = self._own.morphemes(ids)
        others = {id: one for id, one in self._foreign(ids).items() if id not in known}
        made = self._analyzer.morphemes([one.window.text for one in others.values()]) if others else ()
        return known | dict(zip(others, made, strict=True))

    def contexts(self, ids: Sequence[str]) -> dict[str, str]:
        return {id: one.context for id, one in self._foreign(ids).items() if one.context} | self._own.contexts(ids)

    def videos(self, ids: Iterable[str]) -> dict[str, Video]:
        known = self._own.videos(ids)
        with self._lock:
            others = {one.video.id: one.video for one in self._seen.values()}
        return {id: others[id] for id in ids if id in others} | known
