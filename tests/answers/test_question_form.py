"""The form of a question, and what evidence and answer make of it."""

import pytest

from subtitle_rag.answers import answer_prompt, wording
from subtitle_rag.answers.citations import check_citations
from subtitle_rag.answers.context_builder import QuestionForm, form_of
from subtitle_rag.answers.gathering import AnswerOptions
from subtitle_rag.base.domain.answer_values import Answer, Evidence
from subtitle_rag.korean.morphemes import Analyzer
from tests.answers.desk import SEARCH, Desk, fill, source
from tests.support.cases import cases


@cases(
    ("question", "form"),
    [
        ("간장 소스랑 고추장 소스 비교해줘", "comparison"),
        ("굽네하고 BBQ 중 어느 쪽이 더 맛있대?", "comparison"),
        ("여름 김치와 겨울 김치의 차이가 뭐야?", "comparison"),
        ("아이폰 vs 갤럭시", "comparison"),
        ("A보다 B가 더 낫다고 했어?", "comparison"),
        ("겨울 코트와 봄 코트, 뭐가 더 두꺼워?", "comparison"),
        ("집이 커 마당이 커?", "comparison"),
        ("what is the difference between the two sauces?", "comparison"),
        ("is the red or the black one better?", "comparison"),
        ("왜 채널을 쉬었대?", "analysis"),
        ("작년이랑 올해 생각이 어떻게 바뀌었어?", "analysis"),
        ("why did they move?", "analysis"),
        ("김치 재료 알려줘", "facts"),
        ("어디 어디 갔어?", "facts"),
        ("간 식당 목록", "facts"),
        ("what are the ingredients of the sauce?", "facts"),
        ("배추 몇 포기 했어?", "plain"),
        ("소스 찍어 먹던 장면", "plain"),
        ("뭐가 더 맛있대?", "plain"),
        ("왜인지 모르지만 맛있던 국수", "plain"),
        ("캔버스 가방 얼마야?", "plain"),
        ("where is the bridge?", "plain"),
        ("", "plain"),
    ],
)
def test_words_decide_the_form(question: str, form: QuestionForm) -> None:
    assert form_of(question) == form


@pytest.mark.parametrize(("question", "words"), [("소스 비교해줘", "한 줄씩"), ("compare the sauces", "a line for")])
def test_the_form_stands_behind_the_question_so_that_the_prefix_stays(desk: Desk, question: str, words: str) -> None:
    fill(desk)
    desk.ask(question, options=AnswerOptions())
    desk.ask("소스가 뭐야?" if words == "한 줄씩" else "what is the sauce?")
    compared, plain = (chat.messages for chat in desk.chats())
    assert compared[0] == plain[0]
    assert compared[-1]["content"].startswith(question + "\n")
    assert words in compared[-1]["content"]
    assert words not in plain[-1]["content"]


@pytest.mark.parametrize(("question", "is_dated"), [("소스가 왜 맛있대?", True), ("청귤 소스 비교해줘", False)])
def test_scenes_for_an_analysis_have_their_channel_and_day(desk: Desk, question: str, is_dated: bool) -> None:
    fill(desk)
    (first, *_others) = desk.ask(question, options=SEARCH).answer.evidence.sources
    head = f"[1] ({first.video.title}, {first.video.channel}, "
    assert (head in desk.chats()[-1].messages[0]["content"]) == is_dated


def test_a_long_question_leaves_room_for_its_form() -> None:
    asked = answer_prompt.question_text("비교 " * 800)
    assert len(asked) == answer_prompt.QUESTION_CHARACTERS
    assert asked.endswith("한 줄씩 씁니다.")


def test_the_heading_of_a_table_claims_nothing(analyzer: Analyzer) -> None:
    sources = [source(1, "간장 소스는 달아요"), source(2, "고추장 소스는 매워요")]
    answer = "| 소스 | 맛 |\n|---|---|\n| 간장 소스 | 달아요 [1] |\n| 고추장 소스 | 매워요 [2] |"
    check = check_citations(answer, sources, analyzer)
    assert [(each.number, each.status) for each in check.citations] == [(1, "supported"), (2, "supported")]
    assert check.uncited == ()


def test_the_fault_of_a_table_is_told_without_its_pipes(analyzer: Analyzer) -> None:
    text = "| 소스 | 맛 |\n|---|---|\n| 간장 소스 | 바다에서 헤엄칩니다 [1] |"
    sources = (source(1, "간장 소스는 달아요"),)
    check = check_citations(text, sources, analyzer)
    answer = Answer("?", text, "m", Evidence("search", sources), check.citations)
    assert "간장 소스 바다에서 헤엄칩니다" in wording.citation_fault(answer.text, check.citations[0])
