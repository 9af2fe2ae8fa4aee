"""The index on a server: what it makes there, and how its failures are told."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.base.domain.errors import AppError, BusyError, UsageError
from subtitle_rag.base.vectors.points import Filter, MultiVector, Point
from subtitle_rag.index import index_rules, index_server, server_terms
from subtitle_rag.index.index_server import WRITE_BATCH, ServerIndex
from subtitle_rag.index.server_terms import address
from tests.index.points import COLLECTION, META, found, pid, point, search, server_index, sparse
from tests.stand_ins.qdrant import StandIn

KEY = "s3cret-key-of-mine"


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


def settings(server: StandIn, **others: Any) -> QdrantSettings:
    return QdrantSettings(url=server.base, **others)


def opened(server: StandIn, **others: Any) -> ServerIndex:
    return server_index(settings(server, **others))


def failure(call: Callable[..., Any], *arguments: Any) -> AppError:
    with pytest.raises(AppError) as caught:
        call(*arguments)
    assert KEY not in f"{caught.value} {caught.value!r} {caught.value.details}"
    return caught.value


def bodies(server: StandIn, method: str, ending: str) -> list[dict[str, Any]]:
    return [body for asked, path, body in server.asked if asked == method and path.endswith(ending)]


def test_the_collection_is_made_once(server: StandIn) -> None:
    for _twice in range(2):
        opened(server).close()
    (made,) = bodies(server, "PUT", f"/{COLLECTION}")
    assert (made["shard_number"], made["replication_factor"]) == (1, 1)
    assert made["sparse_vectors"]["bm25"]["index"]["on_disk"] is False
    assert made["metadata"] == {"schema": 1, **META}
    assert made["sparse_vectors"]["bm25"]["modifier"] == "idf"
    fields = [(body["field_name"], body["field_schema"]) for body in bodies(server, "PUT", "/index")]
    assert fields == [("channel_id", "keyword"), ("video", "keyword"), ("published", "datetime")]


def test_opening_takes_three_requests(server: StandIn) -> None:
    opened(server).close()
    server.asked.clear()
    opened(server).close()
    collection = f"/collections/{COLLECTION}"
    assert [(method, path) for method, path, _body in server.asked] == [
        ("GET", "/"),
        ("GET", f"{collection}/exists"),
        ("GET", collection),
    ]


def test_a_dense_vector_has_half_precision_a_graph_and_lies_on_the_disk(server: StandIn) -> None:
    opened(server).add_vector("dense-a", 8)
    (made,) = bodies(server, "PUT", "/vectors/dense-a")
    assert made == {"dense": {"size": 8, "distance": "Cosine", "datatype": "float16"}}
    (stored,) = [body["vectors"] for body in bodies(server, "PATCH", "") if "vectors" in body]
    assert stored["dense-a"]["on_disk"] is True
    assert stored["dense-a"]["hnsw_config"]["m"] == 16


def test_points_are_only_ever_inserted_and_in_batches(server: StandIn) -> None:
    index = opened(server)
    index.insert([point(n, video="a") for n in range(1, WRITE_BATCH + 2)])
    sent = bodies(server, "PUT", "/points")
    assert sorted(len(body["points"]) for body in sent) == [1, WRITE_BATCH]
    assert {body["update_mode"] for body in sent} == {"insert_only"}


@pytest.mark.parametrize("writing", ["insert", "replace_vector", "replace_payload"])
def test_writes_go_in_parallel_and_no_more_than_so_many(
    server: StandIn, writing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_server, "PARALLEL_WRITES", 3)
    index = opened(server)
    points = [point(n, video="a") for n in range(1, 5 * WRITE_BATCH + 1)]
    index.insert(points)
    lock, together, counts = threading.Lock(), threading.Barrier(3), [0]
    most = [0]
    written = threading.Event()

    def counted(method: str, path: str) -> None:
        if (method, path.rpartition("/")[2]) not in (("PUT", "points"), ("PUT", "vectors"), ("POST", "batch")):
            return
        with lock:
            counts[0] += 1
            most[0] = max(most[0], counts[0])
        if not written.is_set():
            together.wait(30)  # breaks unless three are under way
            written.set()
        with lock:
            counts[0] -= 1

    server.failing = counted
    if writing == "insert":
        index.insert(points)
    elif writing == "replace_vector":
        index.replace_vector("bm25", {each.id: sparse({1: 1.0}) for each in points})
    else:
        index.replace_payload({each.id: {"video": "b"} for each in points})
    assert most == [3]


def test_after_a_failed_batch_no_other_is_begun(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_server, "PARALLEL_WRITES", 2)
    index = opened(server)
    server.asked.clear()
    server.failing = lambda method, _path: (500, b"no room") if method == "PUT" else None
    error = failure(index.insert, [point(n, video="a") for n in range(1, 9 * WRITE_BATCH)])
    assert (error.code, "no room" in str(error.details) or error.details["url"]) == ("qdrant_unreachable", index.url)
    assert 1 <= len(bodies(server, "PUT", "/points")) <= 2
    server.failing = lambda _method, _path: None
    index.insert([point(n, video="a") for n in range(1, 9 * WRITE_BATCH)])
    assert index.count() == 9 * WRITE_BATCH - 1


def test_libraries_have_collections_of_their_own(server: StandIn) -> None:
    one = opened(server)
    other = ServerIndex(settings(server), META, "subtitle-rag-another", create=True)
    one.insert([point(1, video="a"), point(2, video="b", by="one")])
    other.insert([point(2, video="b", by="other"), point(3, video="c")])
    assert (one.count(), other.count()) == (2, 2)
    one.delete_videos(["b"])
    assert [each.payload["by"] for each in other.get([pid(2)])] == ["other"]
    other.clear()
    assert (found(one), other.count()) == ([1], 0)
    assert one.place == f"{server.base}/collections/{COLLECTION}"


def test_a_missing_collection_is_made_on_request_alone(server: StandIn) -> None:
    missing = failure(lambda: server_index(settings(server), create=False))
    assert (missing.code, COLLECTION in missing.message) == ("index_damaged", True)
    assert not server.memory.collection_exists(COLLECTION)
    opened(server).insert([point(1)])
    assert server_index(settings(server), create=False).count() == 1


def test_a_collection_of_other_rules_is_made_again_on_request_alone(server: StandIn) -> None:
    opened(server).insert([point(1, video="a"), point(2, video="b")])
    newer = {**META, "kiwi": "0.25"}
    assert failure(server_index, settings(server), newer).code == "index_mismatch"
    assert opened(server).count() == 2
    fresh = server_index(settings(server), newer, fresh=True)
    assert fresh.count() == 0
    assert failure(opened, server).code == "index_mismatch"


# failures


def test_a_server_that_is_down_is_told_and_comes_back(server: StandIn) -> None:
    index = opened(server)
    server.stop()
    for call in (index.count, index.vectors, lambda: index.insert([point(1)]), lambda: found(index)):
        error = failure(call)
        assert isinstance(error, BusyError)
        assert (error.code, error.details["url"]) == ("qdrant_unreachable", index.url)
    assert failure(opened, server).code == "qdrant_unreachable"
    server.start()
    index.insert([point(1)])
    assert found(index) == [1]


def test_a_server_that_does_not_answer_is_not_waited_for_for_ever(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_terms, "TIMEOUT_S", 1)
    index = opened(server)
    over = threading.Event()

    def silent(_method: str, _path: str) -> None:
        over.wait(60)

    server.failing = silent
    error = failure(index.count)
    over.set()
    assert (error.code, error.details["reason"]) == ("qdrant_unreachable", "timed out")


def test_a_connection_is_waited_for_less_than_an_answer(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    index = opened(server)
    waits: list[dict[str, float]] = []

    def seen(request: Any, send: Any) -> Any:
        waits.append(request.extensions["timeout"])
        return send(request)

    index._client.http.client.middleware, before = seen, index._client.http.client.middleware
    index._client.http.client.add_middleware(before)
    index.count()
    assert [(wait["connect"], wait["read"]) for wait in waits] == [(server_terms.CONNECT_S, 30)]


@pytest.mark.parametrize(
    ("status", "answer", "code"),
    [
        (500, {"status": {"error": "no space left on device"}}, "qdrant_unreachable"),
        (503, b"<html>", "qdrant_unreachable"),
        (429, {"status": {"error": "too many"}}, "qdrant_unreachable"),
        (400, {"status": {"error": "Wrong input"}}, "qdrant_failed"),
        (404, b"not here", "qdrant_failed"),
        (200, b"<html>", "qdrant_failed"),
        (200, {"hello": "world"}, "qdrant_failed"),
        (401, b"Must provide an API key", "qdrant_refused"),
        (403, b"Forbidden", "qdrant_refused"),
    ],
)
def test_what_a_server_answers_is_told(server: StandIn, status: int, answer: Any, code: str) -> None:
    index = opened(server)
    server.failing = lambda _method, _path: (status, answer)
    error = failure(index.count)
    assert error.code == code
    assert isinstance(error, BusyError) == (code == "qdrant_unreachable")
    assert failure(opened, server).code == code


def test_the_key_opens_and_is_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with StandIn(key=KEY) as server:
        own = settings(server, api_key_env="MY_QDRANT_KEY")
        assert failure(opened, server).code == "qdrant_refused"
        with pytest.raises(UsageError) as missing:
            server_index(own, META)
        assert "the environment variable MY_QDRANT_KEY holds no key" in missing.value.message
        monkeypatch.setenv("MY_QDRANT_KEY", KEY + "x")
        refused = failure(server_index, own, META)
        assert (refused.code, refused.details["reason"]) == ("qdrant_refused", "it refuses the key in MY_QDRANT_KEY")
        monkeypatch.setenv("MY_QDRANT_KEY", KEY)
        index = server_index(own, META)
        assert KEY not in repr(index)
        server.failing = lambda _method, _path: (400, {"status": {"error": f"bad key {KEY}"}})
        assert failure(index.count).details["reason"] == "400 bad key …"


def test_a_server_that_is_too_old_is_told(server: StandIn) -> None:
    server.version = "1.17.3"
    error = failure(opened, server)
    assert (error.code, error.details["found"], error.details["oldest"]) == ("qdrant_old", "1.17.3", "1.18")
    assert not bodies(server, "PUT", "")
    for version in ("1.18.0", "v2.0.0-dev", "unknown"):
        server.version = version
        opened(server).close()


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://LocalHost", "http://localhost:6333"),
        (" https://cluster.example:443/qdrant/ ", "https://cluster.example:443/qdrant"),
        ("http://[::1]:6334", "http://[::1]:6334"),
    ],
)
def test_addresses_have_one_spelling(url: str, place: str) -> None:
    assert address(url) == place == address(place)


@pytest.mark.parametrize(
    "url",
    [
        *("localhost:6333", "ftp://host", "http://", "http://host:port", "http://h?api-key=1"),
        *("http://me:secret@host", "http://:secret@host"),
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        address(url)
    assert (caught.value.code, caught.value.details) == ("qdrant_url", {})


def test_two_processes_may_make_the_collection_at_once(server: StandIn) -> None:
    asked = iter([False])
    answer = {"result": {"exists": False}, "status": "ok", "time": 0.0}
    opened(server).close()
    # as if the other one had made it between the question and the creation
    server.failing = lambda _method, path: (200, answer) if path.endswith("/exists") and not next(asked, True) else None
    index = opened(server)
    assert len(bodies(server, "PUT", f"/{COLLECTION}")) == 2
    index.insert([Point(pid(1), {"bm25": sparse({1: 1.0})}, {})])
    assert index.count() == 1


# pieces


def test_pieces_have_no_graph_and_no_copy(server: StandIn) -> None:
    index = opened(server)
    index.add_vector("pieces-a", 16)
    added = server.asked[-3:]
    (made,) = [body["dense"] for _method, path, body in added if path.endswith("/vectors/pieces-a")]
    assert (made["size"], made["datatype"], made["multivector_config"]) == (16, "turbo8", {"comparator": "max_sim"})
    (stored,) = [body["vectors"]["pieces-a"] for method, _path, body in added if method == "PATCH"]
    assert stored == {"on_disk": True, "hnsw_config": {"m": 0}}
    hits = search(index, "pieces-a", MultiVector.of([[1.0] * 16]), limit=3, where=Filter(only=frozenset([pid(1)])))
    assert hits == []
    assert "params" not in bodies(server, "POST", "/query/batch")[-1]["searches"][0]
    index.close()


@pytest.mark.parametrize(("version", "datatype"), [("1.18.3", "float16"), ("1.20.0", "turbo8")])
def test_pieces_take_a_byte_a_dimension_where_the_server_can(version: str, datatype: str) -> None:
    with StandIn(version=version) as server:
        index = opened(server)
        index.add_vector("pieces-a", 16)
        (added,) = [body for method, path, body in server.asked if method == "PUT" and path.endswith("/pieces-a")]
        index.close()
    assert added["dense"]["datatype"] == datatype
    assert added["dense"]["multivector_config"] == {"comparator": "max_sim"}


def test_requests_with_pieces_are_of_a_size_that_a_server_takes(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_rules, "PAGE_NUMBERS", 100)
    monkeypatch.setattr(index_rules, "USUAL_PIECES", 2)
    monkeypatch.setattr(index_server, "PARALLEL_WRITES", 1)
    index = opened(server)
    index.add_vector("pieces-a", 16)
    pieces = MultiVector.of([[0.123456789] * 16] * 2)
    index.insert([Point(pid(n), {"pieces-a": pieces}, {}) for n in range(1, 8)])
    assert [len(body["points"]) for body in bodies(server, "PUT", "/points")] == [3, 3, 1]
    assert bodies(server, "PUT", "/points")[0]["points"][0]["vector"]["pieces-a"][0][0] == 0.12347
    index.replace_vector("pieces-a", {pid(n): pieces for n in range(1, 8)})
    assert [len(body["points"]) for body in bodies(server, "PUT", "/points/vectors")] == [3, 3, 1]
    assert len(index.points()) == 3
    server.asked.clear()
    assert len(index.get([pid(n) for n in range(1, 8)])) == 7
    assert [len(body["ids"]) for body in bodies(server, "POST", "/points")] == [3, 3, 1]
    index.close()
