"""A rebuild of the index brings the neural vectors back, as far as they can be read and are still right."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.vectors.named_vectors import vector_names
from subtitle_rag.base.vectors.points import Point
from subtitle_rag.index import index_edge, indexing
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.interface import SCHEMA
from subtitle_rag.index.vector_backup import back_up_vectors, backup_path
from tests.index.encoding.desk import Counting, Desk
from tests.support.invented import end_hosts


def rebuild(desk: Desk) -> None:
    for _event in desk.place.indexer.rebuild():
        pass


def test_a_rebuilt_index_holds_the_vectors_that_it_held(desk: Desk, encoder: Counting) -> None:
    desk.run(encoder)
    before, rows, room = desk.holding(encoder), desk.library.vectors.encoders(), desk.index.vectors()
    encoder.fresh()
    rebuild(desk)
    assert desk.place.sound()
    assert (desk.holding(encoder), desk.library.vectors.encoders(), desk.index.vectors()) == (before, rows, room)
    assert desk.run(encoder)[1].made == 0
    assert not backup_path(desk.library).exists()


def test_what_is_not_right_any_more_is_made_anew(desk: Desk, encoder: Counting) -> None:
    desk.run(encoder)
    encoder.fresh()
    first, second = desk.windows()[:2]
    desk.write_context(first)
    desk.library.vectors.claim(encoder.id, vector_names(encoder.id)[0], [second])
    rebuild(desk)
    assert desk.holding(encoder).keys() == set(desk.windows()) - {first, second}
    desk.clock.now += 1_000  # nobody writes contexts any more
    assert desk.run(encoder)[1].made == len(encoder.read) == 2


@pytest.mark.campaign(part="models")
def test_a_rebuild_that_is_ended_half_way_loses_none(desk: Desk, encoder: Counting) -> None:
    desk.run(encoder)
    before = desk.holding(encoder)
    encoder.fresh()
    events = desk.place.indexer.rebuild()
    next(events)
    events.close()
    assert desk.holding(encoder) == before  # the earlier index stands until the new one does
    rebuild(desk)
    assert desk.holding(encoder) == before
    assert desk.run(encoder)[1].made == 0


def test_an_index_that_has_lost_points_gets_vectors_for_them(desk: Desk, encoder: Counting) -> None:
    desk.run(encoder)
    lost = desk.index.ids("invented000")
    desk.index.delete_videos(["invented000"])
    encoder.fresh()
    rebuild(desk)
    assert desk.place.sound()
    assert desk.run(encoder)[1].made == len(lost) == len(encoder.read)


@pytest.mark.campaign(part="models")
def test_points_that_are_there_keep_their_vectors_when_words_are_analysed_anew(desk: Desk, encoder: Counting) -> None:
    desk.run(encoder)
    before = desk.holding(encoder)
    with desk.library.database.write() as db:
        db.execute("DELETE FROM indexed WHERE vector = 'bm25'")
    list(desk.place.indexer.finish())
    assert desk.holding(encoder) == before
    assert desk.run(encoder)[1].made == 0


def _opened(folder: Path) -> EdgeIndex:
    """When the host that read it has left."""
    from subtitle_rag.base.domain.errors import BusyError
    from subtitle_rag.korean.morphemes import ANALYZER
    from tests.support.invented import came_true

    opened: list[EdgeIndex] = []

    def tried() -> bool:
        try:
            opened.append(EdgeIndex(folder, {"analyzer": ANALYZER}, fresh=True))
        except BusyError:
            return False
        return True

    assert came_true(tried)
    return opened[0]


@pytest.mark.parametrize("text", [json.dumps({"schema": SCHEMA, "analyzer": "an older one"}), None, "[]"])
def test_an_index_of_other_rules_for_words_or_without_its_record_gives_its_vectors_up(
    desk: Desk, encoder: Counting, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.05")
    desk.run(encoder)
    before = desk.holding(encoder)
    folder = desk.place.folder / "index"
    desk.place.index.close()
    (folder / "meta.json").unlink()
    if text is not None:
        (folder / "meta.json").write_text(text)
    back_up_vectors(folder, desk.library)
    end_hosts([folder])
    desk.place.index = _opened(folder)
    rebuild(desk)
    assert desk.holding(encoder) == before


def test_a_rebuild_that_cannot_read_at_the_moment_keeps_all(
    desk: Desk, encoder: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.run(encoder)
    before = desk.holding(encoder)

    def busy(*_arguments: object) -> None:
        raise BusyError("system_limit", path="", reason="")

    with monkeypatch.context() as patch:
        patch.setattr(EdgeIndex, "get_neural", busy)
        with pytest.raises(BusyError):
            rebuild(desk)
    assert desk.holding(encoder) == before
    assert desk.place.sound()


def test_a_rebuild_that_runs_out_of_space_keeps_the_index(
    desk: Desk, encoder: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.run(encoder)
    before = desk.holding(encoder)
    monkeypatch.setattr(indexing, "BATCH", 1)
    events = desk.place.indexer.rebuild()
    next(events)
    with monkeypatch.context() as patch:
        patch.setattr(index_edge, "SPARE_BYTES", 2**62)
        with pytest.raises(BusyError):
            list(events)
        with pytest.raises(BusyError):
            rebuild(desk)
    assert desk.holding(encoder) == before
    assert desk.place.sound()
    assert not backup_path(desk.library).exists()


def test_vectors_in_a_damaged_place_cost_no_others(
    desk: Desk, encoder: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.run(encoder)
    damaged, read = desk.windows()[1], EdgeIndex.get_neural

    def partly(index: EdgeIndex, ids: Sequence[str]) -> list[Point]:
        if damaged in ids:
            raise AppError("index_damaged", path="", reason="")
        return read(index, ids)

    with monkeypatch.context() as patch:
        patch.setattr(EdgeIndex, "get_neural", partly)
        rebuild(desk)
    assert desk.holding(encoder).keys() == set(desk.windows()) - {damaged}


def test_nothing_is_kept_of_an_index_that_cannot_be_read(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text('{"schema": 0}')
    back_up_vectors(tmp_path, desk.library)
    back_up_vectors(tmp_path / "absent", desk.library)
    assert not backup_path(desk.library).exists()
