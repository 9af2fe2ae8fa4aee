"""The vectors of a window as a record of a pack, there and back."""

import pytest

from subtitle_rag.packing.packed_vectors import read_vectors, vectors_values
from subtitle_rag.retrieval.named_vectors import multivector_name, piece_id, vector_names
from subtitle_rag.retrieval.values import DenseVector, MultiVector, Point, SparseVector, Vector

WINDOW = "00000000-0000-0000-0000-000000000000"
ENCODERS = (
    "bge-m3@5617a9f6",
    "bge-m3@5617a9f6/tokens/int8",
    "multilingual-e5-small@761b726d?query=query:+&document=passage:+",
    piece_id("multilingual-e5-small@761b726d?query=query:+&document=passage:+"),
    "ollama:bge-m3@0123abcd?query=%EC%A7%88%EB%AC%B8:+&document=",
    "내 모델 (새것)@0123abcd",
)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_vectors_of_every_encoder_go_into_a_pack_and_out_of_it(encoder: str) -> None:
    dense, sparse = vector_names(encoder)
    vectors: dict[str, Vector] = {
        dense: DenseVector((0.5, 0.25)),
        sparse: SparseVector((3, 70_000), (0.1, 1e6)),
        multivector_name(encoder): MultiVector.of([(0.5, 0.25), (1.0, 0.0)]),
    }
    values = vectors_values(Point(WINDOW, vectors, {}), encoder, "a" * 32 + "/")
    assert values is not None
    packed = read_vectors(values)
    assert (packed.window_id, packed.encoder, packed.name) == (WINDOW, encoder, dense)
    assert packed.vectors[dense] == vectors[dense]
    assert packed.vectors[multivector_name(encoder)] == vectors[multivector_name(encoder)]
    kept = packed.vectors[sparse]
    assert isinstance(kept, SparseVector)
    assert kept.values == pytest.approx((0.1, 1e6))


def test_a_point_without_an_encoders_vectors_has_no_record() -> None:
    assert vectors_values(Point(WINDOW, {}, {}), ENCODERS[0], "a" * 32 + "/") is None
