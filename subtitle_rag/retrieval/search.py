"""From a query to scenes: retrieve, fuse, merge neighbours, mark, and find the second to jump to."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from subtitle_rag.domain import Line, Video, Window, watch_url
from subtitle_rag.errors import UsageError
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval import highlights
from subtitle_rag.retrieval.index import Filter, Hit, Index
from subtitle_rag.retrieval.lexical import LexicalQuery, QueryAnalyzer
from subtitle_rag.retrieval.query import Query

DEPTH = 150
"""Windows that each retriever contributes; what the reranker reads in the published experiments."""
RRF_K = 60
"""Cormack, Clarke & Buettcher 2009, "Reciprocal Rank Fusion outperforms Condorcet"."""
MAX_MERGED = 3
RETRIEVERS = ("bm25",)


@dataclass(frozen=True, slots=True)
class RetrieverScore:
    """Where one retriever ranked a window (from 1), and its own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A window in the fused order."""

    window_id: str
    video_id: str
    ordinal: int
    score: float
    scores: Mapping[str, RetrieverScore]


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
    scores: Mapping[str, RetrieverScore]
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
class SearchResult:
    """The scenes of a query, and how they came about."""

    query: Query
    retrievers: tuple[str, ...]
    scenes: tuple[Scene, ...]
    took_ms: Mapping[str, float]
    more: bool = False
    """There are further scenes beyond the limit."""
    lexical: LexicalQuery | None = field(default=None, repr=False)


class Searcher:
    """Searches one library. Safe from several threads."""

    def __init__(self, library: Library, index: Index, queries: QueryAnalyzer) -> None:
        self._library = library
        self._index = index
        self._queries = queries

    def search(self, query: Query, *, limit: int = 20, retrievers: Sequence[str] = RETRIEVERS) -> SearchResult:
        """The best scenes, at most `limit`.

        Raises:
            UsageError: `unknown_channel`, `unknown_video`, `unknown_retriever`.
            BusyError, AppError: from the library and the index.
        """
        started = time.perf_counter()
        lexical = self._queries.analyze(query.text)
        ranked = self.rank(query, lexical, retrievers=retrievers)
        groups = merged(ranked, limit + 1)
        scenes = self._scenes(groups[:limit], lexical)
        took = {"retrieve": round((time.perf_counter() - started) * 1000, 1)}
        return SearchResult(query, tuple(retrievers), scenes, took, len(groups) > limit, lexical)

    def rank(
        self,
        query: Query,
        lexical: LexicalQuery | None = None,
        *,
        depth: int = DEPTH,
        retrievers: Sequence[str] = RETRIEVERS,
    ) -> list[Ranked]:
        """The best windows one by one, before neighbours merge; the index may still hold some that have left."""
        for name in retrievers:
            if name not in RETRIEVERS:
                raise UsageError("unknown_retriever", name=name, ready=", ".join(RETRIEVERS))
        where = self._where(query)
        if where.only is not None and not where.only:
            return []
        lexical = lexical or self._queries.analyze(query.text)
        hits = self._index.search("bm25", lexical.vector, limit=depth, where=where, payload=())
        return fused({"bm25": hits}, self._library.places([hit.id for hit in hits]))

    def _where(self, query: Query) -> Filter:
        excluded: frozenset[str] = frozenset().union(*(self._library.containing([word]) for word in query.excluded))
        return Filter(
            channels=self._channels(query.channels),
            videos=self._videos(query.videos),
            after=query.after,
            before=query.before,
            only=self._library.containing(query.phrases) if query.phrases else None,
            without=excluded,
        )

    def _channels(self, names: Sequence[str]) -> tuple[str, ...]:
        """Channel ids: of the name or id typed, else of all names that hold it."""
        ids: list[str] = []
        known = self._library.channels() if names else []
        for name in names:
            wanted = _squeezed(name)
            exact = [id for id, full in known if wanted in (_squeezed(full), id.casefold())]
            found = exact or [id for id, full in known if wanted in _squeezed(full)]
            if not found:
                raise UsageError("unknown_channel", channel=name)
            ids += found
        return tuple(ids)

    def _videos(self, names: Sequence[str]) -> tuple[str, ...]:
        ids: list[str] = []
        for name in names:
            found = self._library.find_videos(name)
            if not found:
                raise UsageError("unknown_video", video=name)
            ids += found
        return tuple(ids)

    def _scenes(self, groups: Sequence[Sequence[Ranked]], lexical: LexicalQuery) -> tuple[Scene, ...]:
        ids = [entry.window_id for group in groups for entry in group]
        windows = self._library.windows(ids)
        analyses = self._library.morphemes(ids)
        contexts = self._library.contexts.of_windows([group[0].window_id for group in groups])
        videos = {video_id: self._library.video(video_id) for video_id in {group[0].video_id for group in groups}}
        scenes: list[Scene] = []
        for group in groups:
            video = videos[group[0].video_id]
            own = [windows[r.window_id] for r in sorted(group, key=lambda r: r.ordinal) if r.window_id in windows]
            if video is None or not own:  # they left the library just now
                continue
            marked = [highlights.spans(w.text, analyses.get(w.id), lexical) for w in own]
            scene = _scene(len(scenes) + 1, video, group[0], own, marked)
            context = contexts.get(scene.id)
            scenes.append(replace(scene, context=context.text if context else None))
        return tuple(scenes)


def fused(
    lists: Mapping[str, Sequence[Hit]],
    places: Mapping[str, tuple[str, int]],
    weights: Mapping[str, float] | None = None,
) -> list[Ranked]:
    """Weighted reciprocal rank fusion of the hits that have a place (video, ordinal).

    A single list keeps its own order and scores.
    """
    ranked: dict[str, Ranked] = {}
    for name, hits in lists.items():
        weight = (weights or {}).get(name, 1.0)
        for rank, hit in enumerate((hit for hit in hits if hit.id in places), start=1):
            before = ranked.get(hit.id)
            scores = {**(before.scores if before else {}), name: RetrieverScore(rank, hit.score)}
            score = hit.score if len(lists) == 1 else (before.score if before else 0.0) + weight / (RRF_K + rank)
            ranked[hit.id] = Ranked(hit.id, *places[hit.id], score, scores)
    return sorted(ranked.values(), key=lambda entry: (-entry.score, entry.window_id))


def merged(ranked: Sequence[Ranked], limit: int) -> list[list[Ranked]]:
    """Groups of directly adjacent windows, each led by its best; at most `limit` groups of at most three windows.

    A greater limit only adds groups.
    """
    groups: list[list[Ranked]] = []
    holder: dict[tuple[str, int], int] = {}  # where each window's group is
    for entry in ranked:
        beside = (holder.get((entry.video_id, entry.ordinal + step)) for step in (-1, 1))
        open_groups = [at for at in beside if at is not None and len(groups[at]) < MAX_MERGED]
        if open_groups:
            at = min(open_groups)
        elif len(groups) < limit:
            at = len(groups)
            groups.append([])
        else:
            continue
        groups[at].append(entry)
        holder[entry.video_id, entry.ordinal] = at
    return groups


def _scene(
    rank: int, video: Video, best: Ranked, own: Sequence[Window], marked: Sequence[list[highlights.Span]]
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
    )


def _squeezed(name: str) -> str:
    return "".join(name.casefold().split())
