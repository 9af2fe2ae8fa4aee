"""Rules of every implementation of `Index`: points, pages and the meta record. Pure functions."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from operator import mul
from pathlib import Path
from typing import Any
from uuid import UUID

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.vectors.named_vectors import USUAL_PIECES, check_vector, has_parts
from subtitle_rag.base.vectors.points import DenseVector, MultiVector, Point, SparseVector, Vector, VectorSearch
from subtitle_rag.index.interface import SCHEMA

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_REVISION = re.compile(r"-v(\d+)-")
PAGE_NUMBERS = 1_048_576
"""Numbers of multivectors in memory at once outside the engine: 30 MB in Python, half as JSON."""


def check_id(point_id: str) -> None:
    """Raise ValueError unless `point_id` is a UUID in canonical form (lower case, with hyphens)."""
    if not (isinstance(point_id, str) and _ID.fullmatch(point_id)):
        raise ValueError(f"not a point id: {point_id!r}")


def first_after(point_id: str | None) -> str | None:
    """Return the lowest id after this one, or None to start from the first.

    Raises ValueError for an invalid id.
    """
    if point_id is None:
        return None
    check_id(point_id)
    return str(UUID(int=UUID(point_id).int + 1))


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


def finds_nothing(search: VectorSearch) -> bool:
    """Whether a search's arguments alone exclude any hits. Raises ValueError for invalid ones."""
    check_vector(search.name, search.query)
    for point_id in (*(search.where.only or ()), *search.where.without):
        check_id(point_id)
    empty = isinstance(search.query, SparseVector) and not search.query.indices
    return search.limit < 1 or empty or search.where.only == frozenset()


def read_numbers(value: list[Any]) -> DenseVector | MultiVector:
    """Return the vector in an answer: a list of numbers or, for a multivector, of lists."""
    return MultiVector.of(value) if value and isinstance(value[0], list) else DenseVector(tuple(value))


def nearest_parts(query: DenseVector, vectors: Mapping[str, Vector | None]) -> dict[str, int]:
    """Return the index of each multivector's part nearest to the query, the first of equals. Parts have unit length."""
    nearest: dict[str, int] = {}
    for id, vector in vectors.items():
        if isinstance(vector, MultiVector):
            cosines = [math.fsum(map(mul, query.values, row)) for row in vector.rows()]
            nearest[id] = cosines.index(max(cosines))
    return nearest


def page_size(layout: Mapping[str, int | None], most: int) -> int:
    """Return how many points of this layout to keep in memory outside the engine, at most `most`."""
    numbers = sum(USUAL_PIECES * (dimensions or 0) for name, dimensions in layout.items() if has_parts(name))
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


def _age(record: dict[str, Any]) -> tuple[int, int]:
    """Return the versions of layout and analyzer in a record; 0 if missing."""
    schema, analyzer = record.get("schema"), _REVISION.search(str(record.get("analyzer")))
    return schema if isinstance(schema, int) else 0, int(analyzer[1]) if analyzer else 0


def mismatch(address: Path | str, record: dict[str, Any], expected: dict[str, Any]) -> AppError:
    """Return `index_mismatch` with the different entries, such as `kiwi=0.23`, or `newer_version`."""
    found, known = _age(record), _age(expected)
    if found > known:
        found_name, known_name = (".".join(map(str, each)) for each in (found, known))
        return AppError("newer_version", path=str(address), found=found_name, known=known_name)
    keys = sorted(key for key in {*record, *expected} if record.get(key) != expected.get(key))

    def entries(values: dict[str, Any]) -> str:
        return ", ".join(f"{key}={str(values.get(key, '-'))[:40]}" for key in keys[:4])

    return AppError("index_mismatch", path=str(address), found=entries(record), expected=entries(expected))
