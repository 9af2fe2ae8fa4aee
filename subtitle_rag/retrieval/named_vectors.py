"""The named vectors of the index: what their names say of the encoder, and what may be under each."""

import hashlib
import math
import re
from collections.abc import Sequence
from operator import eq, mul

from subtitle_rag.models import without_prompts
from subtitle_rag.retrieval.pieces import PIECE_RULE
from subtitle_rag.retrieval.values import DenseVector, MultiVector, SparseVector, Vector

PIECES = "pieces"
"""The best piece of each window, which has a share in its cosine."""
LATE = "late"
"""The comparison of token vectors, which orders what retrievers have found (late interaction)."""
NONE, TOKENS, POOLED = "none", "tokens", "pooled"
"""The token vectors that an encoder makes of windows: none, one for each token, one for two tokens."""
INT8 = "/int8"
"""Suffix of the id of a model with 8-bit weights: its vectors differ from the others."""


def vector_names(encoder_id: str) -> tuple[str, str]:
    """Return the names of an encoder's dense and sparse vectors in the collection."""
    digest = hashlib.sha256(encoder_id.encode()).hexdigest()[:8]
    return f"dense-{digest}", f"sparse-{digest}"


def multivector_name(encoder_id: str) -> str:
    """Return the name of an encoder's token vectors in the collection; for a `piece_id`, of its pieces."""
    from subtitle_rag.library import OF_PIECES  # the app reads this module before it opens a library

    id, of_pieces, _rule = encoder_id.partition(OF_PIECES)
    return vector_names(id)[0].replace("dense", PIECES if of_pieces else LATE)


def piece_id(encoder_id: str) -> str:
    """Return the id under which the library notes an encoder's vectors of pieces."""
    from subtitle_rag.library import OF_PIECES

    return f"{encoder_id}{OF_PIECES}{PIECE_RULE}"


def token_kind(encoder_id: str) -> str:
    """Return which token vectors the encoder of this id makes: one of `NONE`, `TOKENS` and `POOLED`."""
    options = encoder_id.partition("@")[2].split("/")[1:]
    return next((kind for kind in (TOKENS, POOLED) if kind in options), NONE)


def base_id(encoder_id: str) -> str:
    """Return the id without prompts and options: the model's own."""
    id = without_prompts(encoder_id)
    return id.removesuffix(INT8).removesuffix(f"/{TOKENS}").removesuffix(f"/{POOLED}")


def with_options(id: str, kind: str, *, int8: bool) -> str:
    """Return the id of a model with these token vectors and this precision."""
    return id + (f"/{kind}" if kind != NONE else "") + (INT8 if int8 else "")


BM25 = "bm25"
"""The named vector of every collection; others are added later."""
_ADDED = re.compile(r"(dense|late|pieces|sparse)-[0-9a-z-]{1,40}")
_KINDS: dict[str, type[Vector]] = {
    "dense": DenseVector,
    "late": MultiVector,
    "pieces": MultiVector,
    "sparse": SparseVector,
}
MAX_DIMENSIONS = 65_536
FLOAT32_MAX = 3.4028234e38
U32_MAX = 2**32 - 1
MAX_TOKEN_NUMBERS = 1_048_576
"""Numbers in a multivector that a server refuses."""
USUAL_PARTS = {"late": 128, "pieces": 4}
"""Tokens and pieces of a window, for pages of points whose lengths are unknown before they are read."""


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


def has_parts(name: str) -> bool:
    """Return whether multivectors are under this name."""
    return name.partition("-")[0] in USUAL_PARTS


def has_bytes(name: str) -> bool:
    """Return whether a byte for each dimension is enough under this name: of pieces, which only reorder windows."""
    return name.startswith("pieces-")
