"""Equality of two vectors within an index's precision."""

import math
from collections.abc import Sequence

from subtitle_rag.base.vectors.named_vectors import has_parts
from subtitle_rag.base.vectors.points import MultiVector, SparseVector, Vector

TOLERANCE, COARSE_TOLERANCE = 2e-3, 0.05
"""Tolerance relative to the largest number: two roundings to half precision, or for pieces to bytes."""


def same(first: Vector, second: Vector | None, name: str = "") -> bool:
    """Whether two vectors of this name are equal; dense ones may differ in length."""
    if second is None or type(first) is not type(second):
        return False
    numbers, other_numbers = _numbers(first), _numbers(second)
    tolerance = (COARSE_TOLERANCE if has_parts(name) else TOLERANCE) * max(map(abs, numbers.values()), default=0.0)
    return numbers.keys() == other_numbers.keys() and all(
        math.isclose(numbers[key], other_numbers[key], rel_tol=0.0, abs_tol=tolerance) for key in numbers
    )


def _numbers(vector: Vector) -> dict[tuple[int, int], float]:
    """Return a vector's numbers by row and by term or place, with dense rows scaled to length one."""
    if isinstance(vector, SparseVector):
        return {(0, term): value for term, value in zip(vector.indices, vector.values, strict=True)}
    rows = vector.rows() if isinstance(vector, MultiVector) else [vector.values]
    return {(at, column): value for at, row in enumerate(rows) for column, value in enumerate(_unit(row))}


def _unit(values: Sequence[float]) -> list[float]:
    length = math.hypot(*values)
    return [value / length for value in values] if length else list(values)
