"""A stand-in of a Qdrant server on loopback: the official client's own in-memory engine behind the REST interface.

    with StandIn() as qdrant:
        settings = QdrantSettings(url=qdrant.base)

It speaks what the app uses of the interface. What only a server has (payload indexes, HNSW, half precision, shards,
replicas) it takes and leaves aside.
"""

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from pydantic import TypeAdapter
from qdrant_client import QdrantClient, models

from tests.stand_ins.loopback import Loopback, Server

Json = dict[str, Any]


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        stand_in: StandIn = self.server.stand_in
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.partition("?")[0]
        status, answer = stand_in.serve(self.command, path, self.headers, json.loads(body or "{}"))
        sent = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815


class StandIn(Loopback):
    """A server; `version` and `key` are what it says of itself and wants of others."""

    HANDLER = _Handler

    def __init__(self, version: str = "1.20.0", key: str = "") -> None:
        super().__init__()
        self.version = version
        self.key = key
        self.memory = QdrantClient(":memory:")
        self.asked: list[tuple[str, str, Json]] = []
        """Method, path and body of every request."""
        self.failing: Callable[[str, str], tuple[int, Json | bytes] | None] = lambda _method, _path: None
        """Answers a request in the server's place."""
        self._indexes: Json = {}
        self._one = threading.Lock()

    def serve(self, method: str, path: str, headers: Any, sent: Json) -> tuple[int, Json | bytes]:
        self.asked.append((method, path, sent))
        failure = self.failing(method, path)
        if failure is not None:
            return failure
        if self.key and path != "/" and headers.get("api-key") != self.key:
            return 401, b"Must provide an API key or an Authorization bearer token"
        with self._one:
            try:
                result = self._result(method, path, sent)
            except (ValueError, KeyError) as error:  # as the in-memory engine refuses
                missing = isinstance(error, KeyError) or "not found" in str(error)
                return 404 if missing else 400, {"status": {"error": str(error)}, "time": 0.0}
        if path == "/":
            return 200, result
        return 200, {"result": result, "status": "ok", "time": 0.0}

    def _result(self, method: str, path: str, sent: Json) -> Any:
        if path == "/":
            return {"title": "qdrant - vector search engine", "version": self.version}
        match = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
        assert match, path
        rest = match[2] or ""
        if vector := re.fullmatch(r"/vectors/([^/]+)", rest):
            return _plain(self._name(method, match[1], vector[1], sent))
        return _plain(_CALLS[method, rest](self, match[1], sent))

    def _name(self, method: str, collection: str, vector: str, sent: Json) -> Any:
        if method == "DELETE":
            return self.memory.delete_vector_name(collection, vector)
        return self.memory.create_vector_name(collection, vector, _read(models.VectorNameConfig, sent))

    def create(self, collection: str, sent: Json) -> Any:
        asked = models.CreateCollection.model_validate(sent)
        self._indexes = {}
        return self.memory.create_collection(
            collection, asked.vectors, sparse_vectors_config=asked.sparse_vectors, metadata=asked.metadata
        )

    def described(self, collection: str, _sent: Json) -> Any:
        return {**_plain(self.memory.get_collection(collection)), "payload_schema": self._indexes}

    def update(self, collection: str, sent: Json) -> Any:
        asked = models.UpdateCollection.model_validate(sent)
        return self.memory.update_collection(collection, vectors_config=asked.vectors)

    def index(self, _collection: str, sent: Json) -> Any:
        self._indexes[sent["field_name"]] = {"data_type": sent["field_schema"], "points": 0}
        return {"operation_id": 0, "status": "completed"}

    def upsert(self, collection: str, sent: Json) -> Any:
        asked = models.PointsList.model_validate(sent)
        return self.memory.upsert(collection, asked.points, update_mode=asked.update_mode)

    def query(self, collection: str, sent: Json) -> Any:
        asked = models.QueryRequest.model_validate(sent)
        return self.memory.query_points(
            collection,
            asked.query,
            asked.using,
            query_filter=asked.filter,
            limit=asked.limit or 10,
            with_payload=asked.with_payload or False,
        )

    def scroll(self, collection: str, sent: Json) -> Any:
        asked = models.ScrollRequest.model_validate(sent)
        points, after = self.memory.scroll(
            collection,
            asked.filter,
            asked.limit or 10,
            offset=asked.offset,
            with_payload=asked.with_payload or False,
            with_vectors=asked.with_vector or False,
        )
        return models.ScrollResult(points=points, next_page_offset=after)


def _read(kind: Any, sent: Any) -> Any:
    return TypeAdapter(kind).validate_python(sent)


def _plain(value: Any) -> Any:
    return TypeAdapter(Any).dump_python(value, mode="json", exclude_none=True)


_CALLS: dict[tuple[str, str], Callable[[StandIn, str, Json], Any]] = {
    ("GET", "/exists"): lambda own, name, _sent: {"exists": own.memory.collection_exists(name)},
    ("GET", ""): StandIn.described,
    ("PUT", ""): StandIn.create,
    ("PATCH", ""): StandIn.update,
    ("DELETE", ""): lambda own, name, _sent: own.memory.delete_collection(name),
    ("PUT", "/index"): StandIn.index,
    ("PUT", "/points"): StandIn.upsert,
    ("POST", "/points"): lambda own, name, sent: own.memory.retrieve(
        name, sent["ids"], sent["with_payload"], sent["with_vector"]
    ),
    ("POST", "/points/delete"): lambda own, name, sent: own.memory.delete(name, _read(models.PointsSelector, sent)),
    ("PUT", "/points/vectors"): lambda own, name, sent: own.memory.update_vectors(
        name, models.UpdateVectors.model_validate(sent).points
    ),
    ("POST", "/points/batch"): lambda own, name, sent: own.memory.batch_update_points(
        name, models.UpdateOperations.model_validate(sent).operations
    ),
    ("POST", "/points/query"): StandIn.query,
    ("POST", "/points/scroll"): StandIn.scroll,
    ("POST", "/points/count"): lambda own, name, sent: own.memory.count(
        name, models.CountRequest.model_validate(sent).filter, exact=sent["exact"]
    ),
}
