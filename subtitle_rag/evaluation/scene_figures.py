"""Measure scenes as users see them: their order, their length, and the place in the video that they jump to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.metrics import FAILURE, GoldWindows, Mean, MetricMeans
from subtitle_rag.evaluation.questions import GoldSet, Question

SCENES = 20
"""Scenes of an answer, at most: as many as a search shows."""
FAR_MS = 30_000
"""A jump farther than this from the start of the answer is counted as far."""
EARLY_MS = 5_000
"""A jump so long before the answer, or less, is as good as one inside of it."""
SCENE_METRICS = ("hit@1", "hit@5", "hit@20", "recall@5", "recall@20", FAILURE, "mrr@10")
"""Without nDCG, whose best order is one of windows: the scenes that could have been merged are not known."""


@dataclass(frozen=True, slots=True)
class ShownScene:
    """A scene of an answer: its windows, the best first, and its times."""

    window_ids: tuple[str, ...]
    start_ms: int
    end_ms: int
    at_ms: int


Spread = Mapping[str, float | None]
"""The median (`p50`) and the 90th percentile (`p90`), in seconds; None of nothing."""


class Jump(NamedTuple):
    """Where the first right scene of an answer begins to play."""

    error_ms: int
    """The time between it and the start of the nearest gold range that the scene shows."""
    is_inside: bool
    """Whether it is in one of these ranges, or at most `EARLY_MS` before it."""


@dataclass(frozen=True, slots=True)
class SceneFigures:
    figures: MetricMeans
    """Means of `SCENE_METRICS`."""
    length_s: Spread
    """Lengths of all scenes, in seconds."""
    jumps: int
    """Questions with a right scene. Its jump is measured."""
    jump_s: Spread
    """Absolute errors of the jumps (`Jump.error_ms`), in seconds."""
    inside: Mean | None
    """The share of jumps that are inside; None without jumps."""
    far: Mean | None
    """The share of jumps beyond `FAR_MS`; None without jumps."""

    def to_json(self) -> dict[str, Any]:
        shares = {"inside": self.inside, "over_30": self.far}
        return {
            **self.figures.to_json(),
            "length_s": self.length_s,
            "jump_s": {
                "n": self.jumps,
                **self.jump_s,
                **{name: share.value if share else None for name, share in shares.items()},
                "ci95": {name: list(share.interval) for name, share in shares.items() if share},
            },
        }


def measure(gold: GoldSet, answers: Sequence[Sequence[ShownScene]]) -> tuple[SceneFigures, dict[str, SceneFigures]]:
    """Return the figures of all questions, and by kind. `answers` has the scenes of each question, the best first."""
    right = _right_scenes(gold, answers)
    judged = [
        GoldWindows(windows.ranges, {id: ranges for id, ranges in by_scene.items() if ranges})
        for windows, by_scene in zip(gold.windows, right, strict=True)
    ]
    values = metrics.per_question(judged, [[scene.window_ids[0] for scene in scenes] for scenes in answers])
    jumps = _jumps(gold, answers, right)

    def figures(picked: Sequence[int]) -> SceneFigures:
        scenes = [scene for at in picked for scene in answers[at]]
        jumps_made = [jump for at in picked if (jump := jumps[at]) is not None]
        return SceneFigures(
            figures=MetricMeans.of(values[list(picked)], SCENE_METRICS),
            length_s=_spread([scene.end_ms - scene.start_ms for scene in scenes]),
            jumps=len(jumps_made),
            jump_s=_spread([jump.error_ms for jump in jumps_made]),
            inside=metrics.mean([float(jump.is_inside) for jump in jumps_made]),
            far=metrics.mean([float(jump.error_ms > FAR_MS) for jump in jumps_made]),
        )

    return figures(range(len(answers))), {kind: figures(picked) for kind, picked in gold.by_kind.items()}


def _spread(values_ms: Sequence[int]) -> Spread:
    import numpy as np

    if not values_ms:
        return {"p50": None, "p90": None}
    p50, p90 = np.percentile(values_ms, (50, 90)) / 1000
    return {"p50": round(float(p50), 1), "p90": round(float(p90), 1)}


def jump_gain(
    gold: GoldSet, these: Sequence[Sequence[ShownScene]], those: Sequence[Sequence[ShownScene]]
) -> Mean | None:
    """Return how many more jumps are inside in these answers than in those, as a share of the questions for which both
    have a right scene; None without such a question."""
    both = (_jumps(gold, answers, _right_scenes(gold, answers)) for answers in (these, those))
    pairs = [(this, that) for this, that in zip(*both, strict=True) if this and that]
    return metrics.mean([float(this.is_inside) - float(that.is_inside) for this, that in pairs])


def _right_scenes(gold: GoldSet, answers: Sequence[Sequence[ShownScene]]) -> list[dict[str, frozenset[int]]]:
    """Return for each question the numbers of the gold ranges that each scene shows."""
    return [
        {scene.window_ids[0]: windows.shown_by(scene.window_ids) for scene in scenes}
        for windows, scenes in zip(gold.windows, answers, strict=True)
    ]


def _jumps(
    gold: GoldSet, answers: Sequence[Sequence[ShownScene]], right: Sequence[Mapping[str, frozenset[int]]]
) -> list[Jump | None]:
    """Return the jump of each question's first right scene; None without such a scene."""
    return [_jump(*each) for each in zip(gold.questions, answers, right, strict=True)]


def _jump(question: Question, scenes: Sequence[ShownScene], right: Mapping[str, frozenset[int]]) -> Jump | None:
    for scene in scenes:
        if numbers := right[scene.window_ids[0]]:
            ranges = [question.gold[number] for number in numbers]
            return Jump(
                min(abs(scene.at_ms - each.start_ms) for each in ranges),
                any(each.start_ms - EARLY_MS <= scene.at_ms <= each.end_ms for each in ranges),
            )
    return None
