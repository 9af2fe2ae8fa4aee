"""Result of `eval run`: values, JSON and tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from subtitle_rag.base.domain.values import tidy
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.arm_run import MeasuredArm
from subtitle_rag.evaluation.arms import Arm
from subtitle_rag.evaluation.ladder import PUBLISHED_SOURCE, MeasuredStep
from subtitle_rag.evaluation.metrics import FAILURE, Mean, MetricMeans
from subtitle_rag.evaluation.questions import GoldSet
from subtitle_rag.evaluation.tables import REAL, Table, change_cell, gain_cell, markdown, share_cell

ALL = "all"
"""Stands for all kinds together in a table."""
KIND_METRICS = ("hit@1", "hit@5", "hit@20", "mrr@10")
OVERALL_METRICS = ("hit@1", "hit@5", "hit@20", "recall@5", "failure@20", "mrr@10", "ndcg@10")
"""recall@20 is 1 − failure@20."""
COMPARED_METRICS = ("hit@1", "hit@5", "failure@20", "mrr@10")


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """Gain over the arm that lacks only the last part."""

    name: str
    gaps: Mapping[str, Mean]

    @classmethod
    def of(cls, measured: MeasuredArm, lesser: MeasuredArm) -> "ArmComparison":
        return cls(lesser.arm.name, metrics.means(measured.values - lesser.values))

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, **metrics.gains_json("this_minus_that", self.gaps)}


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of an arm."""

    arm: Arm
    figures: MetricMeans
    by_kind: Mapping[str, MetricMeans]
    setting: str = ""
    gaps: Mapping[str, Mean] | None = None
    """Gain of the first row over this one; None for the first row itself."""
    took_ms: Mapping[str, float] | None = None
    """Median (`p50`) and `p95` of the time per query; None if every query was refused."""
    over: ArmComparison | None = None

    @classmethod
    def of(
        cls,
        measured: MeasuredArm,
        gold: GoldSet,
        *,
        first: MeasuredArm | None = None,
        lesser: MeasuredArm | None = None,
    ) -> "Row":
        """Return the figures of an arm, compared with the first row and with `lesser`, which lacks its last part."""
        values = measured.values
        return cls(
            arm=measured.arm,
            figures=MetricMeans.of(values),
            by_kind={kind: MetricMeans.of(values[positions]) for kind, positions in gold.by_kind.items()},
            setting=measured.setting,
            gaps=metrics.means(first.values - values) if first is not None else None,
            took_ms=measured.percentiles(),
            over=ArmComparison.of(measured, lesser) if lesser is not None else None,
        )

    @property
    def name(self) -> str:
        return self.arm.name

    def to_json(self) -> dict[str, Any]:
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
        }


@dataclass(frozen=True, slots=True)
class EvalReport:
    """All rows over the same questions."""

    queries: int
    """Number of questions that count."""
    rows: tuple[Row, ...]
    missing: tuple[str, ...] = ()
    """Gold videos without windows in the library; their ranges do not count."""
    left_out: tuple[str, ...] = ()
    """Ids of the questions that do not count, because all their videos are missing."""
    refused: tuple[str, ...] = ()
    """Ids of the questions with a refused query; they count as not found."""
    steps: tuple[MeasuredStep, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict)
    """`encoder` or `reranker` → why it was missing."""
    by_model: bool = False
    """Whether a model wrote the questions."""

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
    return markdown(
        [" ".join(intro)],
        kind_table(report.rows),
        overall_table(report.rows),
        gain_table(report.rows),
        _step_table(report.steps),
        *([note] for note in _notes(report)),
    )


def kind_table(rows: Sequence[Row]) -> Table:
    cells = [
        [row.name, kind, str(figures.n), *(share_cell(figures.means[name]) for name in KIND_METRICS)]
        for row in rows
        for kind, figures in ((ALL, row.figures), *(row.by_kind.items() if len(row.by_kind) > 1 else ()))
    ]
    return Table([_("search"), _("kind"), "n", *KIND_METRICS], cells, text=(0, 1))


def overall_table(rows: Sequence[Row]) -> Table:
    """Return the figures over all questions with their intervals, and the gain of the first row."""
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


def gain_table(rows: Sequence[Row]) -> Table:
    """Return each arm compared with the one that lacks only its last part."""
    compared = [(row.name, row.over) for row in rows if row.over]
    columns = [_("search"), _("compared with"), *(f"± {name}" for name in COMPARED_METRICS)]
    cells = [
        [name, over.name, *(gain_cell(over.gaps[metric]) for metric in COMPARED_METRICS)] for name, over in compared
    ]
    return Table(columns, cells, text=(0, 1))


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
