"""Run of an arm over a library: rankings for all questions, by the code of the user's search."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.evaluation.arms import RANKS, Arm
from subtitle_rag.evaluation.metrics import Values
from subtitle_rag.evaluation.questions import GoldSet
from subtitle_rag.evaluation.temp_library import LibraryView
from subtitle_rag.models.neural.protocols import Reranker
from subtitle_rag.search.query import Query, parse_query
from subtitle_rag.search.reranking import RerankCache, reorder
from subtitle_rag.search.scenes import passages
from subtitle_rag.search.window_reads import Windows

NOT_READY = ("retriever_not_ready",)
"""Errors of a search that concern the arm; any other `UsageError` refuses the query."""


@dataclass(frozen=True, slots=True)
class MeasuredArm:
    """An arm's answers to all questions, with their figures."""

    arm: Arm
    values: Values
    """One row per question."""
    setting: str = ""
    """Origin of the contexts in front of windows."""
    refused: Sequence[str] = ()
    """Ids of questions."""
    times_ms: Sequence[float] = ()

    def percentiles(self) -> dict[str, float] | None:
        """Return the median and the 95th percentile of the times; None without any."""
        import numpy as np

        if not self.times_ms:
            return None
        p50, p95 = np.percentile(self.times_ms, (50, 95))
        return {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}


@dataclass(frozen=True, slots=True)
class ArmRun:
    """An arm over a library, searched like the program's own search."""

    arm: Arm
    view: LibraryView
    reranker: Reranker | None = None

    def rank(self, query: Query) -> list[str]:
        """Return the ids of the windows, best first. The reranker reads all of `arm.rerank`, on every machine."""
        names = [name for name in self.arm.retrievers if name != RANKS]
        windows = self.view.searcher.rank(query, retrievers=names, by_ranks=self.arm.by_ranks)
        scores: dict[str, float] = {}
        if self.arm.rerank and self.reranker is not None and windows:
            best = windows[: self.arm.rerank]
            texts = passages(Windows(self.view.library), [hit.window_id for hit in best])
            scores = RerankCache().scores(self.reranker, query.text, texts)
        return [group[0].window_id for group in reorder([[hit] for hit in windows], scores)]

    def measure(self, gold: GoldSet, finished: Callable[[], object] = lambda: None) -> MeasuredArm:
        """Search for every question, and call `finished` after each; a refused query counts as not found.

        Raises:
            UsageError: `retriever_not_ready`.
            BusyError, AppError: from the library, the index and the models.
        """
        rankings: list[list[str]] = []
        refused: list[str] = []
        times_ms: list[float] = []
        for question in gold.questions:
            started = time.perf_counter()
            ids: list[str] = []
            try:
                ids = self.rank(parse_query(question.query))
                times_ms.append((time.perf_counter() - started) * 1000)
            except UsageError as error:
                if error.code in NOT_READY:
                    raise
                refused.append(question.id)
            rankings.append(ids)
            finished()
        return MeasuredArm(self.arm, gold.measure(rankings), self.view.setting, refused, times_ms)
