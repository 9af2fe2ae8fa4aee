"""What every implementation of `Index` must do with dense vectors, and with vectors that come and go."""

import json
import math
import random
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from subtitle_rag.base.vectors.named_vectors import MAX_NUMBERS
from subtitle_rag.base.vectors.points import DenseVector, Filter, MultiVector, Point, SparseVector, Vector, VectorSearch
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.interface import Index
from tests.index.points import META, dense, found, pid, search, sparse
from tests.support.cases import cases
from tests.support.same_vectors import same


def test_a_dense_vector_is_compared_by_its_cosine(index: Index) -> None:
    index.insert([Point(pid(n), {"bm25": sparse({1: 1.0})}, {"video": "a"}) for n in (1, 2, 3)])
    index.add_vector("dense-a", 2)
    index.replace_vector("dense-a", {pid(1): dense(10.0, 0.0), pid(2): dense(1.0, 1.0), pid(99): dense(1.0, 0.0)})
    hits = search(index, "dense-a", dense(0.5, 0.0), limit=5)
    assert [hit.id for hit in hits] == [pid(1), pid(2)]
    only = Filter(without=frozenset({pid(1)}))
    assert [hit.id for hit in search(index, "dense-a", dense(0.5, 0.0), limit=5, where=only)] == [pid(2)]
    assert [hit.score for hit in hits] == pytest.approx([1.0, math.sqrt(0.5)], abs=1e-3)
    index.replace_vector("dense-a", {pid(1): dense(0.0, 1.0)})
    assert [hit.id for hit in search(index, "dense-a", dense(1.0, 0.0), limit=5)] == [pid(2), pid(1)]
    assert found(index, 1) == [1, 2, 3]


def test_vectors_are_added_and_dropped_while_points_stay(index: Index) -> None:
    index.insert([Point(pid(1), {"bm25": sparse({1: 1.0})}, {"video": "a"})])
    assert search(index, "dense-b", dense(1.0, 2.0, 3.0), limit=1) == []
    for _twice in range(2):
        index.add_vector("dense-b", 3)
        index.add_vector("sparse-b")
    assert index.vectors() == {"bm25": None, "sparse-a": None, "sparse-b": None, "dense-b": 3}
    index.replace_vector("dense-b", {pid(1): dense(1.0, 2.0, 3.0)})
    for _twice in range(2):
        index.drop_vector("dense-b")
    assert index.vectors() == {"bm25": None, "sparse-a": None, "sparse-b": None}
    assert search(index, "dense-b", dense(1.0, 2.0, 3.0), limit=1) == []
    with pytest.raises(ValueError, match="dense-b"):
        index.replace_vector("dense-b", {pid(1): dense(1.0, 2.0, 3.0)})
    assert found(index, 1) == [1]
    index.add_vector("dense-b", 2)
    with pytest.raises(ValueError, match="dense-b"):
        index.add_vector("dense-b", 3)
    assert search(index, "dense-b", dense(1.0, 2.0), limit=1) == []


@cases(
    ("name", "vector"),
    [
        ("dense-a", dense(1.0, 2.0, 3.0)),
        ("dense-a", dense(0.0, 0.0)),
        ("dense-a", dense(1.0, math.nan)),
        ("dense-a", dense(1e30, 1e30)),
        ("dense-a", SparseVector((1,), (1.0,))),
        ("sparse-a", dense(1.0, 2.0)),
        ("dense-none", dense(1.0, 2.0)),
        ("sparse-none", SparseVector((1,), (1.0,))),
        ("bm25 ", SparseVector((1,), (1.0,))),
    ],
)
def test_a_vector_that_cannot_be_held_is_refused(index: Index, name: str, vector: DenseVector | SparseVector) -> None:
    index.add_vector("dense-a", 2)
    index.insert([Point(pid(n), {"bm25": sparse({1: 1.0})}, {"video": "a"}) for n in (1, 2)])
    with pytest.raises(ValueError, match=name.strip()):
        index.replace_vector(name, {pid(2): vector})
    with pytest.raises(ValueError, match=name.strip()):
        index.insert([Point(pid(7), {"bm25": sparse({1: 1.0})}, {}), Point(pid(8), {name: vector}, {})])
    assert index.count() == 2
    assert search(index, "dense-a", dense(1.0, 0.0), limit=5) == []


@cases(("name", "dimensions"), [("bm25", None), ("dense-a", None), ("sparse-a", 3), ("Dense A", 2)])
def test_a_name_that_says_another_kind_is_refused(index: Index, name: str, dimensions: int | None) -> None:
    with pytest.raises(ValueError, match=name):
        index.add_vector(name, dimensions)


def test_points_are_read_by_id_with_all_that_they_have(index: Index) -> None:
    index.add_vector("dense-a", 2)
    vectors: dict[str, Vector] = {"bm25": sparse({3: 0.5}), "dense-a": dense(0.6, 0.8), "sparse-a": sparse({9: 2.0})}
    index.insert([Point(pid(n), vectors if n == 2 else {}, {"video": "a", "n": n}) for n in (3, 1, 2)])
    first = index.points(limit=2)
    assert [(point.id, point.payload["n"]) for point in first] == [(pid(1), 1), (pid(2), 2)]
    assert first[0].vectors == {}
    held = first[1].vectors
    assert (held["bm25"], held["sparse-a"]) == (vectors["bm25"], vectors["sparse-a"])
    assert isinstance(held["dense-a"], DenseVector)
    assert held["dense-a"].values == pytest.approx((0.6, 0.8), abs=1e-3)
    assert [point.id for point in index.points(pid(2))] == [pid(3)]
    assert index.points(pid(3)) == []


def test_points_are_got_by_their_ids(index: Index) -> None:
    index.add_vector("dense-a", 2)
    own: dict[str, Vector] = {"bm25": sparse({3: 0.5}), "dense-a": dense(0.0, 4.0)}
    index.insert([Point(pid(n), own if n % 2 else {}, {"n": n}) for n in range(1, 301)])
    got = {point.id: point for point in index.get([pid(n) for n in (*range(1, 299), 999)])}
    assert len(got) == 298
    assert (got[pid(3)].payload, got[pid(3)].vectors["bm25"]) == ({"n": 3}, own["bm25"])
    assert got[pid(3)].vectors["dense-a"] == dense(0.0, 1.0)
    assert got[pid(2)].vectors == {}
    assert index.get([]) == []
    with pytest.raises(ValueError, match="window-1"):
        index.get(["window-1"])


# multivectors

WIDTH = 16
PIECE_WIDTH = 128


def spoken_pieces(count: int, seed: int) -> list[list[float]]:
    rng = random.Random(seed)
    return [[rng.gauss(0, 1) for _dimension in range(WIDTH)] for _piece in range(count)]


def unit_rows(count: int, seed: int) -> list[list[float]]:
    rows = np.random.default_rng(seed).normal(size=(count, PIECE_WIDTH))
    unit: list[list[float]] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).tolist()
    return unit


def test_pieces_come_back_and_go_alone(index: Index) -> None:
    index.add_vector("dense-a", 2)
    index.add_vector("pieces-a", WIDTH)
    assert index.vectors() == {"bm25": None, "sparse-a": None, "dense-a": 2, "pieces-a": WIDTH}
    vectors: dict[str, Vector] = {
        "bm25": sparse({1: 1.0}),
        "dense-a": dense(1.0, 0.0),
        "pieces-a": MultiVector.of(spoken_pieces(5, 1)),
    }
    index.insert([Point(pid(n), vectors if n > 1 else {"bm25": sparse({1: 1.0})}, {"n": n}) for n in (1, 2, 3)])
    read = {point.id: point for point in index.points()}
    assert set(read[pid(1)].vectors) == {"bm25"}
    for each in (read[pid(2)], *index.get([pid(2)]), *index.get_neural([pid(2)])):
        assert same(vectors["pieces-a"], each.vectors["pieces-a"], "pieces-a")
    index.replace_vector("pieces-a", {pid(2): MultiVector.of(spoken_pieces(9, 2)), pid(99): vectors["pieces-a"]})
    (changed,) = index.get([pid(2)])
    assert same(MultiVector.of(spoken_pieces(9, 2)), changed.vectors["pieces-a"], "pieces-a")
    assert changed.vectors["dense-a"] == dense(1.0, 0.0)
    index.drop_vector("pieces-a")
    assert index.vectors() == {"bm25": None, "sparse-a": None, "dense-a": 2}
    assert found(index, 1) == [1, 2, 3]


@cases(
    "vector",
    [
        MultiVector(WIDTH, b""),
        MultiVector(WIDTH, b"\0" * (2 * WIDTH + 2)),
        MultiVector(0, b"\0" * 8),
        MultiVector.of([[1.0, 2.0]]),
        MultiVector.of([[math.nan] * WIDTH]),
        MultiVector.of([[math.inf, -math.inf] * (WIDTH // 2)]),
        MultiVector(WIDTH, b"\1\1" * WIDTH * (MAX_NUMBERS // WIDTH + 1)),
        dense(*[1.0] * WIDTH),
        SparseVector((1,), (1.0,)),
    ],
)
def test_pieces_that_cannot_be_held_are_refused(index: Index, vector: Vector) -> None:
    index.add_vector("pieces-a", WIDTH)
    index.insert([Point(pid(1), {"bm25": sparse({1: 1.0})}, {"video": "a"})])
    with pytest.raises(ValueError, match="pieces-a"):
        index.replace_vector("pieces-a", {pid(1): vector})
    with pytest.raises(ValueError, match="pieces-a"):
        index.insert([Point(pid(2), {"pieces-a": vector}, {})])
    assert index.count() == 1


def test_rows_of_different_lengths_are_no_pieces() -> None:
    for rows in ([], [[1.0], [1.0, 2.0]], [[1e9]]):
        with pytest.raises(ValueError, match="pieces"):
            MultiVector.of(rows)


def test_copies_of_pieces_are_bits(tmp_path: Path) -> None:
    with closing(EdgeIndex(tmp_path, META)) as index:
        index.add_vector("dense-a", 2)
        index.add_vector("pieces-a", WIDTH)
        config = json.loads((tmp_path / "shard" / "edge_config.json").read_text())
    assert config["vectors"]["pieces-a"]["quantization_config"] == {"binary": {"memory": "cached"}}
    assert "quantization_config" not in config["vectors"]["dense-a"]
    assert "scalar" in config["quantization_config"]


def test_the_best_piece_of_a_window_counts_and_is_told(index: Index) -> None:
    index.add_vector("pieces-a", PIECE_WIDTH)
    index.insert([Point(pid(n), {"bm25": sparse({1: 1.0})}, {"video": "a"}) for n in range(1, 32)])
    pieces = {pid(n): unit_rows(1 + n % 5, n) for n in range(1, 31)}
    index.replace_vector("pieces-a", {id: MultiVector.of(rows) for id, rows in pieces.items()})
    query = unit_rows(1, 500)[0]
    cosines = {id: (np.array(rows) @ np.array(query)).tolist() for id, rows in pieces.items()}
    named = frozenset(pid(n) for n in (*range(3, 25), 31, 99))
    (hits,) = index.search_all([VectorSearch("pieces-a", MultiVector.of([query]), 100, Filter(only=named))])
    assert {hit.id: hit.score for hit in hits} == pytest.approx(
        {id: max(cosines[id]) for id in named & pieces.keys()}, abs=2e-3
    )
    nearest = {id: values.index(max(values)) for id, values in cosines.items()}
    assert set(nearest.values()) == {0, 1, 2, 3, 4}
    assert index.nearest_parts("pieces-a", dense(*query), named) == {id: nearest[id] for id in named & pieces.keys()}
    assert index.nearest_parts("pieces-none", dense(*query), named) == {}
    assert index.nearest_parts("pieces-a", dense(*query), []) == {}
    with pytest.raises(ValueError, match="not a point id"):
        index.nearest_parts("pieces-a", dense(*query), ["1"])


def test_pieces_come_back_and_take_a_byte_a_dimension(tmp_path: Path) -> None:
    rows = unit_rows(4, 1)
    with closing(EdgeIndex(tmp_path, META)) as index:
        index.add_vector("dense-a", 2)
        index.add_vector("pieces-a", PIECE_WIDTH)
        index.insert([Point(pid(1), {"pieces-a": MultiVector.of(rows)}, {})])
        (read,) = index.get_neural([pid(1)])
    back = read.vectors["pieces-a"]
    assert isinstance(back, MultiVector)
    assert [float(np.array(a) @ np.array(b)) for a, b in zip(rows, back.rows(), strict=True)] == pytest.approx(
        [1.0] * 4, abs=3e-4
    )
    config = json.loads((tmp_path / "shard" / "edge_config.json").read_text())
    kinds = {
        name: (params["datatype"], params.get("quantization_config")) for name, params in config["vectors"].items()
    }
    assert kinds == {"dense-a": ("float16", None), "pieces-a": ("turbo8", {"binary": {"memory": "cached"}})}
