"""What several tests of the command line begin with."""

from pathlib import Path

import pytest

from subtitle_rag import cli
from tests.stand_ins.ollama import Model, StandIn
from tests.support.invented import caption_folder, end_hosts


@pytest.fixture
def ollama(ollama_server: StandIn) -> StandIn:
    """An Ollama with the model `writer:q4`."""
    ollama_server.add(Model("writer:q4"))
    return ollama_server


@pytest.fixture(scope="session")
def answering_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home for tests to copy: a library of three videos, and the model `answer:q4`."""
    folder = tmp_path_factory.mktemp("ask")
    captions = caption_folder(folder / "captions", 3, minutes=1.8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
        assert cli.run(["--home", str(folder / "home"), "index", str(captions), "--no-contexts"]) == 0
    end_hosts([folder / "home" / "data" / "index"])
    (folder / "home" / "config.toml").write_text('[llm]\nmodel = "answer:q4"\n')
    return folder / "home"
