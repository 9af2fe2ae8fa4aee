"""The result of `eval run`: values, their JSON and Markdown tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from subtitle_rag.domain import tidy
from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.arms import GIVEN, MODEL
from subtitle_rag.evaluation.metrics import FAILURE, Gap, Interval, is_real
from subtitle_rag.evaluation.published_comparison import SOURCE, MeasuredStep
from subtitle_rag.i18n import _, n_

if TYPE_CHECKING:
    from subtitle_rag.evaluation.metrics import Values

ALL = "all"
"""Stands for all kinds together in a table."""
KIND_METRICS = ("hit@1", "hit@5", "hit@20", "mrr@10")
OVERALL_METRICS = ("hit@1", "hit@5", "hit@20", "recall@5", "failure@20", "mrr@10", "ndcg@10")
"""recall@20 is 1 − failure@20."""
COMPARED_METRICS = ("hit@1", "hit@5", "failure@20", "mrr@10")
REAL = "*"
"""Marks a difference whose interval leaves 0 out."""


@dataclass(frozen=True, slots=True)
class MetricMeans:
    """The means of all metrics (0–1) over `n` questions."""

    n: int
    means: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """The gain over the arm that lacks only the last part."""

    name: str
    gaps: Mapping[str, Gap]

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, **_gaps_json("this_minus_that", self.gaps)}


@dataclass(frozen=True, slots=True)
class Row:
    """One way of searching."""

    name: str
    retrievers: tuple[str, ...]
    """The program's own retrievers; none for a baseline."""
    figures: MetricMeans
    by_kind: Mapping[str, MetricMeans]
    ci95: Mapping[str, Interval]
    setting: str = ""
    contexts_from: str = ""
    """The level of its view, see `arms`."""
    rerank: bool = False
    gaps: Mapping[str, Gap] | None = None
    """The gain of the first row over this one; None for the first row itself."""
    took_ms: Mapping[str, float] | None = None
    """Median (`p50`) and `p95` of the time per query; None for baselines."""
    over: ArmComparison | None = None

    @classmethod
    def measured(cls, name: str, values: "Values", kinds: Sequence[str], *, first: "Values | None" = None) -> "Row":
        """Return the figures of a way of searching; `values` has a row for each question, `kinds` its kind."""
        of_kind = {kind: values[[kind == other_kind for other_kind in kinds]] for kind in dict.fromkeys(kinds)}
        return cls(
            name=name,
            retrievers=(),
            figures=MetricMeans(len(values), metrics.means(values)),
            by_kind={kind: MetricMeans(len(some), metrics.means(some)) for kind, some in of_kind.items()},
            ci95=metrics.intervals(values),
            gaps=metrics.gaps(first - values) if first is not None else None,
        )

    @property
    def contexts(self) -> bool:
        return self.contexts_from in (MODEL, GIVEN)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "retrievers": list(self.retrievers),
            "setting": self.setting,
            "contexts": self.contexts,
            "contexts_from": self.contexts_from,
            "rerank": self.rerank,
            **self.figures.means,
            "by_kind": {kind: {"n": some.n, **some.means} for kind, some in self.by_kind.items()},
            "ci95": {name: list(interval) for name, interval in self.ci95.items()},
            **(_gaps_json("first_minus_this", self.gaps) if self.gaps is not None else {}),
            **({"over": self.over.to_json()} if self.over is not None else {}),
            **({"took_ms": dict(self.took_ms)} if self.took_ms is not None else {}),
        }


def _gaps_json(name: str, gaps: Mapping[str, Gap]) -> dict[str, Any]:
    return {
        name: {metric: gap.to_json() for metric, gap in gaps.items()},
        "real": [metric for metric, gap in gaps.items() if gap.is_real],
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


def render(report: EvalReport) -> str:
    """Return the report as Markdown: by kind, then the intervals, the comparisons and the steps, then the notes."""
    intro = (
        _("Means in % with 95 % intervals; Δ is how far the first row is ahead of the row."),
        _("{mark} marks a difference whose interval leaves 0 out.").format(mark=f"`{REAL}`"),
        _("Times are from this computer, at this moment; a query's analysis counts only the first time."),
    )
    lines = [" ".join(intro)]
    for table in (_kind_table(report.rows), _overall_table(report.rows), _gain_table(report.rows), _step_table(report)):
        rows = list(table)
        lines += ["", *rows] if rows else []
    return "\n".join([*lines, *(text for note in _notes(report) for text in ("", note))]) + "\n"


def _kind_table(rows: Sequence[Row]) -> Iterator[str]:
    yield from header([_("search"), _("kind"), "n", *KIND_METRICS], text_columns=2)
    for row in rows:
        kinds = row.by_kind.items() if len(row.by_kind) > 1 else ()
        for kind, figures in ((ALL, row.figures), *kinds):
            yield line([row.name, kind, str(figures.n), *(f"{100 * figures.means[name]:.1f}" for name in KIND_METRICS)])


def _overall_table(rows: Sequence[Row]) -> Iterator[str]:
    ahead = (KIND_METRICS[0], KIND_METRICS[-1])
    yield from header([_("search"), *OVERALL_METRICS, *(f"Δ {name}" for name in ahead), "ms p50/p95"], text_columns=1)
    for row in rows:
        cells = [f"{100 * row.figures.means[name]:.1f} {interval_text(row.ci95[name])}" for name in OVERALL_METRICS]
        gaps = [gap_text(row.gaps[name]) if row.gaps else "" for name in ahead]
        times = f"{row.took_ms['p50']:.1f}/{row.took_ms['p95']:.1f}" if row.took_ms else ""
        yield line([f"{row.name} ({row.setting})" if row.setting else row.name, *cells, *gaps, times])


def _gain_table(rows: Sequence[Row]) -> Iterator[str]:
    """Each arm with the one that lacks only its last part; nothing if no arm has one."""
    if any(row.over for row in rows):
        yield from header(
            [_("search"), _("compared with"), *(f"± {name}" for name in COMPARED_METRICS)], text_columns=2
        )
    for row in rows:
        if row.over:
            yield line([row.name, row.over.name, *(gap_text(row.over.gaps[name]) for name in COMPARED_METRICS)])


def _step_table(report: EvalReport) -> Iterator[str]:
    if report.steps:
        yield from header([_("step"), _("search"), FAILURE, _("change"), SOURCE], text_columns=2)
    for measured in report.steps:
        failure, change = measured.step.published or (None, None)
        published = f"{100 * failure:.1f}" if failure is not None else ""
        published += f" ({100 * change:+.0f} %)" if change is not None else ""
        cells = [f"– ({measured.reason})", "–", "–"]
        if measured.failure is not None:
            change_text = (
                f"{100 * measured.change[0]:+.0f} % {interval_text(measured.change[1:])}" if measured.change else ""
            )
            real = f" {REAL}" if measured.change and is_real(measured.change[1:]) else ""
            cells = [measured.arm or "", f"{100 * measured.failure:.1f}", change_text + real]
        yield line([_(measured.step.name), *cells, published])


def _notes(report: EvalReport) -> Iterator[str]:
    if report.by_model:
        yield _(
            "A model made these questions: compare their figures only with each other, not with those of other files."
        )
    if n := len(report.missing):
        text = n_(
            "{n} video of the questions is not in the library:",
            "{n} videos of the questions are not in the library:",
            n,
        )
        yield f"{text.format(n=n)} {', '.join(map(tidy, report.missing))}"
    if n := len(report.left_out):
        text = n_("{n} question does not count for that reason.", "{n} questions do not count for that reason.", n)
        yield text.format(n=n)
    if n := len(report.refused):
        text = n_(
            "{n} query was refused and counts as not found:", "{n} queries were refused and count as not found:", n
        )
        yield f"{text.format(n=n)} {', '.join(map(tidy, report.refused))}"


def header(names: Sequence[str], *, text_columns: int) -> Iterator[str]:
    """Yield the head of a table of which so many columns align at their left."""
    yield line(names)
    yield "|" + "|".join("---" if at < text_columns else "---:" for at in range(len(names))) + "|"


def line(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    # kinds come from the user's file, whatever that holds
    return "| " + " | ".join(tidy(cell).replace("|", "\\|") for cell in cells) + " |"


def interval_text(bounds: Interval) -> str:
    """Return an interval of shares, in %."""
    return f"[{100 * bounds[0]:.1f}, {100 * bounds[1]:.1f}]"


def gap_text(gap: Gap) -> str:
    """Return a gap in %, with its interval and mark."""
    return f"{100 * gap.value:+.1f} {interval_text(gap.interval)}" + (f" {REAL}" if gap.is_real else "")
