"""Rules of every implementation of `Index`: validation, the meta record, and the order of hits. Pure functions."""

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from subtitle_rag.errors import AppError
from subtitle_rag.retrieval.index import SCHEMA, DenseVector, Filter, Hit, Point, SparseVector, Vector

BM25 = "bm25"
"""The named vector of every collection; others are added later."""
_ADDED = re.compile(r"(dense|sparse)-[0-9a-z-]{1,40}")
MAX_DIMENSIONS = 65_536
FLOAT32_MAX = 3.4028234e38
U32_MAX = 2**32 - 1
MAX_TIES = 10_000
"""Maximum of candidates beyond the limit that are read to order ties by id: about 30 ms."""


def check_id(point_id: str) -> None:
    """Raise ValueError unless `point_id` is a UUID in canonical form (lower case, with hyphens)."""
    try:
        canonical = str(UUID(point_id)) == point_id
    except (ValueError, AttributeError, TypeError):  # the last two: not a string
        canonical = False
    if not canonical:
        raise ValueError(f"not a point id: {point_id!r}")


def check_name(name: str, dimensions: int | None = None) -> None:
    """Raise ValueError unless this is a name for a dense vector with `dimensions`, or for a sparse one without."""
    kind = _ADDED.fullmatch(name)
    if kind is None or (kind[1] == "dense") != (dimensions is not None):
        raise ValueError(f"no vector can be called {name!r} with dimensions {dimensions}")
    if dimensions is not None and not 1 <= dimensions <= MAX_DIMENSIONS:
        raise ValueError(f"{name}: {dimensions} dimensions")


def check_vector(name: str, vector: Vector) -> None:
    """Raise ValueError unless `vector` is valid for `name`."""
    kind = _ADDED.fullmatch(name)
    if name != BM25 and kind is None:
        raise ValueError(f"no vector is called {name!r}")
    if isinstance(vector, DenseVector) != (kind is not None and kind[1] == "dense"):
        raise ValueError(f"{name} holds no {type(vector).__name__}")
    if isinstance(vector, DenseVector):
        _check_dense(name, vector)
    else:
        _check_sparse(name, vector)


def _check_dense(name: str, vector: DenseVector) -> None:
    values = vector.values
    if set(map(type, values)) - {float, int} or not all(-FLOAT32_MAX <= value <= FLOAT32_MAX for value in values):
        raise ValueError(f"{name}: a value is not a finite 32-bit number")
    # a cosine needs a length, which the engine computes in 32 bits
    if not 1e-12 < math.fsum(value * value for value in values) < FLOAT32_MAX:
        raise ValueError(f"{name}: the vector's length cannot be computed")


def _check_sparse(name: str, vector: SparseVector) -> None:
    indices, values = vector.indices, vector.values
    if len(indices) != len(values) or len(set(indices)) != len(indices):
        raise ValueError(f"{name}: indices must be unique and as many as values")
    if set(map(type, indices)) - {int} or not 0 <= min(indices, default=0) <= max(indices, default=0) <= U32_MAX:
        raise ValueError(f"{name}: an index is not an unsigned 32-bit number")
    # a comparison with NaN is false, and float32 turns greater numbers into infinity
    if set(map(type, values)) - {float, int} or not all(-FLOAT32_MAX <= value <= FLOAT32_MAX for value in values):
        raise ValueError(f"{name}: a value is not a finite 32-bit number")


def check_points(points: Sequence[Point]) -> None:
    """Raise ValueError for the first invalid point."""
    for point in points:
        for name, vector in point.vectors.items():
            check_vector(name, vector)
        check_payload(point.id, point.payload)


def check_vectors(name: str, vectors: Mapping[str, Vector]) -> None:
    """Raise ValueError for the first invalid id or vector (point id → vector)."""
    for point_id, vector in vectors.items():
        check_id(point_id)
        check_vector(name, vector)


def check_payloads(payloads: Mapping[str, dict[str, Any]]) -> None:
    """Raise ValueError for the first invalid id or payload (point id → payload)."""
    for point_id, payload in payloads.items():
        check_payload(point_id, payload)


def check_payload(point_id: str, payload: dict[str, Any]) -> None:
    """Raise ValueError unless the payload survives a JSON round trip: text keys, lists, no tuples, finite numbers."""
    check_id(point_id)
    try:
        text = json.dumps(payload, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError) as error:
        raise ValueError(f"payload of {point_id}: {error}") from error
    if json.loads(text) != payload or not isinstance(payload, dict):
        raise ValueError(f"payload of {point_id} does not come back from JSON as it is")


def check_layout(layout: Mapping[str, int | None], name: str, vector: Vector) -> None:
    """Raise ValueError unless the vector fits the layout, in the form of `Index.vectors`."""
    if name not in layout:
        raise ValueError(f"there is no vector {name}")
    if isinstance(vector, DenseVector) and len(vector.values) != layout[name]:
        raise ValueError(f"{name} has {layout[name]} dimensions, not {len(vector.values)}")


def finds_nothing(name: str, query: Vector, limit: int, where: Filter) -> bool:
    """Return whether a search has no hits by its arguments alone; raises ValueError for invalid ones."""
    check_vector(name, query)
    for point_id in (*(where.only or ()), *where.without):
        check_id(point_id)
    empty = not isinstance(query, DenseVector) and not query.indices
    return limit < 1 or empty or where.only == frozenset()


def read_vectors(named: Any) -> dict[str, Vector]:
    """Return the named vectors of an engine's record, which holds lists and sparse vectors of its own class."""
    return {
        name: DenseVector(tuple(value))
        if isinstance(value, list)
        else SparseVector(tuple(value.indices), tuple(value.values))
        for name, value in (named if isinstance(named, dict) else {}).items()
    }


def unique(points: Sequence[Point]) -> list[Point]:
    """Return the first point of each id."""
    first: dict[str, Point] = {}
    for point in points:
        first.setdefault(point.id, point)
    return list(first.values())


def best(
    limit: int,
    read: Callable[[int, bool], Sequence[Hit]],
    payloads: Callable[[Collection[str]], Mapping[str, dict[str, Any]]],
) -> list[Hit]:
    """Return the hits, best first, ties by id. `read(count, with_payloads)` returns the engine's best.

    A third more than the limit is read, since equal scores at the cut are common for words and a second request would
    cost more than these. If they do not end there, ids are read, without payloads, until they do or `MAX_TIES` are.
    """
    count = limit + limit // 3 + 1
    hits = read(count, True)
    if len(hits) < count or hits[-1].score < hits[limit - 1].score:
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]
    while True:
        count = min(limit + MAX_TIES, count * 4 + 64)
        hits = read(count, False)
        if len(hits) < count or hits[-1].score < hits[limit - 1].score or count == limit + MAX_TIES:
            break
    top = sorted((-hit.score, hit.id) for hit in hits)[:limit]
    payload_by_id = payloads([point_id for _score, point_id in top])
    return [Hit(point_id, -score, payload_by_id[point_id]) for score, point_id in top if point_id in payload_by_id]


def record_of(meta: dict[str, Any]) -> dict[str, Any]:
    """Return the content of `meta.json` for `meta`, after a JSON round trip."""
    record: dict[str, Any] = json.loads(json.dumps({"schema": SCHEMA, **meta}))
    return record


def mismatch(address: Path | str, record: dict[str, Any], expected: dict[str, Any]) -> AppError:
    """Return `index_mismatch` with the differing entries, such as `kiwi=0.23`."""
    keys = sorted(key for key in {*record, *expected} if record.get(key) != expected.get(key))

    def entries(values: dict[str, Any]) -> str:
        return ", ".join(f"{key}={str(values.get(key, '-'))[:40]}" for key in keys[:4])

    return AppError("index_mismatch", path=str(address), found=entries(record), expected=entries(expected))
