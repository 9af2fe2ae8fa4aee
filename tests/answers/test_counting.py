"""Questions how often something is said: counted by hand here, in captions by the program, and never by a model."""

import pytest

from subtitle_rag.answers.gathering import AnswerOptions
from subtitle_rag.domain import UsageError
from tests.answers.desk import Desk, Told
from tests.support.cases import cases
from tests.support.failures import failing
from tests.support.searchable import video

CHICKEN = video("chicken0001", "치킨 먹는 날", published="2025-03-01")
WALK = video("walking0001", "산책 [7] </장면>", channel="숲길", published="2026-01-02")
SOUP = video("soup0000001", "국수", published="2026-02-01")


@pytest.fixture
def said(desk: Desk) -> Desk:
    """치킨 is said six times in CHICKEN, in three windows, and once in WALK; 라면 once, as a noun."""
    desk.put_all(
        {
            CHICKEN: [
                ["치킨을 먹어요 치킨이 맛있어요", "치킨집에 갔어요"],
                ["프라이드치킨이 나왔네요", "키친을 고쳤어요"],
                ["이제 끝입니다", "치 킨 말고 치킨 하나 더요"],
            ],
            WALK: [["걷다가 치킨을 봤어요", "그렇게 하라면 합니다"], ["라면도 먹었어요", "배추 김장을 합니다"]],
            SOUP: [["국수를 먹었어요", "김장 배추가 좋아요"]],
        }
    )
    return desk


def counted(told: Told) -> tuple[int, dict[str, int]]:
    (count,) = told.answer.counts
    return count.times, {video.id: times for video, times in count.videos}


def test_occurrences_are_counted_by_their_morphemes_and_no_model_is_asked(said: Desk) -> None:
    found = said.ask("치킨이 몇 번 나와?")
    assert counted(found) == (6, {"chicken0001": 5, "walking0001": 1})
    assert found.answer.text.splitlines() == [
        "“치킨”: 영상 2편에서 6번.",
        "- 치킨 먹는 날 (2025-03-01): 5번 [1][2][3]",
        "- 산책 (7) ‹/장면› (2026-01-02): 1번 [4]",
    ]
    assert found.streamed == found.answer.text
    assert (found.answer.ending, found.answer.model, found.answer.grounded) == ("whole", "", True)
    assert said.ollama.asked() == []


def test_each_citation_is_a_scene_that_says_it(said: Desk) -> None:
    answer = said.ask("치킨이 몇 번 나와?").answer
    assert [answer.text[start:end] for start, end in (each.span for each in answer.citations)] == [
        f"[{citation.number}]" for citation in answer.citations
    ]
    for citation in answer.citations:
        source = answer.evidence.sources[citation.number - 1]
        assert source.number == citation.number
        assert "치킨" in dict(source.lines)[citation.at_ms or 0]
    third = answer.evidence.sources[2]
    assert third.line(third.at_ms).startswith("치 킨 말고 치킨")


@cases(
    ("question", "times"),
    [
        ("라면이 몇 번 나와?", {"walking0001": 1}),  # and no 하라면
        ("국수를 먹었다고 몇 번 말해?", {"soup0000001": 1}),
        ("먹었다는 말이 몇 번 나와?", {"chicken0001": 1, "walking0001": 1, "soup0000001": 1}),
        ("김장 배추가 몇 번 나와?", {"soup0000001": 1}),  # in this order
        ("치킨이 몇 번 나와? channel:숲길", {"walking0001": 1}),
        ("치킨이 몇 번 나와? after:2026-01-01", {"walking0001": 1}),
        ("치킨이 몇 번 나와? video:국수", {}),
        ("치킨이 몇 번 나와? -프라이드치킨", {"chicken0001": 4, "walking0001": 1}),
        ('"치킨집"이 몇 번 나와?', {"chicken0001": 1}),
        ("이 채널에서 치킨 얘기를 몇 번 했어?", {"chicken0001": 5, "walking0001": 1}),
        ("치킨이 나오는 영상이 몇 개야?", {"chicken0001": 5, "walking0001": 1}),
        ("how many times is 치킨 mentioned?", {"chicken0001": 5, "walking0001": 1}),
        ("how many videos mention 국수", {"soup0000001": 1}),
    ],
)
def test_what_is_counted_follows_the_question_and_its_filters(said: Desk, question: str, times: dict[str, int]) -> None:
    assert counted(said.ask(question)) == (sum(times.values()), times)


def test_the_answer_has_the_language_of_the_question(said: Desk) -> None:
    assert said.ask("how many videos mention noodles").answer.text == "“noodles”: no captions say it."
    assert said.ask("프랑크푸르트가 몇 번 나와?").answer.text == "“프랑크푸르트”: 자막에 나오지 않습니다."
    english = said.ask("how many times is iphone mentioned? channel:숲길").answer
    assert english.text == "“iphone”: no captions say it."


def test_an_unknown_filter_is_an_error_here_too(said: Desk) -> None:
    with failing("unknown_video", UsageError):
        said.ask("치킨이 몇 번 나와? video:없는영상")


def test_many_videos_are_summed_behind_the_first(desk: Desk) -> None:
    desk.put_all({video(f"video-{n:05d}", f"영상 {n}"): [["바다를 봤어요"] * (1 + (n == 11))] for n in range(12)})
    answer = desk.ask("바다가 몇 번 나와?").answer
    lines = answer.text.splitlines()
    assert lines[0] == "“바다”: 영상 12편에서 13번."
    assert lines[1] == "- 영상 11: 2번 [1]"
    assert lines[-1] == "- 그 밖의 영상 2편: 2번"
    assert len(lines) == 12


def test_a_choice_of_scenes_has_the_model_answer(said: Desk) -> None:
    for options in (AnswerOptions(whole=False), AnswerOptions(limit=3), AnswerOptions(whole=True)):
        answer = said.ask("치킨이 몇 번 나와?", options=options).answer
        assert answer.counts == ()
        assert answer.model
    assert len(said.chats()) == 3


def test_a_word_without_content_is_not_counted(said: Desk) -> None:
    assert said.ask("그게 몇 번 나와?").answer.counts == ()
