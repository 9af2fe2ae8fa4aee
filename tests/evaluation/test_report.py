"""Bars in a terminal and as SVG, whatever the rows are called."""

from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from subtitle_rag.evaluation.metrics import METRICS as FIGURES
from subtitle_rag.evaluation.report import CHART_METRICS, LIKELY, POSSIBLE, SURE, MetricMeans, Row, bars_svg, bars_text

SVG = "{http://www.w3.org/2000/svg}"


def row(name: str, mean: float, low: float, high: float, retrievers: tuple[str, ...] = ("bm25",)) -> Row:
    return Row(name, retrievers, MetricMeans(9, dict.fromkeys(FIGURES, mean)), {}, dict.fromkeys(FIGURES, (low, high)))


ROWS = [row("bm25 + 문맥", 0.5, 0.25, 0.75), row("띄어쓰기 <기준> & \x1b[31m빨강", 1.0, 1.0, 1.0, ())]


@pytest.mark.parametrize("width", [80, 120])
def test_lines_fit_and_align_by_cells(width: int) -> None:
    *bars, legend = bars_text(ROWS, width)

    chart = [line for line in bars if SURE in line]
    assert len(chart) == len(ROWS) * len(CHART_METRICS)
    assert all(cell_len(line) <= width for line in bars)
    begins = {cell_len(line[: line.index(SURE)]) for line in chart}
    assert len(begins) == 1
    assert {SURE, LIKELY, POSSIBLE} <= set(legend)
    assert "\x1b" not in "".join(bars)


def test_a_bar_tells_the_mean_and_both_ends() -> None:
    line = next(line for line in bars_text(ROWS, 80) if line.startswith("bm25"))

    low, mean, high = line.count(SURE), line.count(SURE + LIKELY) and line.count(LIKELY), line.count(POSSIBLE)
    assert low == pytest.approx(mean, abs=1)
    assert mean == pytest.approx(high, abs=1)
    assert "50.0 [25.0, 75.0]" in line


def test_a_narrow_terminal_still_has_bars() -> None:
    assert any(line.count(SURE) == 12 for line in bars_text(ROWS, 20))


def test_the_svg_is_xml_with_the_names_and_bars_in_proportion() -> None:
    picture = bars_svg(ROWS, "<script>질문.jsonl</script>")

    tree = ElementTree.fromstring(picture)
    texts = ["".join(element.itertext()).replace("\xa0", " ") for element in tree.iter(f"{SVG}text")]
    chart = "\n".join(texts)
    assert "띄어쓰기 <기준> & [31m빨강" in chart
    assert "<script>질문.jsonl</script>" in texts
    assert "50.0 [25.0, 75.0]" in chart
    assert not list(tree.iter(f"{SVG}script"))
    likely, sure = chart.count(LIKELY) - 1, chart.count(SURE) - 1  # one of each is in the legend
    assert sure == pytest.approx(5 * likely, rel=0.1)  # twice a quarter and twice the whole, beside twice a quarter
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "").replace("https://www.textualize.io", "")
