"""The built-in Korean pairs, and what an encoder makes of them."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

import pytest

from subtitle_rag.base.domain.values import squeeze
from subtitle_rag.base.vectors.points import DenseVector
from subtitle_rag.library.store import Library
from subtitle_rag.models import manifest
from subtitle_rag.models.neural.calibration import (
    MEASURED,
    MOST_WORDS,
    Calibration,
    calibrate,
    calibration_of,
    korean_pairs,
    stored_calibration,
    words_weight,
)
from subtitle_rag.models.neural.protocols import Encoded


class SubjectEncoder:
    """Knows the subject of the first texts alone; all its vectors are near to one another, as those of an E5 are."""

    has_sparse = is_light = has_pieces = must_wait = False

    def __init__(self, id: str = "subjects@1", known: int = 60) -> None:
        self.id = id
        self.calls = 0
        pairs = korean_pairs()
        self.dimensions = len(pairs) + 1
        self._subjects = {text: at for at, pair in enumerate(pairs[:known]) for text in (pair.caption, pair.related)}

    def passages(self, texts: Sequence[str]) -> list[Encoded | None]:
        return [self.query(text) for text in texts]

    def query(self, text: str) -> Encoded:
        self.calls += 1
        values = [0.0] * self.dimensions
        values[-1] = 0.8
        if text in self._subjects:
            values[self._subjects[text]] = 0.6
        return Encoded(DenseVector(tuple(values)), None)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with closing(Library(tmp_path / "library.db")) as library:
        yield library


def test_pairs_are_many_and_each_its_own() -> None:
    pairs = korean_pairs()
    assert len(pairs) >= 60
    for texts in zip(*pairs, strict=True):
        assert len(set(texts)) == len(pairs)


def test_no_unrelated_query_has_a_word_of_its_caption() -> None:
    for pair in korean_pairs():
        spoken = squeeze(pair.caption)
        assert not [word for word in pair.unrelated.split() if len(word) > 1 and word in spoken], pair


def test_related_pairs_lie_above_unrelated_ones() -> None:
    calibration = calibrate(SubjectEncoder())
    assert max(calibration.unrelated) == pytest.approx(0.64)
    assert median(calibration.related) == pytest.approx(1.0)
    assert calibration.floor == min(calibration.related)
    assert calibration.strict_floor >= calibration.floor
    assert calibration.has_floor


def test_an_encoder_that_knows_no_korean_has_no_floor() -> None:
    assert not calibrate(SubjectEncoder(known=0)).has_floor


def test_an_encoder_is_calibrated_once(library: Library) -> None:
    encoder = SubjectEncoder()
    first = calibration_of(library, encoder)
    calls = encoder.calls
    assert calls
    assert calibration_of(library, encoder) == first == stored_calibration(library, encoder.id)
    assert encoder.calls == calls


def test_each_encoder_has_its_own_calibration(library: Library) -> None:
    knowing, ignorant = SubjectEncoder(), SubjectEncoder("nothing@1", known=0)
    found, none = calibration_of(library, knowing), calibration_of(library, ignorant)
    assert found
    assert none
    assert found.first > none.first


def test_an_encoder_without_dense_vectors_has_none(library: Library) -> None:
    encoder = SubjectEncoder()
    encoder.dimensions = 0
    assert calibration_of(library, encoder) is None
    assert encoder.calls == 0


def test_the_better_an_encoder_the_less_words_weigh() -> None:
    weights = [Calibration((), (), (), first=first / 100).words for first in range(101)]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == MOST_WORDS
    for first, weight in MEASURED:
        assert weights[round(100 * first)] == pytest.approx(weight)


def test_the_manifest_knows_the_weight_of_its_encoders_and_calibration_that_of_others(library: Library) -> None:
    offered = "embeddinggemma-300m-ONNX@5090578d?query=x"
    assert words_weight(library, offered) == manifest.words_weight("ollama:embeddinggemma@0123abcd") == 0.5
    calibrated = calibration_of(library, SubjectEncoder())
    assert calibrated is not None
    assert words_weight(library, "subjects@1") == calibrated.words
    assert words_weight(library, "unseen@1") is None
