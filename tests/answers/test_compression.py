"""Evidence cut to what bears on the question: by the lines' words, by the model, or widened to sections."""

import re
from dataclasses import replace
from typing import Any

import pytest

from subtitle_rag.answers.compression import GAP, KEPT, CompressedContextBuilder, checked_lines
from subtitle_rag.answers.context_builder import LABELS, RankedContextBuilder
from subtitle_rag.answers.gathering import AnswerOptions
from subtitle_rag.answers.section_context import MOST_WINDOWS, SectionContextBuilder
from subtitle_rag.domain import Chapter, Video, Window
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from subtitle_rag.retrieval.search.scenes import Scene
from tests.answers.desk import KIMCHI, SAUCE, Desk, fill, put_long, scene, source, system
from tests.stand_ins.ollama import StandIn, Turn
from tests.support.searchable import video

LINES = AnswerOptions(whole=False, builder="lines")
CONDENSED = AnswerOptions(whole=False, limit=2, builder="condensed")
SAID = "안녕하세요 여러분. 소금은 여덟 바가지 넣어요. 날씨가 참 좋네요. >> 배추는 마흔 포기예요. 다음에 봐요"


def builder(question: str, analyzer: Analyzer, kept: float = KEPT) -> CompressedContextBuilder:
    return CompressedContextBuilder(
        question, analyzer, lambda forms: dict.fromkeys(forms, 1.0), RankedContextBuilder(labels=LABELS["ko"]), kept
    )


def lines_of(text: str) -> str:
    return text.rpartition("자막: ")[2]


def test_the_lines_that_bear_on_the_question_stay_with_their_times(analyzer: Analyzer) -> None:
    one = scene(1, SAID)
    compressed = builder("소금 몇 바가지 넣어?", analyzer, 0.3)
    assert compressed.kept(one) == [1]
    assert lines_of(compressed.build([one])) == f"{GAP} (0:06) 소금은 여덟 바가지 넣어요. {GAP}"
    assert compressed.build([one]).startswith("[1] (")
    assert (
        lines_of(builder("배추 몇 포기?", analyzer, 0.3).build([one])) == f"{GAP} (0:18) - 배추는 마흔 포기예요. {GAP}"
    )


def test_nothing_is_written_anew_and_the_order_stays(analyzer: Analyzer) -> None:
    one = scene(1, SAID)
    for kept in (0.2, 0.5, 0.8, 1.0):
        text = lines_of(builder("배추와 소금", analyzer, kept).build([one]))
        pieces = [piece.strip() for piece in re.split(rf"{GAP}(?: \(\d+:\d\d\))?", text) if piece.strip()]
        at = -1
        said = SAID.replace(">> ", "- ")
        for piece in pieces:
            found = said.find(piece)
            assert found > at
            at = found
    assert lines_of(builder("배추", analyzer, 1.0).build([one])) == said
    assert len(builder("배추", analyzer, 0.01).kept(one)) == 1, "one line stays of every scene"


def test_without_a_common_word_the_lines_around_the_best_one_stay(analyzer: Analyzer) -> None:
    one = replace(scene(1, SAID), at_ms=18_000)
    assert builder("우주 정거장", analyzer, 0.3).kept(one) == [3]


def test_twice_as_many_scenes_are_given(desk: Desk) -> None:
    put_long(desk, range(1, 9))
    usual = desk.ask("소스1이랑 소스2 있어?", options=AnswerOptions(whole=False))
    whole_tokens = len(system(desk))
    found = desk.ask("소스1이랑 소스2 있어?", options=LINES)
    assert len(found.answer.evidence.sources) > len(usual.answer.evidence.sources)
    per_scene = whole_tokens / len(usual.answer.evidence.sources)
    assert len(system(desk)) / len(found.answer.evidence.sources) < 0.75 * per_scene
    assert GAP in system(desk)


def test_the_model_condenses_first_and_answers_from_its_lines(desk: Desk, ollama: StandIn) -> None:
    fill(desk)
    thought = "<think>[1] 소스 이야기인가?\n[2] 모르겠다</think>\n"
    ollama.answer(f"{thought}[1] 배추가 40포기예요\n[2] 간장 소스를 찍어 먹어요\n[9] 없는 장면", "40포기입니다 [1].")
    answer = desk.ask("김장 배추 몇 포기 했어?", options=CONDENSED).answer
    first, second = desk.chats()
    assert "한 줄로 줄입니다" in first.messages[0]["content"]
    assert KIMCHI[2] in first.messages[0]["content"]
    assert "배추가 40포기예요" in second.messages[0]["content"]
    assert KIMCHI[2] not in second.messages[0]["content"]
    assert "없는 장면" not in second.messages[0]["content"]
    assert first.num_ctx == second.num_ctx, "the model is not loaded again"
    assert [(c.number, c.status) for c in answer.citations] == [(1, "supported")]


@pytest.mark.parametrize(
    "broken",
    [
        "아무 번호도 없습니다",
        "[1] 배추가 99포기예요",
        Turn("[1] 배추", cut=True),
        Turn(status=500, refusal="out of memory"),
    ],
)
def test_what_the_model_loses_or_invents_is_extracted(desk: Desk, ollama: StandIn, broken: str | Turn) -> None:
    fill(desk)
    ollama.answer(broken, "40포기입니다 [1].")
    found = desk.ask("김장 배추 몇 포기 했어?", options=CONDENSED)
    text = system(desk)
    assert "배추가 40포기예요" in text
    assert "99포기" not in text
    assert found.answer.ending == "whole"


def test_lines_of_a_model_are_checked() -> None:
    sources = [source(1, "소금은 여덟 바가지 넣어요"), source(2, "배추가 40포기예요")]
    text = "- [1] 소금 </장면> 여덟 바가지\n[1] 다시\n[2] 배추가 41포기\n[3] 없는 것\n말"
    assert checked_lines(text, sources) == {1: "소금 ‹/장면› 여덟 바가지"}


CHAPTERED = replace(
    video("chapters001", "두 이야기"), chapters=(Chapter(0, "김장 </장면>"), Chapter(180_000, "소스 만들기"))
)


def scene_of(number: int, of: Video, window: Window, **changes: Any) -> Scene:
    made = scene(number, window.text, **changes)
    return replace(made, id=window.id, video=of, start_ms=window.start_ms, end_ms=window.end_ms)


def sections(desk: Desk) -> SectionContextBuilder:
    return SectionContextBuilder(desk.place.library, LABELS["ko"])


def test_a_section_is_read_once_with_the_numbers_of_its_scenes(desk: Desk) -> None:
    desk.put(CHAPTERED, [KIMCHI, ["두 번째 얘기"], ["세 번째 얘기"], SAUCE, ["다섯 번째 얘기"]])
    windows = desk.place.library.windows_of(CHAPTERED.id)
    first = scene_of(1, CHAPTERED, windows[0], context="김장하는 날")
    found = [first, scene_of(2, CHAPTERED, windows[3]), scene_of(3, CHAPTERED, windows[2])]
    text = sections(desk).build(found)
    kimchi, sauce = text.split("\n\n")
    assert kimchi.startswith(
        "(두 이야기, 김장 ‹/장면›, 0:00)\n[1] 문맥: 김장하는 날\n[1] (0:00) 자막: 오늘은 김장을 합니다"
    )
    assert "\n(1:00) 자막: 두 번째 얘기" in kimchi
    assert "\n[3] (2:00) 자막: 세 번째 얘기" in kimchi
    assert sauce.startswith("(두 이야기, 소스 만들기, 3:00)\n[2] (3:00) 자막: 청귤 간장")
    assert text.count("두 번째 얘기") == 1
    assert [window.ordinal for window in sections(desk).windows(found)] == [0, 1, 2, 3, 4]


def test_of_a_long_section_the_windows_around_the_found_one_are_read(desk: Desk) -> None:
    desk.put(video("long0000001"), [[f"이야기 {n}번"] for n in range(12)])
    windows = desk.place.library.windows_of("long0000001")
    one = scene_of(1, video("long0000001"), windows[6])
    read = sections(desk).windows([one])
    assert len(read) <= MOST_WINDOWS
    assert windows[6].id in {window.id for window in read}


def test_a_window_that_has_gone_stands_for_itself(desk: Desk) -> None:
    assert sections(desk).build([scene(1, "혼자 남은 말")]) == "(video-00001 영상, 0:00)\n[1] 자막: 혼자 남은 말"


def test_an_answer_from_sections_cites_the_found_scene(desk: Desk, ollama: StandIn) -> None:
    fill(desk)
    ollama.answer("배추가 40포기예요 [1].")
    answer = desk.ask("김장 배추 몇 포기 했어?", options=AnswerOptions(whole=False, builder="sections")).answer
    assert "[1] (0:00) 자막: 오늘은 김장을 합니다" in system(desk)
    assert [(c.number, c.status) for c in answer.citations] == [(1, "supported")]
