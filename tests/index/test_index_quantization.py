"""Bytes in place of dense vectors: they choose what is compared, and the order is that of the vectors themselves."""

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import qdrant_edge as edge

from subtitle_rag.base.vectors.points import DenseVector, Filter, Point
from subtitle_rag.index import edge_terms
from subtitle_rag.index.edge_terms import shard_config
from subtitle_rag.index.index_edge import EdgeIndex
from tests.index.points import META, dense, pid, search, sparse

POINTS, DIMENSIONS = 1_500, 64


def config_of_small_segments() -> edge.EdgeConfig:
    """The shipped one, but a tenth of a megabyte is worth bytes instead of twenty."""
    shipped = shard_config()
    return edge.EdgeConfig(
        sparse_vectors=shipped.sparse_vectors,
        hnsw_config=shipped.hnsw_config,
        quantization_config=shipped.quantization_config,
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=100),
    )


def vectors() -> Iterator[DenseVector]:
    rng = random.Random(1)
    while True:
        yield dense(*(rng.gauss(0, 1) for _dimension in range(DIMENSIONS)))


def test_the_order_by_bytes_is_that_by_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_terms, "shard_config", config_of_small_segments)
    made = vectors()
    queries = [next(made) for _query in range(10)]
    filters = [Filter(), Filter(videos=("v1",)), Filter(only=frozenset(map(pid, range(1, 200))))]
    with closing(EdgeIndex(tmp_path, META)) as index:
        index.add_vector("dense-a", DIMENSIONS)
        index.insert(
            [
                Point(pid(n), {"bm25": sparse({1: 1.0}), "dense-a": next(made)}, {"video": f"v{n % 3}"})
                for n in range(1, POINTS + 1)
            ]
        )

        def hits() -> list[list[tuple[str, float]]]:
            return [
                [(hit.id, hit.score) for hit in search(index, "dense-a", query, limit=40, where=where)]
                for query in queries
                for where in filters
            ]

        before = hits()
        assert not list(tmp_path.rglob("quantized.data"))
        assert index.optimize()
        assert list(tmp_path.rglob("quantized.data"))
        after = hits()
        assert [[id for id, _score in each] for each in after] == [[id for id, _score in each] for each in before]
        for each, exact in zip(after, before, strict=True):
            assert [score for _id, score in each] == pytest.approx([score for _id, score in exact], rel=1e-5)
