"""Rules of every implementation of `Index`: validation and the meta record. Pure functions."""

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from operator import eq, mul
from pathlib import Path
from typing import Any

from subtitle_rag.domain import AppError
from subtitle_rag.retrieval.index import SCHEMA, DenseVector, Filter, MultiVector, Point, SparseVector, Vector

BM25 = "bm25"
"""The named vector of every collection; others are added later."""
LEVELS = {"section": "words-section", "video": "words-video"}
"""The named vectors of the levels above windows: weights of words, which the index multiplies by the inverse document
frequency within the level. A point with one of them is no window."""
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ADDED = re.compile(r"(dense|late|pieces|sparse|words)-[0-9a-z-]{1,40}")
_KINDS: dict[str, type[Vector]] = {
    "dense": DenseVector,
    "late": MultiVector,
    "pieces": MultiVector,
    "sparse": SparseVector,
    "words": SparseVector,
}
MAX_DIMENSIONS = 65_536
FLOAT32_MAX = 3.4028234e38
U32_MAX = 2**32 - 1
MAX_TOKEN_NUMBERS = 1_048_576
"""Numbers in a multivector that a server refuses."""
PAGE_NUMBERS = 1_048_576
"""Numbers of multivectors to hold at once outside of the engine: 30 MB as Python's, half of that as JSON."""
USUAL_PARTS = {"late": 128, "pieces": 4}
"""Tokens and pieces of a window, for pages of points whose lengths are unknown before they are read."""


def check_id(point_id: str) -> None:
    """Raise ValueError unless `point_id` is a UUID in canonical form (lower case, with hyphens)."""
    if not (isinstance(point_id, str) and _ID.fullmatch(point_id)):
        raise ValueError(f"not a point id: {point_id!r}")


def check_name(name: str, dimensions: int | None = None) -> None:
    """Raise ValueError unless this is a name for vectors with `dimensions`, or for sparse ones without."""
    kind = _ADDED.fullmatch(name)
    if kind is None or (_KINDS[kind[1]] is not SparseVector) != (dimensions is not None):
        raise ValueError(f"no vector can be called {name!r} with dimensions {dimensions}")
    if dimensions is not None and not 1 <= dimensions <= MAX_DIMENSIONS:
        raise ValueError(f"{name}: {dimensions} dimensions")


def check_vector(name: str, vector: Vector) -> None:
    """Raise ValueError unless `vector` is valid for `name`."""
    kind = _ADDED.fullmatch(name)
    if name != BM25 and kind is None:
        raise ValueError(f"no vector is called {name!r}")
    if not isinstance(vector, _KINDS[kind[1]] if kind else SparseVector):
        raise ValueError(f"{name} holds no {type(vector).__name__}")
    if isinstance(vector, DenseVector):
        _check_dense(name, vector)
    elif isinstance(vector, MultiVector):
        _check_tokens(name, vector)
    else:
        _check_sparse(name, vector)


def _check_dense(name: str, vector: DenseVector) -> None:
    values = vector.values
    _check_values(name, values)
    # a cosine needs a length, which the engine computes in 32 bits
    if not 1e-12 < math.fsum(map(mul, values, values)) < FLOAT32_MAX:
        raise ValueError(f"{name}: the vector's length cannot be computed")


def _check_tokens(name: str, vector: MultiVector) -> None:
    size, width = len(vector.packed), vector.dimensions
    if width < 1 or not size or size % (2 * width) or size >= 2 * MAX_TOKEN_NUMBERS:
        raise ValueError(f"{name}: {size} bytes are no vectors of {width} dimensions")
    # of numbers in half precision only infinity and NaN make a sum that is not finite
    if not math.isfinite(sum(vector.values)):
        raise ValueError(f"{name}: a value is not a finite number")


def _check_sparse(name: str, vector: SparseVector) -> None:
    indices, values = vector.indices, vector.values
    if len(indices) != len(values) or len(set(indices)) != len(indices):
        raise ValueError(f"{name}: indices must be unique and as many as values")
    if set(map(type, indices)) - {int} or not 0 <= min(indices, default=0) <= max(indices, default=0) <= U32_MAX:
        raise ValueError(f"{name}: an index is not an unsigned 32-bit number")
    _check_values(name, values)


def _check_values(name: str, values: Sequence[float]) -> None:
    """Raise ValueError for a value that is no number, or none of 32 bits; there are hundreds in a window's vector."""
    is_number = not set(map(type, values)) - {float, int} and all(map(eq, values, values))  # NaN equals nothing
    # float32 turns greater numbers into infinity
    if not is_number or not -FLOAT32_MAX <= min(values, default=0) <= max(values, default=0) <= FLOAT32_MAX:
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
    if isinstance(vector, SparseVector):
        return
    dimensions = vector.dimensions if isinstance(vector, MultiVector) else len(vector.values)
    if dimensions != layout[name]:
        raise ValueError(f"{name} has {layout[name]} dimensions, not {dimensions}")


def finds_nothing(name: str, query: Vector, limit: int, where: Filter) -> bool:
    """Return whether a search has no hits by its arguments alone; raises ValueError for invalid ones."""
    check_vector(name, query)
    for point_id in (*(where.only or ()), *where.without):
        check_id(point_id)
    empty = isinstance(query, SparseVector) and not query.indices
    return limit < 1 or empty or where.only == frozenset()


def read_numbers(value: list[Any]) -> DenseVector | MultiVector:
    """Return the vector of an answer: a list of numbers or, for a multivector, of lists."""
    return MultiVector.of(value) if value and isinstance(value[0], list) else DenseVector(tuple(value))


def level_names(layout: Collection[str]) -> list[str]:
    """Return the named vectors of a layout that no window has."""
    return [name for name in LEVELS.values() if name in layout]


def has_parts(name: str) -> bool:
    """Return whether multivectors are under this name."""
    return name.partition("-")[0] in USUAL_PARTS


def has_bytes(name: str) -> bool:
    """Return whether a byte for each dimension is enough under this name: of pieces, which only reorder windows."""
    return name.startswith("pieces-")


def nearest_parts(query: DenseVector, vectors: Mapping[str, Vector | None]) -> dict[str, int]:
    """Return which part of each multivector is nearest to the query, the first among equals. Parts have unit length."""
    places: dict[str, int] = {}
    for id, vector in vectors.items():
        if isinstance(vector, MultiVector):
            cosines = [math.fsum(map(mul, query.values, row)) for row in vector.rows()]
            places[id] = cosines.index(max(cosines))
    return places


def page_size(layout: Mapping[str, int | None], most: int) -> int:
    """Return how many points of this layout to hold at once outside of the engine, at most `most`."""
    numbers = sum(
        USUAL_PARTS[name.partition("-")[0]] * (dimensions or 0)
        for name, dimensions in layout.items()
        if has_parts(name)
    )
    return max(1, min(most, PAGE_NUMBERS // numbers)) if numbers else most


def unique(points: Sequence[Point]) -> list[Point]:
    """Return the first point of each id."""
    first: dict[str, Point] = {}
    for point in points:
        first.setdefault(point.id, point)
    return list(first.values())


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
