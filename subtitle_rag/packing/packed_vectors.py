"""The vectors of a window as a record of a pack: numbers in base64, in half precision where that loses nothing."""

import base64
import struct
from dataclasses import dataclass
from typing import Any

from subtitle_rag.packing.json_checks import FieldError, Fields
from subtitle_rag.packing.pack_records import MAX_NAME, WINDOW_ID, Values
from subtitle_rag.retrieval.named_vectors import check_vector, multivector_name, vector_names
from subtitle_rag.retrieval.values import DenseVector, MultiVector, Point, SparseVector, Vector

ENCODER_ID = r"[A-Za-z0-9._/@:+-]{1,200}"
SOURCE = r"[0-9a-f]{32}/([0-9a-f]{32})?"
MAX_BYTES = 4 * 2**20
_TYPES = {16: "e", 32: "f"}


@dataclass(frozen=True, slots=True)
class PackedVectors:
    """What one pass of an encoder over a window has made."""

    window_id: str
    encoder: str
    source: str
    """The hash of the passage, and the key of its context."""
    vectors: dict[str, Vector]

    @property
    def name(self) -> str:
        """The name that stands for all of them in the library's notes."""
        dense, sparse = vector_names(self.encoder)
        return next(name for name in (dense, sparse, multivector_name(self.encoder)) if name in self.vectors)

    def sizes(self) -> dict[str, int | None]:
        """Return the dimensions of each vector by name, None for a sparse one."""
        return {name: _size(vector) for name, vector in self.vectors.items()}


def vectors_values(point: Point, encoder: str, source: str) -> Values | None:
    """Return an encoder's vectors of a point as JSON has them; None if it has none."""
    dense_name, sparse_name = vector_names(encoder)
    dense, sparse = point.vectors.get(dense_name), point.vectors.get(sparse_name)
    tokens = point.vectors.get(multivector_name(encoder))
    values: Values = {"window": point.id, "encoder": encoder, "source": source}
    if isinstance(dense, DenseVector):
        values["dense"] = _packed(dense.values)
    if isinstance(sparse, SparseVector):
        terms = struct.pack(f"<{len(sparse.indices)}I", *sparse.indices)
        values["sparse"] = {"terms": _encoded(terms), **_packed(sparse.values)}
    if isinstance(tokens, MultiVector):
        values["tokens"] = {"dimensions": tokens.dimensions, "bits": 16, "numbers": _encoded(tokens.packed)}
    return values if len(values) > 3 else None


def read_vectors(fields: Fields) -> PackedVectors:
    """Read the vectors of a window; raises FieldError, also for a number that is none."""
    encoder = fields.match("encoder", ENCODER_ID)
    dense_name, sparse_name = vector_names(encoder)
    vectors: dict[str, Vector] = {}
    if fields.has("dense"):
        vectors[dense_name] = DenseVector(_numbers(fields.record("dense")))
    if fields.has("sparse"):
        record = fields.record("sparse")
        vectors[sparse_name] = SparseVector(
            _unpacked("terms", record.decoded("terms", MAX_BYTES), "I", 4), _numbers(record)
        )
    if fields.has("tokens"):
        record = fields.record("tokens")
        record.integer("bits", 16, 16)
        data = record.decoded("numbers", MAX_BYTES)
        vectors[multivector_name(encoder)] = MultiVector(record.integer("dimensions", 1, MAX_NAME), data)
    try:
        for name, vector in vectors.items():
            check_vector(name, vector)
    except (ValueError, OverflowError) as error:
        raise FieldError("numbers") from error
    if not vectors:
        raise FieldError("dense")
    return PackedVectors(fields.match("window", WINDOW_ID), encoder, fields.match("source", SOURCE), vectors)


def _size(vector: Vector) -> int | None:
    if isinstance(vector, MultiVector):
        return vector.dimensions
    return len(vector.values) if isinstance(vector, DenseVector) else None


def _packed(values: tuple[float, ...]) -> Values:
    for bits, kind in _TYPES.items():
        try:
            data = struct.pack(f"<{len(values)}{kind}", *values)
        except OverflowError:  # too great for half precision
            continue
        if bits == 32 or struct.unpack(f"<{len(values)}{kind}", data) == values:
            break
    return {"bits": bits, "numbers": _encoded(data)}


def _numbers(fields: Fields) -> tuple[float, ...]:
    bits = fields.integer("bits", 16, 32)
    if bits not in _TYPES:
        raise FieldError("bits")
    return _unpacked("numbers", fields.decoded("numbers", MAX_BYTES), _TYPES[bits], bits // 8)


def _unpacked(name: str, data: bytes, kind: str, size: int) -> tuple[Any, ...]:
    if len(data) % size:
        raise FieldError(name)
    return struct.unpack(f"<{len(data) // size}{kind}", data)


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
