"""A library, and a transcriber that reads in a file what is said in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.korean.morphemes import Analyzer
from tests.support.heard import use_reader
from tests.support.place import Place


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stretches that were heard."""
    return use_reader(monkeypatch, tmp_path / "heard.log")


@pytest.fixture
def place(tmp_path: Path, analyzer: Analyzer) -> Iterator[Place]:
    made = Place.at(tmp_path / "library", analyzer)
    yield made
    made.close()
