"""`eval run` at the command line."""

import json
from collections import Counter
from pathlib import Path

import pytest

from subtitle_rag import evaluation
from subtitle_rag.evaluation.dataset import load_questions
from tests.evaluation.conftest import TALKS, captions
from tests.support.commandline import Run
from tests.support.question_files import question, write_lines


@pytest.fixture
def run(isolated_home: Path, tmp_path: Path, command: Run) -> Run:
    """Runs a command on the library of both talks."""
    folder = tmp_path / "talks"
    folder.mkdir()
    for title, lines in TALKS.items():
        (folder / f"{title}.srt").write_text(captions(lines), encoding="utf-8")
    assert command("index", folder, "--no-contexts").code == 0
    return command


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    return write_lines(
        tmp_path / "queries.jsonl",
        question("q1", "메밀국수", ("국수 이야기.srt", 0, 60)),
        question("q2", "왜가리", ("산책 일기.srt", 120, 180)),
    )


@pytest.mark.campaign(part="flows")
def test_arms_can_be_chosen(run: Run, queries: Path) -> None:
    rows = run("eval", "run", queries, "--arms", "bm25", "--no-neural", "--json").result["rows"]
    assert [row["name"] for row in rows] == ["bm25", "bm25 bare"]

    assert run("eval", "run", queries, "--arms", "dense", "--json").failure == "retriever_not_ready"
    assert run("eval", "run", queries, "--arms", "words", "--json").failure == "retriever_not_ready"


def test_contexts_of_a_file_are_a_row_of_their_own(run: Run, queries: Path, tmp_path: Path) -> None:
    contexts = tmp_path / "contexts.jsonl"
    line = {"video": "국수 이야기.srt", "start": 0, "end": 60, "context": "두레반 사장님이 면을 써는 장면입니다."}
    contexts.write_text(json.dumps(line), encoding="utf-8")
    rows = run("eval", "run", queries, "--contexts", contexts, "--json").result["rows"]
    assert [(row["name"], row["contexts"], row["setting"]) for row in rows[:2]] == [
        ("bm25", False, ""),
        ("bm25 + contexts", True, "contexts.jsonl"),
    ]
    contexts.write_text(json.dumps(line) + "\n{", encoding="utf-8")
    outcome = run("eval", "run", queries, "--contexts", contexts, "--json")
    assert (outcome.code, outcome.failure) == (2, "bad_line")
    assert f"{contexts}, line 2" in outcome.err


def test_questions_of_the_sample_are_of_each_kind_and_name_its_videos() -> None:
    questions = load_questions(Path(evaluation.__file__).with_name("sample_questions.jsonl")).questions
    kinds = Counter(question.kind for question in questions)
    assert set(kinds) == {"keyword", "paraphrase", "context", "multi"}
    assert kinds.total() >= 60
    assert min(kinds.values()) >= 10
    assert {gold.video for question in questions for gold in question.gold} == {f"sample-000{n}" for n in range(1, 10)}
