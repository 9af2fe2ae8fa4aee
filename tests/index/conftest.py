"""Every implementation of `Index`, opened, and tiny models. An implementation joins by a line in `IMPLEMENTATIONS`."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.interface import Index
from tests.index.points import COLLECTION, META, Open, host_of, hosted_index, server_index, settle
from tests.stand_ins.qdrant import StandIn, qdrant_server
from tests.support.tiny_models import (
    dense_folder,
    encoder_folder,
    other_encoder_folder,
    reranker_folder,
    sentence_folders,
)

__all__ = ["dense_folder", "encoder_folder", "other_encoder_folder", "reranker_folder", "sentence_folders"]

EMBEDDED: dict[str, Callable[..., Index]] = {"edge": EdgeIndex, "hosted": host_of}
IMPLEMENTATIONS = [*EMBEDDED, "server", "hosted server"]


class Servers:
    """A server for each folder."""

    def __init__(self, opened: ExitStack, *, hosted: bool) -> None:
        self._opened = opened
        self._hosted = hosted
        self._by_folder: dict[Path, StandIn] = {}

    def open(self, folder: Path, meta: dict[str, Any], *, fresh: bool = False) -> Index:
        if folder not in self._by_folder:
            self._by_folder[folder] = self._opened.enter_context(qdrant_server())
        server = self._by_folder[folder]
        if fresh:
            server.memory.delete_collection(COLLECTION)
        settings = QdrantSettings(url=server.base)
        if not self._hosted:
            return server_index(settings, meta)
        return hosted_index(folder, settings, meta)


@pytest.fixture(params=IMPLEMENTATIONS, scope="module")
def opener(request: pytest.FixtureRequest) -> Iterator[Open]:
    with ExitStack() as opened:
        yield EMBEDDED.get(request.param) or Servers(opened, hosted="hosted" in request.param).open


@pytest.fixture(params=list(EMBEDDED), scope="module")
def embedded(request: pytest.FixtureRequest) -> Open:
    """Those that lie in the folder."""
    return EMBEDDED[request.param]


@pytest.fixture(scope="module")
def home(opener: Open, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One folder, and so one host process, for all tests that need no reopening."""
    folder = tmp_path_factory.mktemp("index")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_HOST_LINGER", "1")
        yield folder
        settle(folder)


@pytest.fixture
def index(opener: Open, home: Path) -> Iterator[Index]:
    opened = opener(home, META, fresh=True)
    opened.add_vector("sparse-a")
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """For tests that open again: a host that leaves at once."""
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.05")
    yield tmp_path / "index"
    settle(tmp_path / "index")
