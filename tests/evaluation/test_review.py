"""A person's word on made questions."""

import json
from pathlib import Path

import pytest

from subtitle_rag.domain import UsageError
from subtitle_rag.evaluation import generate_questions
from subtitle_rag.evaluation.dataset import load
from subtitle_rag.evaluation.json_lines import Records
from subtitle_rag.evaluation.review import Review
from tests.evaluation.making_desk import lines


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "made.jsonl"
    records = Records.begin(file, generate_questions.COMMAND, {"seed": 7})
    gold = [{"video": "talk-1", "start": 0, "end": 9}]
    for number in range(4):
        entry = {"id": f"m{number}", "query": f"{number}번째 국수는 어디서 먹었나요?", "kind": "simple", "gold": gold}
        records.append({**entry, "review": "open", "windows": [str(number)], "origin": {"seed": 7}})
    records.append({"refused": "quote", "query": "국수?", "kind": "simple", "windows": ["9"], "origin": {"seed": 7}})
    return file


def test_every_word_is_stored_at_once_and_not_asked_for_again(path: Path) -> None:
    review = Review(path)
    assert [entry["id"] for entry in review.open] == ["m0", "m1", "m2", "m3"]
    review.keep("m0")
    review.drop("m1")
    review.edit("m2", "셋째 국수를 먹은 가게는 어디인가요?")
    again = Review(path)
    assert [entry["id"] for entry in again.open] == ["m3"]
    assert again.counts() == {"open": 1, "kept": 1, "edited": 1, "dropped": 1}


def test_what_is_dropped_counts_no_longer(path: Path) -> None:
    Review(path).drop("m1")
    assert [question.id for question in load(path).questions] == ["m0", "m2", "m3"]
    assert next(entry for entry in lines(path) if entry.get("id") == "m1")["windows"] == ["1"]


def test_an_edited_question_keeps_the_model_s(path: Path) -> None:
    review = Review(path)
    review.edit("m0", "첫 국수를 먹은 가게는 어디인가요?")
    review.edit("m0", "첫째 국수를 먹은 가게는 어디인가요?")
    entry = lines(path)[1]
    assert (entry["query"], entry["made_query"]) == (
        "첫째 국수를 먹은 가게는 어디인가요?",
        "0번째 국수는 어디서 먹었나요?",
    )


@pytest.mark.parametrize("query", ["", "국수 -가게", '"국수" 가게', "채널:부엌 국수"])
def test_a_question_that_the_search_would_not_take_whole_is_refused(path: Path, query: str) -> None:
    before = path.read_bytes()
    with pytest.raises(UsageError) as failure:
        Review(path).edit("m0", query)
    assert failure.value.code == "not_plain"
    assert path.read_bytes() == before


def test_only_made_questions_are_reviewed(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as failure:
        Review(tmp_path / "absent.jsonl")
    assert failure.value.code == "no_questions"
    hand_made = tmp_path / "q.jsonl"
    hand_made.write_text(json.dumps({"id": "q1", "query": "국수"}) + "\n", encoding="utf-8")
    with pytest.raises(UsageError) as failure:
        Review(hand_made)
    assert failure.value.code == "not_own_file"
