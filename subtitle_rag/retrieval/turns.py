"""Turns at the processor: the neural models share it, and whoever is waited for by a person goes first."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

QUERY, RERANK, PASSAGE = range(3)
"""Who goes first when several wait. A turn is one pass through a model, so that nobody waits for more than that."""


class Turns:
    """One at a time; of those that wait, the lowest rank first."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = False
        self._waiting = [0, 0, 0]

    @contextmanager
    def take(self, rank: int) -> Iterator[None]:
        """Wait for a turn and hold it."""
        with self._changed:
            self._waiting[rank] += 1
            try:
                self._changed.wait_for(lambda: not self._taken and not any(self._waiting[:rank]))
            finally:
                self._waiting[rank] -= 1
                self._changed.notify_all()
            self._taken = True
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()


def passes(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """The places of texts of these lengths, the longest first, cut into passes of at most so many tokens.

    Padding counts, of which there is little among neighbours of about one length. A longer text has a pass to itself.
    """
    order = sorted(range(len(lengths)), key=lambda at: -lengths[at])
    start = 0
    while start < len(order):
        count = max(1, tokens // max(1, lengths[order[start]]))
        yield order[start : start + count]
        start += count
