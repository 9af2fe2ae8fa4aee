"""Reranking of the best windows by a cross-encoder, with a cache."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from subtitle_rag.models.neural.protocols import PATIENCE_S, Reranker
from subtitle_rag.search.fusion import Ranked, RetrieverScore

UNMEASURED_DEPTH = 20
"""Windows to rerank before the machine's speed is known."""
FULL_DEPTH = 150
"""Windows to rerank at full depth: all candidates, as in published experiments."""
CHUNK = 8
"""Windows between two checks of `stop`."""


@dataclass(frozen=True, slots=True)
class RerankBudget:
    """Limit of reranking for one caller: `depth` windows, or as many as fit in `seconds`."""

    depth: int = 0
    """0 for a limit by `seconds`."""
    seconds: float = PATIENCE_S

    def windows(self, reranker: Reranker) -> int:
        """Return the most windows to read."""
        if self.depth:
            return self.depth
        depth = reranker.depth or UNMEASURED_DEPTH
        return min(FULL_DEPTH, max(depth, int(depth * self.seconds / PATIENCE_S)))

    @property
    def patience_s(self) -> float | None:
        """Seconds after which reading ends; None for a limit by depth.

        A search of `PATIENCE_S` keeps its depth while the model loads, so that equal queries give equal orders.
        """
        return self.seconds if not self.depth and self.seconds > PATIENCE_S else None


IN_SEARCH = RerankBudget()
IN_ANSWER = RerankBudget(seconds=10.0)
FULL = RerankBudget(FULL_DEPTH)


class RerankCache:
    """The last query's scores; only new passages are read."""

    def __init__(self) -> None:
        self._last: tuple[tuple[str, str], dict[str, float]] = ("", ""), {}

    def scores(self, reranker: Reranker, query: str, passages: Mapping[str, str]) -> dict[str, float]:
        """Return the passages' scores by key, 0 to 1. Raises the errors of the reranker."""
        # Sorted, because a pass takes as long as its longest text.
        by_length = dict(sorted(passages.items(), key=lambda item: len(item[1])))
        *_, scores = self.reading(reranker, query, by_length)
        return scores

    def reading(
        self, reranker: Reranker, query: str, passages: Mapping[str, str], patience_s: float | None = None
    ) -> Iterator[dict[str, float]]:
        """Yield the scores so far, by key, before each chunk and at the end.

        Reads in order and stops after `patience_s`. Raises the errors of the reranker.
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


def reorder(groups: Sequence[list[Ranked]], scores: Mapping[str, float]) -> list[list[Ranked]]:
    """Put groups with scores first, best first; the rest keep their order."""
    read = [group for group in groups if group[0].window_id in scores]
    unread = [group for group in groups if group[0].window_id not in scores]
    read.sort(key=lambda group: -scores[group[0].window_id])  # stable: ties stay as they were
    reranked = []
    for rank, (best, *rest) in enumerate(read, start=1):
        score = scores[best.window_id]
        ranked = replace(best, score=score, scores={**best.scores, "rerank": RetrieverScore(rank, score)})
        reranked.append([ranked, *rest])
    return reranked + unread
