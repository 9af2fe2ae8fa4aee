"""Judging a file of questions: what is kept, counted and gone on with."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.evaluation import judging, measures
from subtitle_rag.evaluation.dataset import load_questions
from subtitle_rag.evaluation.judging import Judge, JudgeReport, choose_judge, judge_cases, read_answers
from subtitle_rag.evaluation.measures import MEASURES, JudgedAnswer
from subtitle_rag.korean.morphemes import Analyzer
from tests.evaluation.making_desk import JUDGE, WRITER, library_of, lines, opened_hosts
from tests.stand_ins.ollama import Model, StandIn, Turn
from tests.stand_ins.ollama_evaluation import evaluates
from tests.support.question_files import question, write_lines
from tests.support.searchable import Searchable

CASES = [
    JudgedAnswer(
        f"q{number}",
        kind,
        f"{number}번째 국수는 어디서 샀나요?",
        "시장에서 샀다.",
        "시장입니다.",
        ("시장에서", "집에서"),
    )
    for number, kind in enumerate(("simple", "simple", "reasoning"))
]


@pytest.fixture
def ollama() -> Iterator[StandIn]:
    with StandIn() as server:
        server.add(Model(JUDGE, behaviour=evaluates, size=6_000_000_000), Model(WRITER, behaviour=evaluates))
        yield server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "judged.jsonl"


def run(ollama: StandIn, path: Path, listed: list[JudgedAnswer] | None = None, model: str = JUDGE) -> JudgeReport:
    with opened_hosts(ollama) as (host,):
        *_rest, report = Judge.open(path, host, host.check(model)).judge({"bm25": CASES if listed is None else listed})
    assert isinstance(report, JudgeReport)
    return report


def test_every_judgement_is_kept_with_its_judge_and_its_cost(ollama: StandIn, path: Path) -> None:
    report = run(ollama, path)
    head, *judgements = lines(path)
    assert head["made_by"] == judging.COMMAND
    assert [(entry["id"], entry["measure"]) for entry in judgements] == [
        (case.id, name) for case in CASES for name in MEASURES
    ]
    for entry in judgements:
        assert entry["judge"]["digest"] == Model(JUDGE).digest
        assert entry["judge"]["prompt"] == measures.VERSION
        assert entry["prompt_tokens"] > 0
        assert entry["tokens"] > 0
        assert entry["prompt_tokens_counted"] > 0
        assert (entry["error"], 0 <= entry["score"] <= 1, bool(entry["judgements"])) == (None, True, True)
    assert sum(entry["prompt_tokens"] for entry in judgements) == report.cost.prompt_tokens
    assert report.cost.calls == ollama.count("chat") == len(CASES) * (2 + 1 + 1 + 1)


def test_the_report_has_means_by_kind(ollama: StandIn, path: Path) -> None:
    [row] = run(ollama, path).to_json()["rows"]
    assert (row["name"], list(row["measures"])) == ("bm25", list(MEASURES))
    precision = row["measures"]["context_precision"]
    assert (precision["n"], precision["errors"], precision["left_out"]) == (3, {}, {})
    assert {kind: case["n"] for kind, case in precision["by_kind"].items()} == {"simple": 2, "reasoning": 1}
    assert row["measures"]["answer_relevancy"] == {
        **precision,
        "method": "grade",
        "mean": 0.75,
        "by_kind": {"simple": {"n": 2, "mean": 0.75}, "reasoning": {"n": 1, "mean": 0.75}},
    }


def test_a_second_run_asks_nothing_and_says_the_same(ollama: StandIn, path: Path) -> None:
    first = run(ollama, path).to_json()
    ollama.clear()
    second = run(ollama, path)
    assert (ollama.count("chat"), second.cost.calls) == (0, 0)
    assert second.to_json()["rows"] == first["rows"]


def test_another_judge_judges_anew_beside_the_first(ollama: StandIn, path: Path) -> None:
    run(ollama, path)
    run(ollama, path, model=WRITER)
    assert {entry["judge"]["model"] for entry in lines(path)[1:]} == {JUDGE, WRITER}
    assert len(lines(path)) == 1 + 2 * 3 * 4


def test_errors_are_counted_by_their_code_and_made_good_later(ollama: StandIn, path: Path) -> None:
    ollama.refuse("chat", 500, "the runner died", times=1)
    ollama.answer("모르겠습니다.", "모르겠습니다.")
    report = run(ollama, path)
    errors = {name: dict(figures.errors) for name, figures in report.rows["bm25"].items()}
    assert errors["context_precision"] == {"llm_failed": 1}
    assert errors["context_recall"] == {"llm_nonsense": 1}
    assert all(
        len(f.scores) + sum(f.errors.values()) + sum(f.left_out.values()) == 3 for f in report.rows["bm25"].values()
    )
    failed = [entry for entry in lines(path)[1:] if entry["error"]]
    assert [entry["score"] for entry in failed] == [None, None]
    assert failed[1]["prompt_tokens"] > 0  # what failed has cost, too
    report = run(ollama, path)
    assert all(len(figures.scores) == 3 and not figures.errors for figures in report.rows["bm25"].values())


def test_an_answer_without_claims_is_counted_and_not_asked_about_again(ollama: StandIn, path: Path) -> None:
    ollama.answer(evaluates, evaluates, '{"claims": []}')
    case = replace(CASES[0], reference="장면에서 답을 찾지 못했습니다.")
    report = run(ollama, path, [case])
    assert report.rows["bm25"]["context_recall"].errors == {"no_claims": 1}
    ollama.clear()
    report = run(ollama, path, [case])
    assert (report.rows["bm25"]["context_recall"].errors, ollama.count("chat")) == ({"no_claims": 1}, 0)


def test_what_was_judged_stays_when_ollama_leaves(ollama: StandIn, path: Path) -> None:
    ollama.answer(evaluates, evaluates, evaluates, Turn("{", cut=True))
    report = run(ollama, path)
    assert report.blocked is not None
    assert report.blocked.code == "llm_broke_off"
    assert len(lines(path)) == 1 + 2
    assert report.rows["bm25"]["faithfulness"].errors == {"not_judged": 3}
    report = run(ollama, path)
    assert (report.blocked, len(lines(path))) == (None, 1 + 3 * 4)


def test_a_judge_that_only_fails_is_given_up(ollama: StandIn, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "PATIENCE", 3)
    ollama.add(Model("poor:q4", behaviour=lambda _sent: "네, 좋습니다."))
    report = run(ollama, path, model="poor:q4")
    assert report.blocked is not None
    assert (report.blocked.code, ollama.count("chat")) == ("llm_nonsense", 6)


def test_one_context_holds_the_longest_request(ollama: StandIn, path: Path) -> None:
    long = JudgedAnswer("long", "simple", "무엇을 샀나요?", "국수를 샀다.", "국수입니다.", ("국수를 샀어요 " * 600,))
    run(ollama, path, [*CASES, long])
    assert {each.options["num_ctx"] for each in ollama.asked("chat")} == {8192}


def test_scenes_too_long_for_the_judge_are_errors(ollama: StandIn, path: Path) -> None:
    ollama.add(Model("short:q4", behaviour=evaluates, context_length=2048))
    long = JudgedAnswer("long", "simple", "무엇을 샀나요?", "국수를 샀다.", "", ("국수를 샀어요 " * 900,))
    report = run(ollama, path, [long], model="short:q4")
    assert report.rows["bm25"]["context_precision"].errors == {"llm_overflow": 1}


def test_each_arm_has_a_row_and_the_same_scenes_are_judged_once(ollama: StandIn, path: Path) -> None:
    changed = [replace(CASES[0], scenes=("집에서",)), *CASES[1:]]
    with opened_hosts(ollama) as (host,):
        *_rest, report = Judge.open(path, host, host.check(JUDGE)).judge({"bm25": CASES, "dense": changed})
    assert isinstance(report, JudgeReport)
    assert report.questions == 3
    assert [len(figures.scores) for row in report.rows.values() for figures in row.values()] == [3] * 8
    inputs = [(entry["id"], entry["measure"]) for entry in lines(path)[1:]]
    again = inputs[3 * 4 :]
    assert {id for id, _measure in again} == {"q0"}
    assert ("q0", "context_precision") in again


# --- who judges ---


def test_the_largest_other_model_judges(ollama: StandIn) -> None:
    ollama.add(Model("small:q4", size=1_000), Model("far:q4", size=9_000_000_000, remote_host="https://ollama.com"))
    ollama.add(Model("embed:q4", size=8_000_000_000, capabilities=("embedding",)))
    with opened_hosts(ollama) as hosts:
        assert choose_judge(hosts, WRITER, None)[1].name == JUDGE
        assert choose_judge(hosts, WRITER, "small:q4")[1].name == "small:q4"


def test_the_writer_is_no_judge_unless_that_is_allowed(ollama: StandIn) -> None:
    ollama.add(Model("alias:q4", digest=Model(WRITER).digest))
    with opened_hosts(ollama) as hosts:
        for model in (WRITER, WRITER.upper(), "alias:q4"):
            with pytest.raises(UsageError) as failure:
                choose_judge(hosts, WRITER, model)
            assert failure.value.code == "judge_same"
        assert choose_judge(hosts, WRITER, WRITER, allow_same=True)[1].name == WRITER
        ollama.remove(JUDGE)
        with pytest.raises(UsageError):
            choose_judge(hosts, WRITER, None)
        assert choose_judge(hosts, WRITER, None, allow_same=True)[1].digest == Model(WRITER).digest


# --- what is judged ---


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Iterator[Searchable]:
    talks = library_of(tmp_path_factory.mktemp("talks"), analyzer, videos=2)
    yield talks
    talks.close()


TALK = ("talk-0", 0, 9)


def test_cases_have_what_the_search_finds_and_what_was_answered(talks: Searchable, tmp_path: Path) -> None:
    queries = write_lines(
        tmp_path / "q.jsonl",
        question("q1", "102번째 이야기", TALK, answer="102번째입니다."),
        question("q2", "-국수", TALK),
    )
    answers = write_lines(tmp_path / "a.jsonl", {"id": "q1", "answer": "백두 번째입니다."})
    questions = load_questions(queries).questions
    first, second = judge_cases(questions, talks.searcher, scenes=2, answers=read_answers(answers, questions))
    assert (first.reference, first.answer, len(first.scenes)) == ("102번째입니다.", "백두 번째입니다.", 2)
    assert "102번째 이야기" in first.scenes[0]
    assert (second.reference, second.answer, second.scenes) == ("", "", ())


@pytest.mark.parametrize(
    ("line", "number", "reason"),
    [
        (b'{"id": "q9", "answer": "?"}', 1, "q9"),
        (b'{"id": "q1"}', 1, "answer"),
        (b'{"id": "q1", "answer": 7}', 1, "answer"),
        (b'{"answer": "?"}', 1, "id"),
        (b'{"id": "q1", "answer": "?"}\n{"id": "q1", "answer": "?"}', 2, "q1"),
        (b'{"id": "q1", ', 1, ""),
        (b"[]", 1, ""),
        (b'{"id": "\xff"}', 1, ""),
    ],
)
def test_a_wrong_line_of_answers_is_told(tmp_path: Path, line: bytes, number: int, reason: str) -> None:
    questions = load_questions(write_lines(tmp_path / "q.jsonl", question("q1", "국수", TALK))).questions
    answers = tmp_path / "a.jsonl"
    answers.write_bytes(line + b"\n")
    with pytest.raises(AppError) as failure:
        read_answers(answers, questions)
    assert (failure.value.code, failure.value.details["line"]) == ("bad_line", number)
    assert reason in failure.value.message
