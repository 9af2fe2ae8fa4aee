"""Reranking of the best windows by a cross-encoder, with a cache."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from subtitle_rag.retrieval.fusion import Ranked, RetrieverScore, spread
from subtitle_rag.retrieval.neural import PATIENCE_S, Reranker

UNMEASURED_DEPTH = 20
"""Windows to rerank before the machine's speed is measured."""
FULL_DEPTH = 150
"""Windows that the reranker reads of 150 candidates, as in published experiments: it orders all of them."""
RERANK_SHARE = 1.0
"""The reranker's part in the order of the windows that it has read; their fused scores have the rest.

`scripts/bench_fusion --rerank` measures other parts, without the weights of a real cross-encoder: 0.7 is no worse there
than 1 for simulated rerankers of any strength, and better for weak ones.
"""
CHUNK = 8
"""Windows between two checks of `stop`."""


@dataclass(frozen=True, slots=True)
class RerankBudget:
    """How much the reranker reads for one caller: `depth` windows, or those that it reads in `seconds`."""

    depth: int = 0
    """0: by `seconds`."""
    seconds: float = PATIENCE_S

    def windows(self, reranker: Reranker) -> int:
        """Return how many windows to read, at most."""
        if self.depth:
            return self.depth
        depth = reranker.depth or UNMEASURED_DEPTH
        return min(FULL_DEPTH, max(depth, int(depth * self.seconds / PATIENCE_S)))

    @property
    def patience_s(self) -> float | None:
        """Return the seconds after which reading ends where it is; None if it ends by depth.

        A search of `PATIENCE_S` keeps its depth also while the model is loaded, so that the same query has the same
        order.
        """
        return self.seconds if not self.depth and self.seconds > PATIENCE_S else None


IN_SEARCH = RerankBudget()
IN_ANSWER = RerankBudget(seconds=10.0)
FULL = RerankBudget(FULL_DEPTH)


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
        # sorted, because a pass takes as long as its longest text
        by_length = dict(sorted(passages.items(), key=lambda item: len(item[1])))
        scores = dict[str, float]()
        for step in self.reading(reranker, query, by_length):
            if stop():
                return None
            scores = step
        return scores

    def reading(
        self, reranker: Reranker, query: str, passages: Mapping[str, str], patience_s: float | None = None
    ) -> Iterator[dict[str, float]]:
        """Yield the scores so far, by key, before each chunk and at the end.

        The passages are read in their order. After `patience_s` the rest stays unread. Raises the errors of the
        reranker.
        """
        started = time.monotonic()
        request = reranker.id, query
        last, cached = self._last
        scores = dict(cached) if last == request else {}
        unread = iter(dict.fromkeys(text for text in passages.values() if text not in scores))
        while chunk := sorted(islice(unread, CHUNK), key=len):
            yield {id: scores[text] for id, text in passages.items() if text in scores}
            if patience_s is not None and time.monotonic() - started >= patience_s:
                return
            scores.update(zip(chunk, reranker.scores(query, chunk), strict=True))
            self._last = request, dict(scores)
        yield {id: scores[text] for id, text in passages.items()}


def reorder(
    groups: Sequence[list[Ranked]], scores: Mapping[str, float], share: float = RERANK_SHARE
) -> list[list[Ranked]]:
    """Put the groups with scores first, best first, and keep the order of the rest.

    With a `share` below 1 the order is that of the weighted sum of the reranker's scores and the fused ones, each
    spread over 0 to 1 among the groups that were read. The sum is the score of a group then.
    """
    read = [group for group in groups if group[0].window_id in scores]
    unread = [group for group in groups if group[0].window_id not in scores]
    values = blend(read, scores, share)
    by_reranker = sorted(read, key=lambda group: -scores[group[0].window_id])  # stable: ties stay as they were
    ranks = {group[0].window_id: rank for rank, group in enumerate(by_reranker, start=1)}
    reranked = []
    for best, *rest in sorted(read, key=lambda group: -values[group[0].window_id]):
        reranker_score = RetrieverScore(ranks[best.window_id], scores[best.window_id])
        ranked = replace(best, score=values[best.window_id], scores={**best.scores, "rerank": reranker_score})
        reranked.append([ranked, *rest])
    return reranked + unread


def blend(groups: Sequence[list[Ranked]], scores: Mapping[str, float], share: float) -> dict[str, float]:
    """Return by window the weighted sum of reranker's and fused scores; the reranker's own where `share` is 1."""
    ids = [group[0].window_id for group in groups]
    if share >= 1 or not groups:
        return {id: scores[id] for id in ids}
    reranker, fused = spread([scores[id] for id in ids]), spread([group[0].score for group in groups])
    return {id: share * first + (1 - share) * second for id, first, second in zip(ids, reranker, fused, strict=True)}
