"""One order out of several, and neighbours as groups."""

from collections.abc import Mapping, Sequence
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subtitle_rag.retrieval.fusion import MAX_MERGED, RRF_K, WEIGHTS, Ranked, RetrieverScore, fuse, merge_neighbours
from subtitle_rag.retrieval.index import Hit
from subtitle_rag.retrieval.reranking import reorder


def ranked(*places: tuple[str, int]) -> list[Ranked]:
    return [
        Ranked(f"{video}{at}", video, at, 1 / rank, {"bm25": RetrieverScore(rank, 1 / rank)})
        for rank, (video, at) in enumerate(places, start=1)
    ]


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
    assert shape(merge_neighbours(ranked(*places), 20)) == expected


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12)), unique=True), st.integers(0, 12))
def test_groups_are_runs_in_the_order_of_their_best(places: list[tuple[str, int]], limit: int) -> None:
    groups = merge_neighbours(ranked(*places), 100)
    assert sorted(chain(*shape(groups))) == sorted(f"{video}{at}" for video, at in places)
    assert [g[0].score for g in groups] == sorted((g[0].score for g in groups), reverse=True)
    for group in groups:
        ordinals = sorted(entry.ordinal for entry in group)
        assert ordinals == list(range(ordinals[0], ordinals[0] + len(group)))
        assert len(group) <= MAX_MERGED
        assert len({entry.video_id for entry in group}) == 1
    assert shape(merge_neighbours(ranked(*places), limit)) == shape(groups)[:limit]


PLACES = dict.fromkeys("abc", ("v", 0))


def hits(*ids: str) -> list[Hit]:
    return [Hit(id, 10.0 - at, {}) for at, id in enumerate(ids)]


def test_one_list_keeps_its_order_and_scores() -> None:
    assert [(r.window_id, r.score) for r in fuse({"bm25": hits("c", "x", "a", "b")}, PLACES)] == [
        ("c", 10),
        ("a", 8),
        ("b", 7),
    ]


def test_several_lists_are_fused_by_rank() -> None:
    even = {"bm25": 1.0, "dense": 1.0}
    both = fuse({"bm25": hits("a", "b"), "dense": hits("b", "c")}, PLACES, even)
    assert [r.window_id for r in both] == ["b", "a", "c"]
    assert both[0].score == 1 / 62 + 1 / 61
    own = {"bm25": RetrieverScore(2, 9.0), "dense": RetrieverScore(1, 10.0)}
    assert both[0].scores == own | {"fused": RetrieverScore(1, both[0].score)}
    heavy = {"bm25": 1.0, "dense": 2.0}
    assert [r.window_id for r in fuse({"bm25": hits("a"), "dense": hits("b")}, PLACES, heavy)] == ["b", "a"]
    assert [r.window_id for r in fuse({"bm25": hits("b"), "dense": hits("a")}, PLACES, even)] == ["a", "b"]


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


@given(LISTS, st.data())
def test_a_better_rank_is_never_a_worse_place(lists: dict[str, list[str]], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(lists)))
    ids = lists[name]
    if len(ids) < 2:
        return
    at = data.draw(st.integers(1, len(ids) - 1))
    risen = ids[at]
    better = [*ids[: at - 1], risen, ids[at - 1], *ids[at + 1 :]]

    def place(own: Mapping[str, list[str]]) -> int:
        made = fuse({name: hits(*ids) for name, ids in own.items()}, ALL)
        return next(entry.scores["fused"].rank for entry in made if entry.window_id == risen)

    assert place({**lists, name: better}) <= place(lists)


@given(st.lists(st.sampled_from(IDS), unique=True), st.lists(st.sampled_from(IDS), unique=True))
def test_without_any_vectors_bm25_keeps_its_order(bm25: list[str], dense: list[str]) -> None:
    lists = {"bm25": hits(*bm25), "dense": [], "sparse": []}
    assert [entry.window_id for entry in fuse(lists, ALL, unseen=set(bm25))] == bm25
    with_all = fuse({"bm25": hits(*bm25), "dense": hits(*dense)}, ALL)
    assert with_all == fuse({"bm25": hits(*bm25), "dense": hits(*dense)}, ALL, unseen=set(IDS) - {*bm25, *dense})


def test_a_window_without_vectors_stands_where_bm25_alone_would_have_it() -> None:
    found = {"bm25": hits("w00", "w01", "w02", "w03"), "dense": hits("w03", "w02", "w01")}
    assert next(iter(fuse(found, ALL))).window_id != "w00"
    assert next(iter(fuse(found, ALL, unseen={"w00"}))).window_id == "w00"


def test_what_the_reranker_read_comes_first_and_the_rest_stays_in_order() -> None:
    groups = [[entry] for entry in ranked(("a", 0), ("a", 5), ("b", 0), ("b", 5))]
    made = reorder(groups, {"a5": 0.9, "a0": 0.1})
    assert shape(made) == [["a5"], ["a0"], ["b0"], ["b5"]]
    assert [group[0].score for group in made[:2]] == [0.9, 0.1]
    assert made[0][0].scores["rerank"] == RetrieverScore(1, 0.9)
    assert "rerank" not in made[2][0].scores
    assert shape(reorder(groups, dict.fromkeys(("a0", "a5", "b0", "b5"), 0.5))) == shape(groups)
