"""One thread for a host's analyses, in which whoever is waited for by a person goes first."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from queue import PriorityQueue
from typing import Any, TypeVar

QUERY, TEXTS, END = range(3)
"""Ranks: of those that wait, the lowest goes first. `END` ends the thread."""

T = TypeVar("T")


class AnalysisQueue:
    """Runs calls one by one in a thread of its own; safe from several threads.

    Kiwi shares its workers among all calls: a query beside a hundred texts would wait until they are done.
    """

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
