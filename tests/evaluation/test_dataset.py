"""Reading questions, by hand and made, which are never mixed, and which windows answer them."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import Window
from subtitle_rag.evaluation.dataset import load_questions
from subtitle_rag.evaluation.questions import Gold, Question, answers
from tests.support.cases import cases
from tests.support.question_files import question, write_lines

GOOD = question("q1", "메밀국수", ("a.srt", 1.5, 9))


def write(folder: Path, *lines: object) -> Path:
    return write_lines(folder / "queries.jsonl", *lines)


def refusal(path: Path) -> UsageError:
    """Return the error of a file that cannot be read as questions."""
    with pytest.raises(UsageError) as caught:
        load_questions(path)
    return caught.value


def window(id: str, start_ms: int, end_ms: int) -> Window:
    return Window(id, "v", 0, start_ms, end_ms, "말", ())


def test_lines_become_questions(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD, "", {**GOOD, "id": "q2", "asr_error": True}, "")

    dataset = load_questions(path)

    assert [question.id for question in dataset.questions] == ["q1", "q2"]
    assert dataset.questions[0] == Question("q1", "메밀국수", "keyword", (Gold("a.srt", 1500, 9000),))


def test_a_mark_of_byte_order_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n")

    assert len(load_questions(path).questions) == 1


def test_a_line_separator_inside_a_string_does_not_end_the_line(tmp_path: Path) -> None:
    assert load_questions(write(tmp_path, {**GOOD, "query": "메밀\u2028국수"})).questions[0].query == "메밀\u2028국수"


def test_decomposed_names_of_videos_are_composed(tmp_path: Path) -> None:
    gold = [{"video": unicodedata.normalize("NFD", "국수.srt"), "start": 0, "end": 5}]

    assert load_questions(write(tmp_path, {**GOOD, "gold": gold})).questions[0].gold[0].video == "국수.srt"


@cases(
    ("second", "reason"),
    [
        ("{", "no JSON"),
        ("[" * 200_000, "nested"),
        ("[]", "not a JSON object"),
        ({**GOOD, "id": ""}, "id must"),
        ({**GOOD, "id": 7}, "id must"),
        ({**GOOD, "query": None}, "query must"),
        ({**GOOD, "kind": ["a"]}, "kind must"),
        (GOOD, "twice"),
        ({**GOOD, "id": "q2", "gold": []}, "gold must"),
        ({**GOOD, "id": "q2", "gold": {"video": "a"}}, "gold must"),
        ({**GOOD, "id": "q2", "gold": ["a"]}, "each range"),
        ({**GOOD, "id": "q2", "gold": [{"video": "a", "start": 1}]}, "end must"),
        ({**GOOD, "id": "q2", "gold": [{"video": "a", "start": True, "end": 2}]}, "start must"),
        ({**GOOD, "id": "q2", "gold": [{"video": "a", "start": -1, "end": 2}]}, "start must"),
        ('{"id": "q2", "query": "a", "kind": "k", "gold": [{"video": "a", "start": 1, "end": NaN}]}', "end must"),
        ('{"id": "q2", "query": "a", "kind": "k", "gold": [{"video": "a", "start": 1, "end": 1e999}]}', "end must"),
        ({**GOOD, "id": "q2", "gold": [{"video": "a", "start": 2, "end": 2}]}, "end after"),
        ({**GOOD, "id": "q2", "gold": [{"video": "", "start": 2, "end": 3}]}, "video must"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, second: object, reason: str) -> None:
    path = write(tmp_path, GOOD, second)

    error = refusal(path)

    assert (error.code, error.details["line"]) == ("bad_line", 2)
    assert reason in error.details["reason"]
    assert str(path) in str(error)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        *((raw, 1) for raw in (b"", b"\n\n", b"{}", b"null", b"\xff\xfe", b'"text"')),
        (json.dumps(GOOD).encode() + b"\n\n\xb1", 3),
    ],
)
def test_a_file_of_anything_else_is_refused(tmp_path: Path, raw: bytes, line: int) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(raw)

    error = refusal(path)

    assert (error.code, error.details["line"]) == ("bad_line", line)


@pytest.mark.parametrize("name", ["absent.jsonl", "."])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, name: str) -> None:
    assert refusal(tmp_path / name).code == "unreadable"


HEAD = {"made_by": "subtitle-rag eval make", "seed": 7}
MADE = {**GOOD, "id": "m1", "origin": {"model": "writer:q4"}}
REFUSED = {"refused": "quote", "kind": "simple", "windows": [], "origin": {}}


def test_hand_made_questions_are_no_made_ones(tmp_path: Path) -> None:
    loaded = load_questions(write(tmp_path, GOOD, {**GOOD, "id": "q2", "answer": "시장에서", "refused": "not ours"}))
    assert (loaded.by_model, [question.answer for question in loaded.questions]) == (False, ["", "시장에서"])


def test_made_questions_are_read_without_what_was_refused(tmp_path: Path) -> None:
    loaded = load_questions(write(tmp_path, HEAD, REFUSED, MADE, {**MADE, "id": "m2", "refused": "dropped"}))
    assert (loaded.by_model, [question.id for question in loaded.questions]) == (True, ["m1"])


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        ([HEAD, MADE, GOOD], 3),
        ([HEAD, GOOD], 2),
        ([GOOD, MADE], 2),
        ([GOOD, HEAD, MADE], 2),
        ([GOOD, REFUSED], 2),
    ],
)
def test_a_mixed_file_is_refused(tmp_path: Path, entries: list[dict[str, Any]], line: int) -> None:
    error = refusal(write(tmp_path, *entries))
    assert (error.code, error.details["line"]) == ("bad_line", line)
    assert "mixed" in error.message


def test_a_file_of_refused_questions_alone_holds_none(tmp_path: Path) -> None:
    assert "no questions" in refusal(write(tmp_path, HEAD, REFUSED)).message


@pytest.mark.parametrize(
    ("gold", "window_range", "hit"),
    [
        ((10_000, 40_000), (35_000, 90_000), True),  # just five seconds
        ((10_000, 40_000), (35_001, 90_000), False),
        ((10_000, 40_000), (40_000, 90_000), False),
        ((10_000, 16_000), (13_000, 60_000), False),  # half of it is less than five seconds
        ((10_000, 15_000), (0, 60_000), True),
        ((10_000, 14_000), (12_000, 60_000), True),  # shorter than five seconds: half of it
        ((10_000, 14_000), (12_001, 60_000), False),
        ((10_000, 40_000), (8_500, 11_500), True),  # a window of three seconds
        ((10_000, 40_000), (8_000, 11_000), False),
    ],
)
def test_five_shared_seconds_are_an_answer(gold: tuple[int, int], window_range: tuple[int, int], hit: bool) -> None:
    assert Gold("v", *gold).answered_by(*window_range) is hit


@given(st.integers(1, 4_999), st.integers(1, 4_998))
def test_a_short_range_is_found_wherever_a_cut_divides_it(length: int, cut: int) -> None:
    gold = Gold("v", 60_000, 60_000 + length)
    at = 60_000 + min(cut, length)

    assert gold.answered_by(0, at) or gold.answered_by(at, 120_000)


def test_answers_name_the_ranges_that_each_window_shows() -> None:
    question = Question("q", "x", "k", (Gold("v", 0, 20_000), Gold("v", 25_000, 70_000), Gold("w", 0, 9_000)))
    document = [window("a", 0, 60_000), window("b", 60_000, 120_000), window("c", 120_000, 180_000)]

    assert answers(question, {"v": document, "w": []}) == {"a": {0, 1}, "b": {1}}
