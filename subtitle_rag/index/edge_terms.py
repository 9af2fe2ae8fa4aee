"""Conversions to and from Qdrant Edge: filters, vectors, the layout of a shard, failures."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.vectors.named_vectors import BM25, has_parts
from subtitle_rag.base.vectors.points import (
    DenseVector,
    Filter,
    Hit,
    MultiVector,
    Point,
    SparseVector,
    Vector,
    VectorSearch,
)
from subtitle_rag.index.index_rules import read_numbers

if TYPE_CHECKING:
    import qdrant_edge

CANDIDATES = 2.0
"""Dense vectors compared exactly per requested hit, after a comparison in bytes."""
MAX_TIES = 10_000
"""Maximum candidates beyond the limit to read, to order ties by id: about 30 ms."""
FEW_CHANNELS = 16
"""Channels compared one by one; for more, the engine builds a set, which takes 3 ms for 40,000 points."""
_OUT_OF_MEMORY = re.compile(r"out of memory|cannot allocate memory|can't start new thread", re.IGNORECASE)
"""Messages of the engine and Python for lack of memory, without an error number."""


def as_app_error(folder: Path, error: BaseException) -> AppError:
    """Return the typed failure for an error of the engine (bare Exceptions with a text, panics) or the system."""
    message = " ".join(str(error).split()) or type(error).__name__
    text = message[:300]
    if "WouldBlock" in message:
        return BusyError("locked", path=str(folder))
    match = re.search(r"(?:os error |Errno |WinError |Os { code: )(\d+)", message)
    number = match[1] if match else ""
    # EAGAIN, ENOMEM, ENFILE, EMFILE, and their numbers on macOS (35) and Windows (8, 14, 1450, 1455)
    if number in {"11", "12", "23", "24", "35", "8", "14", "1450", "1455"} or _OUT_OF_MEMORY.search(message):
        return BusyError("system_limit", path=str(folder), reason=text)
    if number == "5" and not isinstance(error, PermissionError):  # EIO; also Windows' ERROR_ACCESS_DENIED
        return BusyError("disk_error", path=str(folder), reason=text)
    if number in {"28", "112", "122"}:  # ENOSPC, Windows' ERROR_DISK_FULL, EDQUOT
        return BusyError("disk_full", path=str(folder))
    if number in {"13", "30"} or isinstance(error, PermissionError | NotADirectoryError | FileExistsError):
        reason = getattr(error, "strerror", None) or text
        return BusyError("library_readonly", path=str(folder), reason=reason)
    return AppError("index_damaged", path=str(folder), reason=text)


@contextmanager
def translated(folder: Path) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise BusyError("system_limit", path=str(folder), reason="Cannot allocate memory") from error
    except BaseException as error:
        # the engine raises bare Exceptions and, in a panic, a BaseException; other errors are not the data's fault
        panic = type(error).__name__ == "PanicException"
        if type(error) is Exception or isinstance(error, OSError) or panic:
            raise as_app_error(folder, error) from error
        raise


def edge_filter(where: Filter) -> "qdrant_edge.Filter":
    import qdrant_edge as edge

    must: list[Any] = []
    few: list[Any] = []
    if len(where.channels) > FEW_CHANNELS:
        must.append(edge.FieldCondition("channel_id", match=edge.MatchAny(list(where.channels))))
    else:
        few = [edge.FieldCondition("channel_id", match=edge.MatchValue(id)) for id in where.channels]
    if where.videos:
        must.append(edge.FieldCondition("video", match=edge.MatchAny(list(where.videos))))
    if where.after or where.before:
        first = f"{where.after}T00:00:00Z" if where.after else None
        last = f"{where.before}T23:59:59.999999Z" if where.before else None
        must.append(edge.FieldCondition("published", range=edge.RangeDateTime(gte=first, lte=last)))
    if where.only is not None:
        must.append(edge.HasIdCondition(set(where.only)))
    without: list[Any] = [edge.HasIdCondition(set(where.without))] if where.without else []
    return edge.Filter(must=must, must_not=without, min_should=edge.MinShould(few, 1) if few else None)


def edge_vector(vector: Vector) -> "qdrant_edge.SparseVector | list[float] | list[list[float]]":
    import qdrant_edge as edge

    if isinstance(vector, DenseVector):
        return list(vector.values)
    if isinstance(vector, MultiVector):
        return vector.rows()
    return edge.SparseVector(list(vector.indices), list(vector.values))


def point_from(record: "qdrant_edge.Record") -> Point:
    vectors = {
        name: read_numbers(value)
        if isinstance(value, list)
        else SparseVector(tuple(value.indices), tuple(value.values))
        for name, value in (record.vector if isinstance(record.vector, dict) else {}).items()
    }
    return Point(str(record.id), vectors, record.payload or {})


def shard_config() -> "qdrant_edge.EdgeConfig":
    """Return the configuration of a new shard.

    Half-precision weights in mapped files save 300 MB at 100,000 windows of 390 terms, and are as fast. A dense vector
    costs each point 2 KB even while empty, so it is added with the first encoder. HNSW is off: at 100,000 points it
    costs a minute of both cores and saves a query 4 ms. `optimize` adds 1 KB of bytes to each dense vector, which a
    search compares first: 7 ms at 100,000 points instead of 10, or with a filter 6 instead of 11.
    """
    import qdrant_edge as edge

    half, mapped = edge.VectorStorageDatatype.Float16, edge.Memory.Cached
    bm25 = edge.EdgeSparseVectorParams(datatype=half, memory=mapped, modifier=edge.Modifier.Idf)
    none = edge.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000)
    to_bytes = edge.ScalarQuantizationConfig(edge.ScalarType.Int8, memory=mapped)
    return edge.EdgeConfig(sparse_vectors={BM25: bm25}, hnsw_config=none, quantization_config=to_bytes)


def datatype(name: str) -> "qdrant_edge.VectorStorageDatatype":
    """Return how to store the numbers of a dense vector or multivector.

    Pieces take a byte per dimension: their cosines are exact to 0.0002 (384 dimensions), while those of candidates
    differ by 0.04.
    """
    import qdrant_edge as edge

    return edge.VectorStorageDatatype.Turbo8 if has_parts(name) else edge.VectorStorageDatatype.Float16


def multivector_config(layout: Mapping[str, int | None]) -> "qdrant_edge.EdgeConfig":
    """Return a configuration that keeps the copies of multivectors small, and changes nothing else.

    `optimize` copies every dense vector in the form that `shard_config` sets, and this cannot be turned off. Bytes
    would need half as much disk again, bits a sixteenth. No search reads the copies: by bits alone, half of the best
    ten of 300 windows would differ, and ordering 300 exactly takes 4 ms.
    """
    import qdrant_edge as edge

    bits = edge.BinaryQuantizationConfig(memory=edge.Memory.Cached)
    params = {
        name: edge.EdgeVectorParams(
            dimensions,
            edge.Distance.Cosine,
            datatype=datatype(name),
            multivector_config=max_sim() if has_parts(name) else None,
            quantization_config=bits if has_parts(name) else None,
        )
        for name, dimensions in layout.items()
        if dimensions is not None
    }
    return edge.EdgeConfig(vectors=params)


def max_sim() -> "qdrant_edge.MultiVectorConfig":
    import qdrant_edge as edge

    return edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim)


def read_layout(shard: Path) -> dict[str, int | None]:
    """Read the layout of the shard in this folder from the engine's own file, in the form of `Index.vectors`.

    Raises OSError, ValueError, KeyError, TypeError.
    """
    config = json.loads((shard / "edge_config.json").read_text(encoding="utf-8"))
    dense = {name: int(params["size"]) for name, params in config["vectors"].items()}
    return {**dense, **dict.fromkeys(config["sparse_vectors"])}


def nearest(shard: "qdrant_edge.EdgeShard", search: VectorSearch) -> list[Hit]:
    """Return the hits in the order of `Index.search_all`."""
    import qdrant_edge as edge

    nearest = edge.Query.Nearest(edge_vector(search.query), using=search.name)
    condition = edge_filter(search.where)
    exact_scores = edge.QuantizationSearchParams(ignore=False, rescore=True, oversampling=CANDIDATES)
    if isinstance(search.query, MultiVector):
        exact_scores = edge.QuantizationSearchParams(ignore=True)
    params = None if isinstance(search.query, SparseVector) else edge.SearchParams(quantization=exact_scores)

    def read(count: int) -> "list[qdrant_edge.ScoredPoint]":
        request = edge.QueryRequest(limit=count, query=nearest, filter=condition, with_payload=False, params=params)
        return shard.query(request)

    return best(search.limit, read)


def best(limit: int, read: "Callable[[int], Sequence[qdrant_edge.ScoredPoint]]") -> list[Hit]:
    """Return the hits, best first, ties by id. `read(count)` returns the engine's best, in order.

    A third more than the limit is read, since words often have equal scores at the cut, and a second request would cost
    more. If the ties go on, more are read until they end or `MAX_TIES` is reached. Ids are read only for hits and ties,
    because the engine rebuilds an id each time.
    """
    count = limit + limit // 3 + 1
    points = read(count)
    while len(points) == count and points[-1].score == points[limit - 1].score and count < limit + MAX_TIES:
        count = min(limit + MAX_TIES, count * 4 + 64)
        points = read(count)
    cut = points[limit - 1].score if len(points) >= limit else -math.inf
    top = sorted((-point.score, str(point.id)) for point in points if point.score >= cut)[:limit]
    return [Hit(point_id, -score) for score, point_id in top]
