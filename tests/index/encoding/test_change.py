"""Which encoder's vectors are searched: the first at once, another one when its own are whole."""

from pathlib import Path

import pytest

from subtitle_rag.base.vectors.named_vectors import vector_names
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.models.neural.protocols import Encoder
from tests.index.encoding.desk import Counting, Desk
from tests.support.invented import caption_folder

pytestmark = pytest.mark.models


def half(desk: Desk, *encoders: Counting) -> int:
    """Make half of the first one's vectors."""
    count = len(desk.windows()) // 2
    assert desk.run(*encoders, chosen=WindowSelection(limit=count))[1].made == count
    return count


def names(desk: Desk) -> set[str]:
    return set(desk.index.vectors()) - {"bm25"}


def of(*encoders: Encoder) -> set[str]:
    return {name for encoder in encoders for name in vector_names(encoder.id)}


def test_another_encoder_takes_over_when_its_vectors_are_whole(desk: Desk, encoder: Counting, other: Counting) -> None:
    desk.run(encoder)
    count = half(desk, other, encoder)
    assert desk.library.vectors.active() == encoder.id
    assert names(desk) == of(encoder, other)
    assert len(desk.holding(encoder)) == len(desk.windows())
    _events, report = desk.run(other, encoder)
    assert (report.made, len(other.read)) == (len(desk.windows()) - count, len(desk.windows()))
    assert desk.library.vectors.active() == other.id
    assert names(desk) == of(other)
    assert desk.library.vectors.encoders().keys() == {other.id}
    assert len(desk.holding(other)) == len(desk.windows())


def test_going_back_half_way_loses_nothing(desk: Desk, encoder: Counting, other: Counting) -> None:
    desk.run(encoder)
    count = half(desk, other, encoder)
    encoder.fresh()
    desk.run(encoder, other)
    assert encoder.read == []
    assert desk.library.vectors.active() == encoder.id
    assert len(desk.holding(other)) == count
    other.fresh()
    desk.run(other, encoder)
    assert len(other.read) == len(desk.windows()) - count


def test_what_comes_in_during_a_change_gets_vectors_of_the_new_encoder_alone(
    desk: Desk, encoder: Counting, other: Counting, tmp_path: Path
) -> None:
    desk.run(encoder)
    half(desk, other, encoder)
    file = next(caption_folder(tmp_path / "more", 6, minutes=2, seed=9).glob("*invented005*"))
    desk.place.run(file)
    encoder.fresh()
    _events, report = desk.run(other, encoder)
    assert (encoder.read, report.left) == ([], 0)
    assert desk.library.vectors.active() == other.id
    assert desk.holding(other).keys() == set(desk.windows())


def test_an_encoder_that_never_came_far_is_not_gone_on_with(desk: Desk, encoder: Counting, other: Counting) -> None:
    count = half(desk, encoder)
    encoder.fresh()
    desk.run(other, encoder)
    assert (len(encoder.read), len(other.read)) == (0, len(desk.windows()))
    assert desk.library.vectors.active() == other.id
    assert count < len(desk.windows())


def test_an_encoder_takes_over_at_once_where_the_other_one_is_gone(
    desk: Desk, encoder: Counting, other: Counting
) -> None:
    desk.run(encoder)
    events = desk.job(other).run()
    next(events)
    assert desk.library.vectors.active() == other.id
    assert len(desk.holding(encoder)) == len(desk.windows())  # it may come back
    list(events)
    assert names(desk) == of(other)


def test_one_that_came_back_is_searched_again_at_once(desk: Desk, encoder: Counting, other: Counting) -> None:
    desk.run(encoder)
    encoder.fresh()
    half(desk, other)
    desk.run(encoder, other)
    assert (desk.library.vectors.active(), encoder.read) == (encoder.id, [])
    assert len(desk.holding(encoder)) == len(desk.windows())


def test_nothing_is_taken_for_whole_while_the_index_is_being_rebuilt(
    desk: Desk, encoder: Counting, other: Counting
) -> None:
    desk.run(encoder)
    desk.library.forget_index()
    desk.run(other, encoder)
    assert desk.library.vectors.active() == encoder.id


def test_vectors_that_nobody_knows_of_are_dropped(desk: Desk, encoder: Counting) -> None:
    desk.index.add_vector("dense-0badc0de", 4)
    desk.index.add_vector("sparse-0badc0de")
    desk.run(encoder)
    assert names(desk) == of(encoder)
