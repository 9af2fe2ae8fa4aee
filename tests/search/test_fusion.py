"""One order out of several, and neighbours as groups."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.vectors.points import Hit
from subtitle_rag.search.evidence import Coverage
from subtitle_rag.search.fusion import (
    MAX_MERGED,
    RRF_K,
    WEIGHTS,
    Candidates,
    Ranked,
    RetrieverScore,
    add_video_scores,
    best_by_video,
    deciding_shares,
    fuse,
    fuse_scores,
    merge_neighbours,
    shares,
    spread_cosines,
)
from subtitle_rag.search.reranking import reorder


def ranked(*places: tuple[str, int], scores: Sequence[float] = (), retriever: str = "bm25") -> list[Ranked]:
    """Windows in this order, whose scores are near each other unless they are given."""
    given = scores or [1 - rank / 100 for rank in range(1, len(places) + 1)]
    return [
        Ranked(f"{video}{at}", video, at, score, {retriever: RetrieverScore(rank, score)})
        for rank, ((video, at), score) in enumerate(zip(places, given, strict=True), start=1)
    ]


def minutes(ids: Collection[str]) -> dict[str, tuple[int, int]]:
    """Windows of a minute each, one after another."""
    return {id: (60_000 * int(id[1:]), 60_000 * (int(id[1:]) + 1)) for id in ids}


def shape(groups: Sequence[Sequence[Ranked]]) -> list[list[str]]:
    return [[entry.window_id for entry in group] for group in groups]


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([], []),
        ([("a", 1), ("a", 3)], [["a1"], ["a3"]]),
        ([("a", 1), ("b", 2)], [["a1"], ["b2"]]),
        ([("a", 2), ("b", 9), ("a", 1)], [["a2", "a1"], ["b9"]]),
        ([("a", 1), ("a", 2), ("a", 3), ("a", 4)], [["a1", "a2", "a3"], ["a4"]]),
        ([("a", 1), ("a", 3), ("a", 2)], [["a1", "a2"], ["a3"]]),
    ],
)
def test_only_direct_neighbours_merge(places: list[tuple[str, int]], expected: list[list[str]]) -> None:
    assert shape(merge_neighbours(ranked(*places), 20, minutes)) == expected


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([1.0, 0.75, 0.74], [["a2", "a1"], ["a3"]]),
        ([1.0, 0.74, 0.6], [["a2"], ["a1"], ["a3"]]),
        ([1.0, 0.8, 0.75], [["a2", "a1", "a3"]]),
    ],
)
def test_a_neighbour_merges_from_three_quarters_of_the_best(scores: list[float], expected: list[list[str]]) -> None:
    assert shape(merge_neighbours(ranked(("a", 2), ("a", 1), ("a", 3), scores=scores), 20, minutes)) == expected


def test_the_best_window_of_a_scene_decides_and_not_the_neighbour() -> None:
    places = [("a", 1), ("a", 2), ("a", 3)]

    assert shape(merge_neighbours(ranked(*places, scores=[1.0, 0.75, 0.6]), 20, minutes)) == [["a1", "a2"], ["a3"]]


def test_a_window_that_more_words_have_lifted_makes_its_scene_no_longer() -> None:
    places = [("a", 1), ("a", 2), ("a", 3)]

    assert shape(merge_neighbours(ranked(*places, scores=[0.8, 1.0, 0.7]), 20, minutes)) == [["a1", "a2"], ["a3"]]


def test_cosines_count_from_the_worst_candidate() -> None:
    places = [("a", 1), ("a", 2), ("b", 1)]

    def groups(scores: list[float], retriever: str) -> list[list[str]]:
        return shape(merge_neighbours(ranked(*places, scores=scores, retriever=retriever), 20, minutes))

    assert groups([1.0, 0.95, 0.7], "dense") == [["a1"], ["a2"], ["b1"]]
    assert groups([1.0, 0.96, 0.7], "dense") == [["a1", "a2"], ["b1"]]
    assert groups([1.0, 0.85, 0.7], "bm25") == [["a1", "a2"], ["b1"]]


def test_only_windows_within_twelve_seconds_merge() -> None:
    spans = {"a1": (10_000, 13_000), "a2": (25_000, 28_000), "a3": (40_001, 43_000)}

    groups = merge_neighbours(ranked(("a", 2), ("a", 1), ("a", 3)), 20, lambda _ids: spans)

    assert shape(groups) == [["a2", "a1"], ["a3"]]


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12)), unique=True),
    st.integers(0, 12),
    st.lists(st.floats(0.0, 1.0), min_size=26, max_size=26),
)
def test_groups_are_runs_in_the_order_of_their_best(
    places: list[tuple[str, int]], limit: int, scores: list[float]
) -> None:
    entries = ranked(*places, scores=sorted(scores[: len(places)], reverse=True))
    groups = merge_neighbours(entries, 100, minutes)
    assert sorted(chain(*shape(groups))) == sorted(f"{video}{at}" for video, at in places)
    assert [g[0].score for g in groups] == sorted((g[0].score for g in groups), reverse=True)
    for group in groups:
        ordinals = sorted(entry.ordinal for entry in group)
        assert ordinals == list(range(ordinals[0], ordinals[0] + len(group)))
        assert len(group) <= MAX_MERGED
        assert len({entry.video_id for entry in group}) == 1
    assert shape(merge_neighbours(entries, limit, minutes)) == shape(groups)[:limit]


PLACES = dict.fromkeys("abc", ("v", 0))


def hits(*ids: str) -> list[Hit]:
    return [Hit(id, 100.0 - at) for at, id in enumerate(ids)]


def test_one_list_keeps_its_order_and_scores() -> None:
    assert [(r.window_id, r.score) for r in fuse({"bm25": hits("c", "x", "a", "b")}, PLACES)] == [
        ("c", 100),
        ("a", 98),
        ("b", 97),
    ]


def test_several_lists_are_fused_by_rank() -> None:
    both = fuse({"bm25": hits("a", "b"), "dense": hits("b", "c")}, PLACES)
    assert [r.window_id for r in both] == ["b", "a", "c"]
    assert both[0].score == 1 / 62 + 1 / 61
    own = {"bm25": RetrieverScore(2, 99.0), "dense": RetrieverScore(1, 100.0)}
    assert both[0].scores == own | {"fused": RetrieverScore(1, both[0].score)}
    assert [r.window_id for r in fuse({"sparse": hits("a"), "dense": hits("b")}, PLACES)] == ["b", "a"]
    assert [r.window_id for r in fuse({"bm25": hits("b"), "dense": hits("a")}, PLACES)] == ["a", "b"]


IDS = [f"w{number:02d}" for number in range(30)]
ALL: Mapping[str, tuple[str, int]] = {id: ("v", 2 * at) for at, id in enumerate(IDS)}
LISTS = st.dictionaries(
    st.sampled_from(sorted(WEIGHTS)), st.lists(st.sampled_from(IDS), unique=True), min_size=1, max_size=3
)


@given(LISTS)
def test_the_order_follows_the_score_and_then_the_id(lists: dict[str, list[str]]) -> None:
    made = fuse({name: hits(*ids) for name, ids in lists.items()}, ALL)
    assert {entry.window_id for entry in made} == set(chain(*lists.values()))
    assert [entry.scores["fused"].rank for entry in made] == list(range(1, len(made) + 1))
    if len(lists) > 1:
        assert made == sorted(made, key=lambda entry: (-entry.score, entry.window_id))
        for entry in made:
            ranks = {name: ids.index(entry.window_id) + 1 for name, ids in lists.items() if entry.window_id in ids}
            assert entry.score == pytest.approx(sum(WEIGHTS[name] / (RRF_K + at) for name, at in ranks.items()))


@given(st.lists(st.sampled_from(IDS), unique=True), st.lists(st.sampled_from(IDS), unique=True))
def test_without_any_vectors_bm25_keeps_its_order(bm25: list[str], dense: list[str]) -> None:
    lists = {"bm25": hits(*bm25), "dense": [], "sparse": []}
    assert [entry.window_id for entry in fuse(lists, ALL, without_vectors=set(bm25))] == bm25
    with_all = fuse({"bm25": hits(*bm25), "dense": hits(*dense)}, ALL)
    assert with_all == fuse(
        {"bm25": hits(*bm25), "dense": hits(*dense)}, ALL, without_vectors=set(IDS) - {*bm25, *dense}
    )


def test_a_window_without_vectors_stands_where_bm25_alone_would_have_it() -> None:
    found = {"bm25": hits("w00", "w01", "w02", "w03"), "dense": hits("w03", "w02", "w01")}
    assert next(iter(fuse(found, ALL))).window_id != "w00"
    assert next(iter(fuse(found, ALL, without_vectors={"w00"}))).window_id == "w00"


# The part of the video


def test_a_window_of_a_video_that_matches_better_comes_first() -> None:
    hits = [Hit("best", 10.0), Hit("other", 6.5), Hit("beside", 6.0)]
    positions = {"best": ("v", 0), "beside": ("v", 7), "other": ("w", 0)}
    lifted = add_video_scores(hits, positions, best_by_video(hits, positions))
    assert [(hit.id, hit.score) for hit in lifted] == [("best", 12.0), ("beside", 8.0), ("other", pytest.approx(7.8))]


def test_a_hit_without_a_position_keeps_its_score() -> None:
    hits = [Hit("gone", 3.0), Hit("here", 2.0)]
    positions = {"here": ("v", 0)}
    lifted = add_video_scores(hits, positions, best_by_video(hits, positions))
    assert [(hit.id, hit.score) for hit in lifted] == [("gone", 3.0), ("here", pytest.approx(2.4))]


# By scores

EVEN = {"bm25": 0.5, "dense": 0.5}


def scored(**scores: float) -> list[Hit]:
    return [Hit(id, score) for id, score in scores.items()]


def test_a_hit_that_leads_by_far_counts_more_than_one_that_leads_by_little() -> None:
    """By ranks `b` and `a` would stand alike."""
    lists = {"bm25": scored(a=10.0, b=2.0), "dense": scored(b=0.60, a=0.58, c=0.40)}
    ranked = fuse_scores(Candidates(lists, PLACES), EVEN)
    assert [entry.window_id for entry in ranked] == ["a", "b", "c"]
    assert [entry.score for entry in ranked] == pytest.approx([0.5 + 0.5 * 0.9, 0.5 * 0.2 + 0.5, 0.0])


def test_computed_scores_count_as_those_of_the_list_and_have_no_rank() -> None:
    lists = {"bm25": scored(a=10.0), "dense": scored(b=0.6, c=0.5)}
    computed = {"bm25": {"b": 5.0, "x": 9.0}, "dense": {"a": 0.2}}
    ranked = {entry.window_id: entry for entry in fuse_scores(Candidates(lists, PLACES, computed), EVEN)}
    assert {id: entry.score for id, entry in ranked.items()} == pytest.approx({"a": 0.5, "b": 0.75, "c": 0.375})
    assert ranked["b"].scores["bm25"] == RetrieverScore(None, 5.0)
    assert "bm25" not in ranked["c"].scores


def test_a_list_without_hits_leaves_the_order_to_the_others() -> None:
    lists: dict[str, list[Hit]] = {"bm25": [], "dense": hits("c", "a", "b")}
    assert [entry.window_id for entry in fuse_scores(Candidates(lists, PLACES), EVEN)] == ["c", "a", "b"]


def test_a_hit_that_a_rule_has_moved_before_others_counts_as_much_as_they_do() -> None:
    lists = {"bm25": scored(b=4.0, a=8.0), "dense": scored(b=0.5, a=0.5)}
    assert [entry.window_id for entry in fuse_scores(Candidates(lists, PLACES), EVEN)] == ["a", "b"]
    lists["dense"] = scored(b=0.51, a=0.5)
    assert [entry.window_id for entry in fuse_scores(Candidates(lists, PLACES), EVEN)] == ["b", "a"]


COSINES = st.lists(st.integers(0, 2_000), min_size=1, max_size=40, unique=True)


@given(COSINES, st.lists(st.integers(0, 40), min_size=40, max_size=40))
def test_only_the_distances_of_cosines_count_and_not_where_an_encoder_has_them(
    steps: list[int], words: list[int]
) -> None:
    """An E5's cosines lie in 0.79 to 0.88, those of a MiniLM in 0 to 0.7, of others in -0.2 to 0.9."""
    ids = [f"w{number:02d}" for number in range(len(steps))]
    places = {id: ("v", 2 * at) for at, id in enumerate(ids)}
    bm25 = [Hit(id, float(score)) for id, score in zip(ids, words, strict=False) if score]
    bm25.sort(key=lambda hit: -hit.score)

    def fused(least: float, best: float) -> dict[str, float]:
        dense = [Hit(id, least + (best - least) * step / 2_000) for id, step in zip(ids, steps, strict=True)]
        found = Candidates({"bm25": bm25, "dense": sorted(dense, key=lambda hit: -hit.score)}, places)
        return {entry.window_id: entry.score for entry in fuse_scores(found, shares(found))}

    scores = fused(-0.2, 0.9)
    assert fused(0.79, 0.88) == pytest.approx(scores)
    assert fused(0.0, 0.7) == pytest.approx(scores)


def test_an_encoder_of_close_cosines_is_heard() -> None:
    """Counted from -1, these cosines would be 0.97 to 1, and what no word finds would come last."""
    bm25 = scored(**{f"w{at:02d}": 10.0 - at / 5 for at in range(20)})
    dense = scored(w25=0.88, **{f"w{at:02d}": 0.82 - at / 1_000 for at in range(20)})
    found = Candidates({"bm25": bm25, "dense": dense}, ALL, query_weight=10.0)
    assert "w25" in order(fuse_scores(found, shares(found)))[:10]


def test_one_strange_window_does_not_draw_the_others_together() -> None:
    near = [0.80 + step / 1_000 for step in range(40)]
    assert spread_cosines([*near, -1.0])[:-1] == spread_cosines(near)
    assert spread_cosines([*near, -1.0])[-1] == 0.0


@pytest.mark.parametrize("cosines", [[], [0.83], [0.83, 0.83], [-0.2] * 30])
def test_cosines_that_are_equal_leave_the_order_to_the_words(cosines: list[float]) -> None:
    assert spread_cosines(cosines) == [1.0] * len(cosines)
    ids = IDS[: len(cosines)]
    bm25 = [Hit(id, float(at + 1)) for at, id in enumerate(ids)][::-1]
    dense = [Hit(id, cosine) for id, cosine in zip(ids, cosines, strict=True)]
    found = Candidates({"bm25": bm25, "dense": dense}, ALL)
    assert order(fuse_scores(found, shares(found))) == [hit.id for hit in bm25]
    if cosines:
        assert deciding_shares(found, EVEN)["dense"] == 0.0


def test_what_decides_is_the_share_times_the_range_of_the_score() -> None:
    half = dict.fromkeys(IDS[1:20], 0.9)
    bm25 = scored(w00=1.0, **half)
    dense = scored(**{id: 0.8 + at / 1_000 for at, id in enumerate(IDS[:20])})[::-1]
    found = Candidates({"bm25": bm25, "dense": dense}, ALL)
    decides = deciding_shares(found, EVEN)
    assert sum(decides.values()) == pytest.approx(1)
    assert decides["bm25"] == pytest.approx(0.1 / 1.1)
    assert deciding_shares(Candidates({"bm25": [], "dense": dense}, ALL), EVEN) == {"bm25": 0.0, "dense": 1.0}
    assert deciding_shares(Candidates({"bm25": [], "dense": []}, ALL), EVEN) == {"bm25": 0.0, "dense": 0.0}


def test_a_query_whose_words_nobody_says_is_ordered_by_meaning_alone() -> None:
    dense = scored(**{id: 0.88 - at / 1_000 for at, id in enumerate(IDS)})
    nothing = Candidates({"bm25": [], "dense": dense}, ALL, query_weight=20.0)
    assert order(fuse_scores(nothing, shares(nothing))) == IDS
    # pairs of letters alone are chance
    letters = scored(**{id: 3.0 - at / 100 for at, id in enumerate(reversed(IDS))})
    by_chance = Candidates({"bm25": letters, "dense": dense}, ALL, query_weight=20.0)
    assert order(fuse_scores(by_chance, shares(by_chance)))[0] == IDS[0]


def test_words_weigh_as_much_as_the_best_window_says_of_the_query() -> None:
    lists = {"bm25": scored(a=9.0, b=8.0), "dense": scored(b=0.9, a=0.1)}
    evidence = {"a": Coverage(3, 0.2, is_enough=True), "b": Coverage(3, 0.1, is_enough=False)}
    little = Candidates(lists, PLACES, query_weight=10.0, words=1.0, evidence=evidence)
    assert shares(little) == pytest.approx({"bm25": 0.2 / 1.2, "dense": 1 / 1.2})
    all_words = replace(little, evidence={"a": Coverage(0, 1.0, is_enough=True)})
    assert shares(all_words) == pytest.approx({"bm25": 0.5, "dense": 0.5})


@given(LISTS)
def test_fused_scores_lie_between_0_and_1_and_ties_follow_the_id(lists: dict[str, list[str]]) -> None:
    candidates = Candidates({name: hits(*ids) for name, ids in lists.items()}, ALL)
    ranked = fuse_scores(candidates, shares(candidates))
    assert {entry.window_id for entry in ranked} == set(chain(*lists.values()))
    if len(lists) > 1:
        assert ranked == sorted(ranked, key=lambda entry: (-entry.score, entry.window_id))
        assert all(0 <= entry.score <= 1 + 1e-9 for entry in ranked)


@given(st.lists(st.sampled_from(IDS), unique=True), st.lists(st.sampled_from(IDS), unique=True))
def test_by_scores_too_bm25_keeps_its_order_without_vectors(bm25: list[str], dense: list[str]) -> None:
    lists = {"bm25": hits(*bm25), "dense": [], "sparse": []}
    candidates = Candidates(lists, ALL, without_vectors=set(bm25))
    assert [entry.window_id for entry in fuse_scores(candidates, shares(candidates))] == bm25
    some = {"bm25": hits(*bm25), "dense": hits(*(id for id in dense if id not in bm25))}
    candidates = Candidates(some, ALL, without_vectors=set(bm25))
    ranked = [entry.window_id for entry in fuse_scores(candidates, shares(candidates)) if entry.window_id in bm25]
    assert ranked == bm25


def test_by_scores_too_a_window_without_vectors_stands_where_bm25_alone_would_have_it() -> None:
    lists = {"bm25": hits("w00", "w01", "w02", "w03"), "dense": hits("w03", "w02", "w01")}
    seen = Candidates(lists, ALL)
    assert fuse_scores(seen, EVEN)[0].window_id != "w00"
    assert fuse_scores(Candidates(lists, ALL, without_vectors={"w00"}), EVEN)[0].window_id == "w00"


def test_words_weigh_less_beside_a_better_encoder() -> None:
    lists = {"bm25": scored(w00=4.0, w01=1.0), "dense": scored(w01=0.9, w00=0.5)}
    by_words, by_meaning = (Candidates(lists, ALL, query_weight=4.0, words=words) for words in (2.0, 0.3))

    assert order(fuse_scores(by_words, shares(by_words)))[0] == "w00"
    assert order(fuse_scores(by_meaning, shares(by_meaning)))[0] == "w01"


def test_words_have_as_much_say_as_the_best_window_says_of_the_query() -> None:
    def words(best: float, asked: float) -> float:
        lists = {"bm25": scored(a=best, b=1.0), "dense": hits("a", "b"), "sparse": hits("a")}
        found = shares(Candidates(lists, ALL, query_weight=asked))
        assert sum(found.values()) == pytest.approx(1)
        return found["bm25"]

    assert words(1.0, 8.0) < words(4.0, 8.0) < words(16.0, 8.0)
    assert words(4.0, 8.0) == words(2.0, 4.0)
    assert shares(Candidates({"bm25": [], "dense": hits("a")}, ALL)) == {"bm25": 0.0, "dense": 1.0}


def test_what_the_reranker_read_comes_first_and_the_rest_stays_in_order() -> None:
    groups = [[entry] for entry in ranked(("a", 0), ("a", 5), ("b", 0), ("b", 5))]
    made = reorder(groups, {"a5": 0.9, "a0": 0.1})
    assert shape(made) == [["a5"], ["a0"], ["b0"], ["b5"]]
    assert [group[0].score for group in made[:2]] == [0.9, 0.1]
    assert made[0][0].scores["rerank"] == RetrieverScore(1, 0.9)
    assert "rerank" not in made[2][0].scores
    assert shape(reorder(groups, dict.fromkeys(("a0", "a5", "b0", "b5"), 0.5))) == shape(groups)


# the order by tokens


def in_order(*scores: float) -> list[Ranked]:
    return [
        Ranked(f"w{at}", "v", 2 * at, score, {"bm25": RetrieverScore(at + 1, score)}) for at, score in enumerate(scores)
    ]


def order(ranked: list[Ranked]) -> list[str]:
    return [entry.window_id for entry in ranked]
