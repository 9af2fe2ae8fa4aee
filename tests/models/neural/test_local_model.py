"""Who goes first, and how texts are cut into passes."""

import threading

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.models.neural.local_model import PASSAGE, QUERY, RERANK, PriorityLock, passes
from tests.support.invented import came_true


def waiting(turns: PriorityLock, rank: int, order: list[int]) -> threading.Thread:
    """A thread that waits for its turn and then writes down its rank."""

    def work() -> None:
        with turns.take(rank):
            order.append(rank)

    before = turns._waiting[rank]
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert came_true(lambda: turns._waiting[rank] == before + 1)
    return thread


def test_of_those_that_wait_a_query_goes_first_and_a_passage_last() -> None:
    turns, order = PriorityLock(), list[int]()
    with turns.take(PASSAGE):
        threads = [waiting(turns, rank, order) for rank in (PASSAGE, RERANK, PASSAGE, QUERY, RERANK, QUERY)]
        assert order == []
    for thread in threads:
        thread.join(10)
    assert order == [QUERY, QUERY, RERANK, RERANK, PASSAGE, PASSAGE]


def test_a_turn_that_fails_is_over() -> None:
    turns = PriorityLock()
    with pytest.raises(ValueError, match="no"), turns.take(PASSAGE):
        raise ValueError("no")
    with turns.take(PASSAGE):
        pass


@given(st.lists(st.integers(0, 600), max_size=60), st.integers(1, 2000))
def test_passes_hold_every_text_once_and_no_more_tokens_than_allowed(lengths: list[int], tokens: int) -> None:
    made = list(passes(lengths, tokens))
    assert sorted(at for batch in made for at in batch) == list(range(len(lengths)))
    longest = [max(lengths[at] for at in batch) for batch in made]
    assert longest == sorted(longest, reverse=True)
    for batch, length in zip(made, longest, strict=True):
        assert len(batch) == 1 or len(batch) * length <= tokens
