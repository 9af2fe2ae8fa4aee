"""The figures against hand-computed ones and against a second computation."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.metrics import METRICS, GoldWindows

ONE = frozenset({0})


def row(judged: GoldWindows, ranking: list[str]) -> dict[str, float]:
    (values,) = metrics.per_question([judged], [ranking])
    return dict(zip(METRICS, map(float, values), strict=True))


def names(count: int) -> list[str]:
    return [f"n{at}" for at in range(count)]


def test_the_right_window_first() -> None:
    assert row(GoldWindows(1, {"a": ONE}), ["a", "b"]) == {
        "hit@1": 1.0,
        "hit@5": 1.0,
        "hit@20": 1.0,
        "recall@5": 1.0,
        "recall@20": 1.0,
        "failure@20": 0.0,
        "mrr@10": 1.0,
        "ndcg@10": 1.0,
    }


def test_the_depths_are_kept() -> None:
    judged = GoldWindows(1, {"a": ONE})

    eleventh = row(judged, [*names(10), "a"])
    assert (eleventh["mrr@10"], eleventh["ndcg@10"], eleventh["hit@20"]) == (0.0, 0.0, 1.0)
    twentieth = row(judged, [*names(19), "a"])
    assert (twentieth["hit@20"], twentieth["failure@20"]) == (1.0, 0.0)
    next_one = row(judged, [*names(20), "a"])
    assert (next_one["hit@20"], next_one["failure@20"]) == (0.0, 1.0)


def test_failure_counts_ranges_not_windows() -> None:
    both_of_one = GoldWindows(4, {"a": frozenset({0}), "b": frozenset({0}), "c": frozenset({1, 2})})

    assert row(both_of_one, ["a", "b"])["failure@20"] == 0.75
    assert row(both_of_one, ["a", "c"])["failure@20"] == 0.25


def test_nothing_found_and_nothing_to_find() -> None:
    nothing = dict.fromkeys(METRICS, 0.0) | {"failure@20": 1.0}

    assert row(GoldWindows(1, {"a": ONE}), []) == nothing
    assert row(GoldWindows(1, {}), ["x"]) == nothing
    assert row(GoldWindows(1, {}), []) == nothing


def test_questions_keep_their_order() -> None:
    judged = [GoldWindows(1, {"a": ONE}), GoldWindows(1, {}), GoldWindows(1, {"b": ONE}), GoldWindows(1, {"c": ONE})]

    values = metrics.per_question(judged, [["a"], ["b"], [], ["x", "c"]])

    assert values[:, METRICS.index("mrr@10")].tolist() == [1.0, 0.0, 0.0, 0.5]


def second(judged: GoldWindows, ranking: list[str]) -> dict[str, float]:
    """The same figures from their definitions."""
    right = [id in judged.windows for id in ranking]
    first = right.index(True) + 1 if any(right) else math.inf
    gain = sum(hit / math.log2(rank + 2) for rank, hit in enumerate(right[:10]))
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(judged.windows))))
    best = {depth: {number for id in ranking[:depth] for number in judged.windows.get(id, ())} for depth in (5, 20)}
    return {
        "hit@1": float(first <= 1),
        "hit@5": float(first <= 5),
        "hit@20": float(first <= 20),
        "recall@5": len(best[5]) / judged.ranges,
        "recall@20": len(best[20]) / judged.ranges,
        "failure@20": 1 - len(best[20]) / judged.ranges,
        "mrr@10": 1 / first if first <= 10 else 0.0,
        "ndcg@10": gain / ideal if ideal else 0.0,
    }


IDS = st.sampled_from(names(40))
JUDGED = st.builds(
    GoldWindows, st.just(3), st.dictionaries(IDS, st.frozensets(st.integers(0, 2), min_size=1), max_size=15)
)


@given(st.lists(st.tuples(JUDGED, st.lists(IDS, unique=True)), min_size=1, max_size=6))
def test_a_second_computation_agrees(cases: list[tuple[GoldWindows, list[str]]]) -> None:
    values = metrics.per_question([judged for judged, _ in cases], [ranking for _, ranking in cases])

    for (judged, ranking), figures in zip(cases, values, strict=True):
        expected = second(judged, ranking)
        assert figures.tolist() == pytest.approx([expected[name] for name in METRICS])


def test_a_relative_change_has_the_interval_of_the_paired_bootstrap() -> None:
    before, after = np.array([1.0, 1.0, 0.0, 1.0] * 50), np.array([1.0, 0.0, 0.0, 1.0] * 50)

    change = metrics.relative_change(before, after)

    assert change is not None
    value, (low, high) = change.value, change.interval
    assert value == pytest.approx(-1 / 3)
    assert low < value < high < 0
    # two of three failures stay: the share of a binomial sample of 150
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(1 / 3 * 2 / 3 / 150), rel=0.15)
    assert metrics.relative_change(np.zeros(4), np.ones(4)) is None


@pytest.mark.parametrize(("interval", "real"), [((0.1, 0.2), True), ((-0.2, -0.1), True), ((0.0, 0.2), False)])
def test_a_difference_is_real_where_its_interval_leaves_0_out(interval: tuple[float, float], real: bool) -> None:
    assert metrics.Mean(0.0, interval).is_real is real


def test_intervals_are_the_same_every_time() -> None:
    values = np.random.default_rng(1).random((50, len(METRICS)))
    first = metrics.means(values)
    metrics.means(values[:7])

    assert metrics.means(values) == first


def test_an_interval_is_about_two_standard_errors_wide() -> None:
    values = np.zeros((400, len(METRICS)))
    values[:200] = 1.0

    low, high = metrics.means(values)["hit@1"].interval

    error = 0.5 / math.sqrt(400)
    assert (low, high) == pytest.approx((0.5 - 1.96 * error, 0.5 + 1.96 * error), abs=0.006)


def test_a_constant_has_an_interval_without_width() -> None:
    assert metrics.means(np.full((9, len(METRICS)), 0.25))["mrr@10"].interval == pytest.approx((0.25, 0.25))
