"""Who goes first at an analyzer that queries and indexing share.

Kiwi shares its workers among all calls, in the order of their texts: a query beside a batch of 256 windows would wait
until all of them are done. So texts that nobody waits for are analysed in slices, and go behind queries.
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
"""Ranks: of those that wait, the lowest goes first. `END` ends the thread."""
SLICE_LETTERS = 1_500
"""Of a slice, unless one text has more: some 20 ms of Kiwi's two workers, twice as long on a busy machine."""

T = TypeVar("T")


class AnalysisQueue:
    """Runs calls one by one in a thread of its own; safe from several threads."""

    def __init__(self) -> None:
        self._numbers = count()
        self._waiting: PriorityQueue[tuple[int, int, Future[Any], Callable[[], Any]]] = PriorityQueue()
        threading.Thread(target=self._run, name="analyzer", daemon=True).start()

    def call(self, rank: int, work: Callable[[], T]) -> T:
        """What `work` returns or raises, once it has had its turn; calls of one rank keep their order."""
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
            del future, work  # a result is no longer held than its caller holds it


class SlicedAnalyzer:
    """`TextMorphemes` that leaves the analyzer to queries after each slice; `run` has each slice wait for its turn."""

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
    """The texts in their order, as many at once as have `SLICE_LETTERS` together."""
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
