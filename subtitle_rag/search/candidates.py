"""Candidates of a search: the hits by words and by vectors, and the scores missing from either list."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.i18n import _
from subtitle_rag.base.vectors.named_vectors import PIECES, pieces_name, vector_names
from subtitle_rag.base.vectors.points import (
    DenseVector,
    Filter,
    Hit,
    MultiVector,
    Searched,
    Vector,
    VectorSearch,
)
from subtitle_rag.korean.lexical import LexicalQuery, LexicalSearch, word_search
from subtitle_rag.models.neural.protocols import Encoded
from subtitle_rag.search.fusion import (
    Candidates,
    add_pieces,
    add_video_scores,
    best_by_video,
)
from subtitle_rag.search.own_words import OwnWords
from subtitle_rag.search.parts import LEXICAL, NEURAL
from subtitle_rag.search.query import Query
from subtitle_rag.search.scenes import NearestPieces, no_pieces
from subtitle_rag.search.stages import SearchRequest
from subtitle_rag.search.window_reads import Windows

Queries = Mapping[str, tuple[str, Vector]]
"""Retriever → its named vector, and the query's vector for it."""
Lists = Mapping[str, Sequence[Hit]]
"""Retriever → its hits."""


class CandidateSearch:
    """Search for windows of one library in its index. Safe from several threads."""

    def __init__(self, windows: Windows, index: Searched, queries: LexicalSearch) -> None:
        self._windows, self._index, self._queries = windows, index, queries

    def by_words(
        self, query: Query, where: Filter, retrievers: tuple[str, ...], depth: int, *, is_explicit: bool
    ) -> tuple[SearchRequest, Candidates]:
        """Analyse the query and find windows by its words, in one call to the index host.

        A query without words returns all windows of its speakers, newest videos first.

        Args:
            query: The parsed query.
            where: The filters that every hit must pass.
            retrievers: The retrievers of the whole search; only `bm25` runs here.
            depth: Hits per retriever.
            is_explicit: Whether the caller chose the retrievers, so that a failure ends the search.

        Returns:
            The request for the later stages, and the candidates so far.
        """
        if not query.text:
            retrievers, lexical = LEXICAL, self._queries.analyze("")
            candidates = self._spoken_by(where, depth)
        elif "bm25" not in retrievers:
            lexical = self._queries.analyze(query.text)
            candidates = Candidates()
        else:
            lexical, all_hits = self._queries.search(self._index, query.text, limit=depth + 1, where=where)
            hits = all_hits[:depth]
            positions = self._windows.places(hit.id for hit in hits)
            best = best_by_video(hits, positions)
            lists = {"bm25": add_video_scores(hits, positions, best)}
            candidates = Candidates(lists, positions, video_scores=best, is_cut=len(all_hits) > depth)
        query_weight = sum(lexical.vector.values) or 1.0
        request = SearchRequest(query, retrievers, is_explicit, depth, lexical, where)
        return request, replace(candidates, query_weight=query_weight)

    def _spoken_by(self, where: Filter, depth: int) -> Candidates:
        """Return the windows that pass a filter."""
        positions = self._windows.places((where.only or frozenset()) - where.without)
        videos = self._windows.videos({video_id for video_id, _at in positions.values()})

        def place(id: str) -> tuple[int, str, int]:
            video_id, ordinal = positions[id]
            published = videos[video_id].published
            return -published.toordinal() if published else 0, video_id, ordinal

        ids = [
            id for id, (video_id, _at) in positions.items() if video_id in videos and where.has_video(videos[video_id])
        ]
        return Candidates({"bm25": [Hit(id, 1.0) for id in sorted(ids, key=place)[:depth]]}, positions)

    def by_meaning(self, request: SearchRequest, candidates: Candidates, encoded: Encoded, id: str) -> Candidates:
        """Add the hits of the query's vectors, in one call to the index; a second call computes the missing scores."""
        queries = _queries(request, candidates, encoded, id)
        if not queries:
            return candidates
        of_vectors, among_words, without_vectors = self._vector_hits(request, candidates, queries)
        lists = {**candidates.lists, **of_vectors}
        scores: dict[str, dict[str, float]] = {}
        missing: dict[str, VectorSearch] = {}
        if not request.by_ranks:
            scores = {name: {hit.id: hit.score for hit in hits} for name, hits in among_words.items()}
            missing = _missing_scores(request, lists, scores, without_vectors, queries)
        meaning = None
        if PIECES in request.retrievers and "dense" in queries:
            meaning = pieces_name(id), encoded.dense
            missing[PIECES] = _piece_search(lists, *meaning)
        scored = self._scored(missing)
        pieces = {hit.id: hit.score for hit in scored.pop(PIECES, ())}
        ids_found = dict.fromkeys(hit.id for hits in chain(lists.values(), scored.values()) for hit in hits)
        positions = {**candidates.positions, **self._windows.places(ids_found.keys() - candidates.positions.keys())}
        if "bm25" in scored:
            scored["bm25"] = add_video_scores(scored["bm25"], positions, candidates.video_scores)
        for name, hits in scored.items():
            scores[name] = scores.get(name, {}) | {hit.id: hit.score for hit in hits}
        if pieces and request.by_ranks:
            lists["dense"] = _ranked_by_pieces(lists["dense"], pieces)
        return replace(
            candidates,
            lists=lists,
            positions=positions,
            scores_on_demand=scores,
            without_vectors=without_vectors,
            pieces=pieces,
            meaning=meaning,
        )

    def _vector_hits(
        self, request: SearchRequest, candidates: Candidates, queries: Queries
    ) -> tuple[Lists, Lists, frozenset[str]]:
        """Return the vector hits among all windows, those among the word hits, and the word hits without vectors.

        All in one call to the index.
        """
        by_words = frozenset(hit.id for hit in candidates.lists.get("bm25", ()))
        of_words = Filter(only=by_words)
        searches = [VectorSearch(*query, request.depth, request.where) for query in queries.values()]
        # These also show which windows have vectors.
        searches += [VectorSearch(*query, len(by_words), of_words) for query in queries.values()]
        answers = self._index.search_all(searches)
        lists = dict(zip(queries, answers[: len(queries)], strict=True))
        among_words = dict(zip(queries, answers[len(queries) :], strict=True))
        if "dense" not in queries:
            return lists, among_words, frozenset()
        return lists, among_words, by_words - {hit.id for hit in (*among_words["dense"], *lists["dense"])}

    def with_own_words(self, candidates: Candidates, lexical: LexicalQuery) -> Candidates:
        """Record which typed words the windows have; windows already recorded are not read again."""
        new = [id for id in candidates.positions if id not in candidates.evidence]
        evidence = OwnWords(lexical, self._windows).of(new)
        return replace(candidates, evidence={**candidates.evidence, **evidence})

    def nearest_pieces(self, candidates: Candidates) -> NearestPieces:
        """Return a lookup of the piece nearest to the query, for candidates with vectors of pieces."""
        if candidates.meaning is None or not candidates.pieces:
            return no_pieces
        name, query = candidates.meaning

        def nearest(ids: Sequence[str]) -> Mapping[str, int]:
            ids_with_pieces = [id for id in ids if id in candidates.pieces]
            return self._index.nearest_parts(name, query, ids_with_pieces) if ids_with_pieces else {}

        return nearest

    def _scored(self, searches: Mapping[str, VectorSearch]) -> dict[str, list[Hit]]:
        """Search among the candidates only, in one call to the index."""
        if not searches:
            return {}
        return dict(zip(searches, self._index.search_all(list(searches.values())), strict=True))


def _queries(request: SearchRequest, candidates: Candidates, encoded: Encoded, id: str) -> Queries:
    """Return the query's vectors by retriever, for the vectors that the encoder makes.

    Raises:
        UsageError: `retriever_not_ready` if it makes none of them and no other retriever was requested.
    """
    dense, sparse = vector_names(id)
    queries: dict[str, tuple[str, Vector]] = {}
    if "dense" in request.retrievers and encoded.dense.values:
        queries["dense"] = dense, encoded.dense
    if "sparse" in request.retrievers and encoded.sparse is not None:
        queries["sparse"] = sparse, encoded.sparse
    if not queries and not candidates.lists:
        makes = {"dense": encoded.dense.values, "sparse": encoded.sparse is not None}
        ready = ", ".join((*LEXICAL, *(name for name in NEURAL if makes[name])))
        raise UsageError(
            "retriever_not_ready", name=request.neural[0], reason=_("no model has made vectors for it"), ready=ready
        )
    return queries


def _piece_search(lists: Mapping[str, Sequence[Hit]], name: str, query: DenseVector) -> VectorSearch:
    """Return the search for the best piece of each listed window."""
    ids = frozenset(hit.id for hits in lists.values() for hit in hits)
    return VectorSearch(name, MultiVector.of([query.values]), len(ids), Filter(only=ids))


def _ranked_by_pieces(hits: Sequence[Hit], pieces: Mapping[str, float]) -> list[Hit]:
    cosines = add_pieces({hit.id: hit.score for hit in hits}, pieces)
    return sorted(hits, key=lambda hit: -cosines[hit.id])


def _missing_scores(
    request: SearchRequest,
    lists: Mapping[str, Sequence[Hit]],
    scores_on_demand: Mapping[str, Mapping[str, float]],
    without_vectors: frozenset[str],
    queries: Queries,
) -> dict[str, VectorSearch]:
    """Return searches for the scores of windows found by other retrievers only.

    A list that ended before the depth already scores every window, unless `LexicalQuery.certain` removed some.

    Args:
        request: The analysed query.
        lists: The hits by retriever.
        scores_on_demand: The scores already computed, by retriever and window.
        without_vectors: The windows without vectors.
        queries: The query's vectors by retriever.

    Returns:
        A search among the unscored windows, by retriever.
    """
    every = {name: {hit.id for hit in hits} for name, hits in lists.items()}
    ids = frozenset[str]().union(*every.values())
    searches: dict[str, VectorSearch] = {}
    for name, scored in every.items():
        missing = ids - scored - scores_on_demand.get(name, {}).keys() - without_vectors
        is_whole = len(scored) < request.depth and (name != "bm25" or request.lexical.required_terms is None)
        if is_whole or not missing:
            continue
        where = Filter(only=missing)
        searches[name] = (
            VectorSearch(*queries[name], len(missing), where)
            if name in queries
            else word_search(request.lexical, limit=len(missing), where=where)
        )
    return searches
