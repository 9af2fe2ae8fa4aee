"""Draw the rows of an evaluation as bars, in a terminal and as an SVG file. Colour alone says nothing."""

import io
import re
from collections.abc import Iterator, Sequence

from subtitle_rag.domain import tidy
from subtitle_rag.evaluation.metrics import FAILURE
from subtitle_rag.evaluation.report import Row, interval_text
from subtitle_rag.i18n import _

METRICS = (FAILURE, "mrr@10")
LEAST_BAR = 12
LONGEST_NAME = 40
SVG_CELLS = 120
SURE, LIKELY, POSSIBLE = "█", "▓", "░"
"""A cell of a bar: below the interval, within it up to the mean, and from the mean to its end."""


def terminal(rows: Sequence[Row], width: int) -> Iterator[str]:
    """Yield lines of at most `width` cells, if that leaves room for bars of `LEAST_BAR`."""
    from rich.cells import cell_len, set_cell_size

    names = min(LONGEST_NAME, max(cell_len(tidy(row.name)) for row in rows))
    figures = {
        metric: [f"{100 * row.figures.means[metric]:5.1f} {interval_text(row.ci95[metric])}" for row in rows]
        for metric in METRICS
    }
    cells = max(LEAST_BAR, width - names - 4 - max(len(figure) for some in figures.values() for figure in some))
    for metric in METRICS:
        hint = _("less is better") if metric == FAILURE else _("more is better")
        yield f"{metric} % – {hint}"
        for row, figure in zip(rows, figures[metric], strict=True):
            low, high = (round(bound * cells) for bound in row.ci95[metric])
            mean = round(row.figures.means[metric] * cells)
            bar = (SURE * low + LIKELY * (mean - low) + POSSIBLE * (high - mean)).ljust(cells)
            yield f"{set_cell_size(tidy(row.name), names)}  {bar}  {figure}"
        yield ""
    yield _("{mark} reaches to the mean, {light} to the end of its 95 % interval; 100 % is the full width.").format(
        mark=f"{SURE}{LIKELY}", light=POSSIBLE
    )


def svg(rows: Sequence[Row], title: str) -> str:
    """Draw the same bars as a picture, without the fonts that rich would have a browser fetch from the web."""
    from rich.console import Console
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME

    console = Console(file=io.StringIO(), record=True, width=SVG_CELLS, markup=False, highlight=False)
    for text in terminal(rows, SVG_CELLS):
        console.print(text, no_wrap=True, emoji=False)
    picture = console.export_svg(title=tidy(title), theme=DEFAULT_TERMINAL_THEME)
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
