"""`eval run`: put every question to the program's own search and to the baselines, and measure the results."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.errors import UsageError
from subtitle_rag.evaluation import baselines as baseline
from subtitle_rag.evaluation import context_file, gold, metrics, published_comparison
from subtitle_rag.evaluation.arms import NONE, Arm, ArmChoice, EvalModels, all_arms
from subtitle_rag.evaluation.dataset import load_set
from subtitle_rag.evaluation.questions import Question
from subtitle_rag.evaluation.report import ArmComparison, EvalReport, MetricMeans, Row
from subtitle_rag.evaluation.views import ProgressCallback, Views
from subtitle_rag.installation.extras import EVAL
from subtitle_rag.installation.missing import require
from subtitle_rag.retrieval.query import parse
from subtitle_rag.retrieval.search import DEPTH, LEXICAL
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.evaluation.metrics import Values

ALL_ARMS = ArmChoice()
_NOT_THERE = ("retriever_not_ready", "unknown_retriever")


@dataclass(slots=True)
class _ArmResult:
    """The answers of one arm to all questions."""

    rankings: list[list[str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """The words of each query; empty for a refused one."""
    refused: list[str] = field(default_factory=list)
    times_ms: list[float] = field(default_factory=list)

    def percentiles(self) -> dict[str, float] | None:
        import numpy as np

        if not self.times_ms:
            return None
        p50, p95 = np.percentile(self.times_ms, (50, 95))
        return {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}


def run(
    runtime: Runtime,
    path: Path,
    *,
    contexts: Path | None = None,
    choice: ArmChoice = ALL_ARMS,
    baselines: bool = True,
    progress: ProgressCallback | None = None,
    encoding: ProgressCallback | None = None,
) -> EvalReport:
    """Measure the search with the questions in `path`: over the library, or over the set's own documents.

    `contexts` is a file of contexts in place of a model's. Windows are ranked one by one, before neighbours merge, so
    that a long scene wins nothing. Copies serve where the library lacks something. `encoding` gets the number of a
    copy's windows before the first one is encoded, and after every batch.

    Raises:
        UsageError: `unreadable`, `bad_queries`; the latter also where the library has none of the gold videos.
            `retriever_not_ready` for a chosen arm whose models are not here.
        AppError: `eval_missing`.
        BusyError, AppError: from the library, the index and the models.
    """
    require(EVAL)
    dataset = load_set(path)
    given = context_file.load(contexts) if contexts is not None else []
    windows = {video.id: some for video, some in dataset.documents} or gold.all_windows(runtime.library)
    answers = gold.gold_set(dataset, runtime.library, windows)
    models = EvalModels.of(runtime, choice)
    sets = models.retrievers(choice)
    with ExitStack() as opened:
        views = Views(runtime, models, opened, any(names != LEXICAL for names in sets), encoding)
        arms = all_arms(views.of(dataset, given, contexts.name if contexts else ""), sets, models.reranker)
        total = len(arms) * len(answers.questions)
        results = [
            _search(arm, answers.questions, progress, at * len(answers.questions), total) for at, arm in enumerate(arms)
        ]
    values = [metrics.per_question(answers.windows, result.rankings) for result in results]
    rows = [_arm_row(at, arms, values, results[at], answers.kinds) for at in range(len(arms))]
    pairs = [(window.id, window.text) for some in windows.values() for window in some] if baselines else []
    for one in baseline.BASELINES if pairs else ():
        rankings = baseline.rankings(one, pairs, results[0].texts, depth=DEPTH)
        row = _row(one.name, metrics.per_question(answers.windows, rankings), answers.kinds, first=values[0])
        rows.append(replace(row, setting=baseline.SETTING, contexts_from=NONE))
    counted = {question.id for question in answers.questions}
    failures = [of_arm[:, metrics.METRICS.index(metrics.FAILURE)] for of_arm in values]
    return EvalReport(
        queries=len(answers.questions),
        rows=tuple(rows),
        missing=answers.missing,
        left_out=tuple(question.id for question in dataset.questions if question.id not in counted),
        refused=tuple(results[0].refused),
        steps=published_comparison.compare(arms, failures, models),
        absent=models.absent,
        made=dataset.made,
    )


def _search(
    arm: Arm, questions: Sequence[Question], progress: ProgressCallback | None, before: int, total: int
) -> _ArmResult:
    result = _ArmResult()
    for done, question in enumerate(questions, start=before + 1):
        started = time.perf_counter()
        ranking, text = [], ""
        try:
            query = parse(question.query)
            ranking, text = arm.rank(query), query.text
            result.times_ms.append((time.perf_counter() - started) * 1000)
        except UsageError as error:
            if error.code in _NOT_THERE:
                raise
            result.refused.append(question.id)
        result.rankings.append(ranking)
        result.texts.append(text)
        if progress:
            progress(done, total)
    return result


def _arm_row(at: int, arms: Sequence[Arm], values: "Sequence[Values]", result: _ArmResult, kinds: Sequence[str]) -> Row:
    arm, previous = arms[at], arms[at].previous(arms)
    over = None
    if previous is not None:
        over = ArmComparison(previous.name, metrics.gaps(values[at] - values[arms.index(previous)]))
    return replace(
        _row(arm.name, values[at], kinds, first=values[0] if at else None),
        retrievers=arm.retrievers,
        setting=arm.view.setting,
        contexts_from=arm.view.level,
        rerank=arm.reranker is not None,
        took_ms=result.percentiles(),
        over=over,
    )


def _row(name: str, values: "Values", kinds: Sequence[str], *, first: "Values | None" = None) -> Row:
    by_kind = {}
    for kind in dict.fromkeys(kinds):
        some = values[[own == kind for own in kinds]]
        by_kind[kind] = MetricMeans(len(some), metrics.means(some))
    return Row(
        name=name,
        retrievers=(),
        figures=MetricMeans(len(values), metrics.means(values)),
        by_kind=by_kind,
        ci95=metrics.intervals(values),
        gaps=metrics.gaps(first - values) if first is not None else None,
    )
