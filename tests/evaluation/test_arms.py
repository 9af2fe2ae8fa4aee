"""Every arm of `eval run`, with tiny models that FlagEmbedding and CrossEncoder really run."""

from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.contexts import context_file
from subtitle_rag.evaluation.arms import parse_sets
from subtitle_rag.evaluation.eval_run import run_arms
from subtitle_rag.evaluation.report import EvalReport, render_report
from subtitle_rag.index.encoding import EncodingRun
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.searcher import Searcher
from tests.support.failures import failing
from tests.support.models_here import Asked, Here, Read
from tests.support.question_files import question, write_lines

SETS = ["bm25", "sparse", "dense", "dense+sparse", "bm25+dense+sparse"]
CONTEXT = "돌다리는 청둥마을 앞 냇물에 놓여 있다."


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    return write_lines(
        tmp_path / "queries.jsonl",
        question("q1", "메밀국수 먹는 장면", ("국수 이야기.srt", 0, 60)),
        question("q2", "왜가리를 본 곳", ("산책 일기.srt", 120, 180)),
    )


@pytest.fixture
def models(encoder_folder: Path, reranker_folder: Path) -> Here:
    return Here([Asked(encoder_folder, "tiny@00000000")], Read(reranker_folder, depth=2))


@pytest.fixture
def neural(filled: Runtime, models: Here) -> Runtime:
    """The library of both talks, without vectors, and models that are here."""
    filled.__dict__["neural"] = models
    return filled


@pytest.fixture
def encoded(neural: Runtime, models: Here) -> Runtime:
    """The same with vectors of its own."""
    for _event in EncodingRun(neural.library, neural.index, models.encoders[0], models).run(patient=False):
        pass
    analyzer = QueryAnalyzer(neural.library, neural.analyzer)
    neural.__dict__["searcher"] = Searcher(neural.library, neural.index, analyzer, models)
    return neural


def names(report: EvalReport) -> list[str]:
    return [row.name for row in report.rows if row.arm.retrievers]


def test_all_arms_are_measured_and_compared(neural: Runtime, queries: Path, models: Here) -> None:
    encoded_counts: list[tuple[int, int]] = []
    costs: list[tuple[int, float | None, int]] = []
    assert models.read is not None
    calls = models.read.calls

    report = run_arms(
        neural,
        queries,
        encoding=lambda done, total: encoded_counts.append((done, total)),
        reading=lambda pairs, seconds: costs.append((pairs, seconds, len(calls))),
    )

    assert names(report) == [*SETS, "bm25+dense+sparse + rerank 150", *(f"{name} bare" for name in SETS)]
    assert [encoded_counts[0], encoded_counts[-1]] == [(0, 6), (6, 6)]
    assert encoded_counts.count((0, 6)) == 2  # the library as it is, and its text alone
    assert not report.absent
    assert calls == [6, 6]  # every window for each question, more than this machine reads in a search
    assert costs == [(12, 12.0, 0)]  # before the first is read
    windows_by_name = {row.name: row for row in report.rows}
    assert windows_by_name["dense"].arm.retrievers == ("dense",)
    assert windows_by_name["bm25+dense+sparse + rerank 150"].arm.rerank
    assert windows_by_name["bm25+dense+sparse + rerank 150"].to_json()["rerank_depth"] == 150
    assert all(row.took_ms for row in report.rows if row.arm.retrievers)
    assert neural.library.vectors.active() is None  # the user's own library got none of it
    # each arm is compared with the one that lacks its last part
    assert {row.name: row.over.name for row in report.rows if row.over} == {
        **{name: f"{name} bare" for name in SETS},
        "bm25+dense+sparse + rerank 150": "bm25+dense+sparse",
        "dense+sparse bare": "dense bare",
        "bm25+dense+sparse bare": "dense+sparse bare",
    }
    # the steps of the seed article
    embeddings = [step for step in report.steps if step.step.ladder == "embeddings"]
    assert [step.arm.name if step.arm else None for step in embeddings] == [
        "dense bare",
        "dense",
        "bm25+dense+sparse",
        None,  # no pieces
        "bm25+dense+sparse + rerank 150",
    ]
    assert [step.published for step in embeddings] == [(0.057, None), None, None, None, None]  # no contexts are in them
    assert "| 5.7 |" in render_report(report)
    assert "-67 %" not in render_report(report)


def test_a_librarys_own_vectors_are_searched(encoded: Runtime, queries: Path) -> None:
    encoded_counts: list[tuple[int, int]] = []
    sets = parse_sets("bm25,dense")

    report = run_arms(encoded, queries, retrievers=sets, rerank=False, encoding=lambda *at: encoded_counts.append(at))

    assert names(report) == ["bm25", "dense", "bm25 bare", "dense bare"]
    assert encoded_counts.count((0, 6)) == 1  # only the text alone needs a copy
    assert report.absent == {"reranker": "left out"}


@pytest.mark.campaign(part="flows")
def test_what_a_model_wrote_is_a_level_of_its_own(filled: Runtime, queries: Path) -> None:
    (id,) = filled.library.find_videos("산책 일기")
    context_file.store(filled.library, {filled.library.windows_of(id)[1].id: CONTEXT})

    report = run_arms(filled, queries)

    rows = [row for row in report.rows if row.arm.retrievers]
    assert [(row.name, row.arm.has_contexts, row.arm.contexts, row.setting) for row in rows] == [
        ("bm25", False, "no-model", ""),
        ("bm25 + model contexts", True, "model", "1/6"),
        ("bm25 bare", False, "none", ""),
    ]


def test_nothing_stands_in_front_of_a_bare_window(filled: Runtime, tmp_path: Path) -> None:
    # the title says 이야기, no window does
    path = write_lines(tmp_path / "title.jsonl", question("q", "이야기", ("국수 이야기.srt", 0, 60)))

    rows = {row.name: row.figures.means["hit@20"].value for row in run_arms(filled, path).rows if row.arm.retrievers}

    assert rows == {"bm25": 1.0, "bm25 bare": 0.0}


def test_without_models_the_others_are_told_with_their_reasons(filled: Runtime, queries: Path) -> None:
    report = run_arms(filled, queries)

    assert names(report) == ["bm25", "bm25 bare"]
    assert set(report.absent) == {"encoder", "reranker"}
    rendered = render_report(report)
    assert report.absent["encoder"] in rendered
    assert "| 5.7 |" in rendered


def test_neural_arms_can_be_left_out(neural: Runtime, queries: Path, models: Here) -> None:
    report = run_arms(neural, queries, neural=False)

    assert names(report) == ["bm25", "bm25 bare"]
    assert models.encoders[0].queries == []


def test_an_encoder_without_sparse_vectors_has_no_sparse_arms(
    filled: Runtime, queries: Path, dense_folder: Path
) -> None:
    filled.__dict__["neural"] = Here([Asked(dense_folder, "dense@00000000")])

    report = run_arms(filled, queries)

    assert names(report)[:3] == ["bm25", "dense", "bm25+dense"]
    assert set(report.absent) == {"reranker"}


def test_ranks_are_fused_in_an_arm_that_names_rrf(neural: Runtime, queries: Path) -> None:
    report = run_arms(neural, queries, retrievers=parse_sets("rrf+dense+bm25,bm25+dense"), rerank=False)
    assert names(report) == ["bm25+dense", "bm25+dense+rrf", "bm25+dense bare", "bm25+dense+rrf bare"]
    by_name = {row.arm.name: row for row in report.rows}
    assert by_name["bm25+dense+rrf"].arm.by_ranks
    assert not by_name["bm25+dense"].arm.by_ranks
    with failing("retriever_not_ready", UsageError):
        parse_sets("rrf")
