"""Run an arm over a library: rankings, scenes and answers of all questions, by the code that searches for a user."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from subtitle_rag.domain import UsageError, WordCount
from subtitle_rag.evaluation.arms import Arm
from subtitle_rag.evaluation.metrics import Values
from subtitle_rag.evaluation.questions import GoldSet
from subtitle_rag.evaluation.scene_figures import SCENES, ShownScene
from subtitle_rag.evaluation.temp_library import LibraryView
from subtitle_rag.retrieval.neural import Reranker
from subtitle_rag.retrieval.search import Ranking, SearchResult
from subtitle_rag.retrieval.search.fusion import Ranked, merge_neighbours
from subtitle_rag.retrieval.search.query import Query, parse_query
from subtitle_rag.retrieval.search.reranking import RerankBudget, RerankCache, reorder
from subtitle_rag.retrieval.search.scenes import Scene, make_scenes, passages
from subtitle_rag.retrieval.search.window_reads import Windows
from subtitle_rag.retrieval.values import Filter

NOT_READY = ("retriever_not_ready", "unknown_retriever", "levels_off")
"""Errors of a search that concern the arm; any other `UsageError` refuses the query."""


@dataclass(frozen=True, slots=True)
class MeasuredArm:
    """What an arm has answered to all questions, and how good that is."""

    arm: Arm
    values: Values
    """A row for every question."""
    setting: str = ""
    """What stands in front of windows, or how a baseline is set."""
    texts: Sequence[str] = ()
    """The words of each query; empty for a refused query."""
    refused: Sequence[str] = ()
    """Ids of questions."""
    times_ms: Sequence[float] = ()
    scenes: Sequence[Sequence[ShownScene]] = ()
    """The scenes of each query; empty if none are made."""

    def percentiles(self) -> dict[str, float] | None:
        """Return the median and the 95th percentile of the times; None without any."""
        import numpy as np

        if not self.times_ms:
            return None
        p50, p95 = np.percentile(self.times_ms, (50, 95))
        return {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}


@dataclass(frozen=True, slots=True)
class ArmRanking:
    """An arm's windows before the reranker, and the scores of those that it has read."""

    fused: Ranking
    scores: Mapping[str, float]

    @property
    def ids(self) -> list[str]:
        """Return the ids of the windows in the order of the reranker; those without a score last."""
        return [group[0].window_id for group in reorder([[hit] for hit in self.fused.windows], self.scores)]


@dataclass(slots=True)
class ArmRun:
    """An arm over a library. It is searched as the program's own search is, so that an answer can be made of it."""

    arm: Arm
    view: LibraryView
    reranker: Reranker | None = None
    signature: str = ""
    """A hash of all that its scenes depend on, if they are stored."""
    _last: tuple[str, SearchResult, list[str]] | None = field(default=None, repr=False)
    """The last query with its scenes and the ids of its windows."""

    def rank(self, query: Query) -> ArmRanking:
        """Return the windows, best first. The arm's reranker reads all of `arm.rerank`, on every machine."""
        ranking = self.view.searcher.ranking(query, retrievers=self.arm.retrievers)
        scores: dict[str, float] = {}
        if self.arm.rerank and self.reranker is not None and ranking.windows:
            best = ranking.windows[: self.arm.rerank]
            texts = passages(Windows(self.view.library), [hit.window_id for hit in best])
            scores = RerankCache().scores(self.reranker, query.text, texts)
        return ArmRanking(ranking, scores)

    def scenes(self, ranking: ArmRanking, limit: int) -> list[tuple[Scene, list[Ranked]]]:
        """Return the best scenes that the program makes of these windows, each with its windows."""
        fused = ranking.fused
        groups = reorder(merge_neighbours(fused.windows, len(fused.windows)), ranking.scores)[:limit]
        windows = {group[0].window_id: group for group in groups}
        best = make_scenes(Windows(self.view.library), groups, fused.lexical, fused.nearest_pieces)
        return [(scene, windows[scene.id]) for scene in best]

    def word_counts(self, query: Query) -> tuple[WordCount, ...]:
        return self.view.searcher.word_counts(query)

    def where(self, query: Query) -> Filter:
        return self.view.searcher.where(query)

    def search(
        self,
        query: Query,
        *,
        limit: int,
        retrievers: Sequence[str] | None = None,  # noqa: ARG002 - the arm's own
        rerank: bool = True,  # noqa: ARG002
        budget: RerankBudget | None = None,  # noqa: ARG002
    ) -> SearchResult:
        """Return the best scenes, by the arm's own retrievers and reranker."""
        if self._last is None or self._last[0] != query.raw:
            ranking = self.rank(query)
            best = tuple(scene for scene, _windows in self.scenes(ranking, limit))
            result = SearchResult(query, self.arm.retrievers, best, {}, lexical=ranking.fused.lexical)
            self._last = query.raw, result, ranking.ids
        return self._last[1]

    def search_text(self, text: str, limit: int) -> tuple[SearchResult, list[str]] | None:
        """Return the best scenes, and the ids of the windows; None for a refused query."""
        try:
            result = self.search(parse_query(text), limit=limit)
        except UsageError as error:
            if error.code in NOT_READY:
                raise
            return None
        assert self._last is not None
        return result, self._last[2]

    def measure(
        self, gold: GoldSet, finished: Callable[[], object] = lambda: None, *, with_scenes: bool = False
    ) -> MeasuredArm:
        """Search for every question, and call `finished` after each; a refused query counts as not found.

        `with_scenes` makes scenes of the windows, too.

        Raises:
            UsageError: `retriever_not_ready`, `unknown_retriever`.
            BusyError, AppError: from the library, the index and the models.
        """
        rankings: list[list[str]] = []
        texts: list[str] = []
        refused: list[str] = []
        times_ms: list[float] = []
        scenes: list[list[ShownScene]] = []
        for question in gold.questions:
            started = time.perf_counter()
            ids: list[str] = []
            answer_scenes: list[ShownScene] = []
            text = ""
            try:
                query = parse_query(question.query)
                ranking, text = self.rank(query), query.text
                times_ms.append((time.perf_counter() - started) * 1000)
                ids = ranking.ids
                if with_scenes:
                    answer_scenes = [
                        ShownScene(tuple(hit.window_id for hit in windows), scene.start_ms, scene.end_ms, scene.at_ms)
                        for scene, windows in self.scenes(ranking, SCENES)
                    ]
            except UsageError as error:
                if error.code in NOT_READY:
                    raise
                refused.append(question.id)
            rankings.append(ids)
            if with_scenes:
                scenes.append(answer_scenes)
            texts.append(text)
            finished()
        return MeasuredArm(self.arm, gold.measure(rankings), self.view.setting, texts, refused, times_ms, scenes)
