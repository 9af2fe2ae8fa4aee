"""The figures of scenes against hand-computed ones."""

import pytest

from subtitle_rag.evaluation.metrics import GoldWindows
from subtitle_rag.evaluation.questions import Gold, GoldSet, Question
from subtitle_rag.evaluation.scene_figures import SCENE_METRICS, ShownScene, jump_gain, measure

ONE, TWO = frozenset({0}), frozenset({1})


def shown(*window_ids: str, start: int, end: int, at: int) -> ShownScene:
    return ShownScene(window_ids, start * 1000, end * 1000, at * 1000)


def gold(*kinds: str) -> GoldSet:
    """Each question has two answers: from 100 s (the windows a and b show it) and from 300 s (c does)."""
    ranges = Gold("v", 100_000, 160_000), Gold("v", 300_000, 360_000)
    questions = tuple(Question(f"q{at}", "물음", kind, ranges) for at, kind in enumerate(kinds))
    return GoldSet(questions, tuple(GoldWindows(2, {"a": ONE, "b": ONE, "c": TWO}) for _kind in kinds), (), ())


def test_a_scene_counts_once_with_every_range_that_its_windows_show() -> None:
    scenes = [shown("x", start=0, end=60, at=5), shown("a", "b", start=60, end=180, at=90)]

    overall, by_kind = measure(gold("keyword"), [scenes])

    means = overall.figures.values_json()
    assert (means["hit@1"], means["hit@5"], means["mrr@10"]) == (0.0, 1.0, 0.5)
    assert means["recall@20"] == 0.5
    assert set(means) == set(overall.figures.intervals_json()) == set(SCENE_METRICS)
    assert by_kind == {"keyword": overall}


def test_the_jump_is_measured_from_the_nearest_answer_of_the_first_right_scene() -> None:
    near = [shown("a", start=60, end=120, at=90), shown("c", start=300, end=360, at=300)]
    far = [shown("x", start=0, end=60, at=0), shown("c", "b", start=120, end=400, at=250)]
    neither = [shown("x", start=0, end=60, at=0)]

    overall, by_kind = measure(gold("keyword", "context", "context"), [near, far, neither])

    assert (overall.figures.n, overall.jumps) == (3, 2)
    assert overall.far
    assert (overall.far.value, overall.far.interval) == (0.5, (0.0, 1.0))
    assert overall.jump_s == {"p50": 30.0, "p90": 46.0}  # of 10 s and 50 s
    assert by_kind["keyword"].jump_s == {"p50": 10.0, "p90": 10.0}
    assert overall.to_json()["jump_s"] == {
        "n": 2,
        "p50": 30.0,
        "p90": 46.0,
        "inside": 0.0,
        "over_30": 0.5,
        "ci95": {"inside": [0.0, 0.0], "over_30": [0.0, 1.0]},
    }


@pytest.mark.parametrize(("at", "is_inside"), [(94, 0.0), (95, 1.0), (160, 1.0), (161, 0.0), (295, 0.0)])
def test_a_jump_is_inside_from_five_seconds_before_an_answer_that_the_scene_shows(at: int, is_inside: float) -> None:
    overall, _by_kind = measure(gold("keyword"), [[shown("a", start=60, end=180, at=at)]])
    assert overall.inside
    assert overall.inside.value == is_inside


def test_jumps_of_two_searches_are_compared_where_both_have_a_right_scene() -> None:
    def scenes(at: int) -> list[ShownScene]:
        return [shown("a", start=60, end=180, at=at)]

    these = [scenes(100), scenes(100), scenes(60), scenes(100), []]
    those = [scenes(60), scenes(100), scenes(60), [shown("x", start=0, end=60, at=0)], scenes(60)]

    gap = jump_gain(gold(*["keyword"] * 5), these, those)

    assert gap
    assert gap.value == pytest.approx(1 / 3)
    assert gap.interval == (0.0, 1.0)
    assert jump_gain(gold("keyword"), [[]], [scenes(100)]) is None


def test_lengths_are_those_of_all_scenes() -> None:
    scenes = [[shown("a", start=0, end=60, at=0), shown("x", start=60, end=240, at=60)], []]

    overall, _by_kind = measure(gold("keyword", "keyword"), scenes)

    assert overall.length_s == {"p50": 120.0, "p90": 168.0}


def test_nothing_shown_has_no_length_and_no_jump() -> None:
    overall, _by_kind = measure(gold("keyword"), [[]])

    assert overall.figures.means["hit@20"].value == 0.0
    assert overall.to_json()["length_s"] == {"p50": None, "p90": None}
    assert overall.to_json()["jump_s"] == {
        "n": 0,
        "p50": None,
        "p90": None,
        "inside": None,
        "over_30": None,
        "ci95": {},
    }
