"""Choose settings on one half of the questions, and measure the choice on the other half.

One number varies while the others stay. The value with the best MRR@10 on the train half wins; a tie keeps the current
value. The search ends after two passes, or after one without a change. Only the test half measures the choice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.metrics import Interval

if TYPE_CHECKING:
    from subtitle_rag.evaluation.metrics import Values

OBJECTIVE = "mrr@10"
PASSES = 2

Setting = Mapping[str, float]
"""Name of a number → its value."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A number to vary; `shipped` is one of its `values`."""

    name: str
    values: tuple[float, ...]
    shipped: float
    unit: str = ""


class SearchSpace(Protocol):
    """Axes, and the figures of any setting of them."""

    name: str
    axes: Sequence[Axis]

    def measure(self, setting: Setting) -> "Values":
        """A row of `METRICS` for every question of both halves; called once for each setting."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The objective on the train half for one value of an axis, with the 95 % interval of its mean."""

    axis: str
    value: float
    train: float
    interval: Interval


@dataclass(slots=True)
class CoordinateSearch:
    """A search through one space. Its results may be read at any time after the first trial."""

    space: SearchSpace
    train: Sequence[int]
    test: Sequence[int]
    only: Sequence[str] = ()
    """The axes to vary while the others stay as shipped; none: all."""
    trials: list[Trial] = field(default_factory=list)
    complete: bool = False
    shipped: dict[str, float] = field(init=False)
    best: dict[str, float] = field(init=False)
    measured: "dict[tuple[float, ...], Values]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.best = self.shipped = {axis.name: axis.shipped for axis in self.space.axes}

    @property
    def axes(self) -> list[Axis]:
        """The axes to vary."""
        return [axis for axis in self.space.axes if not self.only or axis.name in self.only]

    @property
    def changed(self) -> dict[str, float]:
        """The numbers that left their shipped value."""
        return {axis.name: self.best[axis.name] for axis in self.axes if self.best[axis.name] != axis.shipped}

    def run(self) -> Iterator[Trial]:
        """Search the space, and yield each new trial; errors of `SearchSpace.measure` pass through."""
        for _pass in range(PASSES):
            before = self.best
            for axis in self.axes:
                yield from self._vary(axis)
            if self.best == before:
                break
        self.complete = True

    def _vary(self, axis: Axis) -> Iterator[Trial]:
        start = self.best
        top = metrics.means(self._values(start, self.train))[OBJECTIVE]
        for value in axis.values:
            setting = {**start, axis.name: value}
            is_new = tuple(setting.values()) not in self.measured
            values = self._values(setting, self.train)
            score = metrics.means(values)[OBJECTIVE]
            if is_new or not any((trial.axis, trial.value) == (axis.name, value) for trial in self.trials):
                self.trials.append(Trial(axis.name, value, score, metrics.intervals(values)[OBJECTIVE]))
                yield self.trials[-1]
            if score > top:
                top, self.best = score, setting

    def _values(self, setting: Setting, half: Sequence[int]) -> "Values":
        key = tuple(setting.values())  # every setting has the axes in the same order
        if key not in self.measured:
            self.measured[key] = self.space.measure(setting)
        return self.measured[key][list(half)]

    def test_means(self, setting: Setting) -> dict[str, float]:
        """Return the mean of each metric on the test half."""
        return metrics.means(self._values(setting, self.test))

    def test_gaps(self) -> dict[str, metrics.Gap]:
        """Return the gain of the best numbers over the shipped ones on the test half."""
        return metrics.gaps(self._values(self.best, self.test) - self._values(self.shipped, self.test))

    def to_json(self) -> dict[str, Any]:
        gaps = self.test_gaps()
        return {
            "space": self.space.name,
            "whole": self.complete,
            "axes": [
                {
                    "name": axis.name,
                    "unit": axis.unit,
                    "shipped": axis.shipped,
                    "found": self.best[axis.name],
                    "tried": [
                        {"value": trial.value, OBJECTIVE: trial.train, "ci95": list(trial.interval)}
                        for trial in self.trials
                        if trial.axis == axis.name
                    ],
                }
                for axis in self.axes
            ],
            "test": {
                "shipped": self.test_means(self.shipped),
                "found": self.test_means(self.best),
                "found_minus_shipped": {name: gap.to_json() for name, gap in gaps.items()},
                "real": [name for name, gap in gaps.items() if gap.is_real],
            },
        }
