"""The search: retrieve, fuse, merge neighbours, rerank, and mark the matches."""

import logging
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.library.names import match_channels, videos_of_kinds
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval import highlights
from subtitle_rag.retrieval.fusion import Ranked, fuse, merge_neighbours
from subtitle_rag.retrieval.index import Filter, Hit, Searched, VectorSearch
from subtitle_rag.retrieval.lexical import LexicalQuery, LexicalSearch
from subtitle_rag.retrieval.neural import NEURAL, Encoded, Models, Reranker, vector_names
from subtitle_rag.retrieval.query import Query
from subtitle_rag.retrieval.reranking import UNMEASURED_DEPTH, RerankCache, reorder
from subtitle_rag.retrieval.scenes import Mention, OwnWindows, Scene, Windows, mentions, passages, scenes
from subtitle_rag.retrieval.shared_index import without

logger = logging.getLogger(__name__)

DEPTH = 150
"""Windows from each retriever, as many as rerankers read in published experiments."""
MENTIONS = 200
"""Windows of one video, at most; a video of three hours has about as many."""
LEXICAL = ("bm25",)
"""Retrievers without a model."""
RETRIEVERS = (*LEXICAL, *NEURAL)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The scenes of a query, with retrievers, timings and failures."""

    query: Query
    retrievers: tuple[str, ...]
    scenes: tuple[Scene, ...]
    took_ms: Mapping[str, float]
    """By part: `retrieve`, `encode` (the query) and `rerank`."""
    more: bool = False
    """Whether further scenes lie beyond the limit."""
    lexical: LexicalQuery | None = field(default=None, repr=False)
    reranked: bool = False
    missing: tuple[tuple[str, AppError], ...] = ()
    """Retrievers that failed, or `rerank`, with their errors."""
    final: bool = True
    """No better order of these scenes follows."""


@dataclass(slots=True)
class _SearchRun:
    """The state of one search."""

    query: Query
    limit: int
    retrievers: tuple[str, ...]
    explicit: bool
    """The caller chose the retrievers: their failure ends the search."""
    lexical: LexicalQuery
    where: Filter
    took: dict[str, float]
    lists: dict[str, list[Hit]] = field(default_factory=dict)
    ranked: list[Ranked] = field(default_factory=list)
    unseen: frozenset[str] = frozenset()
    missing: list[tuple[str, AppError]] = field(default_factory=list)

    @property
    def neural(self) -> list[str]:
        return [name for name in self.retrievers if name in NEURAL]


class Searcher:
    """Searches one library. Safe from several threads.

    Without `neural` models, or if they fail, `bm25` answers alone. `windows` reads the windows of hits, by default
    from the library.
    """

    def __init__(
        self,
        library: Library,
        index: Searched,
        queries: LexicalSearch,
        neural: Models | None = None,
        windows: Windows | None = None,
    ) -> None:
        self._library = library
        self._index = index
        self._queries = queries
        self._neural = neural
        self._windows = windows or OwnWindows(library)
        self._rerank_cache = RerankCache()

    def ready(self) -> tuple[str, ...]:
        """Return the retrievers with something to search in, without loading a model."""
        return RETRIEVERS if self._encoder_id() else LEXICAL

    def search(
        self, query: Query, *, limit: int = 20, retrievers: Sequence[str] | None = None, rerank: bool = True
    ) -> SearchResult:
        """Return the best scenes, at most `limit`, by the given or all ready retrievers. See `stages`."""
        run = self._begin(query, limit, retrievers)
        *_, last = self._stages(run, rerank, lambda: False, early=False)
        return last

    def stages(
        self,
        query: Query,
        *,
        limit: int = 20,
        retrievers: Sequence[str] | None = None,
        rerank: bool = True,
        stop: Callable[[], bool] = lambda: False,
    ) -> Generator[SearchResult, None, None]:
        """Yield the result of `bm25`, then of all retrievers, then the reranked one, each complete.

        The last one is `final`. Each stage runs when its result is requested. `stop` is polled during reranking and
        ends the search without a further result. A failed model leaves its error in `missing`.

        Raises:
            UsageError: `unknown_channel`, `unknown_video`, `unknown_retriever`, `retriever_not_ready`.
            BusyError, AppError: from the library and the index, and from the encoder if `retrievers` names one of its
                own.
        """
        return self._stages(self._begin(query, limit, retrievers), rerank, stop, early=True)

    def rank(
        self,
        query: Query,
        lexical: LexicalQuery | None = None,
        *,
        depth: int = DEPTH,
        retrievers: Sequence[str] | None = None,
    ) -> list[Ranked]:
        """Return the best windows one by one, before neighbours merge; some may have left the library.

        Raises the errors of `stages`, and those of a failed retriever.
        """
        run = self._begin(query, depth, retrievers, depth=depth, lexical=lexical)
        if run.lists:
            self._fuse(run)
        if run.neural:
            self._retrieve_neural(run, depth)
        return run.ranked

    def mentions(self, query: Query, video_id: str, *, limit: int = MENTIONS) -> list[Mention]:
        """Return the best `limit` windows of a video by `bm25`, in the order of time. Raises the errors of `stages`."""
        where = replace(self._where(query), videos=(video_id,))
        lexical, hits = self._queries.search(self._index, query.text, limit=limit, where=where)
        positions = self._positions(query, [hit.id for hit in hits])
        return mentions(self._windows, [id for id, (video, _at) in positions.items() if video == video_id], lexical)

    def _stages(
        self, run: _SearchRun, rerank: bool, stop: Callable[[], bool], *, early: bool
    ) -> Generator[SearchResult, None, None]:
        """Run `stages`; without `early` yield only the last result."""
        reranker = self._reranker(run) if rerank else None
        if "bm25" in run.retrievers:
            with _timed(run.took, "retrieve"):
                self._fuse(run)
            final = not (run.neural or (reranker and run.ranked))
            if final or early:
                yield self._result(run, final=final)
        if run.neural:
            try:
                self._retrieve_neural(run, DEPTH)
            except AppError as error:
                if run.explicit:
                    raise
                logger.debug("no neural retrieval", exc_info=True)  # for every key of a search
                run.missing += [(name, error) for name in run.neural]
            final = not (reranker and run.ranked)
            if final or early:
                yield self._result(run, final=final)
        if reranker and run.ranked:
            yield from self._reranked(run, reranker, stop)

    # Retrievers

    def _encoder_id(self) -> str | None:
        """Return the encoder of the searched vectors, if its files are present."""
        active = self._library.vectors.active() if self._neural else None
        if active is None or self._neural is None:
            return None
        try:
            return active if self._neural.encoder(active) else None
        except AppError:  # told where it is asked for a query's vectors
            logger.debug("no encoder", exc_info=True)
            return active

    def _checked_retrievers(self, retrievers: Sequence[str] | None) -> tuple[str, ...]:
        ready = self.ready()
        for name in retrievers or ():
            if name not in RETRIEVERS:
                raise UsageError("unknown_retriever", name=name, ready=", ".join(ready))
            if name not in ready:
                raise UsageError("retriever_not_ready", name=name, ready=", ".join(ready))
        return tuple(dict.fromkeys(retrievers)) if retrievers is not None else ready

    def _begin(
        self,
        query: Query,
        limit: int,
        retrievers: Sequence[str] | None,
        *,
        depth: int = DEPTH,
        lexical: LexicalQuery | None = None,
    ) -> _SearchRun:
        """Analyse the query and find windows by its words, in one call of the index host."""
        names = self._checked_retrievers(retrievers)
        took: dict[str, float] = {}
        lists: dict[str, list[Hit]] = {}
        with _timed(took, "retrieve"):
            where = self._where(query)
            if "bm25" not in names:
                lexical = lexical or self._queries.analyze(query.text)
            elif lexical is None:
                lexical, lists["bm25"] = self._queries.search(self._index, query.text, limit=depth, where=where)
            else:
                lists["bm25"] = self._index.search("bm25", lexical.vector, limit=depth, where=where, payload=())
            if "bm25" in lists:
                lists["bm25"] = self._spoken_first(self._certain(lists["bm25"], lexical), lexical)
        return _SearchRun(query, limit, names, retrievers is not None, lexical, where, took, lists)

    def _certain(self, hits: list[Hit], lexical: LexicalQuery) -> list[Hit]:
        """Drop the windows that share only pairs of letters of an unknown Latin word."""
        if lexical.certain is None or not hits:
            return hits
        where = Filter(only=frozenset(hit.id for hit in hits))
        certain = self._index.search("bm25", lexical.certain, limit=len(hits), where=where, payload=())
        ids = {hit.id for hit in certain}
        return [hit for hit in hits if hit.id in ids]

    def _spoken_first(self, hits: list[Hit], lexical: LexicalQuery) -> list[Hit]:
        """Move the windows that say the word of a query of one word before those that have it in the title alone, or
        say only variants.

        With more words this ranks worse: failure@20 of scene_bench rises from 0.287 to 0.294.
        """
        if len(lexical.forms) != 1 or len(lexical.words) > 1:
            return hits
        ids = [hit.id for hit in hits]
        analyses = self._library.morphemes(ids)
        spoken = {id for id, analysis in analyses.items() if not lexical.forms.isdisjoint(analysis.forms)}
        others = [id for id in ids if id not in spoken]
        texts = self._windows.windows(others)
        spoken |= {id for id, window in texts.items() if highlights.spans(window.text, None, lexical)}
        return sorted(hits, key=lambda hit: hit.id not in spoken)

    def _retrieve_neural(self, run: _SearchRun, depth: int) -> None:
        """Search by `dense`, `sparse` or both. Raises the errors of the encoder."""
        id = self._encoder_id()
        encoder = self._neural.encoder(id) if self._neural and id else None
        if id is None or encoder is None:  # it has just gone
            return
        with _timed(run.took, "encode"):
            encoded = encoder.query(run.query.text)
        with _timed(run.took, "retrieve"):
            run.lists |= self._neural_hits(run, encoded, id, depth)
            self._fuse(run)

    def _neural_hits(self, run: _SearchRun, encoded: Encoded, id: str, depth: int) -> dict[str, list[Hit]]:
        """Return the hits of the neural retrievers, from one call of the index."""
        dense, sparse = vector_names(id)
        searches: dict[str, VectorSearch] = {}
        by_words = frozenset(hit.id for hit in run.lists.get("bm25", ()))
        if "dense" in run.neural:
            searches["dense"] = VectorSearch(dense, encoded.dense, depth, run.where)
            # a full list does not show which of the windows beyond its end have vectors
            searches["encoded"] = VectorSearch(dense, encoded.dense, len(by_words), Filter(only=by_words))
        if "sparse" in run.neural:
            if encoded.sparse is not None:
                searches["sparse"] = VectorSearch(sparse, encoded.sparse, depth, run.where)
            elif not searches and not run.lists:  # the only retriever, and this encoder has none
                raise UsageError("retriever_not_ready", name="sparse", ready="bm25, dense")
        if run.where.only is not None and not run.where.only:  # nothing can match
            return {name: [] for name in searches if name != "encoded"}
        hits = dict(zip(searches, self._index.search_all(list(searches.values())), strict=True))
        if "encoded" in hits:
            run.unseen = by_words - {hit.id for hit in (*hits.pop("encoded"), *hits["dense"])}
        return hits

    def _fuse(self, run: _SearchRun) -> None:
        positions = self._positions(run.query, list({hit.id for hits in run.lists.values() for hit in hits}))
        run.ranked = fuse(run.lists, positions, unseen=run.unseen)

    def _positions(self, query: Query, ids: Sequence[str]) -> Mapping[str, tuple[str, int]]:
        """Return video and ordinal of these windows, without those that the query excludes."""
        positions = self._windows.places(ids)
        if query.excluded:  # the filter names only the library's own windows
            return without(query.excluded, positions, self._windows.windows(list(positions)))
        return positions

    # Scenes

    def _reranker(self, run: _SearchRun) -> Reranker | None:
        try:
            return self._neural.reranker() if self._neural else None
        except AppError as error:
            logger.debug("no reranker", exc_info=True)
            run.missing.append(("rerank", error))
            return None

    def _reranked(self, run: _SearchRun, reranker: Reranker, stop: Callable[[], bool]) -> Iterator[SearchResult]:
        """Yield the last result, or nothing after `stop`."""
        groups, reranked = None, False
        with _timed(run.took, "rerank"):
            try:
                depth = reranker.depth or UNMEASURED_DEPTH
                groups = merge_neighbours(run.ranked, max(run.limit + 1, depth))
                texts = passages(self._windows, [group[0].window_id for group in groups[:depth]])
                scores = self._rerank_cache.scores(reranker, run.query.text, texts, stop)
                if scores is None:
                    return
                groups, reranked = reorder(groups, scores), True
            except AppError as error:
                logger.info("the order stays as it is", exc_info=True)
                run.missing.append(("rerank", error))
        yield self._result(run, final=True, groups=groups, reranked=reranked)

    def _result(
        self, run: _SearchRun, *, final: bool, groups: list[list[Ranked]] | None = None, reranked: bool = False
    ) -> SearchResult:
        with _timed(run.took, "retrieve"):
            groups = groups or merge_neighbours(run.ranked, run.limit + 1)
            best = scenes(self._windows, groups[: run.limit], run.lexical)
        return SearchResult(
            run.query,
            tuple(run.lists),
            best,
            {name: round(spent, 1) for name, spent in run.took.items()},
            len(groups) > run.limit,
            run.lexical,
            reranked,
            tuple(run.missing),
            final,
        )

    # Filters

    def _where(self, query: Query) -> Filter:
        excluded: frozenset[str] = frozenset().union(*(self._library.containing([word]) for word in query.excluded))
        videos = self._videos(query.videos)
        only = self._library.containing(query.phrases) if query.phrases else None
        if query.kinds:
            # from the library: older points lack the kind
            ids = videos_of_kinds(self._library, query.kinds)
            videos = tuple(sorted(ids.intersection(videos) if videos else ids))
            only = only if videos else frozenset()
        return Filter(
            channels=self._channels(query.channels),
            videos=videos,
            after=query.after,
            before=query.before,
            only=only,
            without=excluded,
        )

    def _channels(self, names: Sequence[str]) -> tuple[str, ...]:
        ids: list[str] = []
        channels = self._library.channels() if names else []
        for name in names:
            matches = match_channels(name, channels)
            if not matches:
                raise UsageError("unknown_channel", channel=name)
            ids += matches
        return tuple(ids)

    def _videos(self, names: Sequence[str]) -> tuple[str, ...]:
        ids: list[str] = []
        for name in names:
            matches = self._library.find_videos(name)
            if not matches:
                raise UsageError("unknown_video", video=name)
            ids += matches
        return tuple(ids)


@contextmanager
def _timed(took: dict[str, float], part: str) -> Iterator[None]:
    """Add the time of the block in ms."""
    started = time.perf_counter()
    try:
        yield
    finally:
        took[part] = took.get(part, 0.0) + (time.perf_counter() - started) * 1000
