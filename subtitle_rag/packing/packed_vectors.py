"""The vectors of a window as a record of a pack: numbers in base64, in half precision where that loses nothing."""

import struct
from dataclasses import dataclass
from typing import Any

from subtitle_rag.packing import kinds
from subtitle_rag.packing.kinds import FieldError, FieldKind, Fields
from subtitle_rag.packing.pack_records import MAX_NAME, WINDOW_ID, Values
from subtitle_rag.retrieval.named_vectors import check_vector, multivector_name, vector_names
from subtitle_rag.retrieval.values import DenseVector, MultiVector, Point, SparseVector, Vector

ENCODER_ID = r"[^\x00-\x1f\x7f]{1,500}@[!-~]{1,4000}"
"""A model's name, which may be a folder's, then its digest, prompts and options (`models.Prompts`)."""
_FORMATS = {16: "e", 32: "f"}
_BYTES = kinds.base64_bytes(4 * 2**20)


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
        return next(name for name in _names(self.encoder).values() if name in self.vectors)

    def sizes(self) -> dict[str, int | None]:
        """Return the dimensions of each vector by name, None for a sparse one."""
        return {name: _size(vector) for name, vector in self.vectors.items()}


def vectors_values(point: Point, encoder: str, source: str) -> Values | None:
    """Return an encoder's vectors of a point as JSON has them; None if it has none."""
    vectors = {
        field: _VECTORS[field].write(point.vectors[name])
        for field, name in _names(encoder).items()
        if name in point.vectors
    }
    return {"window": point.id, "encoder": encoder, "source": source, **vectors} if vectors else None


def read_vectors(values: Values) -> PackedVectors:
    """Read the vectors of a window; raises FieldError, also for a number that is none."""
    fields = kinds.read_fields(_VECTORS, values)
    names = _names(fields["encoder"])
    vectors = {name: fields[field] for field, name in names.items() if fields[field] is not None}
    if not vectors:
        raise FieldError("dense")
    try:
        for name, vector in vectors.items():
            check_vector(name, vector)
    except (ValueError, OverflowError) as error:
        raise FieldError("numbers") from error
    return PackedVectors(fields["window"], fields["encoder"], fields["source"], vectors)


def _names(encoder: str) -> dict[str, str]:
    """Return the fields of a record with the names of their vectors in the index."""
    dense, sparse = vector_names(encoder)
    return {"dense": dense, "sparse": sparse, "tokens": multivector_name(encoder)}


def _size(vector: Vector) -> int | None:
    if isinstance(vector, MultiVector):
        return vector.dimensions
    return len(vector.values) if isinstance(vector, DenseVector) else None


def _read_numbers(value: Any) -> tuple[float, ...]:
    bits = kinds.read_field("bits", kinds.integer(16, 32), value)
    if bits not in _FORMATS:
        raise FieldError("bits")
    return _unpacked("numbers", _FORMATS[bits], value)


def _write_numbers(numbers: tuple[float, ...]) -> Values:
    for bits, kind in _FORMATS.items():
        try:
            data = struct.pack(f"<{len(numbers)}{kind}", *numbers)
        except OverflowError:  # too great for half precision
            continue
        if bits == 32 or struct.unpack(f"<{len(numbers)}{kind}", data) == numbers:
            break
    return {"bits": bits, "numbers": _BYTES.write(data)}


def _unpacked(name: str, kind: str, value: Any) -> tuple[Any, ...]:
    data, size = kinds.read_field(name, _BYTES, value), struct.calcsize(kind)
    if len(data) % size:
        raise FieldError(name)
    return struct.unpack(f"<{len(data) // size}{kind}", data)


def _read_sparse(value: Any) -> SparseVector:
    return SparseVector(_unpacked("terms", "I", value), _read_numbers(value))


def _write_sparse(vector: SparseVector) -> Values:
    terms = struct.pack(f"<{len(vector.indices)}I", *vector.indices)
    return {"terms": _BYTES.write(terms), **_write_numbers(vector.values)}


def _read_tokens(value: Any) -> MultiVector:
    fields: Fields = {"dimensions": kinds.integer(1, MAX_NAME), "bits": kinds.integer(16, 16), "numbers": _BYTES}
    values = kinds.read_fields(fields, value)
    return MultiVector(values["dimensions"], values["numbers"])


def _write_tokens(vector: MultiVector) -> Values:
    return {"dimensions": vector.dimensions, "bits": 16, "numbers": _BYTES.write(vector.packed)}


_VECTORS: Fields = {
    "window": WINDOW_ID,
    "encoder": kinds.match(ENCODER_ID),
    "source": kinds.match(r"[0-9a-f]{32}/([0-9a-f]{32})?"),
    "dense": kinds.optional(
        FieldKind(lambda value: DenseVector(_read_numbers(value)), lambda vector: _write_numbers(vector.values))
    ),
    "sparse": kinds.optional(FieldKind(_read_sparse, _write_sparse)),
    "tokens": kinds.optional(FieldKind(_read_tokens, _write_tokens)),
}
