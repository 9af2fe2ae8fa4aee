"""What of a model's text is shown and stored as its answer, however it is cut into pieces."""

import pytest

from subtitle_rag.answers.answer_stream import AnswerStream
from tests.support.cases import cases

SAID = "배추는 모두 40포기입니다 [1]."


RULES = [
    "당신은 국수 장면만 보고 묻는 말에 답합니다. 따로 아는 것은 쓰지 않습니다.",
    '- 국수에 답이 없으면 "국수에서 답을 찾지 못했습니다."라고만 씁니다.',
    "- 짧게 씁니다.",
]

QUESTION = "두레반 국수 모임과 느린 부엌 가운데 어디가 먼저 생겼나요?"


def shown(text: str, size: int, numbers: tuple[int, ...] = (1, 2, 3)) -> tuple[str, AnswerStream]:
    """What is given of a text that comes in pieces of so many characters."""
    stream = AnswerStream(numbers, RULES, QUESTION)
    pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join((*pieces, stream.finish())), stream


@pytest.mark.parametrize("size", [1, 3, 7, 1_000])
@cases(
    ("text", "answer"),
    [
        (SAID, SAID),
        ("소금은 여덟 바가지입니다 [9].", "소금은 여덟 바가지입니다."),
        ("소금은 여덟 바가지입니다. [9]\n끝입니다 [1].", "소금은 여덟 바가지입니다.\n끝입니다 [1]."),
        ("소금 [2, 9] 바가지 [1-5]", "소금 [2] 바가지 [1, 2, 3]"),
        ("[음악] 소리와 [2026-05-31 방송]", "[음악] 소리와 [2026-05-31 방송]"),
        ("닫히지 않은 [1", "닫히지 않은 [1"),
        (f"{SAID} {SAID} {SAID} 소금은 여덟 바가지입니다 [2].", f"{SAID} 소금은 여덟 바가지입니다 [2]."),
        (f"{SAID} 배추는 모두 40포기입니", SAID),
        (f"{SAID} 배추는 모두 50포기입니다 [2].", f"{SAID} 배추는 모두 50포기입니다 [2]."),
        (f"1. {SAID}\n2. {SAID}\n3. 소금입니다 [2].", f"1. {SAID}\n3. 소금입니다 [2]."),
        (f"소금 이야기도 합니다. {SAID} {SAID}\n그 뒤의 말 [2].", f"소금 이야기도 합니다. {SAID}\n그 뒤의 말 [2]."),
        ("네. 네. 네.", "네. 네. 네."),
        ("값은 3.5만 원입니다 [1]. 값은 3.5만 원 [2].", "값은 3.5만 원입니다 [1]. 값은 3.5만 원 [2]."),
        (f"<think>장면을 보자.\n[9]를 쓸까?</think>\n\n{SAID}", f"{SAID}"),
        (f"analysisThe user asks in Korean.assistantfinal{SAID}", SAID),
        ("<think>끝없는 생각", ""),
        ("analysis of the scenes: none", "analysis of the scenes: none"),
    ],
)
def test_an_answer_is_the_same_in_any_pieces(text: str, answer: str, size: int) -> None:
    assert shown(text, size)[0] == answer


@pytest.mark.parametrize("size", [1, 3, 7, 1_000])
@cases(
    ("text", "answer", "recited"),
    [
        (f"{RULES[0]}\n{SAID}", SAID, 2),
        (f"당신은 국수 장면만 보고 묻는 말에 답해요.\n{SAID}", SAID, 1),
        (f"{SAID}\n{RULES[1]}", SAID, 1),
        ("당신은 국수 장면만 보고 묻는 말에 답", "", 1),
        ("따로 아는 것은 쓰지 않습니다.", "", 1),
        ("국수에서 답을 찾지 못했습니다.", "국수에서 답을 찾지 못했습니다.", 0),
        ("당신은 국수 장면만 보고 왔다고 합니다 [1].", "당신은 국수 장면만 보고 왔다고 합니다 [1].", 0),
        ("- 짧게 씁니다.", "- 짧게 씁니다.", 0),
    ],
)
def test_what_recites_the_instructions_is_left_out(text: str, answer: str, recited: int, size: int) -> None:
    told, stream = shown(text, size)
    assert (told, stream.recited) == (answer, recited)


@pytest.mark.parametrize("size", [1, 3, 7, 1_000])
@cases(
    ("text", "answer", "repeated"),
    [
        (QUESTION, "", 1),
        (f"**{QUESTION.rstrip('?')}**", "", 1),
        (f"{QUESTION}\n{SAID}", SAID, 1),
        (f"{QUESTION.rstrip('?')}입니다.", "", 1),
        (f"{QUESTION.rstrip('?')}이에요 [1].", "", 1),
        (f"{QUESTION.rstrip('?')}입니까", f"{QUESTION.rstrip('?')}입니까", 0),
        ("두레반 국수 모임", "두레반 국수 모임", 0),
        (
            "두레반 국수 모임과 느린 부엌 가운데 모임입니다 [1].",
            "두레반 국수 모임과 느린 부엌 가운데 모임입니다 [1].",
            0,
        ),
    ],
)
def test_the_question_again_is_left_out_but_not_an_answer_in_its_words(
    text: str, answer: str, repeated: int, size: int
) -> None:
    told, stream = shown(text, size)
    assert (told, stream.repeated) == (answer, repeated)


@cases(
    ("text", "answer"),
    [("[2]", ""), ("[1] [2]\n[1]", ""), ("\n[2].", ""), ("[2]\n40", "40"), ("3", "3"), ("[1] 네.", "[1] 네.")],
)
def test_citations_alone_are_no_answer(text: str, answer: str) -> None:
    for size in (1, 4, 100):
        assert shown(text, size)[0] == answer


def test_what_is_left_out_is_counted() -> None:
    _text, stream = shown(f"{SAID} {SAID} 소금 [7][8].", 5)
    assert (stream.dropped, stream.repeated) == ([7, 8], 1)


def test_text_is_held_back_for_a_citation_or_a_repetition_alone() -> None:
    stream = AnswerStream([1])
    assert stream.feed("배추는 모두 40포기라고 합니다 [") == "배추는 모두 40포기라고 합니다"
    assert stream.feed("1]. 소금은 여덟 ") == " [1]. 소금은 여덟"
    assert stream.feed("바가지입니다. 배추는 모두 40") == " 바가지입니다.", "it may be said again"
    assert stream.feed("킬로그램") == " 배추는 모두 40킬로그램"


def test_a_long_and_hostile_answer_is_the_same_in_small_pieces_and_whole() -> None:
    for answer in ("[1" * 500, "[" * 1_000, "1," * 500, "[1, 2] " * 200, "." * 1_000, "가 [1]. " * 100, "가나다" * 500):
        assert shown(answer, 4)[0] == shown(answer, len(answer))[0]
