"""Whole evaluations of a small library."""

import json
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.evaluation.arms import NO_MODEL, Arm
from subtitle_rag.evaluation.eval_run import run_arms
from subtitle_rag.evaluation.metrics import METRICS, Mean, MetricMeans
from subtitle_rag.evaluation.report import EvalReport, Row, render_report
from subtitle_rag.runtime import Runtime
from tests.support.question_files import question, write_lines

NOODLES, WALK = "국수 이야기.srt", "산책 일기.srt"


def write(folder: Path, *lines: dict[str, Any]) -> Path:
    return write_lines(folder / "queries.jsonl", *lines)


def test_a_library_is_measured(filled: Runtime, tmp_path: Path) -> None:
    (video,) = filled.library.find_videos("산책 일기")
    path = write(
        tmp_path,
        question("q1", "메밀국수 먹는 장면", (NOODLES, 0, 60)),
        question("q2", "왜가리를 본 곳", (video, 120, 180), kind="by id"),
        question("q3", "우주선 발사", (WALK, 0, 60), kind="hopeless"),
    )
    progress_calls: list[tuple[int, int]] = []

    report = run_arms(filled, path, progress=lambda done, total: progress_calls.append((done, total)))

    assert [row.name for row in report.rows] == ["bm25", "bm25 bare"]
    ours = report.rows[0]
    assert report.queries == 3
    assert ours.figures.means["hit@1"].value == pytest.approx(2 / 3)
    assert {kind: (some.n, some.means["hit@1"].value) for kind, some in ours.by_kind.items()} == {
        "keyword": (1, 1.0),
        "by id": (1, 1.0),
        "hopeless": (1, 0.0),
    }
    assert progress_calls == [(done, 6) for done in range(1, 7)]
    assert "| search | kind | n | hit@1 | hit@5 | hit@20 | mrr@10 |" in render_report(report)
    assert (report.missing, report.left_out, report.refused) == ((), (), ())


def test_missing_videos_are_told_and_do_not_count(filled: Runtime, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        question("q1", "메밀국수", (NOODLES, 0, 60), ("없는 영상.srt", 0, 60)),
        question("q2", "메밀국수", ("없는 영상.srt", 0, 60)),
    )

    report = run_arms(filled, path)

    assert report.queries == 1
    assert report.missing == ("없는 영상.srt",)
    assert report.left_out == ("q2",)
    assert report.rows[0].figures.means["failure@20"].value == 0.0
    assert "없는 영상.srt" in render_report(report)


def test_a_library_without_any_of_the_videos_is_refused(filled: Runtime, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        run_arms(filled, write(tmp_path, question("q1", "국수", ("없는 영상.srt", 0, 60))))

    assert caught.value.code == "bad_line"


@pytest.mark.campaign(part="flows")
def test_questions_that_a_model_made_are_told(filled: Runtime, tmp_path: Path) -> None:
    by_model = {**question("q1", "메밀국수", (NOODLES, 0, 60)), "origin": {"model": "writer:q4"}}
    report = run_arms(filled, write(tmp_path, {"made_by": "subtitle-rag eval make", "seed": 7}, by_model))
    assert report.to_json()["made"]
    assert "A model made these questions" in render_report(report)


def test_a_refused_query_counts_as_not_found(filled: Runtime, tmp_path: Path) -> None:
    path = write(tmp_path, question("q1", "?!", (NOODLES, 0, 60)), question("q2", "메밀국수", (NOODLES, 0, 60)))

    report = run_arms(filled, path)

    assert report.refused == ("q1",)
    assert report.queries == 2
    assert [row.figures.means["hit@20"].value for row in report.rows] == [0.5, 0.5]
    assert "q1" in render_report(report)


def test_another_track_of_a_video_is_recognised_by_its_id(runtime: Runtime, tmp_path: Path) -> None:
    file = tmp_path / "국수 [abcdefghij1].ko.srt"
    file.write_text("1\n00:00:00,000 --> 00:01:00,000\n메밀국수를 먹었습니다\n", encoding="utf-8")
    for _event in runtime.indexer.index([file]):
        pass

    report = run_arms(runtime, write(tmp_path, question("q1", "메밀국수", ("국수 [abcdefghij1].vtt", 0, 60))))

    assert report.missing == ()
    assert report.rows[0].figures.means["hit@1"].value == 1.0


def test_the_json_is_what_the_contract_says(filled: Runtime, tmp_path: Path) -> None:
    result = run_arms(filled, write(tmp_path, question("q1", "메밀국수", (NOODLES, 0, 60)))).to_json()

    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert (result["queries"], result["made"]) == (1, False)
    first, second = result["rows"]
    assert (first["name"], first["retrievers"], first["contexts"], first["rerank"]) == ("bm25", ["bm25"], False, False)
    assert all(0 <= first[name] <= 1 for name in METRICS)
    assert first["by_kind"]["keyword"] == {"n": 1, **{name: first[name] for name in METRICS}, "ci95": first["ci95"]}
    assert set(first["ci95"]) == set(METRICS)
    assert set(first["took_ms"]) == {"p50", "p95"}
    assert (first["contexts_from"], second["name"], second["contexts_from"]) == ("no-model", "bm25 bare", "none")
    assert first["over"]["name"] == "bm25 bare"
    assert set(first["over"]["this_minus_that"]) == set(METRICS)
    assert "over" not in second
    assert set(second["first_minus_this"]) == set(METRICS)
    assert set(second["real"]) <= set(METRICS)
    assert set(result["absent"]) == {"encoder", "reranker"}
    assert all(entry["reason"] for entry in result["steps"] if entry["failure@20"] is None)


def test_a_table_stands_whatever_the_kinds_are_called() -> None:
    figures = MetricMeans(1, dict.fromkeys(METRICS, Mean(0.5, (0.25, 0.75))))
    row = Row(Arm("bm25", NO_MODEL, ("bm25",)), figures, {"a|b\n\x1bc": figures, "all": figures})

    table = render_report(EvalReport(1, (row,), refused=("q\x1b[2J",)))

    assert f"| bm25 | a\\|b c | 1 |{' 50.0 [25.0, 75.0] |' * 4}" in table
    assert table.count("| bm25 | all |") == 2
    assert "\x1b" not in table


@pytest.mark.campaign(part="data")
def test_titles_and_keywords_help_on_the_scene_benchmark(runtime: Runtime, real_data: Path) -> None:
    for _event in runtime.indexer.index([real_data / "fashion_asr", real_data / "pyconkr_2019"]):
        pass

    report = run_arms(runtime, real_data / "scene_bench" / "queries.jsonl")

    assert (report.queries, report.missing) == (100, ())
    ours, bare = (row.figures.means["mrr@10"].value for row in report.rows)
    assert ours > bare
