"""From a query to scenes: retrieve, fuse, merge neighbours, rerank, mark, and find the second to jump to."""

import logging
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.library.names import channels_called, of_kinds
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.fusion import Ranked, fused, merged
from subtitle_rag.retrieval.index import Filter, Hit, Searched, VectorSearch
from subtitle_rag.retrieval.lexical import LexicalQuery, LexicalSearch
from subtitle_rag.retrieval.neural import NEURAL, Encoded, Models, Reranker, vector_names
from subtitle_rag.retrieval.query import Query
from subtitle_rag.retrieval.reranking import UNMEASURED_DEPTH, Reading, reordered
from subtitle_rag.retrieval.scenes import OwnWindows, Place, Scene, Windows, places, readings, scenes
from subtitle_rag.retrieval.shared_index import without

logger = logging.getLogger(__name__)

DEPTH = 150
"""Windows that each retriever contributes; what the reranker reads in the published experiments."""
PLACES = 200
"""Windows of one video that can be pointed at; a video of three hours has about as many."""
LEXICAL = ("bm25",)
"""The retrievers that need no model."""
RETRIEVERS = (*LEXICAL, *NEURAL)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The scenes of a query, and how they came about."""

    query: Query
    retrievers: tuple[str, ...]
    scenes: tuple[Scene, ...]
    took_ms: Mapping[str, float]
    """By part: `retrieve`, `encode` (the query), `rerank`."""
    more: bool = False
    """There are further scenes beyond the limit."""
    lexical: LexicalQuery | None = field(default=None, repr=False)
    reranked: bool = False
    missing: tuple[tuple[str, AppError], ...] = ()
    """Retrievers, or `rerank`, that should have had a part in it, and why they had none."""
    final: bool = True
    """No better order of these scenes is on the way."""


@dataclass(slots=True)
class _Search:
    """One search under way."""

    query: Query
    limit: int
    asked: tuple[str, ...]
    named: bool
    """The user said which retrievers to ask."""
    lexical: LexicalQuery
    where: Filter
    took: dict[str, float]
    lists: dict[str, list[Hit]] = field(default_factory=dict)
    ranked: list[Ranked] = field(default_factory=list)
    unseen: frozenset[str] = frozenset()
    missing: list[tuple[str, AppError]] = field(default_factory=list)

    @property
    def neural(self) -> list[str]:
        return [name for name in self.asked if name in NEURAL]


class Searcher:
    """Searches one library. Safe from several threads.

    `neural` are the models that may be there; without them, and wherever they fail, `bm25` answers alone. `known` tells
    of the windows that are found; those of the library unless it is given.
    """

    def __init__(
        self,
        library: Library,
        index: Searched,
        queries: LexicalSearch,
        neural: Models | None = None,
        known: Windows | None = None,
    ) -> None:
        self._library = library
        self._index = index
        self._queries = queries
        self._neural = neural
        self._known = known or OwnWindows(library)
        self._reading = Reading()

    def ready(self) -> tuple[str, ...]:
        """The retrievers that have something to search in; asks nothing of a model."""
        return RETRIEVERS if self._encoder_id() else LEXICAL

    def search(
        self, query: Query, *, limit: int = 20, retrievers: Sequence[str] | None = None, rerank: bool = True
    ) -> SearchResult:
        """The best scenes, at most `limit`; by the retrievers that are ready unless some are named. See `stages`."""
        now = self._begin(query, limit, retrievers)
        *_, last = self._stages(now, rerank, lambda: False, early=False)
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
        """The result of `bm25` at once, then that of all retrievers, then the reranked one, each whole.

        The last one is `final`. No work is done before the next one is asked for; `stop` is looked at while windows
        are read, and ends the search without a further result. A model that fails takes no search down: the result
        tells it in `missing`.

        Raises:
            UsageError: `unknown_channel`, `unknown_video`, `unknown_retriever`, `retriever_not_ready`.
            BusyError, AppError: from the library and the index; from the encoder where a retriever that needs it was
                named.
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
        """The best windows one by one, before neighbours merge; the index may still hold some that have left.

        Raises what `stages` does, and whatever keeps a retriever from having its part.
        """
        now = self._begin(query, depth, retrievers, depth=depth, lexical=lexical)
        if now.lists:
            self._fuse(now)
        if now.neural:
            self._retrieve_neural(now, depth)
        return now.ranked

    def places(self, query: Query, video_id: str, *, limit: int = PLACES) -> list[Place]:
        """Where in one video words of the query are said, in the order of time: the best `limit` windows that `bm25`
        finds. Asks nothing of a model, and raises what `stages` does.
        """
        where = replace(self._where(query), videos=(video_id,))
        lexical, hits = self._queries.search(self._index, query.text, limit=limit, where=where)
        found = self._placed(query, [hit.id for hit in hits])
        return places(self._known, [id for id, (video, _at) in found.items() if video == video_id], lexical)

    def _stages(
        self, now: _Search, rerank: bool, stop: Callable[[], bool], *, early: bool
    ) -> Generator[SearchResult, None, None]:
        """See `stages`; without `early` the last result alone."""
        reranker = self._reranker(now) if rerank else None
        if "bm25" in now.asked:
            with _timed(now.took, "retrieve"):
                self._fuse(now)
            final = not (now.neural or (reranker and now.ranked))
            if final or early:
                yield self._result(now, final=final)
        if now.neural:
            try:
                self._retrieve_neural(now, DEPTH)
            except AppError as error:
                if now.named:
                    raise
                logger.debug("no neural retrieval", exc_info=True)  # for every key of a search
                now.missing += [(name, error) for name in now.neural]
            final = not (reranker and now.ranked)
            if final or early:
                yield self._result(now, final=final)
        if reranker and now.ranked:
            yield from self._reranked(now, reranker, stop)

    # Retrievers

    def _encoder_id(self) -> str | None:
        """The encoder whose vectors are searched, if its files are here."""
        active = self._library.vectors.active() if self._neural else None
        if active is None or self._neural is None:
            return None
        try:
            return active if self._neural.encoder(active) else None
        except AppError:  # told where it is asked for a query's vectors
            logger.debug("no encoder", exc_info=True)
            return active

    def _asked(self, retrievers: Sequence[str] | None) -> tuple[str, ...]:
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
    ) -> _Search:
        """Analyse the query and, where `bm25` is asked, find windows by its words: one call of the index's host."""
        asked = self._asked(retrievers)
        took: dict[str, float] = {}
        lists: dict[str, list[Hit]] = {}
        with _timed(took, "retrieve"):
            where = self._where(query)
            if "bm25" not in asked:
                lexical = lexical or self._queries.analyze(query.text)
            elif lexical is None:
                lexical, lists["bm25"] = self._queries.search(self._index, query.text, limit=depth, where=where)
            else:
                lists["bm25"] = self._index.search("bm25", lexical.vector, limit=depth, where=where, payload=())
        return _Search(query, limit, asked, retrievers is not None, lexical, where, took, lists)

    def _retrieve_neural(self, now: _Search, depth: int) -> None:
        """Ask `dense`, `sparse` or both. Raises what the encoder raises."""
        id = self._encoder_id()
        encoder = self._neural.encoder(id) if self._neural and id else None
        if id is None or encoder is None:  # it has just gone
            return
        with _timed(now.took, "encode"):
            encoded = encoder.query(now.query.text)
        with _timed(now.took, "retrieve"):
            now.lists |= self._neural_hits(now, encoded, id, depth)
            self._fuse(now)

    def _neural_hits(self, now: _Search, encoded: Encoded, id: str, depth: int) -> dict[str, list[Hit]]:
        """The hits of the neural retrievers, by one call of the index."""
        dense, sparse = vector_names(id)
        searches: dict[str, VectorSearch] = {}
        by_words = frozenset(hit.id for hit in now.lists.get("bm25", ()))
        if "dense" in now.neural:
            searches["dense"] = VectorSearch(dense, encoded.dense, depth, now.where)
            # a full list says nothing of those beyond its end: which of them have vectors?
            searches["seen"] = VectorSearch(dense, encoded.dense, len(by_words), Filter(only=by_words))
        if "sparse" in now.neural:
            if encoded.sparse is not None:
                searches["sparse"] = VectorSearch(sparse, encoded.sparse, depth, now.where)
            elif not searches and not now.lists:  # it alone was asked for, and this encoder makes none
                raise UsageError("retriever_not_ready", name="sparse", ready="bm25, dense")
        if now.where.only is not None and not now.where.only:  # nothing can be found: nobody is asked
            return {name: [] for name in searches if name != "seen"}
        found = dict(zip(searches, self._index.search_all(list(searches.values())), strict=True))
        if "seen" in found:
            seen = {hit.id for hit in (*found.pop("seen"), *found["dense"])}
            now.unseen = by_words - seen
        return found

    def _fuse(self, now: _Search) -> None:
        found = self._placed(now.query, list({hit.id for hits in now.lists.values() for hit in hits}))
        now.ranked = fused(now.lists, found, unseen=now.unseen)

    def _placed(self, query: Query, ids: Sequence[str]) -> Mapping[str, tuple[str, int]]:
        """The video and ordinal of those of these windows that the query may find."""
        found = self._known.places(ids)
        if query.excluded:  # the filter names only the library's own windows
            return without(query.excluded, found, self._known.windows(list(found)))
        return found

    # Scenes

    def _reranker(self, now: _Search) -> Reranker | None:
        try:
            return self._neural.reranker() if self._neural else None
        except AppError as error:
            logger.debug("no reranker", exc_info=True)
            now.missing.append(("rerank", error))
            return None

    def _reranked(self, now: _Search, reranker: Reranker, stop: Callable[[], bool]) -> Iterator[SearchResult]:
        """The last result; none where `stop` said so."""
        groups, told = None, False
        with _timed(now.took, "rerank"):
            try:
                depth = reranker.depth or UNMEASURED_DEPTH
                groups = merged(now.ranked, max(now.limit + 1, depth))
                passages = readings(self._known, [group[0].window_id for group in groups[:depth]])
                scores = self._reading.scores(reranker, now.query.text, passages, stop)
                if scores is None:
                    return
                groups, told = reordered(groups, scores), True
            except AppError as error:
                logger.info("the order stays as it is", exc_info=True)
                now.missing.append(("rerank", error))
        yield self._result(now, final=True, groups=groups, reranked=told)

    def _result(
        self, now: _Search, *, final: bool, groups: list[list[Ranked]] | None = None, reranked: bool = False
    ) -> SearchResult:
        with _timed(now.took, "retrieve"):
            groups = groups or merged(now.ranked, now.limit + 1)
            made = scenes(self._known, groups[: now.limit], now.lexical)
        return SearchResult(
            now.query,
            tuple(now.lists),
            made,
            {name: round(spent, 1) for name, spent in now.took.items()},
            len(groups) > now.limit,
            now.lexical,
            reranked,
            tuple(now.missing),
            final,
        )

    # Filters

    def _where(self, query: Query) -> Filter:
        excluded: frozenset[str] = frozenset().union(*(self._library.containing([word]) for word in query.excluded))
        videos = self._videos(query.videos)
        only = self._library.containing(query.phrases) if query.phrases else None
        if query.kinds:
            # the library knows a video's kind at all times; points made before it was known could not tell it
            found = of_kinds(self._library, query.kinds)
            videos = tuple(sorted(found.intersection(videos) if videos else found))
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
        known = self._library.channels() if names else []
        for name in names:
            found = channels_called(name, known)
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


@contextmanager
def _timed(took: dict[str, float], part: str) -> Iterator[None]:
    """Add what the block takes, in ms."""
    started = time.perf_counter()
    try:
        yield
    finally:
        took[part] = took.get(part, 0.0) + (time.perf_counter() - started) * 1000
