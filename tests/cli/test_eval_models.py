"""`eval make` and `eval judge` at the command line, on the stand-in of Ollama."""

import json
import os
import random
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from subtitle_rag.evaluation.verbs.make_questions import REASONS
from tests.evaluation.making_desk import JUDGE, WRITER, lines, question_reply, questions
from tests.stand_ins.ollama import Model, StandIn, Turn
from tests.stand_ins.ollama_evaluation import evaluates
from tests.support.commandline import Run, start
from tests.support.invented import end_hosts
from tests.support.processes import kill_when, needs_sigkill
from tests.support.question_files import write_lines
from tests.support.tiny_models import tiny_encoder

KILLS = int(os.environ.get("SUBTITLE_RAG_KILLS") or 4)

pytestmark = pytest.mark.usefixtures("one_analyzer")


@pytest.fixture
def ollama(ollama_server: StandIn) -> StandIn:
    ollama_server.add(Model(WRITER, behaviour=evaluates), Model(JUDGE, behaviour=evaluates, size=6_000_000_000))
    return ollama_server


@pytest.fixture(scope="module")
def home(indexed_home: Callable[[int, float], Path]) -> Path:
    return indexed_home(4, 5)


@pytest.fixture
def run(home: Path, isolated_home: Path, command: Run) -> Run:
    """Runs a command on a library of four videos of about five windows each."""
    shutil.copytree(home, isolated_home, dirs_exist_ok=True)
    (isolated_home / "config.toml").write_text(f'[llm]\nmodel = "{WRITER}"\n')
    return command


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "made.jsonl"


def typed(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    """What a person types; then they press Ctrl-C."""
    pending_answers = iter(answers)

    def prompt(text: str = "") -> str:
        try:
            return next(pending_answers)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(click.termui, "visible_prompt_func", prompt)


@pytest.mark.campaign(part="flows")
def test_making_tells_what_came_of_it(run: Run, ollama: StandIn, path: Path) -> None:
    ollama.answer(question_reply("이 영상에서 무엇을 하나요?", evidence_1="가", evidence_2="나"))
    result = run("eval", "make", path, "--count", "5", "--json").result
    assert [result[name] for name in ("count", "questions", "new")] == [5, 5, 5]
    assert result["by_kind"] == {"simple": 2, "reasoning": 1, "multi_context": 2}
    assert sum(result["refused"].values()) == 1
    assert result["prompt_tokens"] > 0
    assert result["calls"] == ollama.count("chat")
    outcome = run("eval", "make", path, "--count", "6")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"1 new question, 6 in {path}:\n")
    assert f"eval make {path} --review" in outcome.out
    measured = run("eval", "run", path, "--json").result
    assert (measured["queries"], measured["missing"]) == (6, [])
    assert set(measured["rows"][0]["by_kind"]) == {"simple", "reasoning", "multi_context"}


def test_every_reason_to_refuse_has_a_sentence() -> None:
    source = Path(sys.modules["subtitle_rag.evaluation.question_drafts"].__file__ or "").read_text(encoding="utf-8")
    assert {*re.findall(r'return "(\w+)"', source), "known"} == set(REASONS)


@pytest.mark.campaign(part="flows")
def test_too_few_windows_are_told_and_no_failure(run: Run, ollama: StandIn, path: Path) -> None:
    outcome = run("eval", "make", path, "--count", "500", "--json")
    assert (outcome.code, outcome.document["status"]) == (0, "partial")
    assert [entry["code"] for entry in outcome.document["errors"]] == ["questions_short"]
    assert 5 < outcome.document["result"]["questions"] < 500


def test_a_file_of_hand_made_questions_is_refused(run: Run, ollama: StandIn, path: Path) -> None:
    line = '{"id": "q1", "query": "국수", "kind": "keyword", "gold": [{"video": "a", "start": 0, "end": 9}]}\n'
    path.write_text(line, encoding="utf-8")
    outcome = run("eval", "make", path, "--json")
    assert (outcome.code, outcome.failure, ollama.count("chat")) == (2, "not_own_file", 0)
    assert path.read_text(encoding="utf-8") == line


def test_a_server_that_does_not_run_is_for_later(run: Run, ollama: StandIn, path: Path) -> None:
    ollama.answer(evaluates, evaluates, Turn("{", cut=True))
    outcome = run("eval", "make", path, "--count", "5", "--json")
    assert (outcome.code, outcome.document["status"]) == (3, "error")
    assert (outcome.document["result"]["new"], len(questions(path))) == (1, 1)
    ollama.stop()
    for arguments in (("eval", "make", path), ("eval", "judge", path)):
        outcome = run(*arguments, "--json")
        assert (outcome.code, outcome.failure) == (3, "llm_not_running")
    assert len(questions(path)) == 1


def test_questions_are_kept_edited_and_dropped(
    run: Run, ollama: StandIn, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("eval", "make", path, "--count", "5")
    ollama.stop()  # nobody is asked
    typed(monkeypatch, "k", "e", "국수 -가게", "국수를 파는 가게는 어디인가요?", "x", "d", "q")
    outcome = run("eval", "make", path, "--review", "--json")
    assert outcome.result["review"] == {"open": 2, "kept": 1, "edited": 1, "dropped": 1}
    assert "leave out a part of this" in outcome.err
    assert "국수를 파는 가게는 어디인가요?" in [entry["query"] for entry in questions(path)]
    typed(monkeypatch, "k", "k")
    outcome = run("eval", "make", path, "--review")
    assert (outcome.code, outcome.out.split()) == (
        0,
        ["Kept", "3", "Edited", "1", "Dropped", "1", "Not", "looked", "at", "0"],
    )
    ollama.start()
    assert run("eval", "make", path, "--count", "5", "--json").result["new"] == 1


def test_control_c_at_a_question_loses_nothing(
    run: Run, ollama: StandIn, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("eval", "make", path, "--count", "5")
    typed(monkeypatch, "k", "e")
    outcome = run("eval", "make", path, "--review", "--json")
    assert (outcome.code, "Interrupted." in outcome.err) == (130, True)
    assert sorted(entry["review"] for entry in questions(path)) == ["kept", *["open"] * 4]


def test_a_review_shows_no_control_characters(
    run: Run, ollama: StandIn, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("eval", "make", path, "--count", "1")
    path.write_text(path.read_text(encoding="utf-8").replace("왜", "\\u001b[31m왜"), encoding="utf-8")
    typed(monkeypatch, "q")
    outcome = run("eval", "make", path, "--review")
    assert "왜" in outcome.err
    assert "\x1b" not in outcome.err


def test_there_is_nothing_to_review_before_something_is_made(run: Run, path: Path) -> None:
    outcome = run("eval", "make", path, "--review", "--json")
    assert (outcome.code, outcome.failure) == (2, "no_questions")


def answered(path: Path) -> Path:
    entries = [{"id": entry["id"], "answer": entry["answer"]} for entry in questions(path)]
    return write_lines(path.with_name("answers.jsonl"), *entries)


def test_judging_without_answers_judges_the_scenes(run: Run, ollama: StandIn, path: Path) -> None:
    run("eval", "make", path, "--count", "3")
    outcome = run("eval", "judge", path, "--scenes", "2", "--json")
    result = outcome.result
    assert "--answers" in outcome.err
    assert (result["queries"], result["judge"]["model"]) == (3, JUDGE)
    measures: dict[str, Any] = result["rows"][0]["measures"]
    assert [measures[name]["n"] for name in measures] == [3, 3, 0, 0]
    assert measures["faithfulness"]["left_out"] == {"no_answer": 3}
    assert Path(result["path"]) == path.with_name("made.judged.jsonl")
    assert len(lines(Path(result["path"]))) == 1 + 3 * 2


def test_judging_with_answers_takes_all_four_measures(run: Run, ollama: StandIn, path: Path, tmp_path: Path) -> None:
    run("eval", "make", path, "--count", "3")
    out = tmp_path / "kept.jsonl"
    arguments = ("eval", "judge", path, "--answers", answered(path), "--output", out, "--scenes", "2")
    measures = run(*arguments, "--json").result["rows"][0]["measures"]
    assert [measures[name]["n"] for name in measures] == [3, 3, 3, 3]
    ollama.clear()
    outcome = run(*arguments)
    assert (outcome.code, outcome.err, ollama.count("chat")) == (0, "", 0)
    assert re.search(r"^\| bm25 \| faithfulness \| \d\.\d{3} \| 3 \|", outcome.out, re.MULTILINE)
    assert str(out) in outcome.out


def test_answers_that_the_file_lacks_are_asked_for_and_added(run: Run, ollama: StandIn, path: Path) -> None:
    run("eval", "make", path, "--count", "3")
    answers = answered(path)
    first, *others = answers.read_text(encoding="utf-8").splitlines()
    answers.write_text(first + "\n", encoding="utf-8")
    ollama.clear()
    ollama.answer("시장입니다 [1].", "집입니다 [1].")
    arguments = ("eval", "judge", path, "--answers", answers, "--builder", "simple", "--scenes", "2", "--json")
    measures = run(*arguments).result["rows"][0]["measures"]
    assert [measures[name]["n"] + measures[name]["errors"].get("no_claims", 0) for name in measures] == [3, 3, 3, 3]
    added = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()[1:]]
    assert [line["id"] for line in added] == [json.loads(line)["id"] for line in others]
    assert {(line["model"], line["builder"]) for line in added} == {(WRITER, "simple")}
    ollama.clear()
    assert run(*arguments).code == 0
    assert ollama.count("chat") == 0


def test_the_writer_judges_only_where_that_is_allowed(run: Run, ollama: StandIn, path: Path) -> None:
    run("eval", "make", path, "--count", "1")
    ollama.remove(JUDGE)
    outcome = run("eval", "judge", path, "--json")
    assert (outcome.code, outcome.failure) == (2, "judge_same")
    assert run("eval", "judge", path, "--allow-same", "--json").result["judge"]["model"] == WRITER


def test_the_arms_to_judge_are_those_of_eval_run(run: Run, ollama: StandIn, path: Path) -> None:
    run("eval", "make", path, "--count", "1")
    assert [row["name"] for row in run("eval", "judge", path, "--arms", "bm25", "--json").result["rows"]] == ["bm25"]
    outcome = run("eval", "judge", path, "--arms", "nonsense", "--json")
    assert (outcome.code, outcome.failure) == (2, "retriever_not_ready")


def test_one_at_a_time_works_on_a_library(run: Run, ollama: StandIn, path: Path, isolated_home: Path) -> None:
    from filelock import FileLock

    with FileLock(isolated_home / "data" / "evaluation.lock"):
        outcome = run("eval", "make", path, "--json")
    assert (outcome.code, outcome.failure) == (3, "busy")


@pytest.mark.campaign(part="kills")
@pytest.mark.hosts
@needs_sigkill
def test_kill_9_loses_the_question_in_flight_and_nothing_else(
    run: Run, ollama: StandIn, path: Path, isolated_home: Path
) -> None:
    ollama.add(Model(WRITER, behaviour=lambda sent: Turn(evaluates(sent), pace=0.002)))
    rng = random.Random(3)
    before = 0
    for _kill in range(KILLS):
        ollama.clear()
        with start(isolated_home, "eval", "make", path, "--count", "12") as process:
            kill_when(process, ollama.has_chats(2 + rng.randrange(6)))
        raw_lines = [line for line in path.read_bytes().split(b"\n") if line]
        entries = [json.loads(line) for line in raw_lines[:-1]]
        assert len(entries) >= before
        before = len(entries)
    assert run("eval", "make", path, "--count", "12", "--json").result["questions"] == 12
    stored = questions(path)
    assert len({entry["id"] for entry in stored}) == len({entry["query"] for entry in stored}) == 12
    assert len({tuple(entry["windows"]) for entry in stored}) == 12


@pytest.mark.models
def test_with_an_encoder_relevancy_is_by_questions_made_of_the_answer(
    run: Run, ollama: StandIn, path: Path, isolated_home: Path, tmp_path: Path
) -> None:
    run("eval", "make", path, "--count", "2")
    folder = tiny_encoder(tmp_path / "encoder")
    with (isolated_home / "config.toml").open("a") as file:
        file.write(f'[models]\nencoder = "{folder}"\n')
    try:
        result = run("eval", "judge", path, "--answers", answered(path), "--scenes", "1", "--json").result
    finally:
        end_hosts([isolated_home / "cache" / "neural"])
    relevancy = result["rows"][0]["measures"]["answer_relevancy"]
    assert (relevancy["n"], relevancy["errors"]) == (2, {})
    assert relevancy["method"].startswith("asked-back encoder@")
    assert 0 < relevancy["mean"] < 1
