"""Batches of items, written by several threads."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

Batch = TypeVar("Batch")
Item = TypeVar("Item")


def split_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in batches of at most `size`."""
    rest = list(items)
    for start in range(0, len(rest), size):
        yield rest[start : start + size]


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

    A batch is taken only when a thread is free for it, so that memory never has more. After a failure no new batch is
    started; the running ones finish, and the earliest batch's failure is raised. So a caller that records its windows
    after this call never records a missing one.
    """
    tasks, lock = iter(enumerate(batches)), threading.Lock()
    failures: dict[int, BaseException] = {}
    is_over = threading.Event()

    def take() -> tuple[int, Batch] | None:
        with lock:
            return None if is_over.is_set() else next(tasks, None)

    def work(task: tuple[int, Batch] | None) -> None:
        while task is not None:
            try:
                write(task[1])
            except BaseException as error:  # raised again in the caller's thread
                failures[task[0]] = error
                is_over.set()
            task = take()

    first = [task for task in (take() for _thread in range(max(limit, 1))) if task is not None]
    # daemons, so that Ctrl+C does not wait for a server that does not answer
    threads = [threading.Thread(target=work, args=[task], daemon=True) for task in first[1:]]
    try:
        for thread in threads:
            thread.start()
        if first:
            work(first[0])
        for thread in threads:
            thread.join()
    finally:
        is_over.set()
    if failures:
        raise failures[min(failures)]
