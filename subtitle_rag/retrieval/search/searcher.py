"""The search: retrieve, fuse, merge neighbours, rerank, and mark the matches."""

import logging
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from subtitle_rag.domain import AppError, UsageError, Window, squeeze
from subtitle_rag.i18n import n_
from subtitle_rag.library import Library, channel_ids, undated_videos, video_ids, videos_of_kinds
from subtitle_rag.retrieval.korean.lexical import (
    LexicalQuery,
    LexicalSearch,
    level_searches,
    unknown_words,
    word_search,
)
from subtitle_rag.retrieval.named_vectors import LATE, PIECES, multivector_name, piece_id, vector_names
from subtitle_rag.retrieval.neural import Encoded, Encoder, Models, Reranker
from subtitle_rag.retrieval.search.fusion import (
    BY_RANKS,
    BY_SCORES,
    LATE_SHARE,
    PIECE_SHARE,
    Candidates,
    LevelHit,
    Ranked,
    add_pieces,
    add_video_scores,
    best_by_video,
    deciding_shares,
    fuse,
    fuse_late,
    fuse_scores,
    lift,
    merge_neighbours,
    numbered,
    shares,
)
from subtitle_rag.retrieval.search.own_words import BORROWED, WordPlaces
from subtitle_rag.retrieval.search.parts import HIERARCHY, LEXICAL, NEURAL, ORDERS, RETRIEVERS, SEARCH_PARTS
from subtitle_rag.retrieval.search.query import Query
from subtitle_rag.retrieval.search.reranking import IN_SEARCH, RerankBudget, RerankCache, reorder
from subtitle_rag.retrieval.search.scenes import (
    Mention,
    NearestPieces,
    OwnWindows,
    Scene,
    Windows,
    make_scenes,
    mentions,
    no_pieces,
    passages,
)
from subtitle_rag.retrieval.values import (
    DenseVector,
    Filter,
    Hit,
    MultiVector,
    NearestPart,
    Searched,
    Vector,
    VectorSearch,
)

logger = logging.getLogger(__name__)

DEPTH = 150
"""Windows from each retriever, as many as rerankers read in published experiments."""
REFINED_S = 0.5
"""Shortest time between two orders of one search while the reranker reads."""
MENTIONS = 200
"""Windows of one video, at most; a video of three hours has about as many."""
LATE_DEPTH = 300
"""Windows whose token vectors are compared with the query's: 4 ms of the index at 128 dimensions, 15 at 1,024."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The scenes of a query, with retrievers, timings and failures."""

    query: Query
    retrievers: tuple[str, ...]
    scenes: tuple[Scene, ...]
    took_ms: Mapping[str, float]
    """By part: `retrieve`, `encode` (the query), `late` and `rerank`."""
    more: bool = False
    """Whether further scenes lie beyond the limit."""
    lexical: LexicalQuery | None = field(default=None, repr=False)
    reranked: bool = False
    missing: tuple[tuple[str, AppError], ...] = ()
    """Retrievers that failed, or `rerank`, or `index` for windows that it lacks, with their errors."""
    final: bool = True
    """No better order of these scenes follows."""
    rerank_progress: tuple[int, int] | None = None
    """While the reranker reads: the windows that it has read, and those that it will have read in the end."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """How much each retriever decides of the fused score; empty for a single one, and where ranks are fused."""
    unknown_words: tuple[str, ...] = ()
    """The typed words that stand nowhere in the library."""
    undated: int = 0
    """Videos that a filter by date leaves out since nobody knows their day."""

    @property
    def has_known_word(self) -> bool:
        """Return whether a typed word stands in the library. Without one, all scenes share only letters with them."""
        if self.lexical is None or not self.unknown_words:
            return True
        return self.lexical.has_word_beside(self.unknown_words)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The windows of a query one by one, before neighbours merge; some may have left the library."""

    windows: list[Ranked]
    lexical: LexicalQuery
    nearest_pieces: NearestPieces = no_pieces


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
    computed: dict[str, dict[str, float]] = field(default_factory=dict)
    """By retriever, the scores of windows that only others have in their lists."""
    positions: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Video and ordinal of the windows found."""
    video_scores: dict[str, float] = field(default_factory=dict)
    """By video, the score by words of its best window."""
    shares: dict[str, float] = field(default_factory=dict)
    above: list[LevelHit] = field(default_factory=list)
    """Sections and videos found."""
    ranked: list[Ranked] = field(default_factory=list)
    unseen: frozenset[str] = frozenset()
    missing: list[tuple[str, AppError]] = field(default_factory=list)
    is_late: bool = False
    """Token vectors have had a part in the order."""
    pieces: dict[str, float] = field(default_factory=dict)
    """By window, the cosine of its best piece."""
    own_words: WordPlaces | None = None
    meaning: tuple[str, DenseVector] | None = None
    """The named vector of pieces, and the query's vector to compare with them."""

    @property
    def neural(self) -> list[str]:
        return [name for name in self.retrievers if name in (*NEURAL, LATE, PIECES)]


class Searcher:
    """Searches one library. Safe from several threads.

    Without `neural` models, or if they fail, `bm25` answers alone. `windows` reads the windows of hits, by default
    from the library. `fusion` is `BY_SCORES` or `BY_RANKS`. With `levels` sections and videos lift their windows.
    `budget` says how much the reranker reads where a call does not.
    """

    def __init__(
        self,
        library: Library,
        index: Searched,
        queries: LexicalSearch,
        neural: Models | None = None,
        windows: Windows | None = None,
        *,
        fusion: str = BY_SCORES,
        levels: bool = False,
        budget: RerankBudget = IN_SEARCH,
    ) -> None:
        self._has_levels = levels
        self._fusion = fusion
        self.budget = budget
        self._library = library
        self._index = index
        self._queries = queries
        self._neural = neural
        self._windows = windows or OwnWindows(library)
        self._rerank_cache = RerankCache()

    def ready(self) -> tuple[str, ...]:
        """Return the retrievers with something to search in, and what can order their windows; loads no model."""
        id, encoder = self._searched_encoder()
        names = (*(RETRIEVERS if id else LEXICAL), *((HIERARCHY,) if self._has_levels else ()))
        if encoder is None:
            return names
        return (*names, *([LATE] if encoder.token_dimensions else []), *([PIECES] if encoder.has_pieces else []))

    def search(
        self,
        query: Query,
        *,
        limit: int = 20,
        retrievers: Sequence[str] | None = None,
        rerank: bool = True,
        budget: RerankBudget | None = None,
    ) -> SearchResult:
        """Return the best scenes, at most `limit`, by the given or all ready retrievers. See `stages`."""
        run = self._begin(query, limit, retrievers)
        *_, last = self._stages(run, rerank, lambda: False, budget or self.budget, early=False)
        return last

    def stages(
        self,
        query: Query,
        *,
        limit: int = 20,
        retrievers: Sequence[str] | None = None,
        rerank: bool = True,
        budget: RerankBudget | None = None,
        refine: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> Generator[SearchResult, None, None]:
        """Yield the result of `bm25`, then of all retrievers, then the reranked one, each complete.

        The last one is `final`. Each stage runs when its result is requested. With `refine` the order so far comes
        every `REFINED_S` while the reranker reads. `stop` is polled during reranking and ends the search without a
        further result. A failed model leaves its error in `missing`.

        Raises:
            UsageError: `unknown_channel`, `unknown_video`, `unknown_retriever`, `retriever_not_ready`, `levels_off`,
                `late_alone`, `pieces_without_dense`.
            BusyError, AppError: from the library and the index, and from the encoder if `retrievers` names one of its
                own.
        """
        run = self._begin(query, limit, retrievers)
        return self._stages(run, rerank, stop, budget or self.budget, early=True, refine=refine)

    def rank(self, query: Query, *, depth: int = DEPTH, retrievers: Sequence[str] | None = None) -> list[Ranked]:
        """Return the windows of `ranking`. Raises its errors."""
        return self.ranking(query, depth=depth, retrievers=retrievers).windows

    def ranking(self, query: Query, *, depth: int = DEPTH, retrievers: Sequence[str] | None = None) -> Ranking:
        """Return the best windows. Raises the errors of `stages`, and those of a failed retriever."""
        run = self._begin(query, depth, retrievers, depth=depth)
        if run.neural:
            self._retrieve_neural(run, depth)
        if not run.ranked and run.lists:
            self._fuse(run)
        return Ranking(run.ranked, run.lexical, partial(self._nearest_pieces, run))

    def candidates(self, query: Query, *, depth: int = DEPTH, retrievers: Sequence[str] | None = None) -> Candidates:
        """Return the windows with their scores before these are fused. Raises the errors of `rank`."""
        run = self._begin(query, depth, retrievers, depth=depth)
        if run.neural:
            self._retrieve_neural(run, depth, fusion=BY_SCORES)
        return self._candidates(run)

    def mentions(self, query: Query, video_id: str, *, limit: int = MENTIONS) -> list[Mention]:
        """Return the best `limit` windows of a video by `bm25`, in the order of time. Raises the errors of `stages`."""
        where = replace(self.where(query), videos=(video_id,))
        lexical, hits = self._queries.search(self._index, query.text, limit=limit, where=where)
        positions = self._positions(query, hits)
        return mentions(self._windows, [id for id, (video, _at) in positions.items() if video == video_id], lexical)

    def _stages(
        self,
        run: _SearchRun,
        rerank: bool,
        stop: Callable[[], bool],
        budget: RerankBudget,
        *,
        early: bool,
        refine: bool = False,
    ) -> Generator[SearchResult, None, None]:
        """Run `stages`; without `early` yield only the last result."""
        reranker = self._reranker(run) if rerank else None
        if "bm25" in run.retrievers and (early or not run.neural):
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
            if not run.ranked and run.lists:
                self._fuse(run)
            final = not (reranker and run.ranked)
            if final or early:
                yield self._result(run, final=final)
        if reranker and run.ranked:
            yield from self._reranked(run, reranker, budget, stop, refine=refine)

    # Retrievers

    def _searched_encoder(self) -> tuple[str | None, Encoder | None]:
        """Return the encoder of the searched vectors: none without its files, its id alone if it fails."""
        active = self._library.vectors.active() if self._neural else None
        if active is None or self._neural is None:
            return None, None
        try:
            encoder = self._neural.encoder(active)
        except AppError:  # told where it is asked for a query's vectors
            logger.debug("no encoder", exc_info=True)
            return active, None
        return active if encoder else None, encoder

    def _checked_retrievers(self, retrievers: Sequence[str] | None) -> tuple[str, ...]:
        ready = self.ready()
        for name in retrievers or ():
            if name not in SEARCH_PARTS:
                raise UsageError("unknown_retriever", name=name, ready=", ".join(ready))
            if name == HIERARCHY and name not in ready:
                raise UsageError("levels_off")
            if name not in ready:
                raise UsageError("retriever_not_ready", name=name, ready=", ".join(ready))
        if retrievers and set(retrievers) <= set(ORDERS):
            raise UsageError("late_alone", ready=", ".join(n for n in ready if n not in ORDERS))
        if retrievers and PIECES in retrievers and "dense" not in retrievers:
            raise UsageError("pieces_without_dense")
        return tuple(dict.fromkeys(retrievers)) if retrievers is not None else ready

    def _begin(self, query: Query, limit: int, retrievers: Sequence[str] | None, *, depth: int = DEPTH) -> _SearchRun:
        """Analyse the query and find windows by its words, in one call of the index host."""
        names = self._checked_retrievers(retrievers)
        took: dict[str, float] = {}
        lists: dict[str, list[Hit]] = {}
        with _timed(took, "retrieve"):
            where = self.where(query)
            if "bm25" in names:
                lexical, lists["bm25"] = self._queries.search(self._index, query.text, limit=depth, where=where)
            else:
                lexical = self._queries.analyze(query.text)
            run = _SearchRun(query, limit, names, retrievers is not None, lexical, where, took, lists)
            if "bm25" in lists:
                self._place(run, lists)
                run.video_scores = best_by_video(lists["bm25"], run.positions)
                lists["bm25"] = add_video_scores(lists["bm25"], run.positions, run.video_scores)
            if HIERARCHY in names:
                run.above = self._level_hits(run.lexical, where)
        return run

    def _level_hits(self, lexical: LexicalQuery, where: Filter) -> list[LevelHit]:
        """Return the sections and videos that say words of the query, whatever windows the filter names."""
        above = replace(where, only=None, without=frozenset())
        searches = level_searches(lexical, limit=DEPTH, where=above)
        found = [hit for hits in self._index.search_all(searches) for hit in hits]
        places = self._library.levels.places([hit.id for hit in found])
        return [
            LevelHit(place.level, place.video_id, place.first, place.last, hit.score)
            for hit in found
            if (place := places.get(hit.id)) is not None
        ]

    def _retrieve_neural(self, run: _SearchRun, depth: int, fusion: str = "") -> None:
        """Search by `dense`, `sparse` or both. Raises the errors of the encoder."""
        id, _encoder = self._searched_encoder()
        encoder = self._neural.encoder(id) if self._neural and id else None
        if id is None or encoder is None:  # it has just gone
            return
        with _timed(run.took, "encode"):
            encoded = encoder.query(run.query.text)
        with _timed(run.took, "retrieve"):
            run.lists |= self._neural_hits(run, encoded, id, depth, fusion or self._fusion)
            self._fuse(run)
        if LATE in run.neural and encoded.tokens is not None and run.ranked:
            with _timed(run.took, LATE):
                self._order_by_tokens(run, encoded.tokens, id)

    def _neural_hits(self, run: _SearchRun, encoded: Encoded, id: str, depth: int, fusion: str) -> dict[str, list[Hit]]:
        """Return the hits of the neural retrievers, from one call of the index; another computes what is missing."""
        dense, sparse = vector_names(id)
        queries: dict[str, tuple[str, Vector]] = {}
        if "dense" in run.neural and encoded.dense.values:
            queries["dense"] = dense, encoded.dense
        if "sparse" in run.neural and encoded.sparse is not None:
            queries["sparse"] = sparse, encoded.sparse
        if not queries:
            if not run.lists:  # no other retriever, and this encoder has none of these
                makes = {"dense": encoded.dense.values, "sparse": encoded.sparse is not None}
                ready = ", ".join((*LEXICAL, *(name for name in NEURAL if makes[name])))
                raise UsageError("retriever_not_ready", name=run.neural[0], ready=ready)
            return {}
        by_words = frozenset(hit.id for hit in run.lists.get("bm25", ()))
        of_words = Filter(only=by_words)
        searches = [VectorSearch(*query, depth, run.where) for query in queries.values()]
        # these also show which of the windows have vectors
        searches += [VectorSearch(*query, len(by_words), of_words) for query in queries.values()]
        answers = self._index.search_all(searches)
        lists = dict(zip(queries, answers[: len(queries)], strict=True))
        computed = dict(zip(queries, answers[len(queries) :], strict=True))
        if "dense" in lists:
            run.unseen = by_words - {hit.id for hit in (*computed["dense"], *lists["dense"])}
        searches_now: dict[str, VectorSearch] = {}
        if fusion == BY_SCORES:
            run.computed = {name: {hit.id: hit.score for hit in hits} for name, hits in computed.items()}
            searches_now = self._missing_scores(run, lists, queries, depth)
        if PIECES in run.neural and "dense" in queries:
            run.meaning = multivector_name(piece_id(id)), encoded.dense
            ids = frozenset(hit.id for hits in (*run.lists.values(), *lists.values()) for hit in hits)
            query = MultiVector.of([encoded.dense.values])
            searches_now[PIECES] = VectorSearch(run.meaning[0], query, len(ids), Filter(only=ids))
        self._compute(run, searches_now)
        if run.pieces and fusion == BY_RANKS:
            cosines = add_pieces({hit.id: hit.score for hit in lists["dense"]}, run.pieces)
            lists["dense"].sort(key=lambda hit: -cosines[hit.id])
        return lists

    def _missing_scores(
        self, run: _SearchRun, lists: Mapping[str, Sequence[Hit]], queries: Mapping[str, tuple[str, Vector]], depth: int
    ) -> dict[str, VectorSearch]:
        """Return the searches for the scores of windows that other retrievers have in their lists.

        A list that has ended before `depth` has every window with a score, unless `LexicalQuery.certain` took some.
        """
        every = {name: {hit.id for hit in hits} for name, hits in (run.lists | dict(lists)).items()}
        ids = frozenset[str]().union(*every.values())
        searches: dict[str, VectorSearch] = {}
        for name, scored in every.items():
            missing = ids - scored - run.computed.get(name, {}).keys() - run.unseen
            is_whole = len(scored) < depth and (name != "bm25" or run.lexical.certain is None)
            if is_whole or not missing:
                continue
            where = Filter(only=missing)
            searches[name] = (
                VectorSearch(*queries[name], len(missing), where)
                if name in queries
                else word_search(run.lexical, limit=len(missing), where=where)
            )
        return searches

    def _compute(self, run: _SearchRun, searches: Mapping[str, VectorSearch]) -> None:
        """Compute scores of windows that are candidates already, in one call of the index."""
        if not searches:
            return
        answers = dict(zip(searches, self._index.search_all(list(searches.values())), strict=True))
        if "bm25" in answers:
            self._place(run, {"bm25": answers["bm25"]})
            answers["bm25"] = add_video_scores(answers["bm25"], run.positions, run.video_scores)
        run.pieces = {hit.id: hit.score for hit in answers.pop(PIECES, ())}
        for name, hits in answers.items():
            run.computed[name] = run.computed.get(name, {}) | {hit.id: hit.score for hit in hits}

    def _order_by_tokens(self, run: _SearchRun, query: MultiVector, id: str) -> None:
        """Compare the token vectors of the best windows with the query's, in one call of the index."""
        best = frozenset(entry.window_id for entry in run.ranked[:LATE_DEPTH])
        (hits,) = self._index.search_all([VectorSearch(multivector_name(id), query, len(best), Filter(only=best))])
        if not hits:  # an index without them, or none of these windows has its own yet
            return
        fused = fuse_late(run.ranked, hits, by_ranks=self._fusion == BY_RANKS)
        run.ranked = self._own_words_first(run, fused)
        run.is_late = True
        if self._fusion == BY_SCORES:
            others = run.shares or dict.fromkeys(run.lists, 1.0)
            run.shares = {name: share * (1 - LATE_SHARE) for name, share in others.items()} | {LATE: LATE_SHARE}

    def _nearest_pieces(self, run: _SearchRun, ids: Sequence[str]) -> Mapping[str, NearestPart]:
        """Return which piece of these windows is nearest to the query, where they have vectors of them."""
        known = [id for id in ids if id in run.pieces]
        if run.meaning is None or not known:
            return {}
        return self._index.nearest_parts(*run.meaning, known)

    def _place(self, run: _SearchRun, lists: Mapping[str, Sequence[Hit]]) -> None:
        """Read the positions of the hits that have none yet."""
        new: dict[str, Hit] = {}
        for hit in chain(*lists.values()):
            if hit.id not in run.positions:
                new.setdefault(hit.id, hit)
        if new:
            run.positions |= self._positions(run.query, list(new.values()))

    def _candidates(self, run: _SearchRun) -> Candidates:
        self._place(run, run.lists)
        asked = sum(run.lexical.vector.values) or 1.0
        return Candidates(run.lists, run.positions, run.computed, run.unseen, asked, run.above, run.pieces)

    def _fuse(self, run: _SearchRun) -> None:
        candidates = self._candidates(run)
        if self._fusion == BY_RANKS or (len(run.lists) < 2 and not run.pieces):
            run.ranked = fuse(run.lists, candidates.positions, unseen=run.unseen)
        else:
            parts = shares(candidates)
            run.shares = deciding_shares(candidates, parts)
            if run.pieces:
                meaning = run.shares["dense"]
                run.shares |= {"dense": meaning * (1 - PIECE_SHARE), PIECES: meaning * PIECE_SHARE}
            run.ranked = fuse_scores(candidates, parts)
        run.ranked = self._own_words_first(run, lift(run.ranked, candidates.above))

    def _own_words_first(self, run: _SearchRun, ranked: list[Ranked]) -> list[Ranked]:
        """Move the windows that say all typed words before those that borrow some; among equals the order stays."""
        run.own_words = run.own_words or WordPlaces(run.lexical, self._windows)
        places = run.own_words.of([entry.window_id for entry in ranked])
        ordered = sorted(ranked, key=lambda entry: places.get(entry.window_id, BORROWED))
        return numbered(ordered)

    def _positions(self, query: Query, hits: Sequence[Hit]) -> Mapping[str, tuple[str, int]]:
        """Return video and ordinal of the windows, without those that the query excludes."""
        positions = self._windows.places(hits)
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

    def _reranked(
        self, run: _SearchRun, reranker: Reranker, budget: RerankBudget, stop: Callable[[], bool], *, refine: bool
    ) -> Iterator[SearchResult]:
        """Yield the last result, or nothing after `stop`; with `refine`, those before it, too."""
        groups, scores = None, dict[str, float]()
        try:
            with _timed(run.took, "rerank"):
                depth = budget.windows(reranker)
                groups = merge_neighbours(run.ranked, max(run.limit + 1, depth))
                texts = passages(self._windows, [group[0].window_id for group in groups[:depth]])
            if budget.patience_s is None and not refine:  # a pass takes as long as its longest text
                texts = dict(sorted(texts.items(), key=lambda item: len(item[1])))
            shown_at = time.monotonic()
            steps = self._rerank_cache.reading(reranker, run.query.text, texts, budget.patience_s)
            while True:
                with _timed(run.took, "rerank"):
                    step = next(steps, None)
                if stop():
                    return
                if step is None:
                    break
                scores = step
                if refine and len(scores) < len(texts) and time.monotonic() - shown_at >= REFINED_S:
                    progress = len(scores), len(texts)
                    order = reorder(groups, scores)
                    yield self._result(run, final=False, groups=order, reranked=bool(scores), progress=progress)
                    shown_at = time.monotonic()
        except AppError as error:
            logger.info("the order stays as it is", exc_info=True)
            run.missing.append(("rerank", error))
            groups, scores = None, {}
        if groups is not None:
            groups = reorder(groups, scores)
        yield self._result(run, final=True, groups=groups, reranked=bool(scores))

    def _result(
        self,
        run: _SearchRun,
        *,
        final: bool,
        groups: list[list[Ranked]] | None = None,
        reranked: bool = False,
        progress: tuple[int, int] | None = None,
    ) -> SearchResult:
        with _timed(run.took, "retrieve"):
            groups = groups or merge_neighbours(run.ranked, run.limit + 1)
            nearest = partial(self._nearest_pieces, run)
            best = make_scenes(self._windows, groups[: run.limit], run.lexical, nearest)
        orders = {HIERARCHY: run.above, LATE: run.is_late, PIECES: run.pieces}
        return SearchResult(
            run.query,
            (*run.lists, *(name for name, has_part in orders.items() if has_part)),
            best,
            {name: round(spent, 1) for name, spent in run.took.items()},
            len(groups) > run.limit,
            run.lexical,
            reranked,
            tuple(run.missing),
            final,
            progress,
            dict(run.shares),
            self._unknown_words(run),
            self._undated(run),
        )

    def _undated(self, run: _SearchRun) -> int:
        if run.where.after is None and run.where.before is None:
            return 0
        return undated_videos(self._library, run.where.channels, run.where.videos)

    def _unknown_words(self, run: _SearchRun) -> tuple[str, ...]:
        """Return the typed words that stand nowhere in the library; the windows found may have one in part."""
        if not run.lexical.unknown:
            return ()
        ids = [entry.window_id for entry in run.ranked]
        videos = self._windows.videos({entry.video_id for entry in run.ranked}).values()
        titles = [title for video in videos for title in (video.title, *(chapter.title for chapter in video.chapters))]
        texts, contexts = self._windows.texts(ids), self._windows.contexts(ids)
        return unknown_words(run.lexical, [*texts.values(), *titles, *contexts.values()])

    # Filters

    def analyze(self, text: str) -> LexicalQuery:
        """Return the words of a text with what may stand for them in the library."""
        return self._queries.analyze(text)

    def where(self, query: Query) -> Filter:
        """Return a query's filters by id; raises UsageError `unknown_video`, `unknown_channel`."""
        excluded: frozenset[str] = frozenset().union(*(self._library.containing([word]) for word in query.excluded))
        videos = tuple(video_ids(self._library, query.videos))
        only = self._library.containing(query.phrases) if query.phrases else None
        if query.speakers:
            said = self._library.said_by(query.speakers)
            only = said if only is None else only & said
        if query.kinds:
            # from the library: older points lack the kind
            ids = videos_of_kinds(self._library, query.kinds)
            videos = tuple(sorted(ids.intersection(videos) if videos else ids))
            only = only if videos else frozenset()
        return Filter(
            channels=tuple(channel_ids(self._library, query.channels)),
            videos=videos,
            after=query.after,
            before=query.before,
            only=only,
            without=excluded,
        )


def without(
    words: Sequence[str], places: Mapping[str, tuple[str, int]], windows: Mapping[str, Window]
) -> dict[str, tuple[str, int]]:
    """Drop the places of windows that contain any of the words, regardless of spaces and case."""
    unwanted = [squeeze(word) for word in words]
    clean = {id for id, window in windows.items() if not any(word in squeeze(window.text) for word in unwanted)}
    return {id: place for id, place in places.items() if id in clean}


def undated_sentence(count: int) -> str:
    """Return what a filter by date has left out."""
    return n_("{n} video without a date is left out.", "{n} videos without a date are left out.", count, n=count)


def shares_text(shares: Mapping[str, float]) -> str:
    """Return the retrievers with their shares: `bm25 22 %, dense 78 %`."""
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())


@contextmanager
def _timed(took: dict[str, float], part: str) -> Iterator[None]:
    """Add the time of the block in ms."""
    started = time.perf_counter()
    try:
        yield
    finally:
        took[part] = took.get(part, 0.0) + (time.perf_counter() - started) * 1000
