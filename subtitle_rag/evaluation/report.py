"""The result of `eval run`: values, their JSON and a Markdown table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from subtitle_rag.evaluation.metrics import METRICS
from subtitle_rag.i18n import _, n_
from subtitle_rag.retrieval.query import tidy

ALL = "all"
"""Stands for all kinds together in a table."""
SHOWN = ("hit@1", "hit@5", "hit@20", "mrr@10")
"""The metrics of the table by kind."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Figures:
    """The means of all metrics (0–1) over `n` questions."""

    n: int
    means: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Gap:
    """How much higher the first row's mean is than this one's, with the interval of the paired bootstrap."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Row:
    """One way of searching."""

    name: str
    retrievers: tuple[str, ...]
    """The program's own retrievers at work; none for a baseline."""
    figures: Figures
    by_kind: Mapping[str, Figures]
    ci95: Mapping[str, Interval]
    setting: str = ""
    contexts: bool = False
    rerank: bool = False
    gaps: Mapping[str, Gap] | None = None
    """None for the first row, which the others are compared with."""
    took_ms: Mapping[str, float] | None = None
    """Median (`p50`) and `p95` of the time per query; None where it was not measured."""

    def to_json(self) -> dict[str, Any]:
        gaps = {name: [gap.value, *gap.interval] for name, gap in (self.gaps or {}).items()}
        return {
            "name": self.name,
            "retrievers": list(self.retrievers),
            "setting": self.setting,
            "contexts": self.contexts,
            "rerank": self.rerank,
            **self.figures.means,
            "by_kind": {kind: {"n": some.n, **some.means} for kind, some in self.by_kind.items()},
            "ci95": {name: list(interval) for name, interval in self.ci95.items()},
            **({"first_minus_this": gaps} if self.gaps is not None else {}),
            **({"took_ms": dict(self.took_ms)} if self.took_ms is not None else {}),
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

    def to_json(self) -> dict[str, Any]:
        """The `result` of the command's envelope."""
        return {
            "queries": self.queries,
            "rows": [row.to_json() for row in self.rows],
            "missing": list(self.missing),
            "left_out": list(self.left_out),
            "refused": list(self.refused),
        }


def render(report: EvalReport) -> str:
    """The report as Markdown: by kind, then the intervals, then what did not count."""
    how = _("Means in % with 95 % intervals; Δ is how far the first row is ahead of the row.")
    lines = [how, "", *_by_kind(report.rows), "", *_overall(report.rows), *_notes(report)]
    return "\n".join(lines) + "\n"


def _by_kind(rows: Sequence[Row]) -> Iterator[str]:
    yield from _header([_("search"), _("kind"), "n", *SHOWN], left=2)
    for row in rows:
        kinds = row.by_kind.items() if len(row.by_kind) > 1 else ()
        for kind, figures in ((ALL, row.figures), *kinds):
            cells = [f"{100 * figures.means[name]:.1f}" for name in SHOWN]
            yield _line([row.name, kind, str(figures.n), *cells])


def _overall(rows: Sequence[Row]) -> Iterator[str]:
    yield from _header([_("search"), *METRICS, f"Δ {SHOWN[0]}", f"Δ {SHOWN[-1]}", "ms p50/p95"], left=1)
    for row in rows:
        cells = [f"{100 * row.figures.means[name]:.1f} {_interval(row.ci95[name])}" for name in METRICS]
        gaps = [_gap(row.gaps[name]) if row.gaps else "" for name in (SHOWN[0], SHOWN[-1])]
        took = f"{row.took_ms['p50']:.1f}/{row.took_ms['p95']:.1f}" if row.took_ms else ""
        yield _line([f"{row.name} ({row.setting})" if row.setting else row.name, *cells, *gaps, took])


def _notes(report: EvalReport) -> Iterator[str]:
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


def _header(names: Sequence[str], *, left: int) -> Iterator[str]:
    yield _line(names)
    yield "|" + "|".join("---" if at < left else "---:" for at in range(len(names))) + "|"


def _line(cells: Sequence[str]) -> str:
    # kinds come from the user's file, whatever that holds
    return "| " + " | ".join(tidy(cell).replace("|", "\\|") for cell in cells) + " |"


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(tidy, names))


def _interval(interval: Interval) -> str:
    return f"[{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def _gap(gap: Gap) -> str:
    return f"{100 * gap.value:+.1f} {_interval(gap.interval)}"
