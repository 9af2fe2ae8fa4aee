"""`eval run`: search for every question with the program's own search, and measure the results."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from subtitle_rag.base.installation.extras import EVAL
from subtitle_rag.base.installation.package_installer import require_extra
from subtitle_rag.contexts import context_file
from subtitle_rag.evaluation.arm_models import EvalModels
from subtitle_rag.evaluation.arm_run import ArmRun, MeasuredArm
from subtitle_rag.evaluation.arms import Retrievers, all_arms
from subtitle_rag.evaluation.dataset import load_questions
from subtitle_rag.evaluation.ladder import measured_steps
from subtitle_rag.evaluation.questions import GoldSet, gold_set
from subtitle_rag.evaluation.report import EvalReport, Row
from subtitle_rag.evaluation.temp_library import LibraryViews, ProgressCallback, ignore_progress
from subtitle_rag.library.portable_names import all_windows
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.parts import LEXICAL
from subtitle_rag.search.reranking import FULL_DEPTH


def run_arms(
    runtime: Runtime,
    source: Path,
    *,
    contexts: Path | None = None,
    retrievers: Sequence[Retrievers] | None = None,
    neural: bool = True,
    rerank: bool = True,
    progress: ProgressCallback = ignore_progress,
    encoding: ProgressCallback = ignore_progress,
    reading: Callable[[int, float | None], object] | None = None,
) -> EvalReport:
    """Measure the library's search with the questions in a file.

    Windows are ranked one by one, before neighbours merge, so that a long scene has no advantage. Copies are used if
    the library lacks something.

    Args:
        runtime: the library and its models.
        source: file of questions.
        contexts: file of contexts to use instead of a model's.
        retrievers: sets to measure; None: all that can run.
        neural: whether to use the encoder.
        rerank: whether to use the reranker.
        progress: gets the searches done and the total.
        encoding: as in `LibraryViews`.
        reading: gets the maximum pairs for the reranker, and the approximate seconds or None.

    Returns:
        The figures of all arms.

    Raises:
        UsageError: `unreadable`, `bad_line`; the latter also if the library has none of the gold videos.
            `retriever_not_ready` for a chosen arm without its models.
        AppError: `missing_extra`.
        BusyError, AppError: from the library, the index and the models.
    """
    require_extra(EVAL)  # before reading the file, because nothing can be measured without it
    dataset = load_questions(source)
    file_contexts = context_file.load(contexts) if contexts is not None else []
    windows = all_windows(runtime.library)
    gold = gold_set(dataset, runtime.library, windows)
    models = EvalModels.of(runtime, neural=neural, rerank=rerank)
    sets = models.retrievers(retrievers)
    with ExitStack() as opened:
        library_views = LibraryViews(runtime, models, opened, any(names != LEXICAL for names in sets), encoding)
        views = {view.level: view for view in library_views.of(file_contexts, contexts.name if contexts else "")}
        arms = all_arms([*views], sets, FULL_DEPTH if models.reranker is not None else 0)
        if models.reranker is not None and reading is not None:
            most = sum(map(len, windows.values()))
            count = sum(min(arm.rerank, most) for arm in arms) * len(gold.questions)
            reading(count, models.rerank_seconds(count))
        finished, total = itertools.count(1), len(arms) * len(gold.questions)
        measured = [
            ArmRun(arm, views[arm.contexts], models.reranker).measure(gold, lambda: progress(next(finished), total))
            for arm in arms
        ]
    first = measured[0]
    return EvalReport(
        queries=len(gold.questions),
        rows=tuple(_arm_rows(measured, gold)),
        missing=gold.missing,
        left_out=gold.left_out,
        refused=tuple(first.refused),
        steps=measured_steps(measured, models.absent),
        absent=models.absent,
        by_model=dataset.by_model,
    )


def _arm_rows(measured: Sequence[MeasuredArm], gold: GoldSet) -> Iterator[Row]:
    """Yield the rows of arms, each compared with the first and with the arm that lacks its last part."""
    by_arm = {each.arm: each for each in measured}
    for each in measured:
        lesser = each.arm.previous([*by_arm])
        first = None if each is measured[0] else measured[0]
        yield Row.of(each, gold, first=first, lesser=by_arm[lesser] if lesser else None)
