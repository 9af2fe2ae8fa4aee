"""`eval sweep`: other numbers than the shipped ones, chosen on one half of the questions and measured on the other.

One number after the other is varied while the rest stand, and what ranks best on the train half by MRR@10 is kept;
that is done twice, or until nothing changes. Where several are equally good, the one that stood stays. What the
choice is worth is said by the test half alone, where it is compared with the shipped numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.report import Gap, MetricMeans

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

OBJECTIVE = "mrr@10"
PASSES = 2

Setting = Mapping[str, float]
"""Name of a number → its value."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A number that is varied; `shipped` is one of its `values`."""

    name: str
    values: tuple[float, ...]
    shipped: float
    unit: str = ""


class Space(Protocol):
    """What the numbers of some axes make of the questions."""

    @property
    def name(self) -> str: ...

    @property
    def axes(self) -> Sequence[Axis]: ...

    def measure(self, setting: Setting) -> "Values":
        """A row of `METRICS` for every question of both halves; asked once for each setting."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One value was tried on the train half, the other numbers being as found so far."""

    space: str
    axis: str
    value: float
    train: float
    interval: tuple[float, float]
    """Of the objective's mean over the train half, 95 %."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found in a space, and what that is worth on the test half."""

    space: str
    axes: tuple[Axis, ...]
    found: dict[str, float]
    tried: tuple[Tried, ...]
    shipped_test: MetricMeans
    found_test: MetricMeans
    gaps: dict[str, Gap]
    """How far the found numbers are above the shipped ones on the test half."""
    whole: bool
    """False where the sweep was ended before it was through."""

    @property
    def changed(self) -> dict[str, float]:
        return {axis.name: self.found[axis.name] for axis in self.axes if self.found[axis.name] != axis.shipped}

    def to_json(self) -> dict[str, Any]:
        return {
            "space": self.space,
            "whole": self.whole,
            "axes": [
                {
                    "name": axis.name,
                    "unit": axis.unit,
                    "shipped": axis.shipped,
                    "found": self.found[axis.name],
                    "tried": [
                        {"value": one.value, OBJECTIVE: one.train, "ci95": list(one.interval)}
                        for one in self.tried
                        if one.axis == axis.name
                    ],
                }
                for axis in self.axes
            ],
            "test": {
                "shipped": dict(self.shipped_test.means),
                "found": dict(self.found_test.means),
                "found_minus_shipped": {name: gap.to_json() for name, gap in self.gaps.items()},
                "real": [name for name, gap in self.gaps.items() if gap.real],
            },
        }


@dataclass(slots=True)
class Climb:
    """The search through one space; `outcome` may be asked for at any time after the first event."""

    space: Space
    train: Sequence[int]
    test: Sequence[int]
    only: Sequence[str] = ()
    """The axes that are varied, the others staying as shipped; none: all."""
    _known: "dict[tuple[float, ...], Values]" = field(default_factory=dict)
    _tried: list[Tried] = field(default_factory=list)
    _found: dict[str, float] = field(init=False)
    _whole: bool = False

    def __post_init__(self) -> None:
        self._found = {axis.name: axis.shipped for axis in self.space.axes}

    @property
    def axes(self) -> list[Axis]:
        """Those that are varied."""
        return [axis for axis in self.space.axes if not self.only or axis.name in self.only]

    @property
    def begun(self) -> bool:
        """Whether the shipped numbers have been measured."""
        return bool(self._known)

    def run(self) -> Iterator[Tried]:
        """Search. Raises what the space's search raises."""
        for _pass in range(PASSES):
            before = dict(self._found)
            for axis in self.axes:
                yield from self._along(axis)
            if self._found == before:
                break
        self._whole = True

    def _along(self, axis: Axis) -> Iterator[Tried]:
        best = self._score(self._found)
        stands = dict(self._found)
        for value in axis.values:
            setting = {**stands, axis.name: value}
            new = not self._is_known(setting)
            score = self._score(setting)
            if new or not any(one.axis == axis.name and one.value == value for one in self._tried):
                tried = self._told(axis, value, setting)
                self._tried.append(tried)
                yield tried
            if score > best:
                best, self._found = score, setting

    def _told(self, axis: Axis, value: float, setting: Setting) -> Tried:
        values = self._values(setting)[list(self.train)]
        interval = metrics.intervals(values)[OBJECTIVE]
        return Tried(self.space.name, axis.name, value, metrics.means(values)[OBJECTIVE], interval)

    def _score(self, setting: Setting) -> float:
        return metrics.means(self._values(setting)[list(self.train)])[OBJECTIVE]

    def _key(self, setting: Setting) -> tuple[float, ...]:
        return tuple(setting[axis.name] for axis in self.space.axes)

    def _is_known(self, setting: Setting) -> bool:
        return self._key(setting) in self._known

    def _values(self, setting: Setting) -> "Values":
        key = self._key(setting)
        if key not in self._known:
            self._known[key] = self.space.measure(setting)
        return self._known[key]

    def outcome(self) -> Outcome:
        """What has been found so far."""
        own = list(self.test)
        shipped = self._values({axis.name: axis.shipped for axis in self.space.axes})[own]
        found = self._values(self._found)[own]
        ahead = metrics.intervals(found - shipped)
        return Outcome(
            space=self.space.name,
            axes=tuple(self.axes),
            found=dict(self._found),
            tried=tuple(self._tried),
            shipped_test=MetricMeans(len(own), metrics.means(shipped)),
            found_test=MetricMeans(len(own), metrics.means(found)),
            gaps={name: Gap(value, ahead[name]) for name, value in metrics.means(found - shipped).items()},
            whole=self._whole,
        )
