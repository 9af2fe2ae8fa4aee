"""Search: retrieve, fuse, merge adjacent windows, rerank and mark the matches."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from subtitle_rag.base.domain.answer_values import WordCount
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.base.vectors.named_vectors import PIECES
from subtitle_rag.base.vectors.points import Filter, Searched
from subtitle_rag.korean.lexical import LexicalQuery, LexicalSearch, unknown_words
from subtitle_rag.korean.morphemes import folded, key
from subtitle_rag.library.names import undated_videos, videos_of_kinds
from subtitle_rag.library.resolve import channel_ids, video_ids
from subtitle_rag.library.said_words import PlaceCount
from subtitle_rag.library.store import Library
from subtitle_rag.models.neural.calibration import stored_calibration, words_weight
from subtitle_rag.models.neural.protocols import Encoded, Encoder, Models, Reranker
from subtitle_rag.search.candidates import CandidateSearch
from subtitle_rag.search.copies import first_results
from subtitle_rag.search.fusion import Candidates, Ranked, best_of_videos, merge_neighbours
from subtitle_rag.search.parts import LEXICAL, RETRIEVERS, SEARCH_PARTS
from subtitle_rag.search.place_counts import places_of_all, places_of_each
from subtitle_rag.search.query import Query
from subtitle_rag.search.reranking import IN_SEARCH, RerankBudget, RerankCache, reorder
from subtitle_rag.search.scenes import (
    Mention,
    Scene,
    make_results,
    mentions,
    passages,
)
from subtitle_rag.search.stages import (
    Order,
    SearchRequest,
    fuse_candidates,
)
from subtitle_rag.search.window_reads import KeptReads, Windows

logger = logging.getLogger(__name__)

DEPTH = 150
"""Windows per retriever, as many as rerankers read in published experiments."""
REFINED_S = 0.5
"""Shortest time between two orders while the reranker reads."""
ENCODERS = 8
"""Encoders whose word weight and calibration are cached."""
MENTIONS = 200
"""Most windows of one video; a three-hour video has about as many."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The scenes of a query, with retrievers, timings and failures."""

    query: Query
    retrievers: tuple[str, ...]
    scenes: tuple[Scene, ...]
    took_ms: Mapping[str, float]
    """Milliseconds of `retrieve`, `encode` (the query) and `rerank`."""
    more: bool = False
    """Whether more scenes exist beyond the limit."""
    scenes_by_video: Mapping[str, int] = field(default_factory=dict)
    """Scenes found per video, including those beyond the limit, whose copies count as scenes."""
    is_cut: bool = False
    """Whether a greater depth would find more windows with the words."""
    lexical: LexicalQuery | None = field(default=None, repr=False)
    reranked: bool = False
    missing: tuple[tuple[str, AppError], ...] = ()
    """Errors by retriever, by `rerank`, or by `index` for windows not yet indexed."""
    final: bool = True
    """Whether this is the last order of the scenes."""
    rerank_progress: tuple[int, int] | None = None
    """Windows read, and windows to read, while the reranker runs."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """How much each retriever decides the fused score; empty for a single one or fused ranks."""
    unknown_words: tuple[str, ...] = ()
    """Typed words that occur nowhere in the library."""
    undated: int = 0
    """Videos left out by a filter by date because their day is unknown."""
    counts: PlaceCount | None = None
    """Places with all typed words, see `place_counts`; None without words, or if not requested."""
    floors: tuple[float, float] | None = None
    """Least cosine of a hit by meaning, and the stricter one for a query without enough words; None without a
    calibrated encoder.
    """

    @property
    def has_known_word(self) -> bool:
        """Whether the library has a typed word. Without one, all scenes share only letters with the query."""
        if self.lexical is None or not self.unknown_words:
            return True
        words = {word for form, word in self.lexical.words_by_form.items() if form in self.lexical.forms}
        return not words <= set(map(key, self.unknown_words))


@contextmanager
def _timed(took_ms: dict[str, float], part: str) -> Iterator[None]:
    """Add the time of the block to a part of this search."""
    started = time.perf_counter()
    try:
        yield
    finally:
        took_ms[part] = took_ms.get(part, 0.0) + (time.perf_counter() - started) * 1000


@dataclass(frozen=True, slots=True)
class _Search:
    """The state of a search; each stage returns the next one."""

    request: SearchRequest
    limit: int
    candidates: Candidates
    took_ms: dict[str, float]
    order: Order = field(default_factory=Order)
    missing: tuple[tuple[str, AppError], ...] = ()
    """As in `SearchResult.missing`."""
    counts: PlaceCount | None = None
    per_video: int | None = None
    """Most scenes per video."""


class Searcher:
    """Search of one library. Safe from several threads.

    Args:
        library: The library.
        index: Its index.
        queries: The analyser of queries.
        neural: The models; without them, or if they fail, `bm25` answers alone.
        budget: The default limit of the reranker.
    """

    def __init__(
        self,
        library: Library,
        index: Searched,
        queries: LexicalSearch,
        neural: Models | None = None,
        *,
        budget: RerankBudget = IN_SEARCH,
    ) -> None:
        self.budget = budget
        self._library = library
        self._index = index
        self._queries = queries
        self._neural = neural
        self._windows = Windows(library)
        self._retrieval = CandidateSearch(self._windows, index, queries)
        self._rerank_cache = RerankCache()
        self._measured = KeptReads(
            library.database.version,
            ENCODERS,
            lambda ids: {id: (words_weight(library, id), stored_calibration(library, id)) for id in ids},
        )

    def ready(self) -> tuple[str, ...]:
        """Return the retrievers with an index, and the parts that can reorder their windows; loads no model."""
        id, encoder = self._searched_encoder()
        names = RETRIEVERS if id else LEXICAL
        if encoder is None:
            return names
        return (*names, PIECES) if encoder.has_pieces else names

    def search(
        self,
        query: Query,
        *,
        limit: int = 20,
        retrievers: Sequence[str] | None = None,
        rerank: bool = True,
        budget: RerankBudget | None = None,
        depth: int = DEPTH,
        is_question: bool = False,
    ) -> SearchResult:
        """Return the best scenes by the given or all ready retrievers. See `stages`.

        Args:
            query: The parsed query.
            limit: Most scenes.
            retrievers: The retrievers to use; None for all ready ones.
            rerank: Whether to rerank.
            budget: The limit of the reranker.
            depth: Windows per retriever.
            is_question: Whether the query is a question: one of its words is enough then, as answers repeat few of
                them.

        Returns:
            The last result of `stages`.
        """
        search = self._begin(query, retrievers, limit, depth=depth)
        search = replace(search, candidates=replace(search.candidates, is_question=is_question))
        *_, last = self._stages(self._counted(search), rerank, lambda: False, budget or self.budget, early=False)
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
        per_video: int | None = None,
        counted: bool = False,
    ) -> Generator[SearchResult, None, None]:
        """Yield the result of `bm25`, then of all retrievers, then the reranked one, each complete.

        Each stage runs when its result is requested; the last result is `final`. A failed model leaves its error in
        `missing`.

        Args:
            query: The parsed query.
            limit: Most scenes.
            retrievers: The retrievers to use; None for all ready ones.
            rerank: Whether to rerank.
            budget: The limit of the reranker.
            refine: Whether to yield the order so far every `REFINED_S` while the reranker reads.
            stop: Polled during reranking; ends the search without a further result.
            per_video: Most scenes per video; the scenes of a video come together.
            counted: Whether results have `counts`, for which the first one waits.

        Yields:
            The results, each complete.

        Raises:
            UsageError: `unknown`, `retriever_not_ready`.
            BusyError, AppError: From the library and the index, and from the encoder if `retrievers` names one of its
                own.
        """
        search = replace(self._begin(query, retrievers, limit), per_video=per_video)
        if counted:
            search = self._counted(search)
        return self._stages(search, rerank, stop, budget or self.budget, early=True, refine=refine)

    def rank(
        self, query: Query, *, depth: int = DEPTH, retrievers: Sequence[str] | None = None, by_ranks: bool = False
    ) -> list[Ranked]:
        """Return the best windows, not merged; some may have left the library.

        With `by_ranks` fuses ranks instead of scores. Raises the errors of `stages`, and those of a failed retriever.
        """
        search = self._begin(query, retrievers, depth=depth)
        search = replace(search, request=replace(search.request, by_ranks=by_ranks))
        encoded = self._encode(search)
        search = self._by_meaning(search, *encoded) if encoded else self._ordered(search)
        return list(search.order.windows)

    def candidates(self, query: Query, *, depth: int = DEPTH) -> Candidates:
        """Return the windows with their scores before fusion. Raises the errors of `rank`."""
        search = self._begin(query, None, depth=depth)
        encoded = self._encode(search)
        found = self._with_meaning(search, *encoded) if encoded else search.candidates
        return self._retrieval.with_own_words(found, search.request.lexical)

    def mentions(self, query: Query, video_id: str, *, limit: int = MENTIONS) -> list[Mention]:
        """Return the best `limit` windows of a video by `bm25`, in order of time. Raises the errors of `stages`."""
        if not query.text:
            return []
        where = replace(self.where(query), videos=(video_id,))
        lexical, hits = self._queries.search(self._index, query.text, limit=limit, where=where)
        positions = self._windows.places(hit.id for hit in hits)
        return mentions(self._windows, [id for id, (video, _at) in positions.items() if video == video_id], lexical)

    def _stages(
        self,
        search: _Search,
        rerank: bool,
        stop: Callable[[], bool],
        budget: RerankBudget,
        *,
        early: bool,
        refine: bool = False,
    ) -> Generator[SearchResult, None, None]:
        """Run `stages`; without `early` yield only the last result.

        Args:
            search: The search after its candidates by words.
            rerank: Whether to rerank.
            stop: Polled during reranking.
            budget: The limit of the reranker.
            early: Whether to yield earlier results too.
            refine: Whether to yield orders while the reranker reads.

        Yields:
            The results.
        """
        request = search.request
        reranker, failure = self._reranker() if rerank and request.query.text else (None, None)
        if failure is not None:
            search = replace(search, missing=(("rerank", failure),))
        ordered = search
        for ordered, is_complete in self._orders(search, early=early):
            final = is_complete and not (reranker and ordered.order.windows)
            if final or early:
                yield self._result(ordered, final=final)
        if reranker and ordered.order.windows:
            yield from self._reranked(ordered, reranker, budget, stop, refine=refine)

    def _counted(self, search: _Search) -> _Search:
        request = search.request
        with _timed(search.took_ms, "retrieve"):
            return replace(search, counts=places_of_all(self._library, request.query, request.lexical, request.where))

    def _orders(self, search: _Search, *, early: bool) -> Iterator[tuple[_Search, bool]]:
        """Yield the search ordered by words (if `early`, or if that is all), then by all retrievers (True)."""
        request = search.request
        if "bm25" in request.retrievers and (early or not request.neural):
            search = self._ordered(search)
            yield search, not request.neural
        if request.neural:
            try:
                if encoded := self._encode(search):
                    search = self._by_meaning(search, *encoded)
            except AppError as error:
                if request.is_explicit:
                    raise
                logger.debug("no neural retrieval", exc_info=True)  # repeats with every key typed
                search = replace(search, missing=(*search.missing, *((name, error) for name in request.neural)))
            yield search if search.order.parts else self._ordered(search), True

    # Retrievers

    def _searched_encoder(self) -> tuple[str | None, Encoder | None]:
        """Return the encoder of the searched vectors; None without its files, only its id if it fails."""
        active = self._library.vectors.active() if self._neural else None
        if active is None or self._neural is None:
            return None, None
        try:
            encoder = self._neural.encoder(active)
        except AppError:  # reported when the query's vectors are needed
            logger.debug("no encoder", exc_info=True)
            return active, None
        return active if encoder else None, encoder

    def _checked_retrievers(self, retrievers: Sequence[str] | None) -> tuple[str, ...]:
        ready = self.ready()
        for name in retrievers or ():
            reason = ""
            if name not in SEARCH_PARTS:
                reason = _("it is unknown")
            elif name not in ready:
                reason = _("no model has made vectors for it")
            elif name == PIECES and "dense" not in (retrievers or ()):
                reason = _("it needs dense beside it")
            if reason:
                raise UsageError("retriever_not_ready", name=name, reason=reason, ready=", ".join(ready))
        return tuple(dict.fromkeys(retrievers)) if retrievers is not None else ready

    def _begin(
        self,
        query: Query,
        retrievers: Sequence[str] | None,
        limit: int = 0,
        *,
        depth: int | None = None,
    ) -> _Search:
        """Analyse the query and find windows by its words."""
        names, took_ms = self._checked_retrievers(retrievers), dict[str, float]()
        with _timed(took_ms, "retrieve"):
            request, candidates = self._retrieval.by_words(
                query,
                self.where(query),
                names,
                DEPTH if depth is None else depth,
                is_explicit=retrievers is not None,
            )
        return _Search(request, limit, candidates, took_ms)

    def _encode(self, search: _Search) -> tuple[Encoded, str] | None:
        """Return the query's vectors and the encoder's id; None if nothing needs them, or the encoder was just removed.

        Raises the errors of the encoder.
        """
        id, encoder = self._searched_encoder() if search.request.neural else (None, None)
        if encoder is None and self._neural and id:
            encoder = self._neural.encoder(id)  # raises the reason for a failure
        if id is None or encoder is None:
            return None
        with _timed(search.took_ms, "encode"):
            return encoder.query(search.request.query.text), id

    def _by_meaning(self, search: _Search, encoded: Encoded, id: str) -> _Search:
        """Add the hits of the query's vectors, and order all candidates."""
        with _timed(search.took_ms, "retrieve"):
            candidates = self._with_meaning(search, encoded, id)
        return self._ordered(replace(search, candidates=candidates))

    def _with_meaning(self, search: _Search, encoded: Encoded, id: str) -> Candidates:
        candidates = self._retrieval.by_meaning(search.request, search.candidates, encoded, id)
        words, calibration = self._measured([id])[id]
        candidates = replace(candidates, words=words)
        if calibration and calibration.has_floor:
            candidates = replace(candidates, floor=calibration.floor, strict_floor=calibration.strict_floor)
        return candidates

    def _ordered(self, search: _Search) -> _Search:
        """Order the candidates."""
        with _timed(search.took_ms, "retrieve"):
            candidates = self._retrieval.with_own_words(search.candidates, search.request.lexical)
            return replace(
                search, candidates=candidates, order=fuse_candidates(candidates, by_ranks=search.request.by_ranks)
            )

    # Scenes

    def _reranker(self) -> tuple[Reranker | None, AppError | None]:
        try:
            return self._neural.reranker() if self._neural else None, None
        except AppError as error:
            logger.debug("no reranker", exc_info=True)
            return None, error

    def _reranked(
        self, search: _Search, reranker: Reranker, budget: RerankBudget, stop: Callable[[], bool], *, refine: bool
    ) -> Iterator[SearchResult]:
        """Yield the reranked result, or nothing after `stop`; with `refine`, the orders before it too.

        Args:
            search: The search with its fused order.
            reranker: The cross-encoder.
            budget: The limit of the reranker.
            stop: Polled between chunks.
            refine: Whether to yield orders while it reads.

        Yields:
            The results.
        """
        groups, scores = None, dict[str, float]()
        try:
            with _timed(search.took_ms, "rerank"):
                depth = budget.windows(reranker)
                groups = self._grouped(search.order.windows, max(search.limit + 1, depth))
                texts = passages(self._windows, [group[0].window_id for group in groups[:depth]])
            if budget.patience_s is None and not refine:  # a pass takes as long as its longest text
                texts = dict(sorted(texts.items(), key=lambda item: len(item[1])))
            shown_at = time.monotonic()
            steps = self._rerank_cache.reading(reranker, search.request.query.text, texts, budget.patience_s)
            while True:
                with _timed(search.took_ms, "rerank"):
                    step = next(steps, None)
                if stop():
                    return
                if step is None:
                    break
                scores = step
                if refine and len(scores) < len(texts) and time.monotonic() - shown_at >= REFINED_S:
                    progress = len(scores), len(texts)
                    order = reorder(groups, scores)
                    yield self._result(search, final=False, groups=order, reranked=bool(scores), progress=progress)
                    shown_at = time.monotonic()
        except AppError as error:
            logger.info("the order stays as it is", exc_info=True)
            search = replace(search, missing=(*search.missing, ("rerank", error)))
            groups, scores = None, {}
        if groups is not None:
            groups = reorder(groups, scores)
        yield self._result(search, final=True, groups=groups, reranked=bool(scores))

    def _result(
        self,
        search: _Search,
        *,
        final: bool,
        groups: list[list[Ranked]] | None = None,
        reranked: bool = False,
        progress: tuple[int, int] | None = None,
    ) -> SearchResult:
        """Return the result of a search so far.

        Args:
            search: The search with its order.
            final: Whether no better order follows.
            groups: The groups of windows to show, best first; None for all.
            reranked: Scores by the reranker.
            progress: Windows read, and windows to read.

        Returns:
            The result with its scenes, counts and timings.
        """
        request, order = search.request, search.order
        with _timed(search.took_ms, "retrieve"):
            all_groups = self._grouped(order.windows, len(order.windows))
            groups, limit = groups or all_groups, search.limit
            if search.per_video is not None:
                groups, limit = best_of_videos(groups, limit, search.per_video)
            first, more = first_results(groups, limit, self._windows.morphemes)
            nearest = self._retrieval.nearest_pieces(search.candidates)
            best = make_results(self._windows, first, request.lexical, nearest)
            if not request.query.text:
                best = tuple(scene.at_speaker(request.query.speakers) for scene in best)
            counts = Counter(group[0].video_id for group in all_groups)
            counts.subtract(copy.video.id for scene in best for copy in scene.copies)
        return SearchResult(
            request.query,
            order.parts,
            best,
            {name: round(spent, 1) for name, spent in search.took_ms.items()},
            more,
            +counts,
            search.candidates.is_cut,
            request.lexical,
            reranked,
            search.missing,
            final,
            progress,
            order.shares,
            self._unknown_words(request.lexical, order.windows),
            self._undated(request.where),
            search.counts,
            search.candidates.floors,
        )

    def _grouped(self, ranked: Sequence[Ranked], limit: int) -> list[list[Ranked]]:
        return merge_neighbours(ranked, limit, self._windows.spans)

    def _undated(self, where: Filter) -> int:
        if where.after is None and where.before is None:
            return 0
        return undated_videos(self._library, where.channels, where.videos)

    def _unknown_words(self, lexical: LexicalQuery, ranked: Sequence[Ranked]) -> tuple[str, ...]:
        """Return the typed words that occur nowhere in the library; the given windows may contain one in part."""
        if not lexical.words_not_in_library:
            return ()
        ids = [entry.window_id for entry in ranked]
        videos = self._windows.videos({entry.video_id for entry in ranked}).values()
        titles = [title for video in videos for title in (video.title, *(chapter.title for chapter in video.chapters))]
        texts, contexts = self._windows.letters(ids), self._windows.contexts(ids)
        return unknown_words(lexical, [*texts.values(), *map(folded, (*titles, *contexts.values()))])

    def word_counts(self, query: Query) -> tuple[WordCount, ...]:
        """Count the places of each word of a query; raises the errors of `where`."""
        return tuple(places_of_each(self._library, self._queries.analyze(query.text), self.where(query)))

    # Filters

    def where(self, query: Query) -> Filter:
        """Return a query's filters by id; raises UsageError `unknown`."""
        excluded: frozenset[str] = frozenset().union(*(self._library.containing([word]) for word in query.excluded))
        videos = tuple(video_ids(self._library, query.videos))
        only = self._library.containing(query.phrases) if query.phrases else None
        if query.speakers:
            windows_of_speakers = self._library.said_by(query.speakers)
            only = windows_of_speakers if only is None else only & windows_of_speakers
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


def undated_sentence(count: int) -> str:
    """Return a sentence about the videos left out by a filter by date."""
    return n_("{n} video without a date is left out.", "{n} videos without a date are left out.", count, n=count)


def shares_text(shares: Mapping[str, float]) -> str:
    """Return the retrievers with their shares: `bm25 22 %, dense 78 %`."""
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())
