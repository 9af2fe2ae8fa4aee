"""Reranking of the best windows by a cross-encoder, with a cache."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from subtitle_rag.retrieval.fusion import Ranked, RetrieverScore
from subtitle_rag.retrieval.neural import Reranker

UNMEASURED_DEPTH = 20
"""Windows to rerank before the machine's speed is measured."""
CHUNK = 8
"""Windows between two checks of `stop`."""


class RerankCache:
    """The last query's scores; only new passages are read."""

    def __init__(self) -> None:
        self._last: tuple[tuple[str, str], dict[str, float]] = ("", ""), {}

    def scores(
        self, reranker: Reranker, query: str, passages: Mapping[str, str], stop: Callable[[], bool]
    ) -> dict[str, float] | None:
        """Return the passages' scores by key, 0 to 1, or None if stopped.

        Raises the errors of the reranker.
        """
        request = reranker.id, query
        last, cached = self._last
        scores = dict(cached) if last == request else {}
        # sorted, because a pass takes as long as its longest text
        unread = sorted({text for text in passages.values() if text not in scores}, key=len)
        for start in range(0, len(unread), CHUNK):
            if stop():
                return None
            chunk = unread[start : start + CHUNK]
            scores.update(zip(chunk, reranker.scores(query, chunk), strict=True))
            self._last = request, dict(scores)
        return {id: scores[text] for id, text in passages.items()}


def reorder(groups: Sequence[list[Ranked]], scores: Mapping[str, float]) -> list[list[Ranked]]:
    """Put the groups with scores first, best first, and keep the order of the rest."""
    read = [group for group in groups if group[0].window_id in scores]
    unread = [group for group in groups if group[0].window_id not in scores]
    read.sort(key=lambda group: -scores[group[0].window_id])  # stable: ties stay as they were
    reranked = []
    for rank, (best, *rest) in enumerate(read, start=1):
        score = scores[best.window_id]
        retriever_scores = {**best.scores, "rerank": RetrieverScore(rank, score)}
        reranked.append([replace(best, score=score, scores=retriever_scores), *rest])
    return reranked + unread
