"""The Qdrant stand-in refuses the same requests as a server, with the same status."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.vectors.points import Filter
from tests.index.points import COLLECTION, META, found, pid, point, server_index, sparse
from tests.stand_ins.qdrant import LARGEST_BODY, Relay, StandIn
from tests.support.cases import cases

POINTS = f"/collections/{COLLECTION}/points"
TERMS = {"indices": [1, 2], "values": [1.0, 2.0]}


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    with StandIn() as running, closing(server_index(QdrantSettings(url=running.base), META)) as index:
        index.insert([point(1, video="a")])
        yield running


def asked(server: StandIn, method: str, path: str, body: bytes) -> int:
    request = urllib.request.Request(server.base + path, body, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def insertion(vector: Any, **others: Any) -> dict[str, Any]:
    return {"points": [{"id": pid(7), "vector": {"bm25": vector}, "payload": {}}], **others}


@cases(
    ("method", "path", "body", "status"),
    [
        ("PUT", POINTS, insertion(TERMS, update_mode="insert_only"), 200),
        ("PUT", POINTS, insertion({"indices": [2, 1], "values": [1.0, 2.0]}), 200),
        ("PUT", POINTS, {"points": [{"id": pid(8), "vector": {}, "payload": {}}]}, 200),
        ("PUT", POINTS, insertion({"indices": [], "values": []}), 200),
        ("PUT", POINTS, insertion({"indices": [1, 1], "values": [1.0, 2.0]}), 422),
        ("PUT", POINTS, insertion({"indices": [1, 2], "values": [1.0]}), 422),
        ("PUT", POINTS, insertion({"indices": [1], "values": [float("nan")]}), 400),
        ("PUT", POINTS, insertion(TERMS, update_mode="insert"), 400),
        ("PUT", f"{POINTS}/vectors", {"points": [{"id": pid(1), "vector": {}}]}, 422),
        (
            "PUT",
            f"{POINTS}/vectors",
            {"points": [{"id": pid(1), "vector": {"bm25": {"indices": [], "values": []}}}]},
            422,
        ),
        ("PUT", f"{POINTS}/vectors", {"points": [{"id": pid(99), "vector": {"bm25": TERMS}}]}, 404),
        ("GET", "/collections/a%3Ab/exists", {}, 422),
    ],
)
def test_requests(server: StandIn, method: str, path: str, body: dict[str, Any], status: int) -> None:
    assert asked(server, method, path, json.dumps(body).encode()) == status


def test_a_body_of_more_than_32_mib_is_refused(server: StandIn) -> None:
    assert asked(server, "PUT", POINTS, b" " * (LARGEST_BODY + 1)) == 400


def test_an_empty_vector_takes_the_place_of_another(server: StandIn) -> None:
    with closing(server_index(QdrantSettings(url=server.base), META)) as index:
        index.insert([point(20, {5: 1.0}), point(21, {5: 1.0})])
        index.replace_vector("bm25", {pid(20): sparse({}), pid(21): sparse({6: 1.0})})
        assert (found(index, 5), found(index, 6)) == ([], [21])


def test_in_strict_mode_the_program_filters_by_nothing_without_an_index() -> None:
    with StandIn() as server:
        server.strict_mode = True
        with closing(server_index(QdrantSettings(url=server.base))) as index:
            index.insert([point(1, video="a", channel_id="c", published="2026-05-31")])
            assert found(index, where=Filter(channels=("c",), videos=("a",))) == [1]
            index.replace_payload({pid(1): {"video": "b"}})
            index.delete_videos(["b"])
            assert index.count() == 0
            server._indexes.pop("video")
            with pytest.raises(AppError, match="Index required"):
                index.ids("a")


def test_a_relay_leaves_nothing_on_the_server_that_it_stands_before() -> None:
    with StandIn() as real:
        with Relay(real.base) as relay, closing(server_index(QdrantSettings(url=relay.base), META)) as index:
            index.insert([point(1)])
            assert found(index) == [1]
            assert relay.memory.count(COLLECTION).count == 1
            (name,) = [each.name for each in real.memory.get_collections().collections]
            assert name.startswith(f"{COLLECTION}-test-")
        assert real.memory.get_collections().collections == []
