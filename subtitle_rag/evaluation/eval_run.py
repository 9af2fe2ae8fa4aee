"""`eval run`: put every question to the program's own search and to the baselines, and measure the results."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.evaluation import baselines, context_file, metrics, scene_figures
from subtitle_rag.evaluation.arms import NONE, Arm, ArmChoice, ArmResult, EvalModels, ProgressCallback, all_arms
from subtitle_rag.evaluation.dataset import load_set
from subtitle_rag.evaluation.questions import all_windows, gold_set
from subtitle_rag.evaluation.report import ArmComparison, EvalReport, Row, published_steps
from subtitle_rag.evaluation.views import Views
from subtitle_rag.installation import EVAL, require
from subtitle_rag.retrieval import DEPTH, LEXICAL, PATIENCE_S
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.evaluation.metrics import Values

ALL_ARMS = ArmChoice()


@dataclass(frozen=True, slots=True)
class RerankCost:
    """How many pairs of question and window the reranker reads, at most."""

    pairs: int
    seconds: float | None
    """About; None where its speed is not measured."""


def run(
    runtime: Runtime,
    path: Path,
    *,
    contexts: Path | None = None,
    choice: ArmChoice = ALL_ARMS,
    with_baselines: bool = True,
    progress: ProgressCallback | None = None,
    encoding: ProgressCallback | None = None,
    reading: Callable[[RerankCost], object] | None = None,
) -> EvalReport:
    """Measure the search with the questions in `path`: over the library, or over the set's own documents.

    `contexts` is a file of contexts in place of a model's. Windows are ranked one by one, before neighbours merge, so
    that a long scene wins nothing; beside them stand the scenes that the program makes of them. Copies serve if the
    library lacks something. `encoding` gets the number of a copy's windows before the first one is encoded, and after
    every batch. `reading` gets the cost of the reranker before it reads.

    Raises:
        UsageError: `unreadable`, `bad_queries`; the latter also if the library has none of the gold videos.
            `retriever_not_ready` for a chosen arm without its models.
        AppError: `eval_missing`.
        BusyError, AppError: from the library, the index and the models.
    """
    require(EVAL)
    dataset = load_set(path)
    file_contexts = context_file.load(contexts) if contexts is not None else []
    windows = {video.id: some for video, some in dataset.documents} or all_windows(runtime.library)
    gold = gold_set(dataset, runtime.library, windows)
    questions = gold.questions
    models = EvalModels.of(runtime, choice)
    sets = models.retrievers(choice)
    with ExitStack() as opened:
        views = Views(runtime, models, opened, any(names != LEXICAL for names in sets), encoding)
        arms = all_arms(views.of(dataset, file_contexts, contexts.name if contexts else ""), sets, models.reranker)
        total = len(arms) * len(questions)
        if models.reranker is not None and reading is not None:
            most = sum(len(some) for some in windows.values())
            count = sum(min(arm.depth, most) for arm in arms) * len(questions)
            speed = models.reranker.depth
            reading(RerankCost(count, count * PATIENCE_S / speed if speed else None))
        results = [
            # the times of a set's own documents are invented
            arm.rank_all(questions, progress, at * len(questions), total, with_scenes=not dataset.documents)
            for at, arm in enumerate(arms)
        ]
    values = [metrics.per_question(gold.windows, result.rankings) for result in results]
    rows = [_arm_row(at, arms, values, results[at], gold.kinds) for at in range(len(arms))]
    if not dataset.documents:
        figures = (scene_figures.measure(gold, result.scenes) for result in results)
        rows = [
            replace(row, scenes=overall, scenes_by_kind=kinds)
            for row, (overall, kinds) in zip(rows, figures, strict=True)
        ]
    pairs = [(window.id, window.text) for some in windows.values() for window in some] if with_baselines else []
    for baseline in baselines.BASELINES if pairs else ():
        rankings = baselines.rankings(baseline, pairs, results[0].texts, depth=DEPTH)
        measured = metrics.per_question(gold.windows, rankings)
        row = Row.measured(baseline.name, measured, gold.kinds, first=values[0])
        rows.append(replace(row, setting=baselines.SETTING, contexts_from=NONE))
    counted = {question.id for question in questions}
    failures = [of_arm[:, metrics.METRICS.index(metrics.FAILURE)] for of_arm in values]
    return EvalReport(
        queries=len(questions),
        rows=tuple(rows),
        missing=gold.missing,
        left_out=tuple(question.id for question in dataset.questions if question.id not in counted),
        refused=tuple(results[0].refused),
        steps=published_steps(arms, failures, models),
        absent=models.absent,
        by_model=dataset.by_model,
    )


def _arm_row(at: int, arms: Sequence[Arm], values: "Sequence[Values]", result: ArmResult, kinds: Sequence[str]) -> Row:
    arm, previous = arms[at], arms[at].previous(arms)
    over = None
    if previous is not None:
        over = ArmComparison(previous.name, metrics.gaps(values[at] - values[arms.index(previous)]))
    return replace(
        Row.measured(arm.name, values[at], kinds, first=values[0] if at else None),
        retrievers=arm.retrievers,
        setting=arm.view.setting,
        contexts_from=arm.view.level,
        rerank=arm.reranker is not None,
        rerank_depth=arm.depth,
        took_ms=result.percentiles(),
        over=over,
    )
