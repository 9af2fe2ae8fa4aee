"""A stand-in for a Qdrant server on loopback: the official client's own in-memory engine behind the REST interface.

    with StandIn() as qdrant:
        settings = QdrantSettings(url=qdrant.base)

It has the parts of the interface that the app uses, and refuses the same requests as Qdrant 1.18
(`lib/api/src/rest/validate.rs`, `lib/collection/src/operations/verification`): a body of more than 32 MiB, JSON with
NaN, names with path characters, sparse vectors with a repeated term or a missing value, token vectors that are empty or
have too many numbers, updates without vectors or with empty ones, updates of unknown ids, an unknown `update_mode` and,
with `strict_mode`, filters by fields without an index.

Differences that no test here can notice: it accepts and ignores payload indexes, HNSW, half precision, quantization,
`on_disk`, shards and replicas. It answers requests one by one in the order of arrival; a server may apply other
operations between those of a batch, and writes to several nodes in any order. IDF covers the whole collection instead
of a shard. Scores have 32 or 64 bits, so ties differ in the last digit. Strict mode only checks filters, not sizes and
rates. Telemetry, aliases, snapshots and gRPC do not exist.

`SUBTITLE_RAG_TEST_QDRANT=http://…` names a real server: `qdrant_server` then returns a `Relay` to it, whose collections
have a random suffix there and are deleted at the end.
"""

import json
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote

from pydantic import TypeAdapter, ValidationError
from qdrant_client import QdrantClient, models

from tests.stand_ins.loopback import Loopback, Server

Json = dict[str, Any]
LARGEST_BODY = 33_554_432
MOST_NUMBERS = 1_048_576
"""Maximum numbers in a point's token vectors (`MAX_MULTIVECTOR_FLATTENED_LEN` in Qdrant's validation.rs)."""
VARIABLE = "SUBTITLE_RAG_TEST_QDRANT"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        stand_in: StandIn = self.server.stand_in
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.partition("?")[0]
        status, answer = stand_in.answer(self.command, path, self.headers, body)
        sent = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815


class StandIn(Loopback):
    """The server; `version` is its reported version, `key` the required key."""

    HANDLER = _Handler

    def __init__(self, version: str = "1.20.0", key: str = "") -> None:
        super().__init__()
        self.version = version
        self.key = key
        self.memory = QdrantClient(":memory:")
        self.strict_mode = False
        """Whether to refuse filters by fields without an index."""
        self.asked: list[tuple[str, str, Json]] = []
        """Method, path and body of every request."""
        self.failing: Callable[[str, str], tuple[int, Json | bytes] | None] = lambda _method, _path: None
        """Function that answers requests instead of the server."""
        self._indexes: Json = {}
        self._storage: Json = {}
        """Parameters of the collection's dense vectors on disk, graph and quantization."""
        self._one = threading.Lock()

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, Json | bytes]:
        """Answer a request, or refuse its body before evaluating it, as a server does."""
        if len(body) > LARGEST_BODY:
            text = (
                f"Payload error: JSON payload ({len(body)} bytes) is larger than allowed (limit: {LARGEST_BODY} bytes)."
            )
            return 400, {"status": {"error": text}, "time": 0.0}
        try:
            sent = json.loads(body or b"{}", parse_constant=_no_number)
        except ValueError as error:
            return 400, {"status": {"error": f"Format error in JSON body: {error}"}, "time": 0.0}
        return self.serve(method, path, headers, sent)

    def serve(self, method: str, path: str, headers: Any, sent: Json) -> tuple[int, Json | bytes]:
        self.asked.append((method, path, sent))
        failure = self.failing(method, path)
        if failure is not None:
            return failure
        if self.key and path != "/" and headers.get("api-key") != self.key:
            return 401, b"Must provide an API key or an Authorization bearer token"
        with self._one:
            try:
                if fault := _fault(path, sent):
                    return 422, {"status": {"error": f"Validation error in JSON body: [{fault}]"}, "time": 0.0}
                if self.strict_mode:
                    self._require_indexes(sent)
                result = self._result(method, path, sent)
            except ValidationError as error:
                return 400, {"status": {"error": f"Format error in JSON body: {error.errors()[0]['msg']}"}, "time": 0.0}
            except (ValueError, KeyError) as error:  # the in-memory engine's own refusals
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

    def _require_indexes(self, sent: Any) -> None:
        for key in _filtered_fields(sent):
            if key not in self._indexes:
                raise ValueError(f'Bad request: Index required but not found for "{key}"')

    def _name(self, method: str, collection: str, vector: str, sent: Json) -> Any:
        if method == "DELETE":
            return self.memory.delete_vector_name(collection, vector)
        return self.memory.create_vector_name(collection, vector, _read(models.VectorNameConfig, sent))

    def create(self, collection: str, sent: Json) -> Any:
        request = models.CreateCollection.model_validate(sent)
        self._indexes, self._storage = {}, {}
        return self.memory.create_collection(
            collection, request.vectors, sparse_vectors_config=request.sparse_vectors, metadata=request.metadata
        )

    def described(self, collection: str, _sent: Json) -> Any:
        described = {**_plain(self.memory.get_collection(collection)), "payload_schema": self._indexes}
        dense = described["config"]["params"].get("vectors", {})
        for name in dense.keys() & self._storage.keys():
            dense[name] |= self._storage[name]
        return described

    def update(self, collection: str, sent: Json) -> Any:
        request = models.UpdateCollection.model_validate(sent)
        self._storage |= sent.get("vectors", {})
        return self.memory.update_collection(collection, vectors_config=request.vectors)

    def index(self, _collection: str, sent: Json) -> Any:
        self._indexes[sent["field_name"]] = {"data_type": sent["field_schema"], "points": 0}
        return {"operation_id": 0, "status": "completed"}

    def upsert(self, collection: str, sent: Json) -> Any:
        request = models.PointsList.model_validate(sent)
        return self.memory.upsert(collection, request.points, update_mode=request.update_mode)

    def query_batch(self, collection: str, sent: Json) -> Any:
        queries = models.QueryRequestBatch.model_validate(sent).searches
        exact = [query.model_copy(update={"params": None}) for query in queries]  # its engine only searches exactly
        return self.memory.query_batch_points(collection, exact)

    def scroll(self, collection: str, sent: Json) -> Any:
        request = models.ScrollRequest.model_validate(sent)
        points, after = self.memory.scroll(
            collection,
            request.filter,
            request.limit or 10,
            offset=request.offset,
            with_payload=request.with_payload or False,
            with_vectors=request.with_vector or False,
        )
        return models.ScrollResult(points=points, next_page_offset=after)


class Relay(StandIn):
    """A proxy to a real server, which records, refuses and counts requests like a `StandIn`.

    `SUBTITLE_RAG_TEST_QDRANT_KEY` is that server's key.
    """

    def __init__(self, url: str, version: str = "1.20.0", key: str = "") -> None:
        super().__init__(version, key)
        self._url = url.rstrip("/")
        self._suffix = f"-test-{secrets.token_hex(6)}"
        own_key = os.environ.get(f"{VARIABLE}_KEY") or None
        self._real = QdrantClient(url=url, api_key=own_key, check_compatibility=False, timeout=60)
        self.memory = _Suffixed(self._real, self._suffix)  # type: ignore[assignment]
        self._used: set[str] = set()

    def __exit__(self, *how: Any) -> None:
        for name in self._used:
            self._real.delete_collection(name)
        self._real.close()
        super().__exit__(*how)

    def serve(self, method: str, path: str, headers: Any, sent: Json) -> tuple[int, Json | bytes]:
        self.asked.append((method, path, sent))
        failure = self.failing(method, path)
        if failure is not None:
            return failure
        if path == "/":
            return 200, {"title": "qdrant - vector search engine", "version": self.version}
        if self.key and headers.get("api-key") != self.key:
            return 401, b"Must provide an API key or an Authorization bearer token"
        match = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
        assert match, path
        self._used.add(match[1] + self._suffix)
        client = self._real.http.client
        url = f"{self._url}/collections/{match[1]}{self._suffix}{match[2] or ''}"
        params = {"wait": "true"} if method != "GET" else {}
        response = client._client.request(method, url, params=params, json=sent if method in BODIES else None)
        return response.status_code, response.content


class _Suffixed:
    """A client that adds a suffix to the collections' names."""

    def __init__(self, client: QdrantClient, suffix: str) -> None:
        self._client = client
        self._suffix = suffix

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        return lambda collection, *arguments, **options: method(collection + self._suffix, *arguments, **options)


BODIES = ("PUT", "POST", "PATCH")


def qdrant_server() -> StandIn:
    """Return a stand-in or, if a maintainer names a real server, a relay to it."""
    url = os.environ.get(VARIABLE)
    return Relay(url) if url else StandIn()


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _fault(path: str, sent: Json) -> str | None:
    """Return the error of a server's validation, or None."""
    match = re.match(r"/collections/([^/]+)", path)
    if match and (set(unquote(match[1])) & set('<>:"/\\|?*\0\x1f') or len(match[1]) > 255):
        return "collection_name: collection name cannot contain this char"
    for at, node in _nodes(sent):
        if isinstance(node, dict) and node.keys() == {"indices", "values"}:
            if len(node["indices"]) != len(node["values"]):
                return f"{at}.values: must be the same length as indices"
            if len(set(node["indices"])) != len(node["indices"]):
                return f"{at}.indices: must be unique"
        elif isinstance(node, list) and node and isinstance(node[0], list):
            if not all(node):
                return f"{at}: all vectors must be non-empty"
            if sum(map(len, node)) >= MOST_NUMBERS:
                return f"{at}: Total size of all vectors ({sum(map(len, node))}) must be less than {MOST_NUMBERS}"
    updates = [sent] if path.endswith("/points/vectors") else []
    updates += [
        operation["update_vectors"] for operation in sent.get("operations", ()) if "update_vectors" in operation
    ]
    for update in updates:
        for number, point in enumerate(update.get("points", ())):
            if all(vector in ([], {"indices": [], "values": []}) for vector in point["vector"].values()):
                return f"points[{number}].vector: must specify vectors to update for point"
    return None


def _nodes(sent: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the objects and lists in a request, except payloads, with their positions."""
    yield at, sent
    if isinstance(sent, dict):
        for key, value in sent.items():
            if key != "payload":
                yield from _nodes(value, f"{at}.{key}".lstrip("."))
    elif isinstance(sent, list) and sent and isinstance(sent[0], dict):
        for number, value in enumerate(sent):
            yield from _nodes(value, f"{at}[{number}]")


def _filtered_fields(sent: Any) -> Iterator[str]:
    """Yield the fields used by filters' conditions."""
    for _at, node in _nodes(sent):
        if isinstance(node, dict):
            if isinstance(node.get("key"), str) and ("match" in node or "range" in node):
                yield node["key"]
            elif isinstance(node.get("is_empty"), dict):
                yield node["is_empty"]["key"]


def _read(kind: Any, sent: Any) -> Any:
    return TypeAdapter(kind).validate_python(sent)


def _plain(value: Any) -> Any:
    return TypeAdapter(Any).dump_python(value, mode="json", exclude_none=True)


_CALLS: dict[tuple[str, str], Callable[[StandIn, str, Json], Any]] = {
    ("GET", "/exists"): lambda stand_in, name, _sent: {"exists": stand_in.memory.collection_exists(name)},
    ("GET", ""): StandIn.described,
    ("PUT", ""): StandIn.create,
    ("PATCH", ""): StandIn.update,
    ("DELETE", ""): lambda stand_in, name, _sent: stand_in.memory.delete_collection(name),
    ("PUT", "/index"): StandIn.index,
    ("PUT", "/points"): StandIn.upsert,
    ("POST", "/points"): lambda stand_in, name, sent: stand_in.memory.retrieve(
        name, sent["ids"], sent["with_payload"], sent["with_vector"]
    ),
    ("POST", "/points/delete"): lambda stand_in, name, sent: stand_in.memory.delete(
        name, _read(models.PointsSelector, sent)
    ),
    ("PUT", "/points/vectors"): lambda stand_in, name, sent: stand_in.memory.update_vectors(
        name, models.UpdateVectors.model_validate(sent).points
    ),
    ("POST", "/points/vectors/delete"): lambda stand_in, name, sent: stand_in.memory.delete_vectors(
        name, sent["vector"], sent["points"]
    ),
    ("POST", "/points/batch"): lambda stand_in, name, sent: stand_in.memory.batch_update_points(
        name, models.UpdateOperations.model_validate(sent).operations
    ),
    ("POST", "/points/query/batch"): StandIn.query_batch,
    ("POST", "/points/scroll"): StandIn.scroll,
    ("POST", "/points/count"): lambda stand_in, name, sent: stand_in.memory.count(
        name, models.CountRequest.model_validate(sent).filter, exact=sent["exact"]
    ),
}
