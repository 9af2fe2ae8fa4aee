"""An Ollama of one model, and a desk at which it writes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.contexts import planning
from subtitle_rag.korean.morphemes import Analyzer
from tests.contexts.desk import NAME, Desk
from tests.stand_ins.ollama import Model, StandIn
from tests.support.place import Place


@pytest.fixture(autouse=True)
def eight_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same free memory on every machine."""
    monkeypatch.setattr(planning, "free_memory", lambda: 8 * 10**9)


@pytest.fixture
def ollama() -> Iterator[StandIn]:
    with StandIn() as server:
        server.add(Model(NAME))
        yield server


@pytest.fixture
def desk(tmp_path: Path, analyzer: Analyzer, ollama: StandIn) -> Iterator[Desk]:
    place = Place.at(tmp_path / "data", analyzer)
    yield Desk(place, ollama)
    place.close()
