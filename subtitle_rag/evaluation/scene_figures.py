"""Measure scenes as users see them: their order, their length, and the place in the video that they jump to."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.metrics import FAILURE, GoldWindows, Interval
from subtitle_rag.evaluation.questions import GoldSet, Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCENES = 20
"""Scenes of an answer, at most: as many as a search shows."""
FAR_MS = 30_000
"""A jump farther than this from the start of the answer is counted as far."""
SCENE_METRICS = ("hit@1", "hit@5", "hit@20", "recall@5", "recall@20", FAILURE, "mrr@10")
"""Without nDCG, whose best order is one of windows: the scenes that could have been merged are not known."""


@dataclass(frozen=True, slots=True)
class ShownScene:
    """A scene of an answer: its windows, the best first, and its times."""

    window_ids: tuple[str, ...]
    start_ms: int
    end_ms: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class Spread:
    """The median and the 90th percentile, in seconds; None of nothing."""

    p50: float | None
    p90: float | None

    @classmethod
    def of(cls, values_ms: Sequence[int]) -> "Spread":
        import numpy as np

        if not values_ms:
            return cls(None, None)
        p50, p90 = np.percentile(values_ms, (50, 90)) / 1000
        return cls(round(float(p50), 1), round(float(p90), 1))


@dataclass(frozen=True, slots=True)
class SceneFigures:
    n: int
    """Questions."""
    means: Mapping[str, float]
    """Of `SCENE_METRICS`, 0–1."""
    ci95: Mapping[str, Interval]
    length_s: Spread
    """Of every scene."""
    jumps: int
    """Questions with a right scene. Its jump is measured."""
    jump_s: Spread
    """Between the jump of the first right scene and the start of the nearest gold range that it shows."""
    far: float | None
    """The share of jumps beyond `FAR_MS`; None without jumps."""

    def to_json(self) -> dict[str, Any]:
        return {
            "n": self.n,
            **self.means,
            "ci95": {name: list(interval) for name, interval in self.ci95.items()},
            "length_s": asdict(self.length_s),
            "jump_s": {"n": self.jumps, **asdict(self.jump_s), "over_30": self.far},
        }


def measure(gold: GoldSet, answers: Sequence[Sequence[ShownScene]]) -> tuple[SceneFigures, dict[str, SceneFigures]]:
    """Return the figures of all questions, and by kind. `answers` has the scenes of each question, the best first."""
    right = [
        {scene.window_ids[0]: windows.shown_by(scene.window_ids) for scene in scenes}
        for windows, scenes in zip(gold.windows, answers, strict=True)
    ]
    judged = [
        GoldWindows(windows.ranges, {id: ranges for id, ranges in by_scene.items() if ranges})
        for windows, by_scene in zip(gold.windows, right, strict=True)
    ]
    values = metrics.per_question(judged, [[scene.window_ids[0] for scene in scenes] for scenes in answers])

    def figures(picked: Sequence[int]) -> SceneFigures:
        jumps = [_jump_ms(gold.questions[at], answers[at], right[at]) for at in picked]
        return _figures(values[list(picked)], [answers[at] for at in picked], [ms for ms in jumps if ms is not None])

    return figures(range(len(answers))), {kind: figures(picked) for kind, picked in gold.by_kind.items()}


def _figures(values: "NDArray[Any]", answers: Sequence[Sequence[ShownScene]], jumps: Sequence[int]) -> SceneFigures:
    means, intervals = metrics.means(values), metrics.intervals(values)
    return SceneFigures(
        n=len(values),
        means={name: means[name] for name in SCENE_METRICS},
        ci95={name: intervals[name] for name in SCENE_METRICS},
        length_s=Spread.of([scene.end_ms - scene.start_ms for scenes in answers for scene in scenes]),
        jumps=len(jumps),
        jump_s=Spread.of(jumps),
        far=sum(jump > FAR_MS for jump in jumps) / len(jumps) if jumps else None,
    )


def _jump_ms(question: Question, scenes: Sequence[ShownScene], right: Mapping[str, frozenset[int]]) -> int | None:
    """Return how far the first right scene jumps from the answer's start, or None without such a scene."""
    for scene in scenes:
        if ranges := right[scene.window_ids[0]]:
            return min(abs(scene.at_ms - question.gold[number].start_ms) for number in ranges)
    return None
