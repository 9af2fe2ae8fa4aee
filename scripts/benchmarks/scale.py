"""Measures the bytes that a window takes on the disk and in memory, by kind of vector, with made-up vectors.

    scripts/bench scale [--windows 20000]

Each kind fills an engine of its own, the one that a Qdrant server runs, in a process of its own. The same windows with
one term alone are taken off; what is left is the vector's. Memory is what cannot be evicted (anonymous).
"""

import os
import random
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, in_new_process
from scripts.benchmarks._made_up import MadeUpVectors
from tests.support.terminal import memory

DIMENSIONS = 1024
SPARSE = {"sparse": (250_000, 100), "BM25": (200_000, 80)}
"""Terms in the vocabulary, and in a window."""
BATCH = 500
NAME = "v"


def config(kind: str) -> Any:
    import qdrant_edge as edge

    half = edge.VectorStorageDatatype.Float16
    sparse: dict[str, Any] = {"one": edge.EdgeSparseVectorParams(datatype=half)}
    if kind in SPARSE:
        modifier = edge.Modifier.Idf if kind == "BM25" else None
        sparse[NAME] = edge.EdgeSparseVectorParams(datatype=half, modifier=modifier)
    if not kind.startswith("dense"):
        return edge.EdgeConfig(sparse_vectors=sparse)
    graph = edge.HnswIndexConfig(m=16 if "HNSW" in kind else 0, ef_construct=100, full_scan_threshold=1_000)
    small: Any = None
    if "scalar" in kind:
        small = edge.ScalarQuantizationConfig(type=edge.ScalarType.Int8, quantile=0.99, always_ram=True)
    elif "binary" in kind:
        small = edge.BinaryQuantizationConfig(always_ram=True)
    dense = edge.EdgeVectorParams(
        DIMENSIONS, edge.Distance.Cosine, on_disk=True, datatype=half, hnsw_config=graph, quantization_config=small
    )
    return edge.EdgeConfig(vectors={NAME: dense}, sparse_vectors=sparse)


def vectors(kind: str, count: int) -> Iterator[Any]:
    import qdrant_edge as edge

    made_up = MadeUpVectors(DIMENSIONS)
    for _window in range(count):
        if kind in SPARSE:
            sparse = made_up.sparse(*SPARSE[kind])
            yield edge.SparseVector(list(sparse.indices), list(sparse.values))
        else:
            yield list(made_up.dense().values) if kind.startswith("dense") else None


def fill(kind: str, count: int, folder: str) -> None:
    import qdrant_edge as edge

    shard = edge.EdgeShard.create(folder, config(kind))
    ids, every = random.Random(1), vectors(kind, count)
    while batch := list(islice(every, BATCH)):
        points = []
        for vector in batch:
            of_point: dict[str, Any] = {"one": edge.SparseVector([1], [1.0])}
            if vector is not None:
                of_point[NAME] = vector
            points.append(edge.Point(UUID(int=ids.getrandbits(128)), of_point, {"video": "v", "text": "가" * 60}))
        shard.update(edge.UpdateOperation.upsert_points(points))
    shard.flush()
    shard.optimize()
    shard.close()


def anonymous_bytes(folder: str) -> float:
    """Return the anonymous memory of an open index."""
    import qdrant_edge as edge

    def read() -> float:
        return 2**20 * memory(os.getpid())["RssAnon"]

    before = read()
    shard = edge.EdgeShard.load(folder)
    resident = read() - before
    shard.close()
    return resident


def disk_bytes(folder: str) -> int:
    """Return the disk space of the files, without the write-ahead log, whose size is fixed."""
    files = [path for path in Path(folder).rglob("*") if path.is_file() and "wal" not in path.parts]
    return sum(512 * path.stat().st_blocks for path in files)


def measured(kind: str, count: int) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="subtitle-rag-scale-") as folder:
        in_new_process(fill, kind, count, folder)
        return disk_bytes(folder) / count, in_new_process(anonymous_bytes, folder) / count


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--windows", type=int, default=20_000)
    count = parser.parse_args().windows
    with _frame.machine(f"{count:,} windows"):
        table = Table("vector", "bytes a window on disk", "in memory")
        disk, in_memory = measured("none", count)
        table.row("none (id, payload)", f"{disk:,.0f}", f"{in_memory:,.0f}")
        kinds = ("dense float16", "dense float16, HNSW", "dense float16, scalar", "dense float16, binary", *SPARSE)
        for kind in kinds:
            more_disk, more_memory = measured(kind, count)
            table.row(kind, f"{more_disk - disk:,.0f}", f"{more_memory - in_memory:,.0f}")
