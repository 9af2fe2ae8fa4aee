"""Measures the bytes that a window takes on the disk and in memory, by kind of vector, with made-up vectors.

    scripts/bench scale [--windows 20000]

Each kind fills an engine of its own, the one that a Qdrant server runs, in a process of its own. The same windows with
one term alone are taken off; what is left is the vector's. Memory is what cannot be evicted (anonymous).
"""

import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, in_new_process
from tests.support.terminal import memory

DIMENSIONS, TOPICS, NOISE = 1024, 200, 0.8
SPARSE = {"sparse": (250_000, 100), "BM25": (200_000, 80)}
"""Terms in all, and in a window."""
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
    import numpy as np
    import qdrant_edge as edge

    numbers = np.random.default_rng(1)
    if kind.startswith("dense"):
        topics = numbers.normal(size=(TOPICS, DIMENSIONS))
        for _window in range(count):
            yield (topics[numbers.integers(TOPICS)] + NOISE * numbers.normal(size=DIMENSIONS)).tolist()
    elif kind in SPARSE:
        terms, in_window = SPARSE[kind]
        for _window in range(count):
            drawn = sorted(set((numbers.zipf(1.3, size=3 * in_window) % terms).tolist()))[:in_window]
            yield edge.SparseVector(drawn, numbers.uniform(0.05, 0.4, size=len(drawn)).tolist())
    else:
        for _window in range(count):
            yield None


def fill(kind: str, count: int, folder: str) -> None:
    import qdrant_edge as edge

    shard = edge.EdgeShard.create(folder, config(kind))
    ids, points = random.Random(1), []
    for vector in vectors(kind, count):
        named: dict[str, Any] = {"one": edge.SparseVector([1], [1.0])}
        if vector is not None:
            named[NAME] = vector
        points.append(edge.Point(UUID(int=ids.getrandbits(128)), named, {"video": "v", "text": "가" * 60}))
        if len(points) == BATCH:
            shard.update(edge.UpdateOperation.upsert_points(points))
            points = []
    if points:
        shard.update(edge.UpdateOperation.upsert_points(points))
    shard.flush()
    shard.optimize()
    shard.close()


def anonymous_bytes(folder: str) -> float:
    """Return what an opened index takes."""
    import qdrant_edge as edge

    def read() -> float:
        return 2**20 * memory(os.getpid())["RssAnon"]

    before = read()
    shard = edge.EdgeShard.load(folder)
    taken = read() - before
    shard.close()
    return taken


def disk_bytes(folder: str) -> int:
    """What the files occupy, without the write-ahead log, which is of one size."""
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
        disk, taken = measured("none", count)
        table.row("none (id, payload)", f"{disk:,.0f}", f"{taken:,.0f}")
        kinds = ("dense float16", "dense float16, HNSW", "dense float16, scalar", "dense float16, binary", *SPARSE)
        for kind in kinds:
            more_disk, more_memory = measured(kind, count)
            table.row(kind, f"{more_disk - disk:,.0f}", f"{more_memory - taken:,.0f}")
