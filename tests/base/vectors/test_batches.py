"""Batches in parallel: all of them, never too many at once, and what a failure leaves."""

import threading
from collections.abc import Iterator

import pytest

from subtitle_rag.base.vectors.batches import split_by_weight, write_batches


@pytest.mark.parametrize("limit", [1, 2, 7])
@pytest.mark.parametrize("count", [0, 1, 2, 20])
def test_every_batch_is_written_once(count: int, limit: int) -> None:
    written: list[int] = []
    write_batches(range(count), written.append, limit)
    assert sorted(written) == list(range(count))


def test_a_batch_is_taken_only_when_it_can_be_written() -> None:
    lock = threading.Lock()
    under_way, most = [0], [0]

    def batches() -> Iterator[int]:
        for number in range(50):
            with lock:
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            yield number

    def write(_number: int) -> None:
        with lock:
            under_way[0] -= 1

    write_batches(batches(), write, 4)
    assert most[0] <= 4
    assert under_way == [0]


def test_the_earliest_failure_is_raised_after_those_under_way() -> None:
    together = threading.Barrier(3)
    written: list[int] = []

    def write(number: int) -> None:
        if number < 3:
            together.wait(30)
        if number in (0, 2):
            raise ValueError(number)
        written.append(number)

    with pytest.raises(ValueError, match=r"^0$"):
        write_batches(range(100), write, 3)
    assert 1 in written
    assert len(written) < 97


def test_batches_end_where_they_would_be_too_heavy() -> None:
    def parts(weights: list[int]) -> list[list[int]]:
        return [list(batch) for batch in split_by_weight(weights, 3, lambda weight: weight, 10)]

    assert parts([]) == []
    assert parts([0] * 7) == [[0] * 3, [0] * 3, [0]]
    assert parts([4, 6, 1, 25, 9, 1, 1]) == [[4, 6], [1], [25], [9, 1], [1]]
