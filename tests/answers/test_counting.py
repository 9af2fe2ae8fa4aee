"""How often something is said: counted in the captions, without a model."""

import pytest

from subtitle_rag.answers.counting import counted_words
from subtitle_rag.answers.gathering import AnswerOptions
from subtitle_rag.domain import Video
from subtitle_rag.events import Answer
from subtitle_rag.retrieval.morphemes import Analyzer
from tests.answers.desk import Desk, told
from tests.searchable import Minutes, video

CHICKEN = video("chicken0001", "치킨 [1] 먹방", channel="느긋한 식탁", published="2025-03-01")
SAUCE = video("sauce000001", "소스 만들기", channel="느긋한 식탁", published="2026-03-01")
TECH = video("tech0000001", "AI 이야기", channel="달리는 골목", published="2026-04-01")
VIDEOS: dict[Video, Minutes] = {
    CHICKEN: [["치킨을 시켰어요", "양념치킨 그리고 치 킨"], ["밥을 먹어요", "김밥도 먹어요"], ["치킨 치킨 치킨"]],
    SAUCE: [["간장을 부어요"], ["치킨에 찍어 먹어요"]],
    TECH: [["AI said it", "the main AI", "양념 치킨도 나와요"]],
}


@pytest.fixture
def full(desk: Desk) -> Desk:
    desk.put_all(VIDEOS)
    return desk


def answer(desk: Desk, question: str, *, videos: tuple[str, ...] = ()) -> Answer:
    with desk.answerer() as answerer:
        found = told(answerer.conversation(), question, videos=videos)
    assert found.streamed == found.answer.text
    return found.answer


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("치킨이 몇 번 나와?", ["치킨"]),
        ("이 채널에서 치킨은 모두 몇 번 나오나요", ["치킨"]),
        ("양념 치킨이 몇번이나 나왔어?", ["양념 치킨", "치킨"]),
        ("소주라는 말이 몇 번 나와?", ["소주"]),
        ("“찍어 먹는”이라는 말을 몇 번 했어? 몇 번 말해?", ["찍어 먹는"]),
        ("소금 얘기를 몇 차례 언급해?", ["소금"]),
        ("how many times is the word AI mentioned?", ["AI"]),
        ("How often does she say really good?", ["really good"]),
        ("치킨을 몇 번 먹었어?", []),
        ("김장 배추 몇 포기 했어?", []),
        ("몇 번 나와?", []),
        ("how many people came?", []),
    ],
)
def test_what_a_question_wants_counted(question: str, words: list[str], analyzer: Analyzer) -> None:
    assert counted_words(question, analyzer) == words


def test_the_captions_are_counted_without_a_request(full: Desk) -> None:
    found = answer(full, "치킨이 몇 번 나와?")
    assert found.text.splitlines() == [
        "“치킨” – 자막에 모두 8번 나옵니다. 영상 3편, 장면 4개입니다.",
        "- 치킨 (1) 먹방: 6번 [1][2]",
        "- 소스 만들기: 1번 [3]",
        "- AI 이야기: 1번 [4]",
    ]
    assert (found.model, found.ending, found.evidence.kind) == ("", "whole", "count")
    assert full.chats() == []
    for citation in found.citations:
        start, end = citation.span
        assert found.text[start:end] == f"[{citation.number}]"
        assert citation.status == "supported"
        line = found.evidence.sources[citation.number - 1].line(citation.at_ms)
        assert "치" in line
    assert len(found.citations) == 4


def test_nouns_together_are_counted_where_they_are_said(full: Desk) -> None:
    assert answer(full, "양념 치킨이 몇 번 나와?").text.startswith("“양념 치킨” – 자막에 모두 2번")
    assert answer(full, "오늘 치킨이 몇 번 나와?").text.startswith("“치킨” – 자막에 모두 8번")


def test_a_syllable_and_a_latin_word_count_by_themselves(full: Desk) -> None:
    assert answer(full, "밥이 몇 번 나와?").text.startswith("“밥” – 자막에 모두 1번")
    latin = answer(full, "how often is AI mentioned?")
    assert latin.text.startswith("“AI” – times that the captions say it: 2. Videos: 1, scenes: 1.")


def test_filters_hold(full: Desk) -> None:
    assert "모두 7번" in answer(full, "치킨이 몇 번 나와? channel:느긋한식탁").text
    assert "모두 2번" in answer(full, "치킨이 몇 번 나와? after:2026-01-01").text
    assert "모두 1번" in answer(full, "치킨이 몇 번 나와?", videos=(SAUCE.id,)).text


def test_nothing_is_said_so(full: Desk) -> None:
    found = answer(full, "피자가 몇 번 나와?")
    assert found.text == "“피자” – 자막에 한 번도 나오지 않습니다."
    assert (found.ending, found.evidence.sources, found.citations) == ("whole", (), ())


def test_further_questions_about_scenes_are_not_counted(full: Desk) -> None:
    with full.answerer() as answerer:
        talk = answerer.conversation()
        told(talk, "치킨을 어디에 찍어 먹어?")
        told(talk, "치킨이 몇 번 나와?")
    assert len(full.chats()) == 2


def test_a_chosen_number_of_scenes_is_answered_from_them(full: Desk) -> None:
    with full.answerer() as answerer:
        told(answerer.conversation(AnswerOptions(limit=2)), "치킨이 몇 번 나와?")
    assert len(full.chats()) == 1
