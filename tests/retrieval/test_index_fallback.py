"""The embedded index in a server's stead."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.config.settings import QdrantSettings
from subtitle_rag.domain import AppError, BusyError
from subtitle_rag.retrieval import index_fallback
from subtitle_rag.retrieval.index import Index, VectorSearch
from subtitle_rag.retrieval.index_edge import EdgeIndex
from subtitle_rag.retrieval.index_fallback import FallbackIndex
from subtitle_rag.retrieval.index_server import ServerIndex
from tests.retrieval.points import META, pid, point, search, sparse
from tests.stand_ins.qdrant import StandIn

QUERY = sparse({1: 1.0})
SEARCH = VectorSearch("bm25", QUERY, 9)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as running:
        ServerIndex(QdrantSettings(url=running.base), META).insert([point(1), point(2, video="theirs")])
        yield running


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Index]:
    opened = EdgeIndex(tmp_path / "index", META)
    opened.insert([point(1)])
    yield opened
    opened.close()


def ids(index: FallbackIndex) -> list[str]:
    return [hit.id for hit in search(index, "bm25", QUERY, limit=9)]


def told(index: FallbackIndex) -> str | None:
    return index.degraded_reason.code if index.degraded_reason else None


def test_it_answers_while_the_server_is_down(server: StandIn, embedded: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("subtitle_rag.retrieval.index_fallback.time.monotonic", lambda: now[0])
    index = FallbackIndex(lambda: ServerIndex(QdrantSettings(url=server.base), META), lambda: embedded)
    assert ids(index) == [pid(1), pid(2)]
    assert told(index) is None
    assert index.shared_payloads([pid(2)]) == {pid(2): {"video": "theirs"}}
    server.stop()
    assert [hit.id for hits in index.search_all([SEARCH, SEARCH]) for hit in hits] == [pid(1)] * 2
    assert ids(index) == [pid(1)]
    assert told(index) == "qdrant_unreachable"
    assert index.shared_payloads([pid(2)]) == {}
    server.start()
    asked = len(server.asked)
    assert ids(index) == [pid(1)]
    assert len(server.asked) == asked  # a server that is down is not waited for with every call
    now[0] += index_fallback.RETRY_S
    assert ids(index) == [pid(1), pid(2)]
    assert told(index) is None


def test_without_an_embedded_index_the_failure_is_told(server: StandIn) -> None:
    index = FallbackIndex(lambda: ServerIndex(QdrantSettings(url=server.base), META), lambda: None)
    server.stop()
    with pytest.raises(BusyError) as caught:
        ids(index)
    assert caught.value.code == "qdrant_unreachable"
    assert told(index) is None
    server.start()
    assert ids(index) == [pid(1), pid(2)]


def test_other_failures_are_no_reason_to_fall_back(server: StandIn, embedded: Index) -> None:
    index = FallbackIndex(lambda: ServerIndex(QdrantSettings(url=server.base), META), lambda: embedded)
    server.failing = lambda _method, _path: (403, b"Forbidden")
    with pytest.raises(AppError) as caught:
        ids(index)
    assert caught.value.code == "qdrant_key_needed"
