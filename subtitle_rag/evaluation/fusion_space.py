"""The numbers behind the retrievers: the weights of fusion, and the depth and passages of the reranker."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from subtitle_rag.captions.windows import SHIPPED, WindowRule
from subtitle_rag.domain import Window
from subtitle_rag.errors import UsageError
from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.arms import NOT_READY, reranked
from subtitle_rag.evaluation.coordinate_search import Axis, Setting
from subtitle_rag.evaluation.lexical_space import SECOND, cut_tracks
from subtitle_rag.evaluation.questions import GoldSet, Question
from subtitle_rag.retrieval.fusion import WEIGHTS, Ranked, fuse
from subtitle_rag.retrieval.index import Hit
from subtitle_rag.retrieval.neural import NEURAL, Reranker
from subtitle_rag.retrieval.query import parse
from subtitle_rag.retrieval.reranking import UNMEASURED_DEPTH, RerankCache
from subtitle_rag.retrieval.scenes import OwnWindows, passage
from subtitle_rag.retrieval.search import LEXICAL
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.evaluation.metrics import Values

FUSION_VALUES = {"dense": (0.3, 0.6, 1.0, 1.5, 2.5), "sparse": (0.0, 0.3, 0.6, 1.0)}
DEPTHS = (0, 5, 10, 20, 50)
OVERLAPS = (0, 6, 12, 24)


@dataclass(slots=True)
class _QuestionHits:
    """A query's words, each retriever's hits and their positions in videos; all empty for a refused query."""

    text: str = ""
    lists: dict[str, list[Hit]] = field(default_factory=dict)
    positions: dict[str, tuple[str, int]] = field(default_factory=dict)
    scores: RerankCache = field(default_factory=RerankCache)
    """Remembers the passages that the reranker has read."""


class FusionSpace:
    """Fusion of the retrievers' lists and the reranker, over the library as it is.

    No query is asked and no passage read twice. Without a `reranker` its axes are missing.
    """

    name = "lists"

    def __init__(self, runtime: Runtime, questions: GoldSet, reranker: Reranker | None, *, neural: bool = True) -> None:
        self._runtime, self._questions, self._reranker = runtime, questions, reranker
        ready = runtime.searcher.ready() if neural else LEXICAL
        axes = [Axis(name, values, WEIGHTS[name]) for name, values in FUSION_VALUES.items() if name in ready]
        if reranker is not None:
            depth = reranker.depth or UNMEASURED_DEPTH
            axes.append(Axis("rerank", tuple(sorted({*DEPTHS, depth})), depth))
            axes.append(Axis("overlap", OVERLAPS, 0, "s"))
        self.axes: Sequence[Axis] = axes
        self._hits: list[_QuestionHits] = []
        self._windows: defaultdict[float, dict[tuple[str, int], Window]] = defaultdict(dict)

    def measure(self, setting: Setting) -> "Values":
        """Fuse and rerank the hits anew."""
        self._hits = self._hits or [self._search(question) for question in self._questions.questions]
        weights = {name: setting.get(name, weight) for name, weight in WEIGHTS.items()}
        rankings = []
        for hits in self._hits:
            ranked = fuse(hits.lists, hits.positions, weights) if hits.lists else []
            depth = int(setting.get("rerank", 0))
            if self._reranker is not None and depth and ranked:
                passages = self._passages(ranked[:depth], setting["overlap"])
                scores = hits.scores.scores(self._reranker, hits.text, passages, lambda: False) or {}
                ranked = reranked(ranked, scores)
            rankings.append([hit.window_id for hit in ranked])
        return metrics.per_question(self._questions.windows, rankings)

    def _search(self, question: Question) -> _QuestionHits:
        names = LEXICAL + tuple(axis.name for axis in self.axes if axis.name in NEURAL)
        try:
            query = parse(question.query)
            ranked = self._runtime.searcher.rank(query, retrievers=names)
        except UsageError as error:
            if error.code in NOT_READY:
                raise
            return _QuestionHits()
        lists = {}
        for name in names:
            by_rank = sorted((hit for hit in ranked if name in hit.scores), key=lambda hit: hit.scores[name].rank)
            lists[name] = [Hit(hit.window_id, hit.scores[name].score, {}) for hit in by_rank]
        return _QuestionHits(query.text, lists, {hit.window_id: (hit.video_id, hit.ordinal) for hit in ranked})

    def _passages(self, ranked: Sequence[Ranked], overlap: float) -> dict[str, str]:
        """Return the passages that the reranker reads, each with so many seconds of speech on either side."""
        library = OwnWindows(self._runtime.library)
        ids = [hit.window_id for hit in ranked]
        windows, contexts = library.windows(ids), library.contexts(ids)
        passages = {}
        for hit in ranked:
            if hit.window_id in windows:
                text = windows[hit.window_id].text
                wide = self._wide_windows(overlap).get((hit.video_id, hit.ordinal)) if overlap else None
                if wide is not None and wide.text == text:
                    text = " ".join(filter(None, (wide.overlap_before, text, wide.overlap_after)))
                passages[hit.window_id] = passage(contexts.get(hit.window_id), text)
        return passages

    def _wide_windows(self, seconds: float) -> dict[tuple[str, int], Window]:
        """Return the windows with so much overlap, by video and position in it."""
        if not self._windows[seconds]:
            rule = WindowRule(SHIPPED.target_ms, SHIPPED.min_ms, SHIPPED.max_ms, round(seconds * SECOND))
            for video, windows in cut_tracks(self._runtime.library, rule):
                self._windows[seconds] |= {(video.id, window.ordinal): window for window in windows}
        return self._windows[seconds]
