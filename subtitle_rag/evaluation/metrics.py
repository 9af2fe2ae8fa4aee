"""Metrics of ranked windows, with bootstrap intervals.

Success@k, RR@10 and nDCG@10 are computed by `ir_measures` (MacAvaney, Macdonald & Ounis 2022, "Streamlining Evaluation
with ir-measures") with trec_eval. `recall@k` is computed here, because it is about gold ranges: the share of a
question's ranges in the first k windows. `failure@20` is 1 − recall@20, as in Anthropic 2024, "Introducing Contextual
Retrieval".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Values: TypeAlias = "NDArray[np.float64]"
"""A row per question, a column per metric."""

METRICS = ("hit@1", "hit@5", "hit@20", "recall@5", "recall@20", "failure@20", "mrr@10", "ndcg@10")
"""Names of the metrics, all 0–1, in the order of the columns of `per_question`."""
FAILURE = "failure@20"
"""The only metric where less is better."""
RESAMPLES = 2_000
SEED = 20_090_719
"""Seed of the resampling, so that the same questions always get the same intervals."""
_CHUNK = 100
"""Resamples per draw, which limits the memory for thousands of questions."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class GoldWindows:
    """The right windows of a question: window id → numbers of its gold ranges.

    `ranges` also counts those that no window has.
    """

    ranges: int
    windows: Mapping[str, frozenset[int]]

    def shown_by(self, ids: Iterable[str]) -> frozenset[int]:
        """Return the numbers of the gold ranges in these windows."""
        return frozenset[int]().union(*(self.windows.get(id, frozenset()) for id in ids))


def per_question(gold: Sequence[GoldWindows], rankings: Sequence[Sequence[str]]) -> Values:
    """Return one row of `METRICS` per question, from its windows' ids, best first and without duplicates."""
    import numpy as np

    values = np.zeros((len(gold), len(METRICS)))
    columns = {measure: METRICS.index(name) for name, measure in _measures().items()}
    qrels = {str(at): dict.fromkeys(question.windows, 1) for at, question in enumerate(gold) if question.windows}
    # scores that fall with the rank, because trec_eval orders by score
    run = {
        str(at): {window_id: float(-rank) for rank, window_id in enumerate(ranking)}
        for at, ranking in enumerate(rankings)
        if ranking
    }
    if qrels and run:
        import ir_measures

        for result in ir_measures.iter_calc(list(columns), qrels, run):
            values[int(result.query_id), columns[result.measure]] = result.value
    for name, depth in (("recall@5", 5), ("recall@20", 20)):
        recalls = [recall(question, ranking[:depth]) for question, ranking in zip(gold, rankings, strict=True)]
        values[:, METRICS.index(name)] = recalls
    values[:, METRICS.index(FAILURE)] = 1.0 - values[:, METRICS.index("recall@20")]
    return values


def _measures() -> dict[str, Any]:
    from ir_measures import RR, Success, nDCG

    return {"hit@1": Success @ 1, "hit@5": Success @ 5, "hit@20": Success @ 20, "mrr@10": RR @ 10, "ndcg@10": nDCG @ 10}


def recall(question: GoldWindows, best: Sequence[str]) -> float:
    """Return the share of a question's ranges in these windows."""
    return len(question.shown_by(best)) / question.ranges


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, or the difference of two, with its 95 % interval."""

    value: float
    interval: Interval

    @property
    def is_real(self) -> bool:
        """Whether the interval of a difference excludes 0."""
        low, high = self.interval
        return low > 0 or high < 0

    def to_json(self) -> list[float]:
        return [self.value, *self.interval]


def means(values: Values) -> dict[str, Mean]:
    """Return the mean of each metric over the questions, with its 95 % percentile interval.

    Efron & Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13. For the differences of two systems,
    question by question, it is the interval of the paired bootstrap (Sakai 2006, "Evaluating Evaluation Metrics based
    on the Bootstrap").
    """
    low, high = _bounds(_draws(len(values)) @ values / len(values))
    columns = zip(METRICS, values.mean(axis=0), low, high, strict=True)
    return {name: Mean(float(value), (float(a), float(b))) for name, value, a, b in columns}


def mean(values: Sequence[float]) -> Mean | None:
    """Return the mean of values, or of paired differences, with its 95 % interval; None without values."""
    import numpy as np

    if not values:
        return None
    array = np.asarray(values, dtype=np.float64)
    low, high = _bounds(_draws(len(array)) @ array / len(array))
    return Mean(float(array.mean()), (float(low), float(high)))


def relative_change(before: Values, after: Values) -> Mean | None:
    """Return the relative change of the mean from `before` to `after`; None if every value of `before` is 0."""
    import numpy as np

    if not before.any():
        return None
    draws = _draws(len(before))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = draws @ after / (draws @ before) - 1.0
    low, high = _bounds(ratios[np.isfinite(ratios)])
    return Mean(float(after.mean() / before.mean() - 1.0), (float(low), float(high)))


@dataclass(frozen=True, slots=True)
class MetricMeans:
    """Means of metrics (0–1) over `n` questions."""

    n: int
    means: Mapping[str, Mean]

    @classmethod
    def of(cls, values: Values, names: Sequence[str] = METRICS) -> "MetricMeans":
        """Return the means of these metrics, from one row of `METRICS` per question."""
        every = means(values)
        return cls(len(values), {name: every[name] for name in names})

    def values_json(self) -> dict[str, float]:
        return {name: mean.value for name, mean in self.means.items()}

    def intervals_json(self) -> dict[str, list[float]]:
        return {name: list(mean.interval) for name, mean in self.means.items()}

    def to_json(self) -> dict[str, Any]:
        return {"n": self.n, **self.values_json(), "ci95": self.intervals_json()}


def gains_json(name: str, gains: Mapping[str, Mean]) -> dict[str, Any]:
    """Return differences under `name`, and under `real` whether their intervals exclude 0."""
    return {
        name: {metric: gain.to_json() for metric, gain in gains.items()},
        "real": [metric for metric, gain in gains.items() if gain.is_real],
    }


def _bounds(samples: Any) -> Any:
    """Return the lower and upper end of the 95 % percentile interval of each column."""
    import numpy as np

    return np.percentile(samples, (2.5, 97.5), axis=0)


@lru_cache(maxsize=8)
def _draws(n: int) -> Any:
    """Return how often each of `n` questions is drawn, one row per resample."""
    import numpy as np

    generator = np.random.default_rng(SEED)
    draws = np.empty((RESAMPLES, n), dtype=np.float32)
    for start in range(0, RESAMPLES, _CHUNK):
        picks = generator.integers(n, size=(_CHUNK, n)) + np.arange(_CHUNK)[:, None] * n
        draws[start : start + _CHUNK] = np.bincount(picks.ravel(), minlength=_CHUNK * n).reshape(_CHUNK, n)
    return draws
