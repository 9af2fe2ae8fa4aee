"""What is varied, how it is chosen, and what is said of the choice."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from subtitle_rag.domain import UsageError
from subtitle_rag.encoding import EncodingRun
from subtitle_rag.evaluation import metrics, temp_library
from subtitle_rag.evaluation.arms import ArmChoice
from subtitle_rag.evaluation.dataset import load_set
from subtitle_rag.evaluation.eval_run import run_arms
from subtitle_rag.evaluation.questions import all_windows, gold_set
from subtitle_rag.evaluation.sweep import CoordinateSearch, Sweep, Trial, render_sweep
from subtitle_rag.evaluation.sweep_spaces import LEXICAL_AXES, Axis, FusionSpace, LexicalSpace, Setting, rule_for
from subtitle_rag.retrieval.lexical import QueryAnalyzer
from subtitle_rag.retrieval.morphemes import Analyzer, Bm25Params
from subtitle_rag.retrieval.query import parse_query
from subtitle_rag.retrieval.search import LEXICAL, Searcher
from subtitle_rag.runtime import Runtime
from tests.support.models_here import Asked, Here, Read

SHIPPED = {axis.name: axis.shipped for axis in LEXICAL_AXES}


@dataclass
class Hill:
    """An invented space: the objective is best at x = 3 and y = 2, for the even questions; for the others nowhere."""

    name: str = "hill"
    axes: Sequence[Axis] = (Axis("x", (1, 2, 3, 4), 1), Axis("y", (0, 1, 2), 1), Axis("flat", (5, 6), 6))
    settings: list[dict[str, float]] = field(default_factory=list)

    def measure(self, setting: Setting) -> NDArray[np.float64]:
        self.settings.append(dict(setting))
        values = np.full((10, len(metrics.METRICS)), 0.5)
        height = 1 - 0.1 * abs(setting["x"] - 3) - 0.1 * abs(setting["y"] - 2)
        values[::2, metrics.METRICS.index("mrr@10")] = height
        return values


EVEN, ODD = [0, 2, 4, 6, 8], [1, 3, 5, 7, 9]


def test_the_best_of_the_train_half_is_found() -> None:
    hill = Hill()
    search = CoordinateSearch(hill, EVEN, ODD)

    tried = list(search.run())

    assert search.best == {"x": 3, "y": 2, "flat": 6}  # what changes nothing stays as shipped
    assert search.changed == {"x": 3, "y": 2}
    assert search.complete
    assert max(trial.train for trial in tried) == pytest.approx(1.0)
    assert len(hill.settings) == len({tuple(setting.values()) for setting in hill.settings})  # none twice


def test_only_the_test_half_says_what_the_choice_is_worth() -> None:
    search = CoordinateSearch(Hill(), EVEN, ODD)
    list(search.run())

    assert search.test_means(search.shipped)["mrr@10"] == 0.5  # of the train half it is 0.7
    gap = search.test_gaps()["mrr@10"]
    assert gap.value == 0.0  # the train half has gained 0.3
    assert not gap.is_real


def test_what_was_done_can_be_told_at_any_time() -> None:
    search = CoordinateSearch(Hill(), EVEN, ODD)
    for tried in search.run():
        if tried.value == 2:
            break

    assert not search.complete
    assert [trial.value for trial in search.trials] == [1, 2]
    assert search.best["x"] == 1


def test_other_axes_stay_where_only_some_are_asked_for() -> None:
    search = CoordinateSearch(Hill(), EVEN, ODD, only=("y",))
    list(search.run())

    assert search.best == {"x": 1, "y": 2, "flat": 6}
    assert [axis.name for axis in search.axes] == ["y"]


def test_lengths_of_windows_scale_together() -> None:
    assert str(rule_for(60)) == str(rule_for(60.0)) == "p1.w3.60-20-90.o12"
    assert str(rule_for(30)) == "p1.w3.30-10-45.o12"


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    entries = [
        ("q1", "메밀국수 먹는 장면", "국수 이야기.srt", 0),
        ("q2", "왜가리를 본 곳", "산책 일기.srt", 120),
        ("q3", "손으로 민 면", "국수 이야기.srt", 240),
        ("q4", "귤 먹는 벤치", "산책 일기.srt", 240),
    ]
    lines = [
        {"id": id, "query": query, "kind": "keyword", "gold": [{"video": video, "start": start, "end": start + 60}]}
        for id, query, video, start in entries
    ]
    path = tmp_path / "queries.jsonl"
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def words(filled: Runtime, queries: Path) -> LexicalSpace:
    return LexicalSpace(filled, load_set(queries))


def test_shipped_numbers_rank_as_the_program_does(words: LexicalSpace, filled: Runtime, queries: Path) -> None:
    values = words.measure(SHIPPED)

    row = run_arms(filled, queries, with_baselines=False).rows[0]
    assert metrics.means(values) == dict(row.figures.means)


def test_other_numbers_rank_as_an_index_made_with_them(words: LexicalSpace, filled: Runtime, queries: Path) -> None:
    setting = {**SHIPPED, "bigrams": 0.0, "k1": 1.6, "b": 0.3, "keywords": 0.0}

    values = words.measure(setting)

    questions = gold_set(load_set(queries), filled.library, all_windows(filled.library))
    documents = list(temp_library.documents(filled.library))
    making = Bm25Params(1.6, 0.3, 0.0, keywords=0)
    with temp_library.create(documents, filled.analyzer, making=making) as copy:
        rankings = [
            [hit.window_id for hit in copy.searcher.rank(parse_query(question.query), retrievers=LEXICAL)]
            for question in questions.questions
        ]
    assert values.tolist() == metrics.per_question(questions.windows, rankings).tolist()


def test_no_text_is_analysed_twice(words: LexicalSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    texts_seen: list[str] = []
    morphemes = Analyzer.morphemes

    def counted(self: Analyzer, texts: list[str]) -> object:
        texts_seen.extend(texts)
        return morphemes(self, texts)

    monkeypatch.setattr(Analyzer, "morphemes", counted)
    for setting in (SHIPPED, {**SHIPPED, "k1": 1.2}, {**SHIPPED, "window": 30}, {**SHIPPED, "window": 30, "b": 0.3}):
        words.measure(setting)

    assert texts_seen
    assert len(texts_seen) == len(set(texts_seen))


def test_a_sweep_of_words_alone_says_what_it_left_out(filled: Runtime, queries: Path) -> None:
    sweep = Sweep(filled, queries, seed=7, only=("k1", "rerank"))

    tried = list(sweep.run())

    assert {trial.axis for trial in tried} == {"k1"}
    assert sweep.total == 4
    assert (len(sweep.train), len(sweep.test)) == (2, 2)
    assert set(sweep.left_out) == {"rerank"}
    values = json.loads(json.dumps(sweep.to_json(), allow_nan=False))
    (space,) = values["spaces"]
    (axis,) = space["axes"]
    assert (axis["name"], axis["shipped"], len(axis["tried"])) == ("k1", 0.8, 4)
    assert set(space["test"]) == {"shipped", "found", "found_minus_shipped", "real"}
    assert sweep.left_out["rerank"] in render_sweep(sweep)


def test_questions_that_cannot_be_divided_are_refused(filled: Runtime, queries: Path) -> None:
    first = queries.read_text(encoding="utf-8").splitlines()[0]
    queries.write_text(first, encoding="utf-8")

    with pytest.raises(UsageError) as caught:
        Sweep(filled, queries, seed=7)

    assert caught.value.code == "bad_queries"


@pytest.fixture
def models(filled: Runtime, encoder_folder: Path, reranker_folder: Path) -> Here:
    """Models that are here, and have made the library's vectors."""
    models = Here([Asked(encoder_folder, "tiny@00000000")], Read(reranker_folder, depth=2))
    for _event in EncodingRun(filled.library, filled.index, models.encoders[0], models).run(patient=False):
        pass
    analyzer = QueryAnalyzer(filled.library, filled.analyzer)
    filled.__dict__.update(neural=models, searcher=Searcher(filled.library, filled.index, analyzer, models))
    return models


def test_lists_rank_as_the_program_fuses_and_reranks_them(filled: Runtime, queries: Path, models: Here) -> None:
    dataset = load_set(queries)
    questions = gold_set(dataset, filled.library, all_windows(filled.library))
    lists = FusionSpace(filled, questions, models.read)
    shipped = {axis.name: axis.shipped for axis in lists.axes}
    assert shipped == {"dense": 1.0, "sparse": 0.15, "rerank": 2, "overlap": 0}

    rows = {row.name: row for row in run_arms(filled, queries, choice=ArmChoice(), with_baselines=False).rows}

    assert metrics.means(lists.measure({**shipped, "rerank": 0})) == dict(rows["bm25+dense+sparse"].figures.means)
    assert metrics.means(lists.measure({**shipped, "rerank": 150})) == dict(
        rows["bm25+dense+sparse + rerank 150"].figures.means
    )


def test_no_query_is_encoded_and_no_passage_read_twice(filled: Runtime, queries: Path, models: Here) -> None:
    sweep = Sweep(filled, queries, seed=7, only=("dense", "sparse", "rerank", "overlap"))
    assert models.read is not None

    tried: list[Trial] = list(sweep.run())

    assert {trial.axis for trial in tried} == {"dense", "sparse", "rerank", "overlap"}
    assert sorted(models.encoders[0].queries) == sorted(set(models.encoders[0].queries))
    windows, overlaps, questions = 6, 4, 4
    assert sum(models.read.calls) <= windows * overlaps * questions
    assert not sweep.left_out
