"""A priority queue for the analyzer, which queries and indexing share.

Kiwi's workers take the texts of all calls in order: a query behind a batch of 256 windows would wait for all of them.
So texts for the index are analysed in slices, with a lower priority than queries.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from itertools import count
from queue import PriorityQueue
from typing import Any, TypeVar

from subtitle_rag.domain import Morphemes
from subtitle_rag.retrieval.morphemes import Analyzer

QUERY, TEXTS, END = range(3)
"""Ranks, the lowest first. `END` ends the thread."""
SLICE_LETTERS = 1_500
"""Maximum of a slice of several texts: about 20 ms of Kiwi's two workers, twice as long on a busy machine."""

T = TypeVar("T")


class AnalysisQueue:
    """Runs calls one by one in its own thread. Thread-safe."""

    def __init__(self) -> None:
        self._numbers = count()
        self._waiting: PriorityQueue[tuple[int, int, Future[Any], Callable[[], Any]]] = PriorityQueue()
        threading.Thread(target=self._run, name="analyzer", daemon=True).start()

    def call(self, rank: int, work: Callable[[], T]) -> T:
        """Run `work` in the order of ranks, and return or raise its outcome; calls of one rank keep their order."""
        future: Future[T] = Future()
        self._waiting.put((rank, next(self._numbers), future, work))
        return future.result()

    def _run(self) -> None:
        rank = QUERY
        while rank != END:
            rank, _number, future, work = self._waiting.get()
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
            del future, work  # so that a result lives no longer than with its caller


class SlicedAnalyzer:
    """`TextMorphemes` in slices, so that queries get in between; `run` queues a slice."""

    def __init__(
        self,
        analyzer: Analyzer,
        run: Callable[[Callable[[], list[Morphemes]]], list[Morphemes]] = lambda work: work(),
    ) -> None:
        self._analyzer = analyzer
        self._run = run

    def load_soon(self) -> None:
        """Begin to load in the background, once."""
        self._analyzer.load_soon()

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """As `Analyzer.morphemes`."""
        for part in slices(texts):
            yield from self._run(lambda part=part: list(self._analyzer.morphemes(part)))  # type: ignore[misc]


def slices(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in order, in slices of up to `SLICE_LETTERS` characters."""
    part: list[str] = []
    letters = 0
    for text in texts:
        if part and letters + len(text) > SLICE_LETTERS:
            yield part
            part, letters = [], 0
        part.append(text)
        letters += len(text)
    if part:
        yield part
