"""A lock with priorities for the neural models, which share one processor: work a person waits for goes first."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

QUERY, RERANK, PASSAGE = range(3)
"""Ranks, most urgent first. The lock is held for one pass through a model, so nothing waits longer than that."""


class PriorityLock:
    """A lock that the waiting thread of the lowest rank gets next."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._locked = False
        self._waiting = [0, 0, 0]

    @contextmanager
    def take(self, rank: int) -> Iterator[None]:
        """Wait for the lock and hold it."""
        with self._changed:
            self._waiting[rank] += 1
            try:
                self._changed.wait_for(lambda: not self._locked and not any(self._waiting[:rank]))
            finally:
                self._waiting[rank] -= 1
                self._changed.notify_all()
            self._locked = True
        try:
            yield
        finally:
            with self._changed:
                self._locked = False
                self._changed.notify_all()


def passes(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Cut texts of these lengths into batches of at most `tokens` tokens, padding included; yield their positions.

    The longest texts come first, so that a batch has texts of similar length. A longer text is a batch of its own.
    """
    order = sorted(range(len(lengths)), key=lambda at: -lengths[at])
    start = 0
    while start < len(order):
        count = max(1, tokens // max(1, lengths[order[start]]))
        yield order[start : start + count]
        start += count
