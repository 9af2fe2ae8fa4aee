"""Windows of other libraries in a shared index, read from the payloads of their points."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from subtitle_rag.domain import Morphemes, Video, Window
from subtitle_rag.library import Library
from subtitle_rag.retrieval.morphemes import QueryMorphemes
from subtitle_rag.retrieval.payload import WindowPayload, read_payload
from subtitle_rag.retrieval.scenes import OwnWindows

CACHE_SIZE = 2_000
"""Windows cached between the steps of searches, about 5 MB."""


def without(
    words: Sequence[str], places: Mapping[str, tuple[str, int]], windows: Mapping[str, Window]
) -> dict[str, tuple[str, int]]:
    """Drop the places of windows that contain any of the words, regardless of spaces and case."""
    unwanted = [_squeezed(word) for word in words]
    clean = {id for id, window in windows.items() if not any(word in _squeezed(window.text) for word in unwanted)}
    return {id: place for id, place in places.items() if id in clean}


def _squeezed(text: str) -> str:
    return "".join(text.lower().split())


class SharedIndexWindows:
    """`Windows` of the library first, then of other libraries in the same index. Thread-safe.

    `payloads` is `SharedIndex.shared_payloads`. Points of the library's own videos are left out unless the library
    knows them: they are other versions, or are about to be removed.
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

    def places(self, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        places = self._own.places(ids)
        unknown = [id for id in ids if id not in places]
        payloads = self._payloads(unknown) if unknown else {}
        entries = {id: entry for id, payload in payloads.items() if (entry := read_payload(id, payload))}
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
