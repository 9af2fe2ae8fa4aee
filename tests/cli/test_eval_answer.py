"""`eval answer` as a command: answers and prompts of questions of a file."""

import json
import shutil
from pathlib import Path

import pytest

from tests.answers.model import quoting
from tests.stand_ins.ollama import Model, StandIn
from tests.support.commandline import Run
from tests.support.question_files import question, write_lines

NAME = "answer:q4"

pytestmark = pytest.mark.usefixtures("one_analyzer")


@pytest.fixture
def ollama(ollama_server: StandIn) -> StandIn:
    ollama_server.add(Model(NAME, behaviour=quoting))
    return ollama_server


@pytest.fixture
def run(answering_home: Path, isolated_home: Path, command: Run) -> Run:
    """Runs a command on a library of three videos."""
    shutil.copytree(answering_home, isolated_home, dirs_exist_ok=True)
    return command


def questions(folder: Path, *queries: str) -> Path:
    """A file of these questions, whose ids are themselves."""
    gold = ("invented000", 0, 60)
    return write_lines(folder / "questions.jsonl", *(question(query, query, gold) for query in queries))


@pytest.mark.campaign(part="flows")
def test_questions_of_a_file_are_answered_as_lines(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    queries = ("국수", "바다 고양이", "-국수", "zzzzqqqq")
    file = questions(tmp_path, *queries)
    for builder in ("ranked", "ordered", "simple"):
        outcome = run("eval", "answer", file, "--builder", builder, "--scenes", "3")
        lines = [json.loads(line) for line in outcome.out.splitlines()]
        assert [(line["id"], line["builder"]) for line in lines] == [(query, builder) for query in queries]
        assert [len(line["scenes"]) for line in lines] == [3, 3, 3, 0]
        assert [bool(line["answer"]) for line in lines] == [True, True, True, False]
        assert lines[-1]["answer"] == ""
    assert run("ask", "--history", "--json").result == {"answers": []}
    ollama.stop()
    assert run("eval", "answer", file).code == 3


def test_what_the_model_would_be_given_is_printed_for_each_builder(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    file = questions(tmp_path, "국수를 먹었어요?")
    texts = {}
    for builder in ("ranked", "simple"):
        outcome = run("eval", "answer", file, "--builder", builder, "--scenes", "3", "--context-only")
        texts[builder] = json.loads(outcome.out)["context"]
    assert ollama.count() == 0
    assert "자막:" in texts["ranked"]
    assert "자막:" not in texts["simple"]
    run("eval", "answer", file, "--builder", "simple", "--scenes", "3")
    (request,) = ollama.asked("chat")
    assert texts["simple"] in "".join(message["content"] for message in request.messages)


def test_a_loop_is_asked_for_again_with_the_option(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    file = questions(tmp_path, "국수를 먹었어요?")
    loop = "국수를 먹었어요 [1]. " + "르메르 24FW 카라리스, " * 200
    ollama.answer(loop)
    assert json.loads(run("eval", "answer", file).out)["ending"] == "loop"
    ollama.answer(loop)
    assert json.loads(run("eval", "answer", file, "--again").out)["ending"] == "whole"
