"""What a search returns: scenes, made of groups of windows, with what the query meant marked in them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from subtitle_rag.domain import Line, Morphemes, Video, Window, watch_url
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval import highlights
from subtitle_rag.retrieval.fusion import Ranked, RetrieverScore
from subtitle_rag.retrieval.lexical import LexicalQuery


@dataclass(frozen=True, slots=True)
class Scene:
    """What a search returns: one window, or neighbours of one video merged."""

    rank: int
    id: str
    """The id of its best window."""
    video: Video
    start_ms: int
    end_ms: int
    text: str
    lines: tuple[Line, ...]
    highlights: tuple[tuple[int, int], ...]
    at_ms: int
    """Where the line begins that meets the query best: the second to jump to."""
    score: float
    """The reranker's where it read the scene, else that of the order before it."""
    scores: Mapping[str, RetrieverScore]
    """Of its best window: by retriever, and those of the order so far under `fused` and `rerank`."""
    overlap_before: str = ""
    overlap_after: str = ""
    context: str | None = None
    """What a model wrote of its best window; no speech."""

    @property
    def url(self) -> str | None:
        """The link to the scene's beginning."""
        return watch_url(self.video.id, self.start_ms) if self.video.url else None

    @property
    def jump_url(self) -> str | None:
        """The link to the best line."""
        return watch_url(self.video.id, self.at_ms) if self.video.url else None


@dataclass(frozen=True, slots=True)
class Place:
    """A window in which words of a query are said."""

    window_id: str
    start_ms: int
    end_ms: int
    at_ms: int
    """Where the line begins that meets the query best."""


class Windows(Protocol):
    """What is known of found windows. All lookups leave out what has gone or is unknown. Raises what `Library` does."""

    def places(self, ids: Sequence[str]) -> Mapping[str, tuple[str, int]]:
        """Window id → video id and ordinal: only windows that have a place are found."""

    def windows(self, ids: Sequence[str]) -> Mapping[str, Window]: ...

    def morphemes(self, ids: Sequence[str]) -> Mapping[str, Morphemes]: ...

    def contexts(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Window id → what a model wrote of it."""

    def videos(self, ids: Iterable[str]) -> Mapping[str, Video]: ...


class OwnWindows:
    """`Windows` of the library."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def places(self, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        return self._library.places(ids)

    def windows(self, ids: Sequence[str]) -> dict[str, Window]:
        return self._library.windows(ids)

    def morphemes(self, ids: Sequence[str]) -> dict[str, Morphemes]:
        return self._library.morphemes(ids)

    def contexts(self, ids: Sequence[str]) -> dict[str, str]:
        return {id: context.text for id, context in self._library.contexts.of_windows(ids).items()}

    def videos(self, ids: Iterable[str]) -> dict[str, Video]:
        return self._library.known(*ids)


def scenes(known: Windows, groups: Sequence[Sequence[Ranked]], lexical: LexicalQuery) -> tuple[Scene, ...]:
    """The groups as scenes, in their order; without what has left meanwhile."""
    ids = [entry.window_id for group in groups for entry in group]
    windows = known.windows(ids)
    analyses = known.morphemes(ids)
    contexts = known.contexts([group[0].window_id for group in groups])
    videos = known.videos({group[0].video_id for group in groups})
    made: list[Scene] = []
    for group in groups:
        video = videos.get(group[0].video_id)
        own = [windows[r.window_id] for r in sorted(group, key=lambda r: r.ordinal) if r.window_id in windows]
        if video is None or not own:
            continue
        marked = [highlights.spans(w.text, analyses.get(w.id), lexical) for w in own]
        made.append(_scene(len(made) + 1, video, group[0], own, marked, contexts.get(group[0].window_id)))
    return tuple(made)


def places(known: Windows, ids: Sequence[str], lexical: LexicalQuery) -> list[Place]:
    """Those of these windows in which something of the query is said, in the order of time.

    A window may be found by its context alone, of which the video's title is a part: nothing of it can be pointed at.
    """
    analyses = known.morphemes(ids)
    made: list[Place] = []
    for id, window in known.windows(ids).items():
        if marked := highlights.spans(window.text, analyses.get(id), lexical):
            at = highlights.best_line(window.lines, window.text, marked)
            made.append(Place(id, window.start_ms, window.end_ms, at.start_ms))
    return sorted(made, key=lambda place: (place.at_ms, place.window_id))


def reading(context: str | None, text: str) -> str:
    """A window as the reranker reads it."""
    return f"{context}\n{text}" if context else text


def readings(known: Windows, ids: Sequence[str]) -> dict[str, str]:
    """The windows as the reranker reads them."""
    contexts = known.contexts(ids)
    return {id: reading(contexts.get(id), window.text) for id, window in known.windows(ids).items()}


def _scene(
    rank: int,
    video: Video,
    best: Ranked,
    own: Sequence[Window],
    marked: Sequence[list[highlights.Span]],
    context: str | None,
) -> Scene:
    lines: list[Line] = []
    spans: list[highlights.Span] = []
    offset = 0
    for window, found in zip(own, marked, strict=True):
        lines += [Line(offset + line.offset, line.start_ms) for line in window.lines]
        spans += [(offset + start, offset + end) for start, end in found]
        offset += len(window.text) + 1
    text = " ".join(window.text for window in own)
    at = highlights.best_line(lines, text, spans)
    return Scene(
        rank=rank,
        id=best.window_id,
        video=video,
        start_ms=own[0].start_ms,
        end_ms=max(window.end_ms for window in own),
        text=text,
        lines=tuple(lines),
        highlights=tuple(spans),
        at_ms=at.start_ms,
        score=best.score,
        scores=best.scores,
        overlap_before=own[0].overlap_before,
        overlap_after=own[-1].overlap_after,
        context=context,
    )
