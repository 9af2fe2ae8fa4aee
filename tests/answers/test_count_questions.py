"""Kinds of questions how often something is said: names by sound, several words, days, endings, and what is unsure.

Each question stands for its kind; what is counted was counted by hand in the speech below.
"""

import pytest

from subtitle_rag.answers.count_question import asks_count
from tests.answers.desk import Desk, Told
from tests.support.cases import cases
from tests.support.searchable import video

FIRST = video("first000001", "첫 발표", published="2019-05-01")
SECOND = video("second00001", "둘째 발표", channel="옷장", published="2020-03-02")
THIRD = video("third000001", "날 모르는 발표", channel="숲길")


@pytest.fixture
def said(desk: Desk) -> Desk:
    desk.put_all(
        {
            FIRST: [
                ["판다스로 표를 읽어요", "판다스를 씁니다", "쿠버네티스도 봤어요"],
                ["베를린에 갔어요", "파리에 갔어요", "베를린이 좋아요"],
                ["로보트를 만들어요", "사과 주스를 마셔요"],
            ],
            SECOND: [
                ["데님을 입어요", "대님 바지예요", "대님이 좋아요"],
                ["디올 가방이에요", "구글에서 찾았어요", "판다스는 어려워요"],
                ["청귤간장을 찍어요", "청귤간장이에요", "청률간장이 맛있어요"],
            ],
            THIRD: [["판다스를 안 써요", "런던에 살아요", "쿠버네티스를 배워요"], ["리스트를 만들어요"]],
        }
    )
    return desk


def times(told: Told) -> dict[str, int]:
    return {count.words: count.times for count in told.answer.counts}


@cases(
    ("question", "counted"),
    [
        # names in the other script, and other spellings
        ("pandas가 몇 번 나와?", {"pandas": 4}),
        ("Pandas 몇 번 언급돼?", {"Pandas": 4}),
        ("kubernetes라는 말이 몇 번 나와?", {"kubernetes": 2}),
        ("Dior가 몇 번 나와?", {"Dior": 1}),
        ("google은 몇 번이나 나오나요?", {"google": 1}),
        ("로봇이 몇 번 나와?", {"로봇": 1}),
        ("how many times is pandas mentioned?", {"pandas": 4}),
        ("how often is kubernetes mentioned?", {"kubernetes": 2}),
        ("how many videos mention pandas?", {"pandas": 4}),
        # several words
        ("베를린이랑 파리가 각각 몇 번 나와?", {"베를린": 2, "파리": 1}),
        ("베를린과 파리는 몇 번 언급됐어?", {"베를린": 2, "파리": 1}),
        ("베를린하고 파리하고 런던이 몇 번씩 나와?", {"베를린": 2, "파리": 1, "런던": 1}),
        ("베를린, 파리, 런던이 각각 몇 번 나오는지 알려줘", {"베를린": 2, "파리": 1, "런던": 1}),
        ("베를린 vs 파리 몇 번 나와?", {"베를린": 2, "파리": 1}),
        ("데님 그리고 pandas 몇 번 나와?", {"데님": 1, "pandas": 4}),
        ('"베를린"이랑 "파리"가 몇 번 나와?', {"베를린": 2, "파리": 1}),
        ("판다스랑 데님 중에 뭐가 더 많이 나와?", {"판다스": 4, "데님": 1}),
        ("디올랑 구글이 각각 몇 번 나와?", {"디올": 1, "구글": 1}),  # a name with a particle that none knows
        ("how many times are 베를린 and 파리 mentioned?", {"베를린": 2, "파리": 1}),
        ("how often do they mention 베를린, 파리 and 런던?", {"베를린": 2, "파리": 1, "런던": 1}),
        ("사과 주스가 몇 번 나와?", {"사과 주스": 1}),  # 과 is no particle here
        # endings
        ("판다스 몇번 나옴", {"판다스": 4}),
        ("판다스 몇번나옴?ㅋㅋ", {"판다스": 4}),
        ("판다스가 몇 번 나왔음", {"판다스": 4}),
        ("판다스가 몇 번이나 나온 거야", {"판다스": 4}),
        ("판다스 몇 번 나올까", {"판다스": 4}),
        ("판다스 몇 번 말함?", {"판다스": 4}),
        ("판다스라고 몇 번 말한 거지", {"판다스": 4}),
        ("판다스 얘기 몇번 함", {"판다스": 4}),
        ("판다스라는 단어가 몇 번 쓰임?", {"판다스": 4}),
        ("판다스라는 말이 몇 번 있어?", {"판다스": 4}),
        ("판다스 몇 번?", {"판다스": 4}),
        ("판다스 언급 횟수", {"판다스": 4}),
        ("판다스가 나오는 횟수 세 줘", {"판다스": 4}),
        ("판다스가 얼마나 자주 나와?", {"판다스": 4}),
        ("판다스 얼마나 많이 언급해?", {"판다스": 4}),
        ("판다스 나온 영상 몇 편", {"판다스": 4}),
        ("how often does 판다스 come up?", {"판다스": 4}),
        ("how many times does the word 판다스 appear in the captions?", {"판다스": 4}),
        ("count the number of times 판다스 is said", {"판다스": 4}),
        ("how many mentions of 판다스 are there?", {"판다스": 4}),
        # days
        ("2019년에 판다스가 몇 번 나와?", {"판다스": 2}),
        ("2019년에 올라온 영상에서 판다스가 몇 번 나와?", {"판다스": 2}),
        ("2020년 3월에 판다스 몇번 나옴", {"판다스": 1}),
        ("판다스가 2020년에는 몇 번 나왔어?", {"판다스": 1}),
        ("how many times was 판다스 mentioned in 2019?", {"판다스": 2}),
        ("in 2020, how often was 판다스 mentioned?", {"판다스": 1}),
        ("2019년에 베를린과 데님이 각각 몇 번 나와?", {"베를린": 2, "데님": 0}),
        # filters beside them
        ("pandas가 몇 번 나와? channel:옷장", {"pandas": 1}),
        ("pandas랑 데님이 몇 번 나와? channel:옷장", {"pandas": 1, "데님": 1}),
    ],
)
def test_what_is_said_is_counted(said: Desk, question: str, counted: dict[str, int]) -> None:
    found = said.ask(question)
    assert times(found) == counted
    assert said.chats() == []


def test_other_spellings_are_named_with_their_times(said: Desk) -> None:
    found = said.ask("pandas가 몇 번 나와?").answer
    assert found.text.splitlines()[0] == "“pandas” (판다스): 영상 3편에서 4번."
    assert found.counts[0].spellings == (("판다스", 4),)


@cases(
    ("question", "number", "sentence"),
    [
        ("데님이 몇 번 나와?", 1, "“대님” 2번은 “데님”일 수 있습니다. [2]"),
        ("청귤간장이 몇 번 나와?", 2, "“청률간장” 1번은 “청귤간장”일 수 있습니다. [2]"),
        ("쿠버내티스가 몇 번 나와?", 0, "“쿠버네티스” 2번은 “쿠버내티스”일 수 있습니다. [1]"),
        ("how often is 데님 mentioned?", 1, "“대님” 2번은 “데님”일 수 있습니다. [2]"),
    ],
)
def test_what_may_be_misheard_is_told_and_not_counted(said: Desk, question: str, number: int, sentence: str) -> None:
    found = said.ask(question).answer
    assert found.counts[0].times == number
    assert sentence in found.text.splitlines()
    assert [found.text[slice(*each.span)] for each in found.citations] == [
        f"[{each.number}]" for each in found.citations
    ]
    if not number:
        assert "그대로는 나오지 않습니다" in found.text


def test_the_days_and_what_they_leave_out_are_told(said: Desk) -> None:
    korean = said.ask("2019년에 판다스가 몇 번 나와?").answer.text.splitlines()
    assert korean[-2:] == [
        "2019-01-01–2019-12-31에 올라온 영상만 세었습니다.",
        "올라온 날을 모르는 영상 1편은 뺐습니다(거기서는 1번).",
    ]
    english = said.ask("how many times was pandas mentioned in 2019?").answer.text.splitlines()
    assert english[-2:] == [
        "Counted in videos uploaded 2019-01-01–2019-12-31.",
        "1 video without a known day left out (1 time there).",
    ]


@cases(
    "question",
    [
        "2019년 이후에 판다스가 몇 번 나와?",  # an open period
        "how often was 판다스 mentioned since 2019?",
        "철수가 판다스를 몇 번 말해?",  # somebody's words
        "파리 데님이 몇 번 나와?",  # both words, and nowhere in a row
        "버네티스가 몇 번 나와?",  # inside of another word
        "러스트가 몇 번 나와?",  # one letter away from an ordinary word, which is no misheard one
    ],
)
def test_what_is_unsure_is_left_to_the_model_with_the_scenes(said: Desk, question: str) -> None:
    said.ollama.clear()
    assert said.ask(question).answer.counts == ()
    assert len(said.chats()) == 1


@cases("question", ["프랑크푸르트가 몇 번 나와?", "how often is 프랑크푸르트 mentioned?"])
def test_a_plain_zero_stays_a_zero(said: Desk, question: str) -> None:
    assert times(said.ask(question)) == {"프랑크푸르트": 0}


@cases(
    "question",
    [
        "이 버스 몇 번이야?",
        "몇 번 버스를 타?",
        "소금을 몇 번 썼어?",
        "소금은 몇 번 넣어?",
        "물이 얼마나 많이 나와?",
        "운동 횟수 알려줘",
        "비행기를 몇 번 탔어?",
        "김장 배추 몇 포기 했어?",
        "총 몇 군데 갔어?",
        "치킨이 몇 번째로 나와?",
        "이 영상 요약해줘",
        "how many times did she call?",
        "how often should I water it?",
        "how many cabbages?",
    ],
)
def test_other_questions_of_number_are_not_counted(question: str) -> None:
    assert not asks_count(question)
