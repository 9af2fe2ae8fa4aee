"""What every implementation of `Index` refuses, and the meta record that they compare: pure functions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from subtitle_rag.errors import AppError
from subtitle_rag.retrieval.index import SCHEMA, Point, SparseVector

SPARSE = ("sparse", "bm25")
"""Names of the collection's sparse vectors."""
FLOAT32_MAX = 3.4028234e38
U32_MAX = 2**32 - 1


def check_id(point_id: str) -> None:
    """Raises ValueError unless `point_id` is a UUID in its usual form (lower case, with hyphens)."""
    try:
        usual = str(UUID(point_id)) == point_id
    except (ValueError, AttributeError, TypeError):  # the last two: not even a text
        usual = False
    if not usual:
        raise ValueError(f"not a point id: {point_id!r}")


def check_vector(name: str, vector: SparseVector) -> None:
    """Raises ValueError unless `name` is a sparse vector of the collection and `vector` can be held in it."""
    indices, values = vector.indices, vector.values
    if name not in SPARSE:
        raise ValueError(f"no sparse vector is called {name!r}")
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
        try:
            text = json.dumps(point.payload, ensure_ascii=False, allow_nan=False)
            text.encode()
        except (TypeError, ValueError) as error:
            raise ValueError(f"payload of {point.id}: {error}") from error
        if json.loads(text) != point.payload or not isinstance(point.payload, dict):
            raise ValueError(f"payload of {point.id} does not come back from JSON as it is")


def record_of(meta: dict[str, Any]) -> dict[str, Any]:
    """What `meta.json` holds for `meta`, as it comes back from JSON."""
    record: dict[str, Any] = json.loads(json.dumps({"schema": SCHEMA, **meta}))
    return record


def mismatch(folder: Path, found: dict[str, Any], expected: dict[str, Any]) -> AppError:
    """`index_mismatch` with the entries that differ, such as `kiwi=0.23`."""
    keys = sorted(key for key in {*found, *expected} if found.get(key) != expected.get(key))

    def shown(record: dict[str, Any]) -> str:
        return ", ".join(f"{key}={str(record.get(key, '-'))[:40]}" for key in keys[:4])

    return AppError("index_mismatch", path=str(folder), found=shown(found), expected=shown(expected))
