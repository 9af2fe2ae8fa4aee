"""Contexts from a file: how they are read, on which windows they are laid, and what `eval run` makes of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import Window, nfc
from subtitle_rag.contexts.context_file import FileContext, assign, load, store
from subtitle_rag.evaluation.eval_run import run_arms
from subtitle_rag.evaluation.report import render_report
from subtitle_rag.runtime import Runtime
from tests.support.invented import windows
from tests.support.question_files import question, write_lines

NOODLES, WALK = "국수 이야기.srt", "산책 일기.srt"
QUERIES: list[dict[str, Any]] = [
    question("q1", "두레반 사장님", (NOODLES, 240, 300), kind="context"),
    question("q2", "왜가리", (WALK, 120, 180)),
]
CONTEXTS: list[dict[str, Any]] = [
    {"video": NOODLES, "start": 240, "end": 300, "context": "두레반 사장님이 면을 써는 장면입니다."},
    {"video": "없는 영상.srt", "start": 0, "end": 60, "context": "없는 영상의 문맥입니다."},
]


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "queries.jsonl", *QUERIES)


@pytest.fixture
def contexts(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "contexts.jsonl", *CONTEXTS)


def laid(contexts: Sequence[FileContext], windows: Sequence[Window]) -> dict[str, str]:
    names = {context.video for context in contexts}
    return assign(contexts, {name: [window for window in windows if window.video_id == name] for name in names})


def test_contexts_are_read_in_milliseconds_and_nfc(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "c.jsonl", '{"video": "가", "start": 1.5, "end": 3, "context": "각"}', "", "")
    assert load(path) == [FileContext("가", 1_500, 3_000, "각")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"start": 0, "end": 1, "context": "문맥"}', "video"),
        ('{"video": "v", "start": 0, "end": -1, "context": "문맥"}', "end"),
        ('{"video": "v", "start": 0, "end": 1, "context": ""}', "context"),
    ],
)
def test_a_bad_line_is_told_with_its_number(tmp_path: Path, line: str, reason: str) -> None:
    good = {"video": "v", "start": 0, "end": 1, "context": "문맥"}
    with pytest.raises(UsageError) as raised:
        load(write_lines(tmp_path / "c.jsonl", good, line, good))
    assert (raised.value.code, raised.value.details["line"]) == ("bad_line", 2)
    assert reason in raised.value.details["reason"]


def test_a_file_without_contexts_and_one_that_is_not_there_are_told(tmp_path: Path) -> None:
    for path, code in (
        (write_lines(tmp_path / "empty.jsonl", "", ""), "bad_line"),
        (tmp_path / "absent", "unreadable"),
    ):
        with pytest.raises(UsageError) as raised:
            load(path)
        assert raised.value.code == code


def test_each_context_lies_on_the_window_that_it_overlaps_most() -> None:
    talk = windows("v", 3)  # a minute each
    ranking = laid([FileContext("v", 50_000, 100_000, "둘째"), FileContext("v", 0, 20_000, "첫째")], talk)
    assert ranking == {talk[1].id: "둘째", talk[0].id: "첫째"}


def test_contexts_of_one_window_are_joined_in_the_files_order() -> None:
    talk = windows("v", 2)
    ranking = laid([FileContext("v", 30_000, 60_000, "뒤"), FileContext("v", 0, 30_000, "앞")], talk)
    assert ranking == {talk[0].id: "뒤 앞"}


def test_what_overlaps_nothing_is_left_out() -> None:
    talk = windows("v", 1)
    assert laid([FileContext("v", 60_000, 90_000, "뒤"), FileContext("other", 0, 60_000, "다른 영상")], talk) == {}


def test_contexts_are_put_as_if_a_model_had_written_them(filled: Runtime) -> None:
    (id,) = filled.library.find_videos("국수 이야기")
    first = filled.library.windows_of(id)[0]
    store(filled.library, {first.id: "두레반의 국수입니다.", "absent": "없는 창의 문맥입니다."})
    (context,) = filled.library.contexts.of_video(id).values()
    assert (context.window_id, context.video_id, context.text) == (first.id, id, "두레반의 국수입니다.")


@pytest.mark.campaign(part="flows")
def test_the_same_questions_are_measured_with_and_without(filled: Runtime, queries: Path, contexts: Path) -> None:
    calls: list[tuple[int, int]] = []

    report = run_arms(filled, queries, contexts=contexts, progress=lambda done, total: calls.append((done, total)))

    plain, helped, *rest = report.rows
    assert [row.name for row in report.rows] == ["bm25", "bm25 + contexts", "bm25 bare"]
    assert (plain.figures.means["hit@20"].value, helped.figures.means["hit@20"].value) == (0.5, 1.0)
    assert (plain.by_kind["context"].means["hit@20"].value, helped.by_kind["context"].means["hit@20"].value) == (
        0.0,
        1.0,
    )
    assert helped.gaps is not None
    assert helped.gaps["hit@20"].value == -0.5
    assert calls == [(done, 6) for done in range(1, 7)]
    assert all(not row.arm.has_contexts for row in (plain, *rest))
    values = helped.to_json()
    assert (values["contexts"], values["setting"], values["retrievers"]) == (True, "contexts.jsonl", ["bm25"])
    assert "bm25 + contexts (contexts.jsonl)" in render_report(report)


def test_the_users_own_library_gets_none_of_them(filled: Runtime, queries: Path, contexts: Path) -> None:
    run_arms(filled, queries, contexts=contexts)
    assert filled.library.contexts.counts().written == 0
    assert filled.library.contexts.unindexed() == {}


@pytest.mark.campaign(part="data")
def test_hand_written_contexts_help_on_the_scene_benchmark(runtime: Runtime, real_data: Path) -> None:
    bench = real_data / "scene_bench"
    lines = (bench / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    asked_of = {gold["video"] for line in lines for gold in json.loads(line)["gold"]}
    files = [file for folder in ("fashion_asr", "pyconkr_2019") for file in (real_data / folder).iterdir()]
    for _event in runtime.indexer.index([file for file in files if nfc(file.name) in asked_of]):
        pass

    report = run_arms(runtime, bench / "queries.jsonl", contexts=bench / "contexts.jsonl")

    assert (report.queries, report.missing) == (100, ())
    plain, helped, *_others = (row.figures.values_json() for row in report.rows)
    assert helped["hit@20"] > plain["hit@20"]
    assert helped["mrr@10"] > plain["mrr@10"]
