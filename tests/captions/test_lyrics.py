"""LRC and MicroDVD: times of lines, and numbers of frames."""

import pytest

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions.parse import parse_captions
from tests.support.cases import cases
from tests.support.reading import cues, spans


@cases(
    ("text", "expected"),
    [
        ("[ti:골목]\n[00:01.20]국수를 삶네\n[00:05.00]\n", [(1200, 5000, "국수를 삶네")]),
        (
            "[00:05.00][00:25.00]후렴\n[00:10]둘째\n[00:12.5]\n[00:26.00]",
            [(5000, 10_000, "후렴"), (10_000, 12_500, "둘째"), (25_000, 26_000, "후렴")],
        ),
        ("[offset:+200]\n[00:01.20]국수\n[01:02.00]끝\n", [(1000, 31_000, "국수"), (61_800, 91_800, "끝")]),
    ],
)
def test_a_line_of_lyrics_lasts_until_the_next(text: str, expected: list[tuple[int, int, str]]) -> None:
    assert spans(text, "lrc") == expected


def test_words_of_lyrics_have_their_times() -> None:
    line = "[00:01.00] <00:01.00> 국수를 <00:01.50> 삶네\n[00:03.00]"
    assert cues(line, "lrc") == [Cue(1000, 3000, "국수를 삶네", (1000, 1500))]


def test_frames_are_counted_at_the_rate_of_the_first_line() -> None:
    text = "{1}{1}25.000\n{25}{100}국수를|{y:i}삶아요\n{125}{}/물이 끓네요\n"
    assert spans(text, "sub") == [(1000, 4000, "국수를 삶아요"), (5000, 5000, "물이 끓네요")]


@pytest.mark.parametrize("text", ["{25}{100}국수를 삶아요\n", "{1}{1}0\n{25}{100}국수\n"])
def test_frames_without_a_rate_are_refused_with_the_way_on(text: str) -> None:
    with pytest.raises(CaptionError) as caught:
        parse_captions(text.encode(), "sub", path="a")
    assert "{1}{1}23.976" in caught.value.details["reason"]
    assert "{1}{1}23.976" in str(caught.value)
