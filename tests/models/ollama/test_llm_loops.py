"""Answers that repeat themselves: what is a loop, what is none, and what a request does about it."""

import time
from itertools import pairwise

from hypothesis import given, strategies as st

from subtitle_rag.models.ollama.llm_client import Llm
from subtitle_rag.models.ollama.loops import TIMES, LoopGuard
from subtitle_rag.models.ollama.responses import LOOP
from tests.models.ollama.conftest import NAME
from tests.stand_ins.ollama import Model, StandIn, Turn
from tests.support.cases import cases

PHRASES = [
    "르메르 24FW 카라리스, ",
    "국수가 ",
    "이 코트는 울로 만들었고 품이 넉넉합니다. ",
    "이 코트는 울로 만들었고 품이 넉넉합니다. 소매가 길어서 접어 입습니다.\n",
    "the coat of wool, ",
    "The coat is made of wool and cut wide [1]. ",
    "- 르메르 카라리스\n",
    "".join(f"국수 {number}그릇을 삶고 건져서 찬물에 헹구는 장면을 자세히 보여 줍니다. " for number in range(12)),
]
NO_LOOPS = [
    "1. 국수\n2. 만두\n3. 김밥\n4. 떡볶이\n5. 순대\n6. 튀김\n7. 어묵\n8. 라면\n",
    "".join(f"- {number}번 코트는 {number * 7}만 원입니다 [{number}].\n" for number in range(1, 40)),
    "| 이름 | 값 |\n|---|---|---|---|---|---|---|---|---|---|---|\n| 코트 | 3 |",
    "ㅋㅋㅋㅋㅋㅋㅋㅋㅋㅋㅋㅋ 재미있는 장면입니다.",
    "네, 네, 네, 네, 네, 네, 네, 네, 그렇습니다.",
    "==============================\n\n        국수\n",
    "1,000,000,000,000,000,000원",
]


def fed(text: str, size: int = 3) -> LoopGuard:
    guard = LoopGuard()
    for start in range(0, len(text), size):
        if guard.feed(text[start : start + size]):
            return guard
    guard.finish()
    return guard


@cases("phrase", PHRASES)
def test_a_phrase_more_than_five_times_in_a_row_is_a_loop_and_stands_once(phrase: str) -> None:
    guard = fed(f"추천은 다음과 같아요: {phrase * (TIMES + 1)}")
    assert guard.loops
    assert guard.text.count(phrase.strip(" \n-,")) == 1
    assert guard.text.startswith("추천은 다음과 같아요: ")
    assert not fed(f"추천은 다음과 같아요: {phrase * TIMES}").loops


@cases("phrase", PHRASES)
def test_a_loop_is_noticed_while_it_streams(phrase: str) -> None:
    guard = LoopGuard()
    text = phrase * 200
    sizes = (size for size in range(0, len(text), 4) if guard.feed(text[size : size + 4]))
    assert next(sizes) <= (TIMES + 2) * len(phrase) + 256


@cases("text", NO_LOOPS)
def test_lists_tables_and_laughter_are_no_loops(text: str) -> None:
    guard = fed(text)
    assert (guard.loops, guard.text) == (False, text)


def test_one_entry_under_ever_new_numbers_is_a_loop() -> None:
    assert fed("".join(f"{number}. 르메르 카라리스\n" for number in range(1, 60))).text == "1. 르메르 카라리스"


@cases("text", ["ㅋ" * 500, '{"context": "' + "\n" * 500])
def test_a_run_of_one_character_ends_some_time(text: str) -> None:
    assert fed(text).loops


def shown(text: str, size: int) -> tuple[list[str], str]:
    """Return what was settled after each piece of an answer, and its text in the end."""
    guard, settled = LoopGuard(), []
    for start in range(0, len(text), size):
        is_loop = guard.feed(text[start : start + size])
        settled.append(guard.settled)
        if is_loop:
            break
    guard.finish()
    return settled, guard.text


@cases("size", [1, 3, 20, 300])
@cases("phrase", [*PHRASES, "똑딱똑딱 똑딱똑딱 소리, "])
def test_a_loop_is_never_shown_twice(phrase: str, size: int) -> None:
    settled, text = shown(f"추천은 다음과 같아요: {phrase * (TIMES + 3)}", size)
    assert settled[-1] == text or text.startswith(settled[-1])
    assert settled[-1].count(phrase.strip(" \n-,")) <= 1


def test_numbered_lines_of_a_loop_are_shown_once() -> None:
    settled, text = shown("".join(f"{number}. 르메르 카라리스\n" for number in range(1, 60)), 4)
    assert settled[-1] == text == "1. 르메르 카라리스"


@given(st.text(alphabet="가나다라 .,\n1", max_size=400), st.integers(1, 30))
def test_a_text_is_shown_as_it_stays_and_little_is_held_back(text: str, size: int) -> None:
    settled, whole = shown(text, size)
    assert all(whole.startswith(each) for each in settled)
    assert all(after.startswith(before) for before, after in pairwise(settled))


@cases("text", [text for text in NO_LOOPS if "국수" in text or "코트" in text])
def test_an_answer_without_a_loop_is_shown_while_it_comes(text: str) -> None:
    settled, _whole = shown(text, 4)
    assert len(settled[-1]) >= len(text) * 3 // 5


@given(st.text(alphabet="가나다라 .,\n1", max_size=400), st.integers(1, 30))
def test_pieces_of_any_size_give_the_same_text(text: str, size: int) -> None:
    guard = fed(text, size)
    assert text.startswith(guard.text)
    assert guard.loops == fed(text, 1).loops
    if not guard.loops:
        assert guard.text == text


def test_the_work_for_a_character_does_not_grow() -> None:
    def seconds(sentences: int) -> float:
        text = "".join(f"{number}번 장면에서 {number * number}그릇을 삶습니다. " for number in range(sentences))
        started = time.thread_time()
        assert not fed(text).loops
        return (time.thread_time() - started) / len(text)

    seconds(50)
    assert seconds(1_600) < 4 * seconds(200)


def test_a_request_ends_in_a_loop_long_before_its_limit(server: StandIn, llm: Llm) -> None:
    server.add(Model(NAME, behaviour=lambda _sent: Turn("추천은 " + "르메르 24FW 카라리스, " * 200, pace=0.001)))
    pieces: list[str] = []
    question = [{"role": "user", "content": "추천"}]
    reply = llm.chat(question, model=NAME, num_ctx=4_096, num_predict=4_000, seed=7, on_text=pieces.append)
    assert (reply.text, reply.done_reason) == ("추천은 르메르 24FW 카라리스", LOOP)
    assert "".join(pieces).count("르메르") < 12
