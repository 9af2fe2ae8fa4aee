"""Each stage of a search by itself: values in, values out, without an index, a library or a model."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from subtitle_rag.retrieval.korean.lexical import LexicalQuery
from subtitle_rag.retrieval.search.fusion import (
    PIECE_SHARE,
    Candidates,
    deciding_shares,
    merge_neighbours,
    shares,
)
from subtitle_rag.retrieval.search.own_words import BORROWED, IN_TEXT, WITH_CONTEXT
from subtitle_rag.retrieval.search.parts import SEARCH_PARTS
from subtitle_rag.retrieval.search.query import parse_query
from subtitle_rag.retrieval.search.stages import (
    Order,
    SearchRequest,
    fuse_candidates,
)
from subtitle_rag.retrieval.values import Filter, Hit, SparseVector

PLACES = {id: ("v", number * 2) for number, id in enumerate("abcde")}
WORDS = [Hit("a", 9.0), Hit("b", 5.0), Hit("c", 4.0)]
MEANING = [Hit("c", 0.9), Hit("d", 0.7), Hit("a", 0.2)]
BOTH = Candidates({"bm25": WORDS, "dense": MEANING}, PLACES, query_weight=10.0)


def ids(order: Order) -> str:
    return "".join(entry.window_id for entry in order.windows)


def ranks(order: Order) -> list[int | None]:
    return [entry.scores["fused"].rank for entry in order.windows]


def by_words(hits: Sequence[Hit] = WORDS) -> Order:
    return fuse_candidates(Candidates({"bm25": hits}, PLACES))


def test_a_request_names_what_needs_the_vectors_of_its_query() -> None:
    lexical = LexicalQuery(SparseVector((), ()), frozenset(), ())
    query = parse_query("소스 after:2026-01-01")
    request = SearchRequest(query, SEARCH_PARTS, False, 150, lexical, Filter(after=date(2026, 1, 1)))
    assert request.neural == ("dense", "sparse", "pieces")


def test_words_alone_keep_their_order_and_decide_everything() -> None:
    order = by_words()
    assert (ids(order), order.parts, order.shares) == ("abc", ("bm25",), {})
    assert [entry.score for entry in order.windows] == [9.0, 5.0, 4.0]


def test_lists_are_fused_by_scores_with_what_each_decides() -> None:
    order = fuse_candidates(BOTH)
    assert set(ids(order)) == set("abcd")
    assert order.parts == ("bm25", "dense")
    assert order.shares == deciding_shares(BOTH, shares(BOTH))
    assert ranks(order) == [1, 2, 3, 4]


def test_typed_words_come_first_only_where_words_search() -> None:
    own_words = dict.fromkeys(PLACES, BORROWED) | {"d": IN_TEXT}
    dense = Candidates({"dense": MEANING}, PLACES, own_word_ranks=own_words)
    both = replace(BOTH, own_word_ranks=own_words)

    assert ids(fuse_candidates(dense)) == "cda"
    assert ids(fuse_candidates(both))[0] == "d"


def test_lists_are_fused_by_ranks_where_that_is_asked_for() -> None:
    order = fuse_candidates(BOTH, by_ranks=True)
    assert (ids(order)[:2], order.shares) == ("ac", {})


def test_pieces_are_told_with_their_share_of_the_meaning() -> None:
    order = fuse_candidates(Candidates(BOTH.lists, PLACES, query_weight=10.0, pieces={"c": 0.95, "d": 0.7}))
    assert order.parts == ("bm25", "dense", "pieces")
    assert order.shares["pieces"] == pytest.approx(order.shares["dense"] * PIECE_SHARE / (1 - PIECE_SHARE))
    assert sum(order.shares.values()) == pytest.approx(1)


def test_windows_that_say_all_words_come_first_and_keep_their_scores() -> None:
    def said(**own_word_ranks: int) -> Order:
        return fuse_candidates(Candidates({"bm25": WORDS}, PLACES, own_word_ranks=own_word_ranks))

    order = said(c=IN_TEXT, b=WITH_CONTEXT, a=BORROWED)
    assert (ids(order), ranks(order)) == ("cba", [1, 2, 3])
    assert [entry.score for entry in order.windows] == [4.0, 5.0, 9.0]
    assert said() == by_words()
    assert ids(said(b=IN_TEXT)) == "bac", "a window that was not read borrows"


def test_parts_are_named_in_one_order_whatever_has_come_first() -> None:
    whole = Candidates(BOTH.lists, PLACES, query_weight=10.0, pieces={"c": 0.9})
    order = fuse_candidates(whole)
    assert order.parts == tuple(name for name in SEARCH_PARTS if name != "sparse")
    assert sum(order.shares.values()) == pytest.approx(1)


def test_the_order_s_windows_are_grouped_with_their_neighbours() -> None:
    beside = {"a": ("v", 0), "b": ("v", 1), "c": ("w", 5)}
    spans = {"a": (0, 60_000), "b": (60_000, 120_000), "c": (300_000, 360_000)}
    order = fuse_candidates(Candidates({"bm25": [Hit("a", 9.0), Hit("b", 8.0), Hit("c", 7.9)]}, beside))
    groups = [[entry.window_id for entry in group] for group in merge_neighbours(order.windows, 2, lambda _ids: spans)]
    assert groups == [["a", "b"], ["c"]]
