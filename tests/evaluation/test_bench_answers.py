"""`scripts/bench answers` on the stand-in of Ollama: the way through, not what figures mean."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag import cli
from tests.answers.model import quoting
from tests.stand_ins.ollama import Model, StandIn
from tests.stand_ins.ollama_evaluation import evaluates
from tests.support.invented import caption_folder, end_hosts

ANSWERER, JUDGE = "answer:q4", "judge:q4"


@pytest.fixture
def ollama(ollama_server: StandIn) -> StandIn:
    ollama_server.add(Model(ANSWERER, behaviour=quoting), Model(JUDGE, behaviour=evaluates, size=6_000_000_000))
    return ollama_server


@pytest.fixture
def questions(isolated_home: Path, tmp_path: Path, ollama: StandIn) -> Iterator[Path]:
    """Two questions to a library of six videos."""
    isolated_home.mkdir(parents=True, exist_ok=True)
    (isolated_home / "config.toml").write_text(f'[llm]\nmodel = "{ANSWERER}"\n')
    assert cli.run(["index", str(caption_folder(tmp_path / "captions", 6, minutes=3)), "--no-contexts"]) == 0
    gold = [{"video": "invented000", "start": 0, "end": 60}]
    questions = [{"id": word, "query": f"{word} 먹었어요?", "kind": "k", "gold": gold} for word in ("국수", "만두")]
    file = tmp_path / "questions.jsonl"
    file.write_text(
        "\n".join(json.dumps({**question, "answer": "국수를 먹었어요."}) for question in questions), encoding="utf-8"
    )
    yield file
    end_hosts([isolated_home / "data" / "index"])


def compare(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "scripts.benchmarks", "answers", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=os.environ, check=False)


@pytest.mark.campaign(part="hosts")
def test_every_setting_has_a_row_and_a_second_run_asks_nothing(questions: Path, ollama: StandIn) -> None:
    prompt = questions.with_name("own.txt")
    prompt.write_text("{rules}\n존댓말로 답합니다.\n{scenes}", encoding="utf-8")
    table = compare(questions, "--scenes", "3,5", "--prompt", prompt)
    assert (table.returncode, table.stderr) == (0, "")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.stdout.splitlines()]
    settings = [[builder, scenes, "2"] for builder in ("ranked", "ordered") for scenes in ("3", "5")]
    assert [row[:4] for row in cells[2:]] == [[name, *each] for name in ("–", "own.txt") for each in settings]
    assert all(0 <= float(figure) <= 1 for row in cells[2:] for figure in row[4:9])
    own = ["존댓말로" in asked.messages[0]["content"] for asked in ollama.asked("chat") if asked.model == ANSWERER]
    assert own == [False] * 8 + [True] * 8
    assert cells[0][-3:] == ["prompt tokens", "seconds", "not judged"]
    assert all(float(row[-2]) >= 0 for row in cells[2:])
    assert {row[-1] for row in cells[2:]} == {"0"}
    options = {request.messages[0]["content"] for request in ollama.asked("chat") if request.model == ANSWERER}
    assert len(options) > 4  # as many as without another order
    ollama.clear()
    assert compare(questions, "--scenes", "3,5", "--prompt", prompt).stdout == table.stdout
    assert ollama.count("chat") == 0


@pytest.mark.campaign(part="hosts")
def test_compressed_and_widened_scenes_are_rows_too(questions: Path, ollama: StandIn) -> None:
    table = compare(questions, "--scenes", "3", "--builders", "ranked,lines,condensed,sections")
    assert (table.returncode, table.stderr) == (0, "")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.stdout.splitlines()]
    assert [row[1] for row in cells[2:]] == ["ranked", "lines", "condensed", "sections"]
    answering = [asked for asked in ollama.asked("chat") if asked.model == ANSWERER]
    assert len(answering) == 2 * 5, "condensing is one request more for each question"
    assert compare(questions, "--builders", "ranked,none").returncode == 2


def test_without_a_model_it_ends_with_the_reason(questions: Path, ollama: StandIn) -> None:
    ollama.stop()
    table = compare(questions, "--scenes", "2")
    assert (table.returncode, table.stdout) == (3, "")
    assert "Ollama" in table.stderr
    assert not list(questions.parent.glob("questions.compared/*.jsonl"))


def test_a_faulty_prompt_file_is_refused_before_the_first_question(questions: Path, ollama: StandIn) -> None:
    (prompt := questions.with_name("own.txt")).write_text("{rules}\n{scene}")
    table = compare(questions, "--scenes", "2", "--prompt", prompt)
    assert (table.returncode, table.stdout, ollama.count("chat")) == (2, "", 0)
    assert f"{prompt}:2" in table.stderr
