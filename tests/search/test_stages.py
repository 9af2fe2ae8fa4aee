"""Each stage of a search by itself: values in, values out, without an index, a library or a model."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from subtitle_rag.base.vectors.points import Filter, Hit, SparseVector
from subtitle_rag.korean.lexical import LexicalQuery
from subtitle_rag.search.evidence import Coverage
from subtitle_rag.search.fusion import (
    PIECE_SHARE,
    Candidates,
    deciding_shares,
    merge_neighbours,
    shares,
)
from subtitle_rag.search.own_words import BORROWED, IN_TEXT, WITH_CONTEXT
from subtitle_rag.search.parts import SEARCH_PARTS
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.stages import (
    Order,
    SearchRequest,
    fuse_candidates,
)

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
    own_words = {id: Coverage(IN_TEXT if id == "d" else BORROWED, 1.0, True) for id in PLACES}
    dense = Candidates({"dense": MEANING}, PLACES, evidence=own_words)
    both = replace(BOTH, evidence=own_words)

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
    def said(**ranks: int) -> Order:
        evidence = {id: Coverage(rank, 1.0, True) for id, rank in ranks.items()}
        return fuse_candidates(Candidates({"bm25": WORDS}, PLACES, evidence=evidence))

    order = said(c=IN_TEXT, b=WITH_CONTEXT, a=BORROWED)
    assert (ids(order), ranks(order)) == ("cba", [1, 2, 3])
    assert [entry.score for entry in order.windows] == [4.0, 5.0, 9.0]
    assert said() == by_words()


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


def test_what_nothing_carries_is_left_out() -> None:
    """d is found by pieces of words alone, c by its meaning; a and b say something."""
    evidence = {
        id: Coverage(BORROWED, share, share > 0.5) for id, share in zip("abcd", (0.9, 0.2, 0.0, 0.0), strict=True)
    }
    cosines = {hit.id: hit.score for hit in MEANING}
    order = fuse_candidates(replace(BOTH, evidence=evidence, floor=cosines["c"]))
    assert set(ids(order)) == set("abc")


def test_a_query_of_which_nobody_says_enough_needs_a_meaning_above_the_strict_floor() -> None:
    evidence = {id: Coverage(BORROWED, 0.2, is_enough=False) for id in PLACES}
    assert fuse_candidates(Candidates({"bm25": WORDS}, PLACES, evidence=evidence)).windows == []
    cosines = {hit.id: hit.score for hit in MEANING}
    floors = replace(BOTH, evidence=evidence, floor=0.0, strict_floor=cosines["c"])
    assert ids(fuse_candidates(floors)) == "c"
    assert fuse_candidates(replace(floors, strict_floor=cosines["c"] + 0.01)).windows == []


def test_words_that_are_just_enough_need_a_meaning_above_the_strict_floor() -> None:
    evidence = {id: Coverage(BORROWED, 0.45, is_enough=True, is_certain=False) for id in PLACES}
    words_alone = Candidates({"bm25": WORDS}, PLACES, evidence=evidence)
    assert fuse_candidates(words_alone).windows
    cosines = {hit.id: hit.score for hit in MEANING}
    both = replace(BOTH, evidence=evidence, floor=0.0, strict_floor=cosines["c"])
    assert len(fuse_candidates(both).windows) > 1
    far = replace(both, strict_floor=max(cosines.values()) + 0.01)
    assert fuse_candidates(far).windows == []
    certain = {id: each._replace(is_certain=True) for id, each in evidence.items()}
    assert fuse_candidates(replace(far, evidence=certain)).windows
    assert fuse_candidates(replace(far, is_question=True)).windows
