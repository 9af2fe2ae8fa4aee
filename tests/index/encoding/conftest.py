"""A library with its index in this process, and tiny encoders that tell what they were given."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.korean.morphemes import Analyzer
from tests.index.encoding.desk import Counting, Desk
from tests.support.invented import caption_folder
from tests.support.place import Place
from tests.support.tiny_models import dense_folder, encoder_folder, other_encoder_folder, sentence_folders

__all__ = ["dense_folder", "encoder_folder", "other_encoder_folder", "sentence_folders"]


@pytest.fixture(scope="module")
def loaded(encoder_folder: Path) -> Counting:
    return Counting.of(encoder_folder)


@pytest.fixture(scope="module")
def other_loaded(other_encoder_folder: Path) -> Counting:
    return Counting.of(other_encoder_folder)


@pytest.fixture
def encoder(loaded: Counting) -> Counting:
    return loaded.fresh()


@pytest.fixture
def other(other_loaded: Counting) -> Counting:
    return other_loaded.fresh()


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return caption_folder(tmp_path / "captions", 4, minutes=5)


@pytest.fixture
def empty(tmp_path: Path, analyzer: Analyzer) -> Iterator[Desk]:
    with closing(Place.at(tmp_path / "place", analyzer)) as place:
        yield Desk(place)


@pytest.fixture
def desk(empty: Desk, captions: Path) -> Desk:
    """Four videos, searchable, without neural vectors."""
    empty.place.run(captions)
    return empty
