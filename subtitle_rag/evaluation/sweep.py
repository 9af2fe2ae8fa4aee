"""`eval sweep`: choose the search's numbers with half of the questions, and measure them with the other half.

One number varies while the others stay. The value with the best MRR@10 on the train half wins; a tie keeps the current
value. The search ends after two passes, or after one without a change. Only the test half measures the choice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.arms import ArmChoice, EvalModels
from subtitle_rag.evaluation.dataset import load_about_scenes
from subtitle_rag.evaluation.json_lines import bad_queries
from subtitle_rag.evaluation.metrics import FAILURE, Gap, Interval, Values
from subtitle_rag.evaluation.questions import all_windows, gold_set, halves
from subtitle_rag.evaluation.report import gap_text, interval_text, markdown, markdown_table
from subtitle_rag.evaluation.sweep_spaces import FUSION_VALUES, Axis, FusionSpace, LexicalSpace, SearchSpace, Setting
from subtitle_rag.i18n import N_, _
from subtitle_rag.installation import EVAL, require_extra
from subtitle_rag.runtime import Runtime

OBJECTIVE = "mrr@10"
PASSES = 2


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
    measured: dict[tuple[float, ...], Values] = field(default_factory=dict)

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

    def _values(self, setting: Setting, half: Sequence[int]) -> Values:
        key = tuple(setting.values())  # every setting has the axes in the same order
        if key not in self.measured:
            self.measured[key] = self.space.measure(setting)
        return self.measured[key][list(half)]

    def test_means(self, setting: Setting) -> dict[str, float]:
        """Return the mean of each metric on the test half."""
        return metrics.means(self._values(setting, self.test))

    def test_gaps(self) -> dict[str, Gap]:
        """Return the gain of the best numbers over the shipped ones on the test half."""
        return metrics.gaps(self._values(self.best, self.test) - self._values(self.shipped, self.test))

    def to_json(self) -> dict[str, Any]:
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
                **metrics.gaps_json("found_minus_shipped", self.test_gaps()),
            },
        }


class Sweep:
    """A sweep of `runtime`'s library with the questions of `path`; `only`: the axes to vary, none for all.

    Raises:
        UsageError: `unreadable`, `bad_queries`; the latter also for a set with its own documents, and for too few
            questions for two halves.
        AppError: `eval_missing`.
    """

    def __init__(
        self, runtime: Runtime, path: Path, seed: int, *, neural: bool = True, only: tuple[str, ...] = ()
    ) -> None:
        require_extra(EVAL)
        self.seed = seed
        self.left_out: dict[str, str] = {}
        """Axis → the reason why it was not varied."""
        self._runtime, self._neural, self._only = runtime, neural, only
        self._dataset = load_about_scenes(path)
        self._questions = gold_set(self._dataset, runtime.library, all_windows(runtime.library))
        self.train, self.test = halves(self._questions.questions, seed)
        if not self.train or not self.test:
            raise bad_queries(path, 1, _("all its questions are tied by their videos: there are no two halves"))
        self._searches: list[CoordinateSearch] = []

    @property
    def total(self) -> int:
        """The number of settings in a first pass."""
        return sum(len(axis.values) for search in self._searches for axis in search.axes)

    @property
    def searches(self) -> list[CoordinateSearch]:
        """The searches with results."""
        return [search for search in self._searches if search.measured]

    def run(self) -> Iterator[Trial]:
        """Search every space; errors of searching pass through."""
        spaces = LexicalSpace(self._runtime, self._dataset), self._fusion_space()
        searches = [CoordinateSearch(space, self.train, self.test, self._only) for space in spaces]
        self._searches = [search for search in searches if search.axes]
        for search in self._searches:
            yield from search.run()

    def _fusion_space(self) -> FusionSpace:
        models = EvalModels.of(self._runtime, ArmChoice(neural=self._neural))
        space = FusionSpace(self._runtime, self._questions, models.reranker, neural=self._neural)
        if reason := models.absent.get("reranker"):
            self.left_out["rerank"] = reason
            self.left_out["overlap"] = _("only the reranker could read it: {reason}").format(reason=reason)
        for name in FUSION_VALUES:
            if name not in {axis.name for axis in space.axes}:
                self.left_out[name] = models.absent.get("encoder") or _("the library has no such vectors")
        if self._only:
            self.left_out = {name: reason for name, reason in self.left_out.items() if name in self._only}
        return space

    def to_json(self) -> dict[str, Any]:
        return {
            "queries": {"train": len(self.train), "test": len(self.test)},
            "seed": self.seed,
            "objective": OBJECTIVE,
            "spaces": [search.to_json() for search in self.searches],
            "left_out": self.left_out,
        }


METRICS_SHOWN = ("hit@1", "hit@5", "hit@20", FAILURE, OBJECTIVE, "ndcg@10")
AXES = {
    "window": N_("window, s"),
    "keywords": N_("keywords of a neighbour"),
    "bigrams": N_("weight of bigrams"),
    "k1": "k1",
    "b": "b",
    "dense": N_("weight of dense"),
    "sparse": N_("weight of sparse"),
    "section": N_("part of the section's score"),
    "video": N_("part of the video's score"),
    "rerank": N_("windows reranked"),
    "overlap": N_("overlap reranked, s"),
}
"""Titles of the axes."""


def render_sweep(sweep: Sweep) -> str:
    """Return the trials on the train half, then the comparison on the test half."""
    intro = _("{train} questions to choose by {objective}, {test} to measure (seed {seed}); % with 95 % intervals.")
    parts = [[intro.format(train=len(sweep.train), test=len(sweep.test), objective=OBJECTIVE, seed=sweep.seed)]]
    for search in sweep.searches:
        parts += [_trial_table(search), _test_table(search)]
        if not search.complete:
            parts.append([_("It was stopped before the end.")])
    if any("window" in search.changed for search in sweep.searches):
        note = _(
            "A longer window is right by chance more often, and shows a scene less exactly. Choose "
            "longer windows only if the gain is worth it."
        )
        parts.append([note])
    for name, reason in sorted(sweep.left_out.items()):
        parts.append([_("Left out – {name}: {reason}").format(name=_(AXES[name]), reason=reason)])
    return markdown(*parts)


def _trial_table(search: CoordinateSearch) -> list[str]:
    rows = []
    for axis in search.axes:
        last = {trial.value: trial for trial in search.trials if trial.axis == axis.name}  # the second pass counts
        values = ", ".join(
            f"{value:g}: {100 * trial.train:.1f} {interval_text(trial.interval)}"
            for value, trial in sorted(last.items())
        )
        rows.append([_(AXES[axis.name]), values, f"{axis.shipped:g}", f"{search.best[axis.name]:g}"])
    return markdown_table([_("number"), _("values, on the train half"), _("shipped"), _("found")], rows, text_columns=2)


def _test_table(search: CoordinateSearch) -> list[str]:
    shipped, best, gaps = search.test_means(search.shipped), search.test_means(search.best), search.test_gaps()
    rows = [
        [_("shipped"), *(f"{100 * shipped[metric]:.1f}" for metric in METRICS_SHOWN)],
        [_("found"), *(f"{100 * best[metric]:.1f}" for metric in METRICS_SHOWN)],
        [_("difference"), *(gap_text(gaps[metric]) for metric in METRICS_SHOWN)],
    ]
    return markdown_table([_("measured on the test half"), *METRICS_SHOWN], rows, text_columns=1)
