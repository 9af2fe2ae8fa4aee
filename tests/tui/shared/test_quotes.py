"""Texts for the clipboard name where they come from."""

from subtitle_rag.base.domain.answer_values import Answer, Citation, Evidence, EvidenceSource
from subtitle_rag.base.domain.values import Video
from subtitle_rag.tui.shared import quotes
from subtitle_rag.tui.shared.conversation import QuestionTurn

VIDEO = Video("abcdefghijk", "김장\x1b[31m 하는 날", "UC1", "느린 부엌", url="https://youtu.be/abcdefghijk")
FILE = Video("file-1", "내 영상", "file", "")


def source(number: int, video: Video = VIDEO) -> EvidenceSource:
    lines = ((61_000, "배추 마흔 포기"), (65_000, "절입니다"))
    return EvidenceSource(number, f"scene-{number}", video, 60_000, 90_000, 61_000, lines, "배추 마흔 포기 절입니다")


def test_a_quote_has_title_time_and_link() -> None:
    assert quotes.quote_scene(VIDEO, 61_000, "배추 [b]마흔\n포기") == (
        "“배추 [b]마흔 포기”\n김장[31m 하는 날 · 느린 부엌 · 1:01\nhttps://youtu.be/abcdefghijk?t=61"
    )
    assert quotes.quote_scene(FILE, 61_000, "배추") == "“배추”\n내 영상 · 1:01"


def test_an_answer_has_its_question_its_remarks_and_the_scenes_that_it_cites() -> None:
    text = "배추는 40포기입니다 [1]. 소금은 많습니다 [3]."
    citations = (
        Citation(1, "supported", (12, 15), (0, 11), at_ms=65_000),
        Citation(3, "unsupported", (26, 29), (17, 25)),
    )
    evidence = Evidence("search", (source(1), source(2), source(3, FILE)))
    turn = QuestionTurn("배추는?", evidence, text, Answer("배추는?", text, "model", evidence, citations))
    assert quotes.quote_answer(turn).split("\n\n")[:2] == ["배추는?", "배추는 40포기입니다 [1]. 소금은 많습니다 [3]?."]
    assert "? [3] " in quotes.quote_answer(turn)
    assert quotes.quote_answer(turn).endswith(
        "[1] 김장[31m 하는 날 · 느린 부엌 · 1:05\nhttps://youtu.be/abcdefghijk?t=65\n[3] 내 영상 · 1:01"
    )
