"""A whole `eval sweep` of a library: its spaces, one after the other, and its report."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.evaluation import gold, sets
from subtitle_rag.evaluation.arms import ArmChoice, EvalModels
from subtitle_rag.evaluation.dataset import Dataset
from subtitle_rag.evaluation.lists_space import Fusing
from subtitle_rag.evaluation.metrics import FAILURE
from subtitle_rag.evaluation.questions import bad_queries
from subtitle_rag.evaluation.report import header, interval, line
from subtitle_rag.evaluation.split import halves
from subtitle_rag.evaluation.sweep import OBJECTIVE, Climb, Outcome, Space, Tried
from subtitle_rag.evaluation.words_space import Words
from subtitle_rag.i18n import N_, _
from subtitle_rag.installation.extras import EVAL, require
from subtitle_rag.runtime import Runtime

SHOWN = ("hit@1", "hit@5", "hit@20", FAILURE, OBJECTIVE, "ndcg@10")
AXES = {
    "window": N_("window, s"),
    "keywords": N_("keywords of a neighbour"),
    "bigrams": N_("weight of bigrams"),
    "k1": "k1",
    "b": "b",
    "dense": N_("weight of dense"),
    "sparse": N_("weight of sparse"),
    "rerank": N_("windows reranked"),
    "overlap": N_("overlap reranked, s"),
}
LONGER_WINS = N_(
    "A longer window holds more of everything: it is right more often by chance, and shows a scene less exactly. Take"
    " longer windows only for a gain that is worth that."
)


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a sweep came to, or as far as it came."""

    train: int
    test: int
    seed: int
    outcomes: tuple[Outcome, ...]
    left_out: Mapping[str, str]
    """Axis → why it was not varied."""

    def to_json(self) -> dict[str, Any]:
        return {
            "queries": {"train": self.train, "test": self.test},
            "seed": self.seed,
            "objective": OBJECTIVE,
            "spaces": [outcome.to_json() for outcome in self.outcomes],
            "left_out": dict(self.left_out),
        }


@dataclass(slots=True)
class Sweep:
    """A sweep of `runtime`'s library with the questions of `path`. `report` may be asked for at any time.

    Raises:
        UsageError: `unreadable`, `bad_queries`; the latter also where the set brings its own documents, or where there
            are too few questions for two halves.
        AppError: `eval_missing`.
    """

    runtime: Runtime
    path: Path
    seed: int
    neural: bool = True
    only: tuple[str, ...] = ()
    """The axes that are varied; none: all."""
    left_out: dict[str, str] = field(default_factory=dict)
    _train: list[int] = field(init=False)
    _test: list[int] = field(init=False)
    _asked: gold.GoldSet = field(init=False)
    _dataset: Dataset = field(init=False)
    _climbs: list[Climb] = field(default_factory=list)

    def __post_init__(self) -> None:
        require(EVAL)
        self._dataset = sets.load(self.path)
        if self._dataset.documents:
            raise bad_queries(self.path, 1, _("its questions are about documents of its own, not about scenes"))
        library = self.runtime.library
        self._asked = gold.gold_set(self._dataset, library, gold.all_windows(library))
        self._train, self._test = halves(self._asked.questions, self.seed)
        if not self._train or not self._test:
            raise bad_queries(self.path, 1, _("all its questions are tied by their videos: there are no two halves"))

    @property
    def total(self) -> int:
        """Settings of a first pass."""
        return sum(len(axis.values) for climb in self._climbs for axis in climb.axes)

    def run(self) -> Iterator[Tried]:
        """Search every space. Raises what searching raises."""
        with ExitStack() as opened:
            spaces: tuple[Space, ...] = Words(self.runtime, self._dataset, opened), self._lists()
            climbs = [Climb(space, self._train, self._test, self.only) for space in spaces]
            self._climbs = [climb for climb in climbs if climb.axes]
            for climb in self._climbs:
                yield from climb.run()

    def _lists(self) -> Fusing:
        doors = EvalModels.of(self.runtime, ArmChoice(neural=self.neural))
        lists = Fusing(self.runtime, self._asked, doors.reranker, neural=self.neural)
        there = {axis.name for axis in lists.axes}
        if doors.reranker is None:
            self.left_out["rerank"] = doors.absent["reranker"]
            self.left_out["overlap"] = _("only the reranker could read it: {reason}").format(
                reason=doors.absent["reranker"]
            )
        for name in {"dense", "sparse"} - there:
            self.left_out[name] = doors.absent.get("encoder") or _("the library has no such vectors")
        if self.only:
            self.left_out = {name: reason for name, reason in self.left_out.items() if name in self.only}
        return lists

    def report(self) -> SweepReport:
        outcomes = tuple(climb.outcome() for climb in self._climbs if climb.begun)
        return SweepReport(len(self._train), len(self._test), self.seed, outcomes, self.left_out)


def render(report: SweepReport) -> str:
    """The report as Markdown: what was tried on the train half, then what it is worth on the test half."""
    told = _(
        "{train} questions to choose with by {objective}, {test} to measure with (seed {seed}); % with 95 % intervals."
    )
    lines = [told.format(train=report.train, test=report.test, objective=OBJECTIVE, seed=report.seed)]
    for outcome in report.outcomes:
        lines += ["", *_tried(outcome), "", *_worth(outcome)]
        if not outcome.whole:
            lines += ["", _("It was ended before it was through.")]
    if any("window" in outcome.changed for outcome in report.outcomes):
        lines += ["", _(LONGER_WINS)]
    for name, reason in sorted(report.left_out.items()):
        lines += ["", _("Left out – {name}: {reason}").format(name=_(AXES[name]), reason=reason)]
    return "\n".join(lines) + "\n"


def _tried(outcome: Outcome) -> Iterator[str]:
    yield from header([_("number"), _("values on the train half"), _("shipped"), _("found")], left=2)
    for axis in outcome.axes:
        last = {one.value: one for one in outcome.tried if one.axis == axis.name}  # the second pass counts
        values = ", ".join(f"{v:g}: {100 * one.train:.1f} {interval(one.interval)}" for v, one in sorted(last.items()))
        yield line([_(AXES[axis.name]), values, f"{axis.shipped:g}", f"{outcome.found[axis.name]:g}"])


def _worth(outcome: Outcome) -> Iterator[str]:
    yield from header([_("on the test half"), *SHOWN], left=1)
    for name, figures in ((_("shipped"), outcome.shipped_test), (_("found"), outcome.found_test)):
        yield line([name, *(f"{100 * figures.means[metric]:.1f}" for metric in SHOWN)])
    yield line([_("difference"), *(outcome.gaps[metric].shown for metric in SHOWN)])
