"""The best windows read once more, each together with the query, by a cross-encoder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from subtitle_rag.retrieval.fusion import Ranked, RetrieverScore
from subtitle_rag.retrieval.neural import Reranker

UNMEASURED_DEPTH = 20
"""Windows that are read where nobody knows yet how many two seconds are enough for."""
CHUNK = 8
"""Windows between two looks at whether anybody still waits for them."""


class Reading:
    """What a reranker made of the last query; of a list that is asked for anew only what is new in it is read."""

    def __init__(self) -> None:
        self._last: tuple[tuple[str, str], dict[str, float]] = ("", ""), {}

    def scores(
        self, reranker: Reranker, query: str, passages: Mapping[str, str], stop: Callable[[], bool]
    ) -> dict[str, float] | None:
        """The passages' scores under their keys, 0 to 1; None where `stop` said so before all were read.

        Raises what the reranker raises.
        """
        asked = reranker.id, query
        last, known = self._last
        known = dict(known) if last == asked else {}
        # those of about one length together: a pass takes as long as its longest
        unread = sorted({text for text in passages.values() if text not in known}, key=len)
        for start in range(0, len(unread), CHUNK):
            if stop():
                return None
            chunk = unread[start : start + CHUNK]
            known.update(zip(chunk, reranker.scores(query, chunk), strict=True))
            self._last = asked, dict(known)
        return {id: known[text] for id, text in passages.items()}


def reordered(groups: Sequence[list[Ranked]], scores: Mapping[str, float]) -> list[list[Ranked]]:
    """The groups whose best window was read, best first; then the others, in the order they had."""
    read = [group for group in groups if group[0].window_id in scores]
    others = [group for group in groups if group[0].window_id not in scores]
    read.sort(key=lambda group: -scores[group[0].window_id])  # stable: ties stay as they were
    led = []
    for rank, (best, *rest) in enumerate(read, start=1):
        score = scores[best.window_id]
        told = {**best.scores, "rerank": RetrieverScore(rank, score)}
        led.append([replace(best, score=score, scores=told), *rest])
    return led + others
