"""The result of `eval run`: values, their JSON and Markdown tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from subtitle_rag.evaluation.metrics import FAILURE, is_real
from subtitle_rag.evaluation.published_comparison import SOURCE, Step
from subtitle_rag.i18n import _, n_
from subtitle_rag.retrieval.query import tidy

ALL = "all"
"""Stands for all kinds together in a table."""
SHOWN = ("hit@1", "hit@5", "hit@20", "mrr@10")
"""The metrics of the table by kind."""
OVERALL = ("hit@1", "hit@5", "hit@20", "recall@5", "failure@20", "mrr@10", "ndcg@10")
"""Those of the table with intervals; recall@20 is 1 − failure@20."""
COMPARED = ("hit@1", "hit@5", "failure@20", "mrr@10")
"""Those of the table that compares each arm with the one before it."""
REAL = "*"
"""Marks a difference whose interval leaves 0 out."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MetricMeans:
    """The means of all metrics (0–1) over `n` questions."""

    n: int
    means: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Gap:
    """The difference of two means, with the interval of the paired bootstrap."""

    value: float
    interval: Interval

    @property
    def real(self) -> bool:
        return is_real(self.interval)

    @property
    def shown(self) -> str:
        """In %, with its mark."""
        return f"{100 * self.value:+.1f} {interval(self.interval)}" + (f" {REAL}" if self.real else "")

    def to_json(self) -> list[float]:
        return [self.value, *self.interval]


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """How far an arm is above the one that lacks only the last thing that it has."""

    name: str
    gaps: Mapping[str, Gap]


@dataclass(frozen=True, slots=True)
class Row:
    """One way of searching."""

    name: str
    retrievers: tuple[str, ...]
    """The program's own retrievers at work; none for a baseline."""
    figures: MetricMeans
    by_kind: Mapping[str, MetricMeans]
    ci95: Mapping[str, Interval]
    setting: str = ""
    contexts: bool = False
    """A model's contexts, or given ones, stand in front of the windows."""
    rerank: bool = False
    gaps: Mapping[str, Gap] | None = None
    """How far the first row is above this one; None for the first row itself."""
    took_ms: Mapping[str, float] | None = None
    """Median (`p50`) and `p95` of the time per query; None where it was not measured."""
    contexts_from: str = ""
    """What stands in front of the windows: one of the levels of `arms`."""
    over: ArmComparison | None = None

    def to_json(self) -> dict[str, Any]:
        gaps, over = self.gaps, self.over
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
            **({"first_minus_this": {name: gap.to_json() for name, gap in gaps.items()}} if gaps is not None else {}),
            **({"real": [name for name, gap in gaps.items() if gap.real]} if gaps is not None else {}),
            **({"over": _over_values(over)} if over is not None else {}),
            **({"took_ms": dict(self.took_ms)} if self.took_ms is not None else {}),
        }


def _over_values(over: ArmComparison) -> dict[str, Any]:
    return {
        "name": over.name,
        "this_minus_that": {name: gap.to_json() for name, gap in over.gaps.items()},
        "real": [name for name, gap in over.gaps.items() if gap.real],
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
    """Ids of the questions whose query the program refuses; they count as found by nobody."""
    steps: tuple[Step, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict)
    """Which models took no part (`encoder`, `reranker`), and why."""
    made: bool = False
    """A model has made the questions."""

    def to_json(self) -> dict[str, Any]:
        """The `result` of the command's envelope."""
        return {
            "queries": self.queries,
            "made": self.made,
            "rows": [row.to_json() for row in self.rows],
            "steps": [step.to_json() for step in self.steps],
            "absent": dict(self.absent),
            "missing": list(self.missing),
            "left_out": list(self.left_out),
            "refused": list(self.refused),
        }


def render(report: EvalReport) -> str:
    """The report as Markdown: by kind, then the intervals, the comparisons and the steps, then what did not count."""
    how = _("Means in % with 95 % intervals; Δ is how far the first row is ahead of the row.")
    marked = _("{mark} marks a difference whose interval leaves 0 out.").format(mark=f"`{REAL}`")
    tables = (_by_kind(report.rows), _overall(report.rows), _compared(report.rows), _climbed(report.steps))
    timed = _("Times are of this machine now; a query's analysis counts where it was not known yet.")
    lines = [f"{how} {marked} {timed}"]
    for table in tables:
        own = list(table)
        lines += ["", *own] if own else []
    return "\n".join([*lines, *_notes(report)]) + "\n"


def _by_kind(rows: Sequence[Row]) -> Iterator[str]:
    yield from header([_("search"), _("kind"), "n", *SHOWN], left=2)
    for row in rows:
        kinds = row.by_kind.items() if len(row.by_kind) > 1 else ()
        for kind, figures in ((ALL, row.figures), *kinds):
            cells = [f"{100 * figures.means[name]:.1f}" for name in SHOWN]
            yield line([row.name, kind, str(figures.n), *cells])


def _overall(rows: Sequence[Row]) -> Iterator[str]:
    yield from header([_("search"), *OVERALL, f"Δ {SHOWN[0]}", f"Δ {SHOWN[-1]}", "ms p50/p95"], left=1)
    for row in rows:
        cells = [f"{100 * row.figures.means[name]:.1f} {interval(row.ci95[name])}" for name in OVERALL]
        gaps = [row.gaps[name].shown if row.gaps else "" for name in (SHOWN[0], SHOWN[-1])]
        took = f"{row.took_ms['p50']:.1f}/{row.took_ms['p95']:.1f}" if row.took_ms else ""
        yield line([f"{row.name} ({row.setting})" if row.setting else row.name, *cells, *gaps, took])


def _compared(rows: Sequence[Row]) -> Iterator[str]:
    """Each arm with the one that lacks only the last thing that it has; nothing where none has one."""
    compared = [(row, row.over) for row in rows if row.over is not None]
    if compared:
        yield from header([_("search"), _("compared with"), *(f"± {name}" for name in COMPARED)], left=2)
    for row, over in compared:
        yield line([row.name, over.name, *(over.gaps[name].shown for name in COMPARED)])


def _climbed(steps: Sequence[Step]) -> Iterator[str]:
    """The steps of the seed experiment, as far as they could be taken; nothing where none was."""
    if not steps:
        return
    yield from header([_("step"), _("search"), FAILURE, _("change"), SOURCE], left=2)
    for step in steps:
        if step.failure is None:
            yield line([_(step.name), f"– ({step.reason})", "–", "–", _published(step)])
            continue
        change = f"{100 * step.change[0]:+.0f} % {interval(step.change[1:])}" if step.change else ""
        real = f" {REAL}" if step.change and is_real(step.change[1:]) else ""
        yield line([_(step.name), step.arm or "", f"{100 * step.failure:.1f}", change + real, _published(step)])


def _published(step: Step) -> str:
    if step.published is None:
        return ""
    failure, change = step.published
    return f"{100 * failure:.1f}" + (f" ({100 * change:+.0f} %)" if change is not None else "")


def _notes(report: EvalReport) -> Iterator[str]:
    if report.made:
        yield ""
        yield _("A model has made these questions: their figures stand for themselves, not beside those of other sets.")
    if report.missing:
        videos = n_(
            "{n} video of the questions is not in the library:",
            "{n} videos of the questions are not in the library:",
            len(report.missing),
        )
        yield ""
        yield f"{videos.format(n=len(report.missing))} {_list(report.missing)}"
    if report.left_out:
        count = len(report.left_out)
        yield ""
        yield n_(
            "{n} question does not count for that reason.", "{n} questions do not count for that reason.", count
        ).format(n=count)
    if report.refused:
        count = len(report.refused)
        yield ""
        refused = n_(
            "{n} query was refused and counts as not found:", "{n} queries were refused and count as not found:", count
        )
        yield f"{refused.format(n=count)} {_list(report.refused)}"


def header(names: Sequence[str], *, left: int) -> Iterator[str]:
    """The head of a table of which so many columns align at their left."""
    yield line(names)
    yield "|" + "|".join("---" if at < left else "---:" for at in range(len(names))) + "|"


def line(cells: Sequence[str]) -> str:
    """A line of a table."""
    # kinds come from the user's file, whatever that holds
    return "| " + " | ".join(tidy(cell).replace("|", "\\|") for cell in cells) + " |"


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(tidy, names))


def interval(bounds: Interval) -> str:
    """An interval of shares, in %."""
    return f"[{100 * bounds[0]:.1f}, {100 * bounds[1]:.1f}]"
