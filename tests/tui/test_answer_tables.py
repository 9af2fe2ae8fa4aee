"""Tables of answers in the cells of the screen, without an app."""

import pytest
from rich.cells import cell_len
from textual.content import Content

from subtitle_rag.tui.text.answer_tables import lay_out

TABLE = """| 소스 | 맛 |
|---|:--|
| 간장 | 짭조름하고 단맛이 있어요 [1] |
| 고추장 | 매워요 [2] |"""


def drawn(text: str, width: int) -> list[str]:
    return lay_out(Content(text), width).plain.split("\n")


def test_columns_stand_below_their_names() -> None:
    assert drawn(f"앞\n{TABLE}\n뒤", 60) == [
        "앞",
        "소스   │ 맛                          ",
        "───────┼─────────────────────────────",
        "간장   │ 짭조름하고 단맛이 있어요 [1]",
        "고추장 │ 매워요 [2]                  ",
        "뒤",
    ]


@pytest.mark.parametrize("width", [60, 37, 30, 20, 15])
def test_no_line_is_wider_than_the_view_and_no_word_is_lost(width: int) -> None:
    lines = drawn(TABLE, width)
    assert {cell_len(line) for line in lines} == {max(map(cell_len, lines))}
    assert cell_len(lines[0]) <= width
    words = "".join("".join(line.split("│")[1].split()) for line in lines if "│" in line)
    assert words == "".join(["맛", "짭조름하고", "단맛이", "있어요", "[1]", "매워요", "[2]"])


def test_a_view_too_narrow_for_the_columns_shows_what_the_model_wrote() -> None:
    assert drawn(TABLE, 10) == TABLE.split("\n")


def test_styles_stay_with_their_characters() -> None:
    text = Content("| a | b |\n|---|---|\n| 가 ") + Content.styled("[1]", "reverse") + Content(" | 나 |")
    laid_out = lay_out(text, 40)
    (span,) = [span for span in laid_out.spans if span.style == "reverse"]
    assert laid_out.plain[span.start : span.end] == "[1]"


@pytest.mark.parametrize(
    "text", ["a | b", "| a | b |", "| a |\n| b |", "---|---\n| a |", "", "|", "a\n\n| --- | --- |", "| a |\n|---|"]
)
def test_pipes_without_a_table_stay(text: str) -> None:
    lines = drawn(text, 40)
    assert lines == text.split("\n") or lines[0].strip() == "a"
    assert "".join(lines).count("a") == text.count("a")


def test_rows_of_unequal_length_are_filled_up() -> None:
    assert drawn("a|b|c\n-|-|-\n1|2|3|4\n5|\n끝", 40) == [
        "a │ b │ c │  ",
        "──┼───┼───┼──",
        "1 │ 2 │ 3 │ 4",
        "5 │   │   │  ",
        "끝",
    ]
