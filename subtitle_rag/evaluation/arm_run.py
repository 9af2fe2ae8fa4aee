"""Run an arm over a library: rankings, scenes and answers of all questions, by the code that searches for a user."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from subtitle_rag.domain import AppError, UsageError
from subtitle_rag.evaluation.arms import Arm, ArmChoice, Retrievers
from subtitle_rag.evaluation.questions import Question
from subtitle_rag.evaluation.scene_figures import SCENES, ShownScene
from subtitle_rag.i18n import _
from subtitle_rag.installation import missing_extra
from subtitle_rag.library import Library
from subtitle_rag.models import ENCODER, RERANKER, Kind
from subtitle_rag.retrieval.korean.lexical import LexicalQuery
from subtitle_rag.retrieval.named_vectors import LATE, PIECES
from subtitle_rag.retrieval.neural import PATIENCE_S, Encoder, Reranker
from subtitle_rag.retrieval.search import Ranking, Searcher, SearchResult
from subtitle_rag.retrieval.search.fusion import Ranked, merge_neighbours
from subtitle_rag.retrieval.search.parts import HIERARCHY, LEXICAL, NEURAL
from subtitle_rag.retrieval.search.query import Query, parse_query
from subtitle_rag.retrieval.search.reranking import RerankBudget, RerankCache, reorder
from subtitle_rag.retrieval.search.scenes import Scene, make_scenes, passages
from subtitle_rag.retrieval.search.window_reads import Windows
from subtitle_rag.retrieval.values import Filter
from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

NOT_READY = ("retriever_not_ready", "unknown_retriever", "levels_off")
"""Errors of a search that concern the arm; any other `UsageError` refuses the query."""

ProgressCallback = Callable[[int, int], None]
"""Gets the number of finished items, and the total."""


@dataclass(frozen=True, slots=True)
class EvalModels:
    """The models of this machine; `absent`: `encoder` or `reranker` → the reason why it takes no part."""

    encoder: Encoder | None = None
    reranker: Reranker | None = None
    absent: dict[str, str] = field(default_factory=dict)
    levels: bool = False
    """Whether sections and videos are in the index."""

    @classmethod
    def of(cls, runtime: Runtime, choice: ArmChoice) -> "EvalModels":
        """Return the models of the settings; the encoder is the one whose vectors the library is searched by."""
        levels = runtime.settings.search.levels
        if not choice.neural:
            return cls(absent=dict.fromkeys(("encoder", "reranker"), _("left out by --no-neural")), levels=levels)
        encoder = reranker = None
        absent = {}
        try:
            encoder = runtime.neural.encoder(runtime.library.vectors.active()) or runtime.neural.encoder()
            if encoder is None:
                absent["encoder"] = _missing(runtime, ENCODER)
        except AppError as error:
            logger.info("no encoder", exc_info=True)
            absent["encoder"] = error.message
        try:
            reranker = runtime.neural.reranker() if choice.rerank else None
            if reranker is None:
                absent["reranker"] = _missing(runtime, RERANKER) if choice.rerank else _("left out")
        except AppError as error:
            logger.info("no reranker", exc_info=True)
            absent["reranker"] = error.message
        return cls(encoder, reranker, absent, levels)

    def rerank_seconds(self, pairs: int) -> float | None:
        """Return about how long the reranker reads so many pairs; None without one whose speed is measured."""
        speed = self.reranker.depth if self.reranker is not None else None
        return pairs * PATIENCE_S / speed if speed else None

    def retrievers(self, choice: ArmChoice) -> list[Retrievers]:
        """Return the retrievers of the arms, the fullest last.

        Raises:
            UsageError: `retriever_not_ready` for a chosen one that this machine cannot run, `levels_off`.
        """
        made = self._made()
        neural = tuple(name for name in NEURAL if name in made)
        orders = tuple(name for name in (HIERARCHY, LATE, PIECES) if name in made)
        if choice.retrievers is None:
            singles = [LEXICAL, *((name,) for name in reversed(neural))]
            sets = singles + ([neural] if len(neural) > 1 else []) + ([(*LEXICAL, *neural)] if neural else [])
            return sets + [(*LEXICAL, *neural, name) for name in orders]
        ready = (*LEXICAL, *neural, *orders)
        for name in (name for names in choice.retrievers for name in names):
            if name == HIERARCHY and name not in ready:
                raise UsageError("levels_off")
            if name not in ready:
                raise UsageError("retriever_not_ready", name=name, ready=", ".join(ready))
        return sorted(choice.retrievers, key=len)

    def _made(self) -> set[str]:
        """Return the parts of a search by sense that this machine makes."""
        makes: dict[str, object] = {HIERARCHY: self.levels}
        if (encoder := self.encoder) is not None:
            makes |= {"dense": encoder.dimensions, "sparse": encoder.has_sparse}
            makes |= {LATE: encoder.token_dimensions, PIECES: encoder.has_pieces}
        return {name for name, is_made in makes.items() if is_made}


def _missing(runtime: Runtime, kind: Kind) -> str:
    name = runtime.models.configured(kind)
    if not name:
        return _("the config names none")
    extra = runtime.models.required_extra(name)
    if extra and not extra.is_installed:
        return missing_extra(extra).message
    return AppError("model_missing", name=name).message


@dataclass(frozen=True, slots=True)
class LibraryVariant:
    """A searchable library; `level`: the context in front of its windows, `setting`: its origin."""

    level: str
    library: Library
    searcher: Searcher
    setting: str = ""


@dataclass(slots=True)
class ArmResult:
    """The answers of one arm to all questions."""

    rankings: list[list[str]] = field(default_factory=list)
    """The ids of windows, best first; empty for a refused query."""
    texts: list[str] = field(default_factory=list)
    """The words of each query; empty for a refused query."""
    refused: list[str] = field(default_factory=list)
    """Ids of questions."""
    times_ms: list[float] = field(default_factory=list)
    scenes: list[list[ShownScene]] = field(default_factory=list)
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
    view: LibraryVariant
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

    def analyze(self, text: str) -> LexicalQuery:
        return self.view.searcher.analyze(text)

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

    def rank_all(
        self,
        questions: Sequence[Question],
        finished: Callable[[], object] = lambda: None,
        *,
        with_scenes: bool = False,
    ) -> ArmResult:
        """Rank for every question, and call `finished` after each; a refused query counts as not found.

        `with_scenes` makes scenes of the windows, too.

        Raises:
            UsageError: `retriever_not_ready`, `unknown_retriever`.
            BusyError, AppError: from the library, the index and the models.
        """
        result = ArmResult()
        for question in questions:
            started = time.perf_counter()
            ids: list[str] = []
            shown: list[ShownScene] = []
            text = ""
            try:
                query = parse_query(question.query)
                ranking, text = self.rank(query), query.text
                result.times_ms.append((time.perf_counter() - started) * 1000)
                ids = ranking.ids
                if with_scenes:
                    shown = [
                        ShownScene(tuple(hit.window_id for hit in windows), scene.start_ms, scene.end_ms, scene.at_ms)
                        for scene, windows in self.scenes(ranking, SCENES)
                    ]
            except UsageError as error:
                if error.code in NOT_READY:
                    raise
                result.refused.append(question.id)
            result.rankings.append(ids)
            if with_scenes:
                result.scenes.append(shown)
            result.texts.append(text)
            finished()
        return result
