"""The rows of an evaluation as bars: in a terminal, and as an SVG file. Nothing is told by colour alone."""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from subtitle_rag.evaluation.metrics import FAILURE
from subtitle_rag.evaluation.report import Row, interval
from subtitle_rag.i18n import _
from subtitle_rag.retrieval.query import tidy

METRICS = (FAILURE, "mrr@10")
"""What is drawn: how often a scene is not among the first 20, and how near to the top it is."""
LEAST_BAR = 12
LONGEST_NAME = 40
SURE, LIKELY, POSSIBLE = "█", "▓", "░"
"""A cell of a bar: below the interval, within it up to the mean, and from the mean to its end."""


def terminal(rows: Sequence[Row], width: int) -> Iterator[str]:
    """Lines of at most `width` cells, wherever that leaves room for bars of `LEAST_BAR`."""
    from rich.cells import cell_len, set_cell_size

    widest = min(LONGEST_NAME, max(cell_len(tidy(row.name)) for row in rows))
    figures = {metric: [_figure(row, metric) for row in rows] for metric in METRICS}
    room = width - widest - 4 - max(len(text) for texts in figures.values() for text in texts)
    for metric in METRICS:
        yield f"{metric} % – {_better(metric)}"
        for row, figure in zip(rows, figures[metric], strict=True):
            bar = _bar(row, metric, max(room, LEAST_BAR))
            yield f"{set_cell_size(tidy(row.name), widest)}  {bar}  {figure}"
        yield ""
    yield _("{mark} reaches to the mean, {light} to the end of its 95 % interval; 100 % is the full width.").format(
        mark=f"{SURE}{LIKELY}", light=POSSIBLE
    )


def _figure(row: Row, metric: str) -> str:
    return f"{100 * row.figures.means[metric]:5.1f} {interval(row.ci95[metric])}"


def _bar(row: Row, metric: str, cells: int) -> str:
    low, high = (round(bound * cells) for bound in row.ci95[metric])
    mean = round(row.figures.means[metric] * cells)
    return (SURE * low + LIKELY * (mean - low) + POSSIBLE * (high - mean)).ljust(cells)


def _better(metric: str) -> str:
    return _("less is better") if metric == FAILURE else _("more is better")


# SVG

WIDTH = 960
NAMES = 300
"""Room for the names, px; so much again at the right for the figures."""
FIGURES = 150
LINE = 26
HEAD = 54
TOP = 60
_FONT = "font-family=\"'Noto Sans KR', 'Apple SD Gothic Neo', 'Malgun Gothic', system-ui, sans-serif\""
_STYLE = """
  text { fill: #1f2933; font-size: 13px }
  .title { font-size: 18px; font-weight: 600 }
  .panel { font-size: 14px; font-weight: 600 }
  .soft { fill: #52606d; font-size: 12px }
  .plain-name { font-style: italic }
  .bar { fill: #4c78a8 }
  .plain { fill: #b8c4d0 }
  .grid { stroke: #dde3ea }
  .ends { stroke: #1f2933; stroke-width: 1.5; fill: none }
"""


def svg(rows: Sequence[Row], title: str) -> str:
    """A picture of the same bars with their intervals as whiskers; baselines are lighter and in italics."""
    panel = HEAD + LINE * len(rows) + 16
    height = TOP + panel * len(METRICS) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' viewBox="0 0 {WIDTH} {height}" role="img" {_FONT}>',
        f"<title>{_safe(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text class="title" x="24" y="36">{_safe(title)}</text>',
    ]
    for at, metric in enumerate(METRICS):
        parts += _panel(rows, metric, TOP + at * panel)
    return "\n".join([*parts, "</svg>", ""])


def _panel(rows: Sequence[Row], metric: str, top: int) -> Iterator[str]:
    left, right = NAMES, WIDTH - FIGURES - 24
    bottom = top + HEAD + LINE * len(rows)
    yield f'<text class="panel" x="24" y="{top + 20}">{_safe(metric)} – {_safe(_better(metric))}</text>'
    for share in (0, 25, 50, 75, 100):
        x = left + (right - left) * share / 100
        yield f'<line class="grid" x1="{x:.1f}" y1="{top + HEAD - 8}" x2="{x:.1f}" y2="{bottom}"/>'
        yield f'<text class="soft" x="{x:.1f}" y="{top + HEAD - 14}" text-anchor="middle">{share} %</text>'
    for at, row in enumerate(rows):
        yield from _drawn(row, metric, top + HEAD + at * LINE, left, right - left)


def _drawn(row: Row, metric: str, top: int, left: int, width: int) -> Iterator[str]:
    mean, (low, high) = row.figures.means[metric], row.ci95[metric]
    name = tidy(row.name) if len(tidy(row.name)) <= LONGEST_NAME else f"{tidy(row.name)[: LONGEST_NAME - 1]}…"
    middle = top + LINE / 2
    a, b = left + width * low, left + width * high
    kind = "bar" if row.retrievers else "plain"
    yield f'<text class="{kind}-name" x="{left - 12}" y="{middle + 4:.1f}" text-anchor="end">{_safe(name)}</text>'
    yield f'<rect class="{kind}" x="{left}" y="{top + 4}" width="{width * mean:.1f}" height="{LINE - 8}" rx="2"/>'
    whisker = f"M{a:.1f} {middle - 5:.1f}v10M{a:.1f} {middle:.1f}H{b:.1f}M{b:.1f} {middle - 5:.1f}v10"
    yield f'<path class="ends" d="{whisker}"/>'
    figure = _safe(_figure(row, metric))
    yield f'<text class="soft" x="{left + width + 14}" y="{middle + 4:.1f}">{figure}</text>'


def _safe(text: str) -> str:
    return escape(tidy(text))
