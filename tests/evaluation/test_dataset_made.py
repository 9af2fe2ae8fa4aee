"""Made and hand-made questions are told apart, and never mixed."""

import json
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.domain import UsageError
from subtitle_rag.evaluation.dataset import load_questions

HEAD = {"made_by": "subtitle-rag eval make", "seed": 7}
BY_HAND: dict[str, Any] = {
    "id": "q1",
    "query": "메밀국수",
    "kind": "keyword",
    "gold": [{"video": "a.srt", "start": 1.5, "end": 9}],
}
MADE = {**BY_HAND, "id": "m1", "origin": {"model": "writer:q4"}}
REFUSED = {"refused": "quote", "kind": "simple", "windows": [], "origin": {}}


def write(folder: Path, *entries: dict[str, Any]) -> Path:
    path = folder / "queries.jsonl"
    path.write_text("\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries), encoding="utf-8")
    return path


def test_hand_made_questions_are_no_made_ones(tmp_path: Path) -> None:
    loaded = load_questions(
        write(tmp_path, BY_HAND, {**BY_HAND, "id": "q2", "answer": "시장에서", "refused": "not ours"})
    )
    assert (loaded.by_model, [question.answer for question in loaded.questions]) == (False, ["", "시장에서"])


def test_made_questions_are_read_without_what_was_refused(tmp_path: Path) -> None:
    loaded = load_questions(write(tmp_path, HEAD, REFUSED, MADE, {**MADE, "id": "m2", "refused": "dropped"}))
    assert (loaded.by_model, [question.id for question in loaded.questions]) == (True, ["m1"])


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        ([HEAD, MADE, BY_HAND], 3),
        ([HEAD, BY_HAND], 2),
        ([BY_HAND, MADE], 2),
        ([BY_HAND, HEAD, MADE], 2),
        ([BY_HAND, REFUSED], 2),
    ],
)
def test_a_mixed_file_is_refused(tmp_path: Path, entries: list[dict[str, Any]], line: int) -> None:
    with pytest.raises(UsageError) as failure:
        load_questions(write(tmp_path, *entries))
    assert (failure.value.code, failure.value.details["line"]) == ("bad_queries", line)
    assert "mixed" in failure.value.message


def test_a_file_of_refused_questions_alone_holds_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as failure:
        load_questions(write(tmp_path, HEAD, REFUSED))
    assert "no questions" in failure.value.message
