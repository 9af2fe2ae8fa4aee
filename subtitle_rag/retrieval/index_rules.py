"""What every implementation of `Index` refuses, and the meta record that they compare: pure functions."""

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
"""The vector that every collection has; further ones are added to it."""
_ADDED = re.compile(r"(dense|sparse)-[0-9a-z-]{1,40}")
MOST_DIMENSIONS = 65_536
FLOAT32_MAX = 3.4028234e38
U32_MAX = 2**32 - 1
MOST_TIES = 10_000
"""Most candidates read beyond the limit to order equal scores at the cut by id: about 30 ms."""


def check_id(point_id: str) -> None:
    """Raises ValueError unless `point_id` is a UUID in its usual form (lower case, with hyphens)."""
    try:
        usual = str(UUID(point_id)) == point_id
    except (ValueError, AttributeError, TypeError):  # the last two: not even a text
        usual = False
    if not usual:
        raise ValueError(f"not a point id: {point_id!r}")


def check_name(name: str, dimensions: int | None = None) -> None:
    """Raises ValueError unless a vector of this name, dense with so many dimensions or sparse, can be added."""
    kind = _ADDED.fullmatch(name)
    if kind is None or (kind[1] == "dense") != (dimensions is not None):
        raise ValueError(f"no vector can be called {name!r} with dimensions {dimensions}")
    if dimensions is not None and not 1 <= dimensions <= MOST_DIMENSIONS:
        raise ValueError(f"{name}: {dimensions} dimensions")


def check_vector(name: str, vector: Vector) -> None:
    """Raises ValueError unless `vector` can be held under `name`."""
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
        raise ValueError(f"{name}: the vector has no length that can be computed")


def _check_sparse(name: str, vector: SparseVector) -> None:
    indices, values = vector.indices, vector.values
    if len(indices) != len(values) or len(set(indices)) != len(indices):
        raise ValueError(f"{name}: indices must be unique and as many as values")
    if set(map(type, indices)) - {int} or not 0 <= min(indices, default=0) <= max(indices, default=0) <= U32_MAX:
        raise ValueError(f"{name}: an index is not an unsigned 32-bit number")
    # a comparison with NaN is false, and float32 turns what lies beyond its range into infinity
    if set(map(type, values)) - {float, int} or not all(-FLOAT32_MAX <= value <= FLOAT32_MAX for value in values):
        raise ValueError(f"{name}: a value is not a finite 32-bit number")


def check_points(points: Sequence[Point]) -> None:
    """Raises ValueError for the first point that the index cannot hold.

    A payload must be JSON that comes back as it went: text keys, lists instead of tuples, finite numbers.
    """
    for point in points:
        check_id(point.id)
        for name, vector in point.vectors.items():
            check_vector(name, vector)
        check_payload(point.id, point.payload)


def check_payload(point_id: str, payload: dict[str, Any]) -> None:
    """Raises ValueError for an id or a payload that the index cannot hold; see `check_points`."""
    check_id(point_id)
    try:
        text = json.dumps(payload, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError) as error:
        raise ValueError(f"payload of {point_id}: {error}") from error
    if json.loads(text) != payload or not isinstance(payload, dict):
        raise ValueError(f"payload of {point_id} does not come back from JSON as it is")


def check_room(room: Mapping[str, int | None], name: str, vector: Vector) -> None:
    """Raises ValueError unless there is room for such a vector; `room` as `Index.vectors` tells it."""
    if name not in room:
        raise ValueError(f"there is no room for {name}")
    if isinstance(vector, DenseVector) and len(vector.values) != room[name]:
        raise ValueError(f"{name} has {room[name]} dimensions, not {len(vector.values)}")


def finds_nothing(name: str, query: Vector, limit: int, where: Filter) -> bool:
    """Whether a search can have no hit; raises ValueError where it cannot be made."""
    check_vector(name, query)
    for point_id in (*(where.only or ()), *where.without):
        check_id(point_id)
    empty = not isinstance(query, DenseVector) and not query.indices
    return limit < 1 or empty or where.only == frozenset()


def unique(points: Sequence[Point]) -> list[Point]:
    """The first of the points of each id."""
    first: dict[str, Point] = {}
    for point in points:
        first.setdefault(point.id, point)
    return list(first.values())


def best(
    limit: int,
    read: Callable[[int, bool], Sequence[Hit]],
    payloads: Callable[[Collection[str]], Mapping[str, dict[str, Any]]],
) -> list[Hit]:
    """The hits, best first, ties by id. `read(count, whole)` gives the engine's best, with payloads if `whole`.

    One point beyond the limit tells whether the cut goes through equal scores; then ids are read on, without
    payloads, until these scores end or `MOST_TIES` are read.
    """
    found = read(limit + 1, True)
    if len(found) <= limit or found[-1].score < found[-2].score:
        return sorted(found[:limit], key=lambda hit: (-hit.score, hit.id))
    count = limit
    while True:
        count = min(limit + MOST_TIES, count * 4 + 64)
        found = read(count, False)
        if len(found) < count or found[-1].score < found[limit - 1].score or count == limit + MOST_TIES:
            break
    chosen = sorted((-hit.score, hit.id) for hit in found)[:limit]
    whole = payloads([point_id for _score, point_id in chosen])
    return [Hit(point_id, -score, whole[point_id]) for score, point_id in chosen if point_id in whole]


def record_of(meta: dict[str, Any]) -> dict[str, Any]:
    """What `meta.json` holds for `meta`, as it comes back from JSON."""
    record: dict[str, Any] = json.loads(json.dumps({"schema": SCHEMA, **meta}))
    return record


def mismatch(place: Path | str, found: dict[str, Any], expected: dict[str, Any]) -> AppError:
    """`index_mismatch` with the entries that differ, such as `kiwi=0.23`."""
    keys = sorted(key for key in {*found, *expected} if found.get(key) != expected.get(key))

    def shown(record: dict[str, Any]) -> str:
        return ", ".join(f"{key}={str(record.get(key, '-'))[:40]}" for key in keys[:4])

    return AppError("index_mismatch", path=str(place), found=shown(found), expected=shown(expected))
