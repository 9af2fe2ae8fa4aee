"""A desk with an empty library and an Ollama of one model, and the sample library."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import subtitle_rag
from subtitle_rag.contexts import planning
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.search.searcher import Searcher
from tests.answers.desk import NAME, Desk
from tests.answers.model import quoting
from tests.stand_ins.ollama import Model, StandIn
from tests.support.place import Place

SAMPLE = Path(subtitle_rag.__file__).parent / "sample"


@pytest.fixture(autouse=True)
def eight_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same free memory on every machine."""
    monkeypatch.setattr(planning, "free_memory", lambda: 8 * 10**9)


@pytest.fixture
def ollama() -> Iterator[StandIn]:
    with StandIn() as server:
        server.add(Model(NAME, behaviour=quoting))
        yield server


@pytest.fixture
def desk(tmp_path: Path, analyzer: Analyzer, ollama: StandIn) -> Iterator[Desk]:
    place = Place.at(tmp_path, analyzer)
    yield Desk(place, ollama)
    place.close()


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Iterator[Place]:
    """The sample library; tests only read it."""
    place = Place.at(tmp_path_factory.mktemp("sample"), analyzer)
    place.run(SAMPLE)
    yield place
    place.close()


@pytest.fixture(scope="session")
def sample_searcher(sample: Place) -> Searcher:
    return sample.searcher
