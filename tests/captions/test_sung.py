"""Karaoke as plain cues, and times that translators and tools have spoiled."""

import pytest

from subtitle_rag.base.domain.values import Cue
from tests.support.cases import cases
from tests.support.reading import cues, spans


def srt(*blocks: tuple[int, int, str]) -> str:
    def clock(ms: int) -> str:
        return f"00:00:{ms // 1000:02d},{ms % 1000:03d}"

    return "".join(f"{n}\n{clock(a)} --> {clock(b)}\n{text}\n\n" for n, (a, b, text) in enumerate(blocks, 1))


@pytest.mark.parametrize("tag", ["u", "b", "i", 'font color="#ff0000"'])
def test_a_sentence_with_another_word_marked_each_time_is_one_cue(tag: str) -> None:
    words = ["오늘은", "국수를", "삶아", "볼게요"]
    end = f"</{tag.partition(' ')[0]}>"
    blocks = [
        (n * 400, n * 400 + 400, " ".join(f"<{tag}>{w}{end}" if at == n else w for at, w in enumerate(words)))
        for n in range(4)
    ]
    blocks += [
        (1600, 2000, f"<{tag}>네{end}"),
        (2000, 2400, f"<{tag}>좋아요{end} 정말"),
        (2400, 2800, f"좋아요 <{tag}>정말{end}"),
    ]
    assert cues(srt(*blocks), "srt") == [
        Cue(0, 1600, "오늘은 국수를 삶아 볼게요", (0, 400, 800, 1200)),
        Cue(1600, 2000, "네", (1600,)),
        Cue(2000, 2800, "좋아요 정말", (2000, 2400)),
    ]


def test_a_sentence_that_grows_by_a_word_is_one_cue() -> None:
    text = srt((0, 400, "오늘은"), (400, 800, "오늘은 국수를"), (800, 1600, "오늘은 국수를 삶아요"), (1600, 2000, "네"))
    assert cues(text, "srt") == [Cue(0, 1600, "오늘은 국수를 삶아요", (0, 400, 800)), Cue(1600, 2000, "네", (1600,))]


def test_a_sentence_whose_marks_were_taken_away_is_one_cue() -> None:
    text = srt(*((n * 400, n * 400 + 400, "오늘은 국수를 삶아요") for n in range(3)))
    assert spans(text, "srt") == [(0, 1200, "오늘은 국수를 삶아요")]


@cases(
    "blocks",
    [
        [(0, 400, "네"), (400, 800, "네"), (800, 1200, "네")],
        [(0, 400, "정말 맛있어요 그렇죠"), (900, 1300, "정말 맛있어요 그렇죠"), (1800, 2200, "정말 맛있어요 그렇죠")],
        [(0, 400, "네"), (400, 800, "네 알겠습니다"), (800, 1200, "그럼 가요")],
        [(0, 400, "<i>혼잣말 한마디</i>"), (400, 800, "혼잣말 한마디")],
    ],
)
def test_people_who_repeat_themselves_are_no_karaoke(blocks: list[tuple[int, int, str]]) -> None:
    assert len(spans(srt(*blocks), "srt")) == len(blocks)


@cases(
    "line",
    [
        "00: 00: 01, 200 -- > 00: 00: 04, 100",
        "00:00:01,200 → 00:00:04,100",
        "00:00:01,200 –> 00:00:04,100",
        "00:00:01,200 --&gt; 00:00:04,100",
        "００：００：０１，２００ －－＞ ００：００：０４，１００",
        "0:00:01,200.0000000000582 --> 00:00:04,100",
        "00:00:01.2000000000582 --> 00:00:04.1",
        "7 00:00:01,200 --> 00:00:04,100",
        "00:00:01,200 --> 00:00:04,100 X1:100 X2:200 Y1:10 Y2:20",
        "00:00:01,200 --> 00:00:04,100 align:start position:0%",
    ],
)
@pytest.mark.parametrize("format", ["srt", "vtt"])
def test_spoiled_times_are_read(line: str, format: str) -> None:
    text = f"1\n{line}\n국수를 삶아요\n\n2\n00:00:05,000 --> 00:00:08,000\n물이 끓네요\n"
    assert spans(text, format) == [(1200, 4100, "국수를 삶아요"), (5000, 8000, "물이 끓네요")]


@cases(
    "line",
    [
        "00:00:01,200 --> 00:00:04,100 국수를\n삶아요",
        "[00:01.200 --> 00:04.100]  국수를 삶아요",
    ],
)
def test_text_on_the_line_of_the_times_is_read(line: str) -> None:
    assert spans(f"{line}\n[00:05.000 --> 00:08.000]  물이 끓네요\n", "srt") == [
        (1200, 4100, "국수를 삶아요"),
        (5000, 8000, "물이 끓네요"),
    ]
