"""Named vectors of the index: names by encoder, and checks of the vectors under each name."""

import hashlib
import math
import re
from collections.abc import Sequence
from operator import eq, mul

from subtitle_rag.base.vectors.pieces import PIECE_RULE
from subtitle_rag.base.vectors.points import DenseVector, MultiVector, SparseVector, Vector

OF_PIECES = "/pieces-"
"""Follows an encoder's id where its vectors of windows' pieces are noted, before the rule of these."""
PIECES = "pieces"
"""The best piece of each window, which contributes to its cosine."""


def vector_names(encoder_id: str) -> tuple[str, str]:
    """Return the names of an encoder's dense and sparse vectors in the collection."""
    digest = hashlib.sha256(encoder_id.encode()).hexdigest()[:8]
    return f"dense-{digest}", f"sparse-{digest}"


def pieces_name(encoder_id: str) -> str:
    """Return the name of an encoder's vectors of pieces in the collection; the id may be a `piece_id`."""
    return vector_names(encoder_id.partition(OF_PIECES)[0])[0].replace("dense", PIECES)


def piece_id(encoder_id: str) -> str:
    """Return the id under which the library records an encoder's vectors of pieces."""
    return f"{encoder_id}{OF_PIECES}{PIECE_RULE}"


BM25 = "bm25"
"""The named vector that every collection has; others are added later."""
_ADDED = re.compile(r"(dense|pieces|sparse)-[0-9a-z-]{1,40}")
_KINDS: dict[str, type[Vector]] = {
    "dense": DenseVector,
    "pieces": MultiVector,
    "sparse": SparseVector,
}
MAX_DIMENSIONS = 65_536
FLOAT32_MAX = 3.4028234e38
U32_MAX = 2**32 - 1
MAX_NUMBERS = 1_048_576
"""Number of values in a multivector from which a server refuses it."""
USUAL_PIECES = 4
"""Pieces per window, for the size of pages before the points are read."""


def check_name(name: str, dimensions: int | None = None) -> None:
    """Raise ValueError unless this is a name for vectors with `dimensions`, or for sparse vectors without."""
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
        _check_pieces(name, vector)
    else:
        _check_sparse(name, vector)


def _check_dense(name: str, vector: DenseVector) -> None:
    values = vector.values
    _check_values(name, values)
    # a cosine needs a length above 0, and the engine computes it in 32 bits
    if not 1e-12 < math.fsum(map(mul, values, values)) < FLOAT32_MAX:
        raise ValueError(f"{name}: the vector's length cannot be computed")


def _check_pieces(name: str, vector: MultiVector) -> None:
    size, width = len(vector.packed), vector.dimensions
    if width < 1 or not size or size % (2 * width) or size >= 2 * MAX_NUMBERS:
        raise ValueError(f"{name}: {size} bytes are no vectors of {width} dimensions")
    # half-precision numbers have an infinite or NaN sum only if one of them is
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
    """Raise ValueError for a value that is not a 32-bit number; a window's vector has hundreds."""
    is_number = not set(map(type, values)) - {float, int} and all(map(eq, values, values))  # NaN equals nothing
    # float32 turns larger numbers into infinity
    if not is_number or not -FLOAT32_MAX <= min(values, default=0) <= max(values, default=0) <= FLOAT32_MAX:
        raise ValueError(f"{name}: a value is not a finite 32-bit number")


def has_parts(name: str) -> bool:
    """Whether multivectors are under this name: vectors of pieces, which only reorder windows.

    One byte per dimension is enough for them.
    """
    return name.startswith(f"{PIECES}-")
