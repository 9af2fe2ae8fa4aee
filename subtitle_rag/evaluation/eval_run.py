"""`eval run`: every question through the program's own search and through the baselines, and what came of it."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.errors import UsageError
from subtitle_rag.evaluation import arms as ways
from subtitle_rag.evaluation import baselines as baseline
from subtitle_rag.evaluation import context_file, gold, metrics, published_comparison, sets
from subtitle_rag.evaluation.arms import GIVEN, MODEL, NONE, Arm, ArmChoice, EvalModels
from subtitle_rag.evaluation.dataset import Dataset
from subtitle_rag.evaluation.gold import GoldSet
from subtitle_rag.evaluation.questions import Question
from subtitle_rag.evaluation.report import ArmComparison, EvalReport, Gap, MetricMeans, Row
from subtitle_rag.evaluation.views import Progress, Views
from subtitle_rag.installation.extras import EVAL, require
from subtitle_rag.retrieval.query import Query, parse
from subtitle_rag.retrieval.reranking import UNMEASURED_DEPTH, Reading, reordered
from subtitle_rag.retrieval.scenes import OwnWindows, readings
from subtitle_rag.retrieval.search import DEPTH, LEXICAL
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

ALL = ArmChoice()
_NOT_THERE = ("retriever_not_ready", "unknown_retriever")


@dataclass(slots=True)
class _Searched:
    """What a way of searching made of the questions."""

    rankings: list[list[str]]
    texts: list[str]
    """The words that were looked for; empty where the query was refused."""
    refused: list[str]
    took_ms: dict[str, float]


def run(
    runtime: Runtime,
    path: Path,
    *,
    contexts: Path | None = None,
    wanted: ArmChoice = ALL,
    baselines: bool = True,
    progress: Progress | None = None,
    encoding: Progress | None = None,
) -> EvalReport:
    """Measure the search with the questions in `path`: over the library, or over the set's own documents.

    `contexts` is a file of contexts that stand in for a model's. Windows are ranked one by one, before neighbours
    merge, so that a long scene wins nothing. What is not measured as the library has it is measured in copies;
    `encoding` is told of the windows of each that must be encoded, before the first one is and after every batch.

    Raises:
        UsageError: `unreadable`, `bad_queries`; the latter also where the library has none of the videos asked for.
            `retriever_not_ready` where an arm is wanted whose models are not here.
        AppError: `eval_missing`.
        BusyError, AppError: from the library, the index and the models.
    """
    require(EVAL)
    dataset = sets.load(path)
    laid = context_file.load(contexts) if contexts is not None else []
    own = {video.id: windows for video, windows in dataset.documents} or gold.all_windows(runtime.library)
    asked = gold.gold_set(dataset, runtime.library, own)
    doors = EvalModels.of(runtime, wanted)
    chosen = doors.sets(wanted)
    with ExitStack() as opened:
        views = Views(runtime, doors, opened, any(names != LEXICAL for names in chosen), encoding)
        arms = ways.arms(views.of(dataset, laid, contexts.name if contexts else ""), chosen, doors.reranker)
        found = _searched(arms, asked, progress)
    pairs = [(window.id, window.text) for windows in own.values() for window in windows] if baselines else []
    return _report(dataset, asked, arms, found, pairs, doors)


def _searched(arms: Sequence[Arm], asked: GoldSet, progress: Progress | None) -> list[_Searched]:
    count = len(asked.questions)
    return [_search(arm, asked.questions, progress, at * count, len(arms) * count) for at, arm in enumerate(arms)]


def _search(arm: Arm, questions: Sequence[Question], progress: Progress | None, before: int, total: int) -> _Searched:
    result = _Searched([], [], [], {})
    times: list[float] = []
    for done, question in enumerate(questions, start=before + 1):
        started = time.perf_counter()
        try:
            query = parse(question.query)
            ranking = _ranking(arm, query)
        except UsageError as error:
            if error.code in _NOT_THERE:
                raise
            result.refused.append(question.id)
            result.rankings.append([])
            result.texts.append("")
        else:
            times.append((time.perf_counter() - started) * 1000)
            result.rankings.append(ranking)
            result.texts.append(query.text)
        if progress:
            progress(done, total)
    result.took_ms = _percentiles(times)
    return result


def _ranking(arm: Arm, query: Query) -> list[str]:
    """The ids of the best windows; of so many as the program reads again, in the reranker's order."""
    ranked = arm.view.searcher.rank(query, retrievers=arm.retrievers)
    if arm.reranker is None or not ranked:
        return [one.window_id for one in ranked]
    depth = arm.reranker.depth or UNMEASURED_DEPTH
    passages = readings(OwnWindows(arm.view.library), [one.window_id for one in ranked[:depth]])
    scores = Reading().scores(arm.reranker, query.text, passages, lambda: False) or {}
    return [group[0].window_id for group in reordered([[one] for one in ranked], scores)]


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    import numpy as np

    if not times:
        return {}
    p50, p95 = np.percentile(times, (50, 95))
    return {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}


def _report(
    dataset: Dataset,
    asked: GoldSet,
    arms: Sequence[Arm],
    found: Sequence[_Searched],
    pairs: Sequence[tuple[str, str]],
    doors: EvalModels,
) -> EvalReport:
    values = [metrics.per_question(asked.judged, searched.rankings) for searched in found]
    rows = [_arm_row(at, arms, values, found[at], asked.kinds) for at in range(len(arms))]
    for one in baseline.BASELINES if pairs else ():
        ranked = baseline.rankings(one, pairs, found[0].texts, depth=DEPTH)
        row = _row(one.name, metrics.per_question(asked.judged, ranked), asked.kinds, first=values[0])
        rows.append(replace(row, setting=baseline.SETTING, contexts_from=NONE))
    counted = {question.id for question in asked.questions}
    left_out = tuple(question.id for question in dataset.questions if question.id not in counted)
    steps = published_comparison.climbed(
        arms, [own[:, metrics.METRICS.index(metrics.FAILURE)] for own in values], doors
    )
    refused = tuple(found[0].refused)
    return EvalReport(
        len(asked.questions), tuple(rows), asked.missing, left_out, refused, steps, doors.absent, dataset.made
    )


def _arm_row(
    at: int, arms: Sequence[Arm], values: "Sequence[Values]", searched: _Searched, kinds: Sequence[str]
) -> Row:
    arm = arms[at]
    previous = arm.previous(arms)
    over = ArmComparison(previous.name, _gaps(values[at] - values[arms.index(previous)])) if previous else None
    return replace(
        _row(arm.name, values[at], kinds, first=values[0] if at else None, over=over),
        retrievers=arm.retrievers,
        setting=arm.view.setting,
        contexts=arm.view.level in (MODEL, GIVEN),
        contexts_from=arm.view.level,
        rerank=arm.reranker is not None,
        took_ms=searched.took_ms or None,
    )


def _gaps(differences: "Values") -> dict[str, Gap]:
    ahead = metrics.intervals(differences)
    return {metric: Gap(value, ahead[metric]) for metric, value in metrics.means(differences).items()}


def _row(
    name: str,
    values: "Values",
    kinds: Sequence[str],
    *,
    first: "Values | None" = None,
    over: ArmComparison | None = None,
) -> Row:
    import numpy as np

    of_kind = np.array(kinds)
    by_kind = {
        kind: MetricMeans(int((of_kind == kind).sum()), metrics.means(values[of_kind == kind]))
        for kind in dict.fromkeys(kinds)
    }
    return Row(
        name=name,
        retrievers=(),
        figures=MetricMeans(len(values), metrics.means(values)),
        by_kind=by_kind,
        ci95=metrics.intervals(values),
        gaps=_gaps(first - values) if first is not None else None,
        over=over,
    )
