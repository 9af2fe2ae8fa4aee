"""What several tests of the command line begin with."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from subtitle_rag.cli import main as cli
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.runtime import Runtime
from tests.stand_ins.ollama import Model, StandIn
from tests.support.invented import caption_folder, end_hosts


@pytest.fixture
def ollama(ollama_server: StandIn) -> StandIn:
    """An Ollama with the model `writer:q4`."""
    ollama_server.add(Model("writer:q4"))
    return ollama_server


@pytest.fixture(scope="session")
def indexed_home(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Callable[[int, float], Path]:
    """Return a home for tests to copy: a library of so many videos of so many minutes."""

    @cache
    def home(videos: int, minutes: float) -> Path:
        folder = tmp_path_factory.mktemp("indexed")
        captions = caption_folder(folder / "captions", videos, minutes=minutes)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
            patch.setattr(Runtime, "analyzer", analyzer)
            assert cli.run(["--home", str(folder / "home"), "index", str(captions), "--no-contexts"]) == 0
        end_hosts([folder / "home" / "data" / "index"])
        return folder / "home"

    return home


@pytest.fixture(scope="session")
def answering_home(indexed_home: Callable[[int, float], Path]) -> Path:
    """A home for tests to copy: a library of three videos, and the model `answer:q4`."""
    home = indexed_home(3, 1.8)
    (home / "config.toml").write_text('[llm]\nmodel = "answer:q4"\n')
    return home
