"""Stages of a search: steps from one frozen value to the next, without an index or a library.

    SearchRequest → Candidates → Order → groups of windows → Scene

`candidates` makes the first values, and `searcher` runs the stages. Groups come from `fusion.merge_neighbours`, scenes
from `scenes.make_scenes`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from subtitle_rag.base.vectors.named_vectors import PIECES
from subtitle_rag.base.vectors.points import Filter
from subtitle_rag.korean.lexical import LexicalQuery
from subtitle_rag.search.fusion import (
    PIECE_SHARE,
    Candidates,
    Ranked,
    carried,
    deciding_shares,
    fuse,
    fuse_scores,
    scaled_scores,
    shares,
)
from subtitle_rag.search.own_words import own_words_first
from subtitle_rag.search.parts import NEURAL
from subtitle_rag.search.query import Query


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """An analysed query, and the retrievers to use."""

    query: Query
    retrievers: tuple[str, ...]
    is_explicit: bool
    """Whether the caller chose the retrievers: a failure ends the search then."""
    depth: int
    """Windows per retriever."""
    lexical: LexicalQuery
    where: Filter
    by_ranks: bool = False
    """Whether to fuse ranks instead of scores."""

    @property
    def neural(self) -> tuple[str, ...]:
        """The parts that need the query's vectors."""
        return tuple(name for name in self.retrievers if name in (*NEURAL, PIECES))


@dataclass(frozen=True, slots=True)
class Order:
    """Windows, best first, and the parts that ordered them."""

    windows: Sequence[Ranked] = ()
    parts: tuple[str, ...] = ()
    """The retrievers, then the parts that reordered their windows, from `SEARCH_PARTS`."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """How much each retriever decides the fused score; empty for a single one or fused ranks."""


def fuse_candidates(candidates: Candidates, *, by_ranks: bool = False) -> Order:
    """Order candidates by their scores or, with `by_ranks`, by their ranks.

    If `bm25` searches, drops windows that nothing supports and puts windows with all typed words first.
    """
    parts = (*candidates.lists, *([PIECES] if candidates.pieces else []))
    if by_ranks or (len(candidates.lists) < 2 and not candidates.pieces):
        ranked, deciding = fuse(candidates.lists, candidates.positions, without_vectors=candidates.without_vectors), {}
    else:
        weights, values = shares(candidates), scaled_scores(candidates)
        ranked, deciding = fuse_scores(candidates, weights, values), deciding_shares(candidates, weights, values)
        if candidates.pieces:
            meaning = deciding["dense"]
            deciding |= {"dense": meaning * (1 - PIECE_SHARE), PIECES: meaning * PIECE_SHARE}
    if "bm25" in candidates.lists:
        ranked = own_words_first(carried(ranked, candidates), candidates.evidence)
    return Order(ranked, parts, deciding)
