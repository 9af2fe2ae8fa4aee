"""`eval judge --arms` at the command line, with the stand-in of Ollama."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.contexts import context_file
from subtitle_rag.evaluation.generate_questions import MakeReport, make_questions
from subtitle_rag.evaluation.judged_arms import arms_path
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from tests.evaluation.making_desk import JUDGE, WRITER, lines, opened_hosts
from tests.stand_ins.ollama import Model, StandIn, Turn
from tests.stand_ins.ollama_evaluation import evaluates
from tests.stand_ins.ollama_models import Json
from tests.support.commandline import Run, start
from tests.support.invented import end_hosts
from tests.support.processes import kill_when, needs_sigkill
from tests.support.question_files import question, write_lines
from tests.support.tiny_models import tiny_encoder, tiny_reranker


def answers_or_judges(sent: Json) -> str:
    return evaluates(sent) if sent.get("format") else "메밀가루를 시장에서 샀습니다 [1]."


pytestmark = pytest.mark.usefixtures("one_analyzer")


@pytest.fixture
def ollama(ollama_server: StandIn) -> StandIn:
    ollama_server.add(
        Model(WRITER, behaviour=answers_or_judges), Model(JUDGE, behaviour=answers_or_judges, size=6_000_000_000)
    )
    return ollama_server


@pytest.fixture(scope="module")
def home(
    indexed_home: Callable[[int, float], Path], analyzer: Analyzer, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A home with a library of three videos, half of whose windows have contexts, and four questions made of it."""
    home = tmp_path_factory.mktemp("arms") / "home"
    shutil.copytree(indexed_home(3, 4), home)
    (home / "config.toml").write_text(f'[llm]\nmodel = "{WRITER}"\n[models]\nencoder = ""\nreranker = ""\n')
    with closing(Library(home / "data" / "library.db")) as library, StandIn() as server:
        windows = [window for state in library.videos() for window in library.windows_of(state.video.id)]
        context_file.store(library, {window.id: f"{window.id} 이야기입니다." for window in windows[::2]})
        server.add(Model(WRITER, behaviour=evaluates))
        with opened_hosts(server) as hosts:
            *_events, report = make_questions(library, hosts, analyzer, home / "made.jsonl", 4, default=WRITER)
    assert isinstance(report, MakeReport)
    assert report.new == 4
    return home


@pytest.fixture
def run(home: Path, isolated_home: Path, command: Run) -> Run:
    shutil.copytree(home, isolated_home, dirs_exist_ok=True)
    return command


@pytest.fixture
def queries(run: Run, ollama: StandIn, isolated_home: Path, tmp_path: Path) -> Path:
    path = tmp_path / "made.jsonl"
    shutil.copy(isolated_home / path.name, path)
    return path


def searched(queries: Path) -> list[dict[str, Any]]:
    """The lines of scenes and answers."""
    return [entry for entry in lines(queries.with_name("made.arms.jsonl"))[1:] if "id" in entry]


def prompts(ollama: StandIn) -> Counter[str]:
    """How often each request was sent."""
    return Counter(json.dumps(each.messages, ensure_ascii=False) for each in ollama.asked("chat"))


@pytest.mark.campaign(part="flows")
def test_the_arms_are_searched_answered_and_judged(run: Run, ollama: StandIn, queries: Path) -> None:
    outcome = run("eval", "judge", queries, "--arms", "none,contexts", "--scenes", "2", "--json")

    result: dict[str, Any] = outcome.result
    assert [arm["name"] for arm in result["arms"]] == ["none", "contexts"]
    for arm in result["arms"]:
        assert {name: figures["n"] for name, figures in arm["measures"].items()} == dict.fromkeys(arm["measures"], 4)
        assert list(arm["failures"]) == ["failure@5", "failure@10", "failure@20"]
        value, low, high = arm["intervals"]["faithfulness"]
        assert 0 <= low <= value <= high <= 1
        assert arm["cost"]["calls"] > 0
    assert "over_previous" in result["arms"][1]
    assert [arm["published_failure@20"] for arm in result["arms"]] == [None, None]  # words are not the article's arms
    assert result["calls"] == ollama.count("chat")
    assert (result["judge"]["model"], result["answers_by"]) == (JUDGE, WRITER)
    # before the first request
    assert "Still to ask, at most: 8 answers, 40 calls of the judge, about " in outcome.err
    counts = [len(entry["scenes"]) for entry in searched(queries)]
    assert counts == [2] * 8


@pytest.mark.campaign(part="flows")
def test_only_the_arm_with_contexts_shows_them(run: Run, ollama: StandIn, queries: Path) -> None:
    run("eval", "judge", queries, "--arms", "none,contexts", "--json")

    scenes = {"none": "", "contexts": ""}
    for entry in searched(queries):
        scenes[entry["arm"]] += " ".join(entry["scenes"])
    assert "문맥:" not in scenes["none"]
    assert "문맥:" in scenes["contexts"]


@pytest.mark.campaign(part="flows")
def test_a_second_run_asks_nothing_and_shows_the_same_table(run: Run, ollama: StandIn, queries: Path) -> None:
    first = run("eval", "judge", queries, "--arms", "none,contexts")
    assert first.out.startswith("| arm | search | context_precision |")
    ollama.clear()
    second = run("eval", "judge", queries, "--arms", "none,contexts")
    assert ollama.count("chat") == 0
    assert "at most: 0 answers, 0 calls of the judge" in second.err
    tables = [[line for line in some.out.splitlines() if line.startswith("|")] for some in (first, second)]
    assert tables[0] == tables[1]


@pytest.mark.campaign(part="flows")
def test_the_arms_answer_by_the_prompt_of_the_settings(
    run: Run, ollama: StandIn, queries: Path, isolated_home: Path
) -> None:
    run("eval", "judge", queries, "--arms", "none")
    prompt = isolated_home / "own.txt"
    prompt.write_text("존댓말로 답합니다.\n{scenes}", encoding="utf-8")
    settings = isolated_home / "config.toml"
    settings.write_text(settings.read_text() + '[prompts]\nanswers = "own.txt"\n')
    ollama.clear()
    run("eval", "judge", queries, "--arms", "none")
    systems = [each.messages[0]["content"] for each in ollama.asked("chat") if not each.sent.get("format")]
    assert len(systems) == 4
    assert all(text.startswith("존댓말로 답합니다.\n<장면>\n") for text in systems)
    prompt.write_text("{rules}", encoding="utf-8")
    assert run("eval", "judge", queries, "--arms", "none", "--json").failure == "bad_prompt"


@pytest.mark.campaign(part="flows")
def test_scenes_that_arms_share_are_judged_once(run: Run, ollama: StandIn, queries: Path) -> None:
    run("eval", "judge", queries, "--arms", "none", "--json")
    ollama.clear()
    run("eval", "judge", queries, "--arms", "none,contexts", "--json")
    scenes: dict[str, set[str]] = {"none": set(), "contexts": set()}
    for entry in searched(queries):
        scenes[entry["arm"]] |= {f"{entry['id']} {text}" for text in entry["scenes"]}
    verdicts = [each for each in ollama.asked("chat") if "useful" in each.sent.get("format", {}).get("properties", {})]
    assert len(verdicts) == len(scenes["contexts"] - scenes["none"]) < len(scenes["contexts"])


@pytest.mark.models
def test_all_four_arms_with_their_models(
    run: Run, ollama: StandIn, queries: Path, isolated_home: Path, tmp_path: Path
) -> None:
    encoder, reranker = tiny_encoder(tmp_path / "encoder"), tiny_reranker(tmp_path / "reranker")
    (isolated_home / "config.toml").write_text(
        f'[llm]\nmodel = "{WRITER}"\n[models]\nencoder = "{encoder}"\nreranker = "{reranker}"\n'
    )
    try:
        outcome = run("eval", "judge", queries, "--arms", "none,contexts,hybrid,rerank", "--scenes", "1", "--json")
    finally:
        end_hosts([isolated_home / "cache" / "neural"])
    arms = outcome.result["arms"]
    every = ["bm25", "dense", "sparse", "pieces"]
    assert [(arm["name"], arm["retrievers"], arm["rerank_depth"]) for arm in arms] == [
        ("none", ["dense"], 0),
        ("contexts", ["dense"], 0),
        ("hybrid", every, 0),
        ("rerank", every, 150),
    ]
    assert [bool(arm["contexts"]) for arm in arms] == [False, True, True, True]
    assert [arm["published_failure@20"] for arm in arms] == [None, 0.037, None, None]  # it has no titles, no pieces
    assert "pairs of question and window for the reranker" in outcome.err


@pytest.mark.campaign(part="kills")
@pytest.mark.hosts
@needs_sigkill
def test_kill_9_asks_for_nothing_twice(run: Run, ollama: StandIn, queries: Path, isolated_home: Path) -> None:
    """Only the request under way at a kill is repeated."""
    command = ("eval", "judge", queries, "--arms", "none,contexts", "--scenes", "3")
    slow: Callable[[Json], Turn] = lambda sent: Turn(answers_or_judges(sent), pace=0.002)  # noqa: E731
    ollama.add(Model(WRITER, behaviour=slow), Model(JUDGE, behaviour=slow, size=6_000_000_000))
    kills = (2, 7, 9)
    for count in kills:
        before = ollama.count("chat")
        with start(isolated_home, *command) as process:
            kill_when(process, ollama.has_chats(before + count))
    result = run(*command, "--json").result
    assert [figures["n"] for arm in result["arms"] for figures in arm["measures"].values()] == [4] * 8
    repeated = sum(times - 1 for times in prompts(ollama).values())
    assert repeated <= len(kills)
    keys = [(entry["arm"], entry["id"]) for entry in searched(queries)]
    assert len(set(keys)) == len(keys) == 8
    # what two arms share is not asked twice either
    assert sum(prompts(ollama).values()) <= result["arms"][0]["cost"]["calls"] * 2 + len(kills)
    assert result["arms"][0]["cost"]["calls"] >= 4 * 5


@pytest.mark.campaign(part="flows")
@pytest.mark.parametrize("arm", ["hybrid", "rerank"])
def test_an_arm_without_its_models_is_told_before_anything_is_asked(
    run: Run, ollama: StandIn, queries: Path, arm: str
) -> None:
    outcome = run("eval", "judge", queries, "--arms", f"none,{arm}", "--json")
    assert (outcome.code, outcome.failure, ollama.count("chat")) == (2, "arm_not_ready", 0)
    assert not queries.with_name("made.arms.jsonl").exists()

    result = run("eval", "judge", queries, "--arms", f"none,{arm}", "--skip-missing", "--json").result
    assert [row["name"] for row in result["arms"]] == ["none"]
    assert list(result["left_out"]) == [arm]
    assert "the config names none" in result["left_out"][arm]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--arms", "none,fast"), "unknown_arm"),
        (("--arms", "none", "--retrievers", "dense"), "retriever_not_ready"),
        (("--arms", "none", "--retrievers", "nonsense"), "unknown_retriever"),
        (("--arms", "none", "--answer-model", "absent:q4"), "llm_model_missing"),
        (("--arms", "hybrid,rerank", "--skip-missing"), "arm_not_ready"),
    ],
)
def test_wrong_options_are_told_and_nothing_begins(
    run: Run, ollama: StandIn, queries: Path, arguments: tuple[str, ...], code: str
) -> None:
    outcome = run("eval", "judge", queries, *arguments, "--json")
    assert (outcome.failure, ollama.count("chat")) == (code, 0)
    assert not queries.with_name("made.arms.jsonl").exists()


def test_questions_of_another_library_are_told(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "others.jsonl", question("q1", "국수", ("elsewhere", 0, 9)))
    outcome = run("eval", "judge", path, "--arms", "none", "--json")
    assert (outcome.failure, ollama.count("chat")) == ("bad_queries", 0)
    assert str(path) in outcome.err
    assert not path.with_name("others.arms.jsonl").exists()


@pytest.mark.campaign(part="flows")
def test_a_damaged_file_is_told_by_its_line(run: Run, ollama: StandIn, queries: Path) -> None:
    run("eval", "judge", queries, "--arms", "none")
    ollama.clear()
    for name in ("made.arms.jsonl", "made.judged.jsonl"):
        file = queries.with_name(name)
        content = file.read_text(encoding="utf-8")
        head, second, *rest = content.splitlines()
        for damage in ('{"arm": "none", "measure": "faithfulness", "score": "good"}', "no JSON"):
            text = "\n".join([head, second, damage, *rest]) + "\n"
            file.write_text(text, encoding="utf-8")
            outcome = run("eval", "judge", queries, "--arms", "none,contexts", "--json")
            assert (outcome.code, outcome.failure, ollama.count("chat")) == (2, "not_own_file", 0)
            assert f"{file}, line 3" in outcome.err
            assert file.read_text(encoding="utf-8") == text
        file.write_text(content, encoding="utf-8")


@pytest.mark.campaign(part="flows")
def test_an_ollama_that_leaves_ends_the_run_and_what_was_stored_counts(
    run: Run, ollama: StandIn, queries: Path
) -> None:
    ollama.answer(answers_or_judges, answers_or_judges, Turn("메밀", cut=True))
    outcome = run("eval", "judge", queries, "--arms", "none", "--json")
    assert (outcome.code, outcome.document["errors"][0]["code"]) == (3, "llm_broke_off")
    assert len(searched(queries)) == 2
    ollama.clear()
    assert run("eval", "judge", queries, "--arms", "none", "--json").code == 0
    assert sum(not each.sent.get("format") for each in ollama.asked("chat")) == 2


def test_the_files_belong_together() -> None:
    assert arms_path(Path("a/made.judged.jsonl")) == Path("a/made.arms.jsonl")
    assert arms_path(Path("a/kept.jsonl")) == Path("a/kept.arms.jsonl")


@pytest.mark.campaign(part="flows")
def test_the_answers_of_each_arm_can_be_made_alone(run: Run, ollama: StandIn, queries: Path) -> None:
    def system(*arguments: str) -> str:
        ollama.clear()
        outcome = run("eval", "answer", queries, "--scenes", "12", *arguments)
        assert outcome.code == 0
        assert len(outcome.out.splitlines()) == 4
        return json.dumps([each.messages for each in ollama.asked("chat")], ensure_ascii=False)

    assert "이야기입니다." in system("--retrievers", "bm25", "--no-rerank")
    assert "이야기입니다." not in system("--no-contexts", "--no-rerank")
    entry = json.loads(run("eval", "answer", queries, "--no-contexts").out.splitlines()[0])
    assert (entry["retrievers"], entry["contexts"], entry["rerank"]) == (None, False, True)
    assert run("eval", "answer", queries, "--retrievers", "dense").code == 2
