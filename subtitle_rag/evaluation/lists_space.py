"""The second space of `eval sweep`: how the retrievers' lists are fused, and how much of them the reranker reads.

It is measured over the library as it is, and needs its neural vectors or a reranker.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from subtitle_rag.captions.windows import SHIPPED as SHIPPED_RULE
from subtitle_rag.captions.windows import WindowRule
from subtitle_rag.domain import Window
from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.gold import GoldSet
from subtitle_rag.evaluation.sweep import Axis, Setting
from subtitle_rag.evaluation.words_space import SECOND, cut, plain
from subtitle_rag.retrieval.fusion import WEIGHTS, Ranked, fused
from subtitle_rag.retrieval.index import Hit
from subtitle_rag.retrieval.neural import NEURAL, Reranker
from subtitle_rag.retrieval.query import parse
from subtitle_rag.retrieval.reranking import UNMEASURED_DEPTH, Reading, reordered
from subtitle_rag.retrieval.scenes import OwnWindows, reading
from subtitle_rag.retrieval.search import LEXICAL
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.evaluation.sweep import Values

DEPTHS = (0, 5, 10, 20, 50)
OVERLAPS = (0, 6, 12, 24)

Lists = dict[str, list[Hit]]


@dataclass(slots=True)
class Fusing:
    """The library's retrievers and the reranker; each query is asked once, and each passage read once.

    `reranker` is None where none is here.
    """

    runtime: Runtime
    asked: GoldSet
    reranker: Reranker | None
    neural: bool = True
    name: str = "lists"
    axes: Sequence[Axis] = field(init=False)
    _found: list[tuple[str, Lists, dict[str, tuple[str, int]]]] = field(default_factory=list)
    _read: dict[tuple[str, str], float] = field(default_factory=dict)
    _cuts: dict[float, dict[tuple[str, int], Window]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ready = self.runtime.searcher.ready() if self.neural else LEXICAL
        own = [Axis(name, values, WEIGHTS[name]) for name, values in _WEIGHTS.items() if name in ready]
        if self.reranker is not None:
            depth = self.reranker.depth or UNMEASURED_DEPTH
            own.append(Axis("rerank", tuple(sorted({*DEPTHS, depth})), depth))
            own.append(Axis("overlap", OVERLAPS, 0, "s"))
        self.axes = own

    def measure(self, setting: Setting) -> "Values":
        if not self._found:
            self._found = [self._lists(plain(question), question.query) for question in self.asked.questions]
        weights = {name: setting.get(name, weight) for name, weight in WEIGHTS.items()}
        rankings = []
        for text, lists, places in self._found:
            ranked = fused(lists, places, weights) if lists else []
            depth = int(setting.get("rerank", 0))
            if self.reranker is not None and depth and ranked:
                scores = self._scores(self.reranker, text, ranked[:depth], setting["overlap"])
                ranked = [group[0] for group in reordered([[one] for one in ranked], scores)]
            rankings.append([one.window_id for one in ranked])
        return metrics.per_question(self.asked.judged, rankings)

    def _lists(self, text: str, query: str) -> tuple[str, Lists, dict[str, tuple[str, int]]]:
        """What each retriever found for a query; nothing where it is refused."""
        if not text:
            return text, {}, {}
        names = LEXICAL + tuple(axis.name for axis in self.axes if axis.name in NEURAL)
        ranked = self.runtime.searcher.rank(parse(query), retrievers=names)
        found: Lists = {}
        for name in names:
            own = {one.scores[name].rank: one for one in ranked if name in one.scores}
            found[name] = [Hit(one.window_id, one.scores[name].score, {}) for _rank, one in sorted(own.items())]
        return text, found, {one.window_id: (one.video_id, one.ordinal) for one in ranked}

    def _scores(self, reranker: Reranker, query: str, ranked: Sequence[Ranked], overlap: float) -> dict[str, float]:
        passages = self._passages(ranked, overlap)
        unread = {id: text for id, text in passages.items() if (query, text) not in self._read}
        scores = Reading().scores(reranker, query, unread, lambda: False) or {}
        self._read.update({(query, unread[id]): score for id, score in scores.items()})
        return {id: self._read[query, text] for id, text in passages.items()}

    def _passages(self, ranked: Sequence[Ranked], overlap: float) -> dict[str, str]:
        """What the reranker reads of windows: as the program has it read, with so much speech on either side."""
        known = OwnWindows(self.runtime.library)
        ids = [one.window_id for one in ranked]
        own, contexts = known.windows(ids), known.contexts(ids)
        found = {}
        for one in ranked:
            if one.window_id in own:
                text = own[one.window_id].text
                wide = self._cut(overlap).get((one.video_id, one.ordinal)) if overlap else None
                if wide is not None and wide.text == text:
                    text = " ".join(filter(None, (wide.overlap_before, text, wide.overlap_after)))
                found[one.window_id] = reading(contexts.get(one.window_id), text)
        return found

    def _cut(self, seconds: float) -> dict[tuple[str, int], Window]:
        """The windows with so much overlap, by video and place in it."""
        if seconds not in self._cuts:
            rule = WindowRule(SHIPPED_RULE.target_ms, SHIPPED_RULE.min_ms, SHIPPED_RULE.max_ms, round(seconds * SECOND))
            videos = cut(self.runtime.library, rule)
            self._cuts[seconds] = {(video.id, window.ordinal): window for video, own in videos for window in own}
        return self._cuts[seconds]


_WEIGHTS = {"dense": (0.3, 0.6, 1.0, 1.5, 2.5), "sparse": (0.0, 0.3, 0.6, 1.0)}
