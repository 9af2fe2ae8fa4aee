"""`eval models` at the command line, on the stand-in of Ollama and tiny encoders."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.stand_ins.ollama import Model, StandIn, Turn
from tests.stand_ins.ollama_models import Json, context
from tests.support.commandline import Run, start
from tests.support.invented import dump
from tests.support.processes import kill_when, needs_sigkill
from tests.support.question_files import question, write_lines
from tests.support.tiny_models import tiny_encoder

OWN, PLAIN, FAULTY = "writer:q4", "plain:q4", "faulty:q8"
WINDOWS = 8


def faulty(sent: Json) -> str:
    """Slips into Chinese about some windows, and names what no video has about others."""
    text = context(sent)
    if len(text) % 3 == 0:
        return "这一段介绍了一家餐厅。"
    return "'두레반칼국수'라는 가게에서 국수를 파는 장면입니다." if len(text) % 3 == 1 else text


pytestmark = pytest.mark.usefixtures("one_analyzer", "no_pauses")


@pytest.fixture
def ollama(ollama_server: StandIn) -> StandIn:
    ollama_server.add(Model(OWN), Model(PLAIN), Model(FAULTY, behaviour=faulty))
    return ollama_server


@pytest.fixture(scope="module")
def home(indexed_home: Callable[[int, float], Path]) -> Path:
    return indexed_home(4, 4)


@pytest.fixture
def run(home: Path, isolated_home: Path, command: Run) -> Run:
    """Runs a command on a library of four videos of about four windows each."""
    shutil.copytree(home, isolated_home, dirs_exist_ok=True)
    (isolated_home / "config.toml").write_text(f'[llm]\nmodel = "{OWN}"\n[models]\nencoder = ""\nreranker = ""\n')
    return command


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    lines = [
        question(f"q{at}", query, (f"영상 {at} [invented00{at}].ko.vtt", 0, 60), kind="simple" if at % 2 else "multi")
        for at, query in enumerate(("국수", "바다 시장", "할머니 김밥", "고양이"))
    ]
    return write_lines(tmp_path / "questions.jsonl", *lines)


def by_name(result: Any) -> dict[str, Any]:
    return {entry["model"]: entry for entry in result["models"]}


@pytest.mark.campaign(part="flows")
def test_models_write_of_the_same_windows_and_the_library_stays(
    run: Run, ollama: StandIn, isolated_home: Path, questions: Path
) -> None:
    run("contexts", "write")
    before = dump(isolated_home / "data" / "library.db")
    ollama.clear()
    outcome = run("eval", "models", PLAIN, FAULTY, "--videos", "2", "--questions", questions, "--json")
    result = outcome.result
    models = by_name(result)
    assert set(models) == {"library", PLAIN, FAULTY}
    assert (len(result["videos"]), result["windows"]) == (2, models[PLAIN]["windows"])
    for name in (PLAIN, FAULTY):
        each = models[name]
        assert each["written"] + each["left_out"] + each["empty"] == result["windows"]
        assert each["answers"] == each["windows"] + each["second_tries"]
        assert each["estimate"]["calls"] == result["windows"]
        assert each["tokens"] > 0
        assert each["prompt_tokens"] > 0
    assert sum(each["answers"] for name, each in models.items() if name != "library") == ollama.count("chat")
    assert models[PLAIN]["foreign"] == models[PLAIN]["ungrounded"] == 0
    assert models[FAULTY]["foreign"] > 0
    assert models[FAULTY]["ungrounded"] > 0
    assert "두레반칼국수" in models[FAULTY]["ungrounded_words"]
    assert models["library"]["written_by"] == [OWN]
    assert dump(isolated_home / "data" / "library.db") == before
    rows = result["retrieval"]
    assert [row["name"].split(":")[0] for row in rows] == ["no contexts", "the library's own", "plain", "faulty"]
    assert set(rows[0]["by_kind"]) <= {"simple", "multi"}
    assert rows[0]["setting"] == f"0/{result['windows']}"
    assert result["questions"] + result["left_out"] == 4
    (example, *_rest) = result["examples"]
    assert len(result["examples"]) == 3
    assert set(example["contexts"]) == {"library", PLAIN, FAULTY}


@pytest.mark.campaign(part="flows")
def test_the_contexts_of_each_model_are_searched(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    def telling(sent: Json) -> str:
        added = " 두레반 삼촌이 옆에서 봅니다." if "제목: 영상 0" in sent["messages"][0]["content"] else ""
        return context(sent) + added

    ollama.add(Model(FAULTY, behaviour=telling))
    gold = ("영상 0 [invented000].ko.vtt", 0, 240)
    path = write_lines(tmp_path / "one.jsonl", question("q", "두레반", gold, kind="context"))
    result = run("eval", "models", PLAIN, FAULTY, "--videos", "2", "--questions", path, "--json").result
    hits = {row["name"]: row["by_kind"]["context"]["hit@1"] for row in result["retrieval"]}
    assert hits == {"no contexts: bm25": 0, f"{PLAIN}: bm25": 0, f"{FAULTY}: bm25": 1}
    assert result["retrieval"][2]["over"]["name"] == "no contexts: bm25"


@pytest.mark.campaign(part="flows")
def test_prompts_are_compared_as_models_are(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    prompt = tmp_path / "own.txt"
    prompt.write_text("요리 영상입니다.\n{transcript}\n\n{window}\n한 문장으로 쓰세요.\n", encoding="utf-8")
    again = tmp_path / "again.txt"
    again.write_text(prompt.read_text(encoding="utf-8"), encoding="utf-8")
    command = ("eval", "models", PLAIN, "--videos", "1", "--prompt", prompt, "--prompt", again, "--json")
    result = run(*command).result
    models = by_name(result)
    assert {PLAIN, f"{PLAIN}, {prompt}"} <= models.keys() <= {PLAIN, f"{PLAIN}, {prompt}", "library"}
    is_own = [each.messages[0]["content"].startswith("요리 영상입니다.") for each in ollama.asked("chat")]
    assert is_own.count(True) == models[f"{PLAIN}, {prompt}"]["answers"] == result["windows"]
    assert is_own.count(False) == models[PLAIN]["answers"]
    assert len({models[name]["path"] for name in (PLAIN, f"{PLAIN}, {prompt}")}) == 2
    ollama.clear()
    run(*command)
    assert ollama.count("chat") == 0
    prompt.write_text("{transcript}\n", encoding="utf-8")
    failed = run(*command)
    assert (failed.code, failed.failure) == (2, "bad_prompt")
    assert ollama.count("chat") == 0


@pytest.mark.campaign(part="flows")
def test_the_cost_comes_first_and_a_second_run_asks_nothing(run: Run, ollama: StandIn) -> None:
    arguments = ("eval", "models", PLAIN, "--videos", "1")
    outcome = run(*arguments)
    assert re.search(
        rf"^{PLAIN}: at least \d requests, about [\d,]+ tokens read and \d+ written, its time", outcome.err
    )
    assert "| names not in the video | 0 |" in outcome.out
    ollama.clear()
    again = run(*arguments)
    assert f"{PLAIN}: everything is written." in again.err
    assert again.out.split("\n\n")[:2] == outcome.out.split("\n\n")[:2]
    assert ollama.count("chat") == 0
    run("eval", "models", PLAIN, "--videos", "2")
    windows = run(*arguments, "--json").result["windows"]
    assert 0 < ollama.count("chat") <= 2 * windows + 2


@pytest.mark.campaign(part="flows")
def test_the_same_seed_draws_the_same_videos(run: Run, ollama: StandIn) -> None:
    def drawn(*arguments: object) -> list[str]:
        return list(run("eval", "models", PLAIN, *arguments, "--json").result["videos"])

    two = drawn("--videos", "2")
    assert drawn("--videos", "3")[:2] == two
    assert len({tuple(drawn("--videos", "2", "--seed", seed)) for seed in range(6)}) > 1


def test_without_questions_the_finding_is_left_out_and_said(run: Run, ollama: StandIn, isolated_home: Path) -> None:
    outcome = run("eval", "models", PLAIN, "--videos", "1")
    assert "How well the windows are found is left out" in outcome.out
    assert run("eval", "models", PLAIN, "--videos", "1", "--json").result["retrieval"] is None


@pytest.mark.campaign(part="flows")
def test_the_library_s_questions_are_used(run: Run, ollama: StandIn, isolated_home: Path, questions: Path) -> None:
    questions.rename(isolated_home / "data" / "questions.jsonl")
    result = run("eval", "models", PLAIN, "--videos", "4", "--json").result
    assert (result["questions"], len(result["retrieval"])) == (4, 2)


def test_a_model_that_is_not_there_is_said_before_anything_is_asked(
    run: Run, ollama: StandIn, isolated_home: Path
) -> None:
    outcome = run("eval", "models", PLAIN, "absent:q4", "--json")
    assert (outcome.code, outcome.failure) == (1, "llm_model_missing")
    assert "absent:q4" in outcome.err
    assert ollama.count("chat") == 0
    assert not (isolated_home / "data" / "comparisons").exists()


def test_questions_of_another_library_are_refused_before_anything_is_asked(
    run: Run, ollama: StandIn, questions: Path
) -> None:
    write_lines(questions, question("q", "국수", ("x", 0, 9)))
    outcome = run("eval", "models", PLAIN, "--questions", questions, "--json")
    assert (outcome.code, outcome.failure) == (2, "bad_line")
    assert f"{questions}, line 1: " in outcome.err
    outcome = run("eval", "models", "--encoders", "bge-m3", "--json")
    assert (outcome.code, outcome.failure) == (2, "no_questions")
    assert run("eval", "models").code == 2
    assert ollama.count() == 0


@pytest.mark.campaign(part="flows")
def test_a_model_out_of_memory_leaves_the_others(run: Run, ollama: StandIn, questions: Path) -> None:
    ollama.add(Model(FAULTY, behaviour="out_of_memory"))
    outcome = run("eval", "models", FAULTY, PLAIN, "--videos", "1", "--questions", questions, "--json")
    assert [entry["code"] for entry in outcome.document["errors"]] == ["llm_out_of_memory"]
    models = by_name(outcome.document["result"])
    assert (models[FAULTY]["answers"], models[FAULTY]["due"]) == (0, models[FAULTY]["windows"])
    assert models[PLAIN]["due"] == 0
    assert [row["name"] for row in outcome.document["result"]["retrieval"]] == ["no contexts: bm25", f"{PLAIN}: bm25"]


def test_answers_without_an_end_are_counted(run: Run, ollama: StandIn) -> None:
    ollama.add(Model(FAULTY, behaviour="loop"))
    (each,) = run("eval", "models", FAULTY, "--videos", "1", "--json").result["models"]
    assert (each["looped"], each["answers"], each["written"]) == (each["answers"], 2 * each["windows"], 0)
    assert (
        "the tokens read for answers without an end are not counted"
        in run("eval", "models", FAULTY, "--videos", "1").out
    )


def test_what_a_model_wrote_can_be_imported(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    result = run("eval", "models", PLAIN, "--videos", "2", "--export", tmp_path / "out", "--json").result
    (entry,) = result["models"]
    assert run("contexts", "import", entry["exported"], "--json").result["new"] == entry["written"]


@pytest.mark.campaign(part="kills")
@pytest.mark.hosts
@needs_sigkill
def test_kill_9_asks_again_only_for_the_window_in_work(run: Run, ollama: StandIn, isolated_home: Path) -> None:
    ollama.add(Model(PLAIN, behaviour=lambda sent: Turn(context(sent), pace=0.002)))
    kills = 0
    for count in (2, 5, 3):
        before = ollama.count("chat")
        with start(isolated_home, "eval", "models", PLAIN, FAULTY, "--videos", "4") as process:
            kills += kill_when(process, ollama.has_chats(before + count))
    assert kills == 3
    result = run("eval", "models", PLAIN, FAULTY, "--videos", "4", "--json").result
    assert {each["due"] for each in result["models"]} == {0}
    prompts = Counter(
        json.dumps([sent["model"], sent["messages"], sent["options"]["seed"]], ensure_ascii=False)
        for sent in (request.sent for request in ollama.requests if request.kind == "chat")
    )
    assert prompts.total() - len(prompts) <= kills
    assert sum(each["answers"] for each in result["models"]) == len(prompts)


@pytest.mark.models
def test_encoders_are_compared_in_a_copy(run: Run, isolated_home: Path, questions: Path, tmp_path: Path) -> None:
    sparse, dense = tiny_encoder(tmp_path / "one"), tiny_encoder(tmp_path / "two", seed=1, sparse=False)
    before = dump(isolated_home / "data" / "library.db")
    outcome = run(
        *("eval", "models", "--encoders", f"{sparse},{dense}", "--videos", "4", "--questions", questions, "--json")
    )
    result = outcome.result
    names = [row["name"].removeprefix(str(tmp_path) + "/") for row in result["encoders"]]
    arms = ["bm25", "sparse", "dense", "dense+sparse", "bm25+dense+sparse", "bm25+dense+sparse+pieces"]
    assert [name for name in names if name.startswith("one")] == [f"one: {arm}" for arm in arms]
    arms = ["dense", "bm25+dense", "bm25+dense+pieces"]
    assert [name for name in names if name.startswith("two")] == [f"two: {arm}" for arm in arms]
    assert result["encode_seconds"].keys() == {str(sparse), str(dense)}
    assert f"{2 * result['windows']} windows are encoded" in outcome.err
    assert dump(isolated_home / "data" / "library.db") == before


def test_an_encoder_that_is_not_there_is_said(run: Run, questions: Path) -> None:
    outcome = run("eval", "models", "--encoders", "bge-m3", "--questions", questions, "--json")
    assert outcome.failure == "model_missing"
    outcome = run("eval", "models", "--encoders", "nonsense", "--questions", questions, "--json")
    assert outcome.failure == "unknown"
