"""The result of `eval run`: values, their JSON and their tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from subtitle_rag.domain import tidy
from subtitle_rag.evaluation import metrics, scene_figures
from subtitle_rag.evaluation.arm_run import MeasuredArm
from subtitle_rag.evaluation.arms import Arm
from subtitle_rag.evaluation.ladder import PUBLISHED_SOURCE, MeasuredStep
from subtitle_rag.evaluation.metrics import FAILURE, Mean, MetricMeans
from subtitle_rag.evaluation.questions import GoldSet
from subtitle_rag.evaluation.scene_figures import SceneFigures, Spread
from subtitle_rag.evaluation.tables import REAL, Table, change_cell, gain_cell, markdown, share_cell
from subtitle_rag.i18n import _, n_

Figures = TypeVar("Figures")

ALL = "all"
"""Stands for all kinds together in a table."""
KIND_METRICS = ("hit@1", "hit@5", "hit@20", "mrr@10")
OVERALL_METRICS = ("hit@1", "hit@5", "hit@20", "recall@5", "failure@20", "mrr@10", "ndcg@10")
"""recall@20 is 1 − failure@20."""
COMPARED_METRICS = ("hit@1", "hit@5", "failure@20", "mrr@10")


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """The gain over the arm that lacks only the last part."""

    name: str
    gaps: Mapping[str, Mean]
    inside: Mean | None = None
    """The gain in jumps that are inside, see `scene_figures.jump_gain`."""

    @classmethod
    def of(cls, measured: MeasuredArm, lesser: MeasuredArm, gold: GoldSet) -> "ArmComparison":
        inside = scene_figures.jump_gain(gold, measured.scenes, lesser.scenes) if measured.scenes else None
        return cls(lesser.arm.name, metrics.means(measured.values - lesser.values), inside)

    def to_json(self) -> dict[str, Any]:
        gap = {"jump_inside": self.inside.to_json()} if self.inside else {}
        return {"name": self.name, **metrics.gains_json("this_minus_that", self.gaps), **gap}


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of an arm; a baseline is one without retrievers."""

    arm: Arm
    figures: MetricMeans
    by_kind: Mapping[str, MetricMeans]
    setting: str = ""
    gaps: Mapping[str, Mean] | None = None
    """The gain of the first row over this one; None for the first row itself."""
    took_ms: Mapping[str, float] | None = None
    """Median (`p50`) and `p95` of the time per query; None for baselines."""
    over: ArmComparison | None = None
    scenes: SceneFigures | None = None
    """None for baselines, and for a set with documents of its own."""
    scenes_by_kind: Mapping[str, SceneFigures] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        measured: MeasuredArm,
        gold: GoldSet,
        *,
        first: MeasuredArm | None = None,
        lesser: MeasuredArm | None = None,
    ) -> "Row":
        """Return the figures of an arm, beside the first row, and beside the arm `lesser` that lacks its last part."""
        values = measured.values
        scenes, scenes_by_kind = scene_figures.measure(gold, measured.scenes) if measured.scenes else (None, {})
        return cls(
            arm=measured.arm,
            figures=MetricMeans.of(values),
            by_kind={kind: MetricMeans.of(values[positions]) for kind, positions in gold.by_kind.items()},
            setting=measured.setting,
            gaps=metrics.means(first.values - values) if first is not None else None,
            took_ms=measured.percentiles(),
            over=ArmComparison.of(measured, lesser, gold) if lesser is not None else None,
            scenes=scenes,
            scenes_by_kind=scenes_by_kind,
        )

    @property
    def name(self) -> str:
        return self.arm.name

    def to_json(self) -> dict[str, Any]:
        scenes_by_kind = {kind: figures.to_json() for kind, figures in self.scenes_by_kind.items()}
        return {
            "name": self.name,
            "retrievers": list(self.arm.retrievers),
            "setting": self.setting,
            "contexts": self.arm.has_contexts,
            "contexts_from": self.arm.contexts,
            "rerank": bool(self.arm.rerank),
            "rerank_depth": self.arm.rerank,
            **self.figures.values_json(),
            "by_kind": {kind: some.to_json() for kind, some in self.by_kind.items()},
            "ci95": self.figures.intervals_json(),
            **(metrics.gains_json("first_minus_this", self.gaps) if self.gaps is not None else {}),
            **({"over": self.over.to_json()} if self.over is not None else {}),
            **({"took_ms": dict(self.took_ms)} if self.took_ms is not None else {}),
            **({"scenes": {**self.scenes.to_json(), "by_kind": scenes_by_kind}} if self.scenes is not None else {}),
        }


@dataclass(frozen=True, slots=True)
class EvalReport:
    """All rows over the same questions."""

    queries: int
    """Questions that count."""
    rows: tuple[Row, ...]
    missing: tuple[str, ...] = ()
    """Videos named in gold that the library has no windows of; their ranges do not count."""
    left_out: tuple[str, ...] = ()
    """Ids of the questions that do not count, because all their videos are missing."""
    refused: tuple[str, ...] = ()
    """Ids of the questions whose query the program refuses; they count as not found."""
    steps: tuple[MeasuredStep, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict)
    """`encoder` or `reranker` → the reason why it took no part."""
    by_model: bool = False
    """Whether a model made the questions."""

    def to_json(self) -> dict[str, Any]:
        """Return the `result` of the command's envelope."""
        return {
            "queries": self.queries,
            "made": self.by_model,
            "rows": [row.to_json() for row in self.rows],
            "steps": [step.to_json() for step in self.steps],
            "absent": dict(self.absent),
            "missing": list(self.missing),
            "left_out": list(self.left_out),
            "refused": list(self.refused),
        }


def render_report(report: EvalReport) -> str:
    """Return the report as Markdown: by kind, then the intervals, the comparisons and the steps, then the notes."""
    intro = (
        _("Means in % with 95 % intervals; Δ is how far the first row is ahead of the row."),
        _("{mark} marks a difference whose interval leaves 0 out.").format(mark=f"`{REAL}`"),
        _("Times are from this computer, at this moment; a query's analysis counts only the first time."),
    )
    scenes = _(
        "Scenes as the search shows them, neighbouring windows merged. Lengths are those of the first 20. The jump"
        " error is the time between the jump of the first right scene and the start of the answer; a jump into the"
        " answer or at most 5 s before it is inside."
    )
    scene_table = _scene_table(report.rows)
    return markdown(
        [" ".join(intro)],
        kind_table(report.rows),
        overall_table(report.rows),
        [scenes] if scene_table.rows else [],
        scene_table,
        gain_table(report.rows),
        _step_table(report.steps),
        *([note] for note in _notes(report)),
    )


def kind_table(rows: Sequence[Row]) -> Table:
    cells = [
        [row.name, kind, str(figures.n), *(share_cell(figures.means[name]) for name in KIND_METRICS)]
        for row in rows
        for kind, figures in _with_kinds(row.figures, row.by_kind)
    ]
    return Table([_("search"), _("kind"), "n", *KIND_METRICS], cells, text=(0, 1))


def _with_kinds(all_of_them: Figures, by_kind: Mapping[str, Figures]) -> Iterator[tuple[str, Figures]]:
    """Yield the figures of all questions, then those of each kind where there are several."""
    yield ALL, all_of_them
    if len(by_kind) > 1:
        yield from by_kind.items()


def overall_table(rows: Sequence[Row]) -> Table:
    """Return the figures of all questions with their intervals, and the gain of the first row."""
    ahead = (KIND_METRICS[0], KIND_METRICS[-1]) if any(row.gaps for row in rows) else ()
    cells = [
        [
            f"{row.name} ({row.setting})" if row.setting else row.name,
            *(share_cell(row.figures.means[name]) for name in OVERALL_METRICS),
            *(gain_cell(row.gaps[name] if row.gaps else None) for name in ahead),
            f"{row.took_ms['p50']:.1f}/{row.took_ms['p95']:.1f}" if row.took_ms else "",
        ]
        for row in rows
    ]
    return Table([_("search"), *OVERALL_METRICS, *(f"Δ {name}" for name in ahead), "ms p50/p95"], cells)


def _scene_table(rows: Sequence[Row]) -> Table:
    columns = [
        _("search: scenes"),
        _("kind"),
        "n",
        *KIND_METRICS,
        _("length, s p50/p90"),
        _("jump error, s p50/p90"),
        _("> 30 s, %"),
        _("inside or ≤ 5 s before, %"),
    ]
    cells = [
        [
            *(row.name, kind, str(some.figures.n)),
            *(f"{100 * some.figures.means[name].value:.1f}" for name in KIND_METRICS),
            *(_spread_cell(some.length_s), _spread_cell(some.jump_s)),
            *(share_cell(share, digits=0) for share in (some.far, some.inside)),
        ]
        for row in rows
        if row.scenes is not None
        for kind, some in _with_kinds(row.scenes, row.scenes_by_kind)
    ]
    return Table(columns, cells, text=(0, 1))


def _spread_cell(spread: Spread) -> str:
    return "/".join(f"{value:.0f}" for value in spread.values() if value is not None)


def gain_table(rows: Sequence[Row]) -> Table:
    """Return each arm beside the one that lacks only its last part."""
    compared = [(row.name, row.over) for row in rows if row.over]
    has_jumps = any(over.inside for _name, over in compared)
    columns = [_("search"), _("compared with"), *(f"± {name}" for name in COMPARED_METRICS)]
    cells = [
        [
            *(name, over.name, *(gain_cell(over.gaps[metric]) for metric in COMPARED_METRICS)),
            *([gain_cell(over.inside)] if has_jumps else []),
        ]
        for name, over in compared
    ]
    return Table([*columns, *([_("± jump inside")] if has_jumps else [])], cells, text=(0, 1))


def _step_table(steps: Sequence[MeasuredStep]) -> Table:
    cells = []
    for measured in steps:
        failure, change = measured.published or (None, None)
        published = f"{100 * failure:.1f}" if failure is not None else ""
        published += f" ({100 * change:+.0f} %)" if change is not None else ""
        figures = [f"– ({measured.reason})", "–", "–"]
        if measured.arm is not None and measured.failure is not None:
            figures = [measured.arm.name, f"{100 * measured.failure:.1f}", change_cell(measured.change)]
        cells.append([_(measured.step.name), *figures, published])
    return Table([_("step"), _("search"), FAILURE, _("change"), PUBLISHED_SOURCE], cells, text=(0, 1))


def _notes(report: EvalReport) -> Iterator[str]:
    if report.by_model:
        yield _(
            "A model made these questions: compare their figures only with each other, not with those of other files."
        )
    if report.missing:
        yield missing_videos(report.missing)
    if n := len(report.left_out):
        yield n_("{n} question does not count for that reason.", "{n} questions do not count for that reason.", n)
    if n := len(report.refused):
        text = n_(
            "{n} query was refused and counts as not found:", "{n} queries were refused and count as not found:", n
        )
        yield f"{text} {', '.join(map(tidy, report.refused))}"


def missing_videos(names: Sequence[str]) -> str:
    text = n_(
        "{n} video of the questions is not in the library:",
        "{n} videos of the questions are not in the library:",
        len(names),
    )
    return f"{text} {', '.join(map(tidy, names))}"
