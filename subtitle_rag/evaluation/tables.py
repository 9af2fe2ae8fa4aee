"""Tables of figures with their intervals, in Markdown.

A report chooses columns and rows. The form of a figure, its interval and its mark is defined only here.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from subtitle_rag.base.domain.values import tidy
from subtitle_rag.evaluation.metrics import Mean

REAL = "*"
"""Marks a difference whose interval excludes 0."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under column titles; without rows it is empty."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: Collection[int] = (0,)
    """Left-aligned columns of text; all others have figures."""

    def markdown(self) -> list[str]:
        rule = ["---" if at in self.text else "---:" for at in range(len(self.columns))]
        return [_line(self.columns), f"|{'|'.join(rule)}|", *map(_line, self.rows)] if self.rows else []


def markdown(*parts: Sequence[str] | Table) -> str:
    """Return a Markdown document: the tables and the non-empty parts, with an empty line between them."""
    texts = [part.markdown() if isinstance(part, Table) else part for part in parts]
    return "\n\n".join("\n".join(lines) for lines in texts if lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    # kinds come from the user's file, with any characters
    return "| " + " | ".join(tidy(cell).replace("|", "\\|") for cell in cells) + " |"


def share_cell(mean: Mean | None) -> str:
    """Return a share in %, with its interval."""
    return f"{100 * mean.value:.1f} {_interval(mean)}" if mean else ""


def gain_cell(gain: Mean | None) -> str:
    """Return the difference of two shares in %, with its interval and mark."""
    return f"{100 * gain.value:+.1f} {_interval(gain)}{_mark(gain)}" if gain else ""


def change_cell(change: Mean | None) -> str:
    """Return a relative change, with its interval and mark."""
    return f"{100 * change.value:+.0f} % {_interval(change)}{_mark(change)}" if change else ""


def _interval(mean: Mean) -> str:
    low, high = mean.interval
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def _mark(gain: Mean) -> str:
    return f" {REAL}" if gain.is_real else ""
