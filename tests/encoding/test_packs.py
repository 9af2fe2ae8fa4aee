"""Vectors go with a pack, and are taken over where encoder and passage are the same."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.migrating import same
from subtitle_rag.packing.packer import PackSelection
from subtitle_rag.retrieval import pieces
from subtitle_rag.retrieval.korean.lexical import QueryAnalyzer
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from subtitle_rag.retrieval.named_vectors import multivector_name, piece_id, vector_names
from subtitle_rag.retrieval.search.query import parse_query
from subtitle_rag.retrieval.search.searcher import Searcher
from tests.encoding.desk import Counting, Desk
from tests.support.models_here import Here
from tests.support.packs import context_of, everything, pack, unpack, with_contexts
from tests.support.place import Place


@pytest.fixture
def receiver(tmp_path: Path, analyzer: Analyzer) -> Iterator[Desk]:
    with closing(Place.at(tmp_path / "receiver", analyzer)) as place:
        yield Desk(place)


def ranked(desk: Desk, encoder: Counting) -> list[list[tuple[str, float]]]:
    """Ids and scores of the hits by words, dense and sparse vectors, in order."""
    analyzer = QueryAnalyzer(desk.library, desk.place.analyzer)
    searcher = Searcher(desk.library, desk.index, analyzer, Here([encoder]))
    return [
        [
            (entry.window_id, entry.score)
            for entry in searcher.rank(parse_query(query), depth=50, retrievers=(retriever,))
        ]
        for query in ("국수를 먹었어요", "할머니 시장", "캠핑")
        for retriever in ("bm25", "dense", "sparse")
    ]


def test_an_unpacked_library_ranks_by_meaning_like_the_packed_one(
    desk: Desk, receiver: Desk, encoder: Counting, tmp_path: Path
) -> None:
    with_contexts(desk.place)
    desk.run(encoder)
    packed = pack(desk.place, tmp_path / "a.pack", everything(desk.place, vectors=True))
    assert packed.vectors == packed.windows == len(desk.windows())
    encoder.fresh()
    report = unpack(receiver.place, tmp_path / "a.pack", encoders=[encoder.id])
    assert (report.vectors, report.vectors_left_out) == (packed.vectors, 0)
    assert receiver.holding(encoder) == desk.holding(encoder)
    assert receiver.library.vectors.active() == encoder.id
    expected, found = ranked(desk, encoder), ranked(receiver, encoder)
    assert all(expected)
    for before, after in zip(expected, found, strict=True):
        assert [id for id, _score in after] == [id for id, _score in before]
        assert [score for _id, score in after] == pytest.approx([score for _id, score in before], rel=1e-6)
    assert encoder.read == []
    assert receiver.run(encoder)[1].made == 0
    again = unpack(receiver.place, tmp_path / "a.pack", encoders=[encoder.id])
    assert (again.vectors, again.vectors_left_out) == (0, 0)


def test_token_vectors_go_with_a_pack(desk: Desk, receiver: Desk, encoder_folder: Path, tmp_path: Path) -> None:
    encoder = Counting.of(encoder_folder, "/pooled")
    desk.run(encoder)
    pack(desk.place, tmp_path / "a.pack", everything(desk.place, vectors=True))
    unpack(receiver.place, tmp_path / "a.pack", encoders=[encoder.id])
    assert receiver.holding(encoder) == desk.holding(encoder)


def test_vectors_of_another_encoder_or_passage_are_left_out(
    desk: Desk, receiver: Desk, encoder: Counting, tmp_path: Path
) -> None:
    desk.run(encoder)
    packed = pack(desk.place, tmp_path / "a.pack", everything(desk.place, vectors=True))
    report = unpack(receiver.place, tmp_path / "a.pack", encoders=["another@00000000"])
    assert (report.vectors, report.vectors_left_out) == (0, packed.vectors)
    assert receiver.library.vectors.active() is None
    first = receiver.library.windows_of("invented000")[0]
    receiver.library.contexts.put(context_of(first, "바다에서 문어를 잡습니다."))
    report = unpack(receiver.place, tmp_path / "a.pack", encoders=[encoder.id])
    assert (report.vectors, report.vectors_left_out) == (packed.vectors - 1, 1)
    assert receiver.run(encoder)[1].made == 1  # what is left out is made anew


def test_vectors_of_another_size_than_the_index_has_are_left_out(
    desk: Desk, receiver: Desk, encoder: Counting, tmp_path: Path
) -> None:
    desk.run(encoder)
    packed = pack(desk.place, tmp_path / "a.pack", everything(desk.place, vectors=True))
    receiver.index.add_vector(vector_names(encoder.id)[0], 7)
    report = unpack(receiver.place, tmp_path / "a.pack", encoders=[encoder.id])
    assert (report.vectors, report.vectors_left_out) == (0, packed.vectors)
    assert receiver.place.sound()


def test_vectors_are_in_a_pack_only_if_wanted(desk: Desk, encoder: Counting, tmp_path: Path) -> None:
    desk.run(encoder)
    assert pack(desk.place, tmp_path / "a.pack").vectors == 0
    some: Any = PackSelection(videos=("invented000",), vectors=True)
    assert pack(desk.place, tmp_path / "a.pack", some).vectors == len(desk.library.windows_of("invented000"))


def test_vectors_of_pieces_go_with_a_pack_where_they_are_wanted(
    desk: Desk, receiver: Desk, encoder: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "has_pieces", True)
    with_contexts(desk.place)
    desk.run(encoder)
    packed = pack(desk.place, tmp_path / "a.pack", everything(desk.place, vectors=True))
    assert packed.vectors == 2 * packed.windows
    report = unpack(receiver.place, tmp_path / "a.pack", encoders=[encoder.id])
    assert (report.vectors, report.vectors_left_out) == (packed.windows, packed.windows)
    report = unpack(receiver.place, tmp_path / "a.pack", encoders=[encoder.id, piece_id(encoder.id)])
    assert (report.vectors, report.vectors_left_out) == (packed.windows, 0)
    encoder.fresh()
    assert receiver.run(encoder)[1].pieces == 0
    assert encoder.read == []
    name = multivector_name(piece_id(encoder.id))
    for one, other in zip(desk.index.get(desk.windows()), receiver.index.get(desk.windows()), strict=True):
        assert same(one.vectors[name], other.vectors[name], name)


def test_pieces_of_another_passage_are_left_out(
    desk: Desk, receiver: Desk, encoder: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "has_pieces", True)
    desk.run(encoder)
    packed = pack(desk.place, tmp_path / "a.pack", everything(desk.place, vectors=True))
    monkeypatch.setattr(pieces, "PIECE_MS", 20_000)
    report = unpack(receiver.place, tmp_path / "a.pack", encoders=[encoder.id, piece_id(encoder.id)])
    assert report.vectors >= packed.windows
    assert 0 < report.vectors_left_out <= packed.windows
    assert report.vectors + report.vectors_left_out == packed.vectors
