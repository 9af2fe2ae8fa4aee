"""A stand-in of Ollama with a model, and the door to it."""

from collections.abc import Iterator

import pytest

from subtitle_rag.base.config.settings import LlmSettings
from subtitle_rag.models.ollama import llm_client
from subtitle_rag.models.ollama.llm_client import Llm
from tests.stand_ins.ollama import Model, StandIn

NAME = "writer:q4"


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as made:
        made.add(Model(NAME))
        yield made


@pytest.fixture
def llm(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[Llm]:
    monkeypatch.setattr(llm_client, "TIMEOUT_S", 20)  # a failing test does not hang
    made = Llm(server.base, LlmSettings())
    yield made
    made.close()
