"""The library that a module's tests search."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from subtitle_rag.korean.morphemes import Analyzer
from tests.support.searchable import Searchable
from tests.support.tiny_models import (
    dense_folder,
    encoder_folder,
    other_encoder_folder,
    reranker_folder,
    sentence_folders,
)

__all__ = ["dense_folder", "encoder_folder", "other_encoder_folder", "reranker_folder", "sentence_folders"]


@pytest.fixture(scope="module")
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer
) -> Iterator[Searchable]:
    """A library of the `VIDEOS` that the module names."""
    with closing(Searchable(tmp_path_factory.mktemp("library"), analyzer, request.module.VIDEOS)) as opened:
        yield opened
