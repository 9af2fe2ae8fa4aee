"""Batches that several threads write, with a bound on those under way."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

Batch = TypeVar("Batch")
Item = TypeVar("Item")


def split(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Yield the items in batches of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def split_by_weight(
    items: Sequence[Item], size: int, weight: Callable[[Item], int], most: int
) -> Iterator[Sequence[Item]]:
    """Yield the items in batches of at most `size`, and of at most `most` in weight unless one item is heavier."""
    start = total = 0
    for at, item in enumerate(items):
        heavy = weight(item)
        if at > start and (at - start == size or total + heavy > most):
            yield items[start:at]
            start, total = at, 0
        total += heavy
    if start < len(items):
        yield items[start:]


def write_batches(batches: Iterable[Batch], write: Callable[[Batch], object], limit: int) -> None:
    """Write all batches, at most `limit` at a time and in no order; return once all are written.

    A batch is taken only when a thread is free for it, so that no more of them are in memory. After a failure no other
    batch is begun, those under way are waited for, and the failure of the earliest batch is raised. A caller that
    notes its windows behind this call never notes one that is missing.
    """
    queue = _BatchQueue(batches)
    first = [task for task in (queue.take() for _thread in range(max(limit, 1))) if task is not None]

    def work(task: tuple[int, Batch] | None) -> None:
        while task is not None:
            try:
                write(task[1])
            except BaseException as error:  # raised again by the caller's thread
                queue.fail(task[0], error)
            task = queue.take()

    # daemons: Ctrl+C does not wait for a server that does not answer
    threads = [threading.Thread(target=work, args=[task], daemon=True) for task in first[1:]]
    try:
        for thread in threads:
            thread.start()
        if first:
            work(first[0])
        for thread in threads:
            thread.join()
    finally:
        queue.close()
    queue.raise_failure()


class _BatchQueue(Generic[Batch]):
    """The batches that wait, with their numbers, and the failures. Thread-safe."""

    def __init__(self, batches: Iterable[Batch]) -> None:
        self._tasks = iter(enumerate(batches))
        self._failures: dict[int, BaseException] = {}
        self._is_closed = False
        self._lock = threading.Lock()

    def take(self) -> tuple[int, Batch] | None:
        """Take the next batch; None if there is none, or after a failure."""
        with self._lock:
            return None if self._is_closed else next(self._tasks, None)

    def fail(self, number: int, error: BaseException) -> None:
        with self._lock:
            self._failures[number] = error
            self._is_closed = True

    def close(self) -> None:
        with self._lock:
            self._is_closed = True

    def raise_failure(self) -> None:
        """Raise the failure of the earliest batch."""
        if self._failures:
            raise self._failures[min(self._failures)]
