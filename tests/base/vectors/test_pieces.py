"""How a window is cut into pieces."""

from dataclasses import replace

import pytest

from subtitle_rag.base.domain.values import Line, Window
from subtitle_rag.base.vectors.pieces import PIECE_LETTERS, PIECE_MS, cut_pieces
from subtitle_rag.captions.windows import LONGEST_MS

SPOKEN = "국물이 아주 진하고 시원한 맛입니다"
"""A line of 15 letters."""


def window(*lines: tuple[float, str], seconds: float) -> Window:
    """Return a window of lines that begin at these seconds."""
    text = ""
    starts: list[Line] = []
    for at, line in lines:
        text += " " if starts else ""
        starts.append(Line(len(text), int(at * 1000)))
        text += line
    return Window("id", "video", 0, int(lines[0][0] * 1000), int(seconds * 1000), text, tuple(starts))


def test_a_piece_ends_with_the_first_line_that_makes_it_fifteen_seconds_long() -> None:
    whole = window(*((at, f"{SPOKEN} {at}") for at in range(0, 60, 4)), seconds=60)
    pieces = cut_pieces(whole)
    assert [start for start, _text in pieces] == [0, 16_000, 32_000, 48_000]
    assert " ".join(text for _start, text in pieces) == whole.text
    assert pieces[1][1] == " ".join(f"{SPOKEN} {at}" for at in (16, 20, 24, 28))


def test_a_piece_goes_on_until_it_has_enough_letters() -> None:
    pieces = cut_pieces(window((0, "네"), (20, "아"), (40, SPOKEN * 2), (56, SPOKEN * 2), seconds=75))
    assert [start for start, _text in pieces] == [0, 56_000]
    assert all(len(text.replace(" ", "")) >= PIECE_LETTERS for _start, text in pieces)


@pytest.mark.parametrize("seconds", [36, 30.5])
def test_a_short_rest_belongs_to_the_piece_before_it(seconds: float) -> None:
    pieces = cut_pieces(window((0, SPOKEN * 2), (15, SPOKEN * 2), (30, SPOKEN * 2), seconds=seconds))
    assert [start for start, _text in pieces] == [0, 15_000]


def test_a_rest_of_few_letters_does_too() -> None:
    long = window((0, SPOKEN * 2), (15, SPOKEN * 2), (30, "네"), seconds=44)
    assert [start for start, _text in cut_pieces(long)] == [0, 15_000]
    assert [start for start, _text in cut_pieces(replace(long, text=long.text + SPOKEN * 2))] == [0, 15_000, 30_000]


def test_a_window_of_one_line_or_of_no_time_is_one_piece() -> None:
    assert cut_pieces(window((3, SPOKEN), seconds=70)) == [(3_000, SPOKEN)]
    assert len(cut_pieces(window(*((0, SPOKEN) for _line in range(40)), seconds=0))) == 1


def test_there_are_never_more_pieces_than_a_window_has_quarters_of_a_minute() -> None:
    longest = LONGEST_MS
    whole = window(*((at / 10, SPOKEN * 4) for at in range(longest // 100)), seconds=longest / 1000)
    assert len(cut_pieces(whole)) == longest // PIECE_MS
