"""Conversions to and from a Qdrant server: addresses, filters, vectors, points, failures.

Answers are limited in size and time, and their content is checked. The functions that read raise one of `FOREIGN` for
an answer that is not Qdrant's.
"""

import logging
import math
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.base.domain.errors import AppError, BusyError, UsageError
from subtitle_rag.base.i18n import _
from subtitle_rag.base.installation.extras import SERVER
from subtitle_rag.base.installation.package_installer import require_extra
from subtitle_rag.base.redaction import register_secret
from subtitle_rag.base.vectors.named_vectors import check_vector, has_parts
from subtitle_rag.base.vectors.points import (
    DenseVector,
    Filter,
    Hit,
    MultiVector,
    Point,
    SparseVector,
    Vector,
    VectorSearch,
)
from subtitle_rag.index.index_rules import check_id, check_payload, read_numbers

if TYPE_CHECKING:
    import httpx
    from qdrant_client import QdrantClient, models

logger = logging.getLogger(__name__)

OLDEST = (1, 18)
"""First version of Qdrant that can add named vectors to existing collections."""
WITH_BYTES = (1, 20)
"""First version that stores cosine vectors with a byte per dimension."""
PORT = 6333
_COLLECTIONS = "/collections/"
_READS = ("/points", "/query", "/query/batch", "/scroll", "/count", "/search")
PIECE_DIGITS = 5
TIMEOUT_S = 30
"""Timeout of a request."""
BODY_TIMES = 3
"""Timeouts until the body of an answer must be complete; httpx only measures the time without a byte."""
CONNECT_S = 5.0
"""Timeout of a connection, since a machine that is switched off does not answer."""
MAX_BYTES = 64 << 20
"""Maximum size of an answer; a page of points with vectors has a fifth."""
Found = TypeVar("Found", "models.Record", "models.ScoredPoint")
FOREIGN = (AssertionError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)
"""Errors of reading an answer that is not Qdrant's, here and in the client."""


def address(url: str) -> str:
    """Return the server's canonical address: scheme, host, port (default 6333) and path.

    Raises:
        UsageError: `qdrant_url`; also for an address with a password.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        raise UsageError("qdrant_url") from None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("qdrant_url")
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}:{port}{parts.path.rstrip('/')}"


def collection_name(library_id: str) -> str:
    """Return the name of a library's collection on any server."""
    return f"subtitle-rag-{library_id}"


def collection_address(url: str, collection: str) -> str:
    """Return the address of a collection, as recorded in the library. Raises UsageError `qdrant_url`."""
    return f"{address(url)}{_COLLECTIONS}{collection}"


def server_address(index_address: str) -> str:
    """Return the address of a collection's server; other places, such as an embedded index, stay unchanged."""
    return index_address.partition(_COLLECTIONS)[0]


def read_key(settings: QdrantSettings) -> str:
    """Return the server's key from the environment; "" if the settings name none.

    Raises:
        UsageError: `qdrant_refused`.
    """
    if not settings.api_key_env:
        return ""
    key = os.environ.get(settings.api_key_env, "").strip()
    if not key:
        reason = _("the environment variable {variable} holds no key").format(variable=settings.api_key_env)
        raise UsageError("qdrant_refused", url=settings.url, reason=reason)
    register_secret(key)
    return key


def connect(settings: QdrantSettings, key: str) -> "QdrantClient":
    """Return a client for the server, without a request.

    Raises:
        AppError: `missing_extra`.
        UsageError: `qdrant_url`.
    """
    require_extra(SERVER)
    from qdrant_client import QdrantClient

    headers = {"Accept-Encoding": "identity"}
    if key:
        register_secret(key)
        headers["api-key"] = key
    # its own version check would print a warning over the app's screen, from a thread
    client = QdrantClient(
        url=address(settings.url),
        headers=headers,
        timeout=TIMEOUT_S,
        check_compatibility=False,
        follow_redirects=False,
        event_hooks={"response": [lambda response: bound(response, BODY_TIMES * TIMEOUT_S)]},
    )

    def send_logged(request: Any, send: Any) -> Any:
        request.extensions["timeout"]["connect"] = CONNECT_S
        return _logged(request, send)

    client.http.client.add_middleware(send_logged)
    return client


def _logged(request: Any, send: Any) -> Any:
    """Send a request and log it; reads, which every key press in a search makes, at debug level."""
    line = f"{request.method} {request.url.host}:{request.url.port}{request.url.path}"
    began = time.monotonic()
    try:
        response = send(request)
    except Exception:
        logger.warning("%s failed after %.0f ms", line, (time.monotonic() - began) * 1000, exc_info=True)
        raise
    reads = request.method == "GET" or (request.method == "POST" and request.url.path.endswith(_READS))
    level = logging.WARNING if response.is_error else logging.DEBUG if reads else logging.INFO
    logger.log(level, "%s %d in %.0f ms", line, response.status_code, (time.monotonic() - began) * 1000)
    return response


def is_from(version: str, oldest: tuple[int, int]) -> bool:
    """Whether this version of Qdrant is at least `oldest`; an unknown format counts as newer."""
    match = re.match(r"v?(\d+)\.(\d+)", version)
    return match is None or (int(match[1]), int(match[2])) >= oldest


def to_app_error(error: Exception, url: str, variable: str, key: str) -> AppError:
    """Return the typed failure for an exception of the client, without the key in case the server repeats it."""
    status = getattr(error, "status_code", None)
    source = getattr(error, "source", None)
    is_foreign = isinstance(source or error, FOREIGN)
    if status is not None:
        match = re.search(rb'"error"\s*:\s*"([^"]*)"', getattr(error, "content", b""))
        message = match[1].decode(errors="replace") if match else getattr(error, "reason_phrase", "")
        reason = f"{status} {message}"
    elif is_foreign:
        reason = _("its answer is not one of Qdrant's")
    else:
        reason = str(source or error) or type(source or error).__name__
    reason = " ".join((reason.replace(key, "…") if key else reason).split())[:200]
    if status in (401, 403):
        refusal = _("it refuses the key in {variable}").format(variable=variable) if variable else _("it needs a key")
        return AppError("qdrant_refused", url=url, reason=refusal)
    if is_foreign or (status is not None and status < 500 and status not in (408, 429)):
        return AppError("qdrant_failed", url=url, reason=reason)
    return BusyError("qdrant_unreachable", url=url, reason=reason)


def server_filter(where: Filter) -> "models.Filter | None":
    """Return the filter in the server's form; None if it restricts nothing."""
    from qdrant_client import models

    must: list[models.Condition] = []
    for key, values in (("channel_id", where.channels), ("video", where.videos)):
        if values:
            must.append(models.FieldCondition(key=key, match=models.MatchAny(any=list(values))))
    if where.after or where.before:
        first = f"{where.after}T00:00:00Z" if where.after else None
        last = f"{where.before}T23:59:59.999999Z" if where.before else None
        between = models.DatetimeRange.model_validate({"gte": first, "lte": last})
        must.append(models.FieldCondition(key="published", range=between))
    if where.only is not None:
        must.append(models.HasIdCondition(has_id=sorted(where.only)))
    without: list[models.Condition] = [models.HasIdCondition(has_id=sorted(where.without))] if where.without else []
    return models.Filter(must=must, must_not=without) if must or without else None


def read_layout(collection: "models.CollectionInfo") -> dict[str, int | None]:
    """Return the layout of a collection, in the form of `Index.vectors`."""
    params = collection.config.params
    dense = params.vectors if isinstance(params.vectors, dict) else {}
    return {**dict.fromkeys(params.sparse_vectors or {}), **{name: each.size for name, each in dense.items()}}


def sparse_index() -> "models.SparseIndexParams":
    """Return the inverted index of a sparse vector: in memory, in half precision."""
    from qdrant_client import models

    return models.SparseIndexParams(datatype=models.Datatype.FLOAT16, on_disk=False)


def dense_storage() -> "models.VectorParamsDiff":
    """Return the storage of a dense vector: itself on disk, its graph in memory."""
    from qdrant_client import models

    return models.VectorParamsDiff(
        on_disk=True, hnsw_config=models.HnswConfigDiff(m=16, ef_construct=100, on_disk=False)
    )


def datatype(name: str, version: str) -> "models.VectorStorageDatatype":
    """Return how a server of this version should store a dense vector or multivector."""
    from qdrant_client import models

    types = models.VectorStorageDatatype
    return types.TURBO8 if has_parts(name) and is_from(version, WITH_BYTES) else types.FLOAT16


def multivector_storage() -> "models.VectorParamsDiff":
    """Return the storage of multivectors: on disk, without a graph, because they only order a few hundred windows."""
    from qdrant_client import models

    return models.VectorParamsDiff(on_disk=True, hnsw_config=models.HnswConfigDiff(m=0))


def server_vector(vector: Vector) -> "models.SparseVector | list[float] | list[list[float]]":
    """Return the vector in the server's form. Sparse ones are sorted by term, which saves the server the work."""
    if isinstance(vector, DenseVector):
        return list(vector.values)
    if isinstance(vector, MultiVector):  # half precision has no more digits, and JSON would be twice as long
        return [[round(value, PIECE_DIGITS) for value in row] for row in vector.rows()]
    from qdrant_client import models

    terms = sorted(zip(vector.indices, vector.values, strict=True))
    return models.SparseVector(indices=[term for term, _value in terms], values=[value for _term, value in terms])


def bound(response: "httpx.Response", seconds: float) -> None:
    """Limit the time and size of a response's body; httpx calls this before it reads.

    Compressed bodies are refused: they were not requested, and a few bytes can become gigabytes.
    """
    import httpx

    stream = cast("httpx.SyncByteStream", response.stream)
    coding = response.headers.get("Content-Encoding", "identity")

    class BoundStream(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            size, deadline = 0, time.monotonic() + seconds
            if coding != "identity":
                raise httpx.DecodingError("a compressed answer")
            for piece in stream:
                size += len(piece)
                if size > MAX_BYTES:
                    raise httpx.ReadError(f"an answer of more than {MAX_BYTES >> 20} MB")
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout("the answer takes too long")
                yield piece

        def close(self) -> None:
            stream.close()

    response.stream = BoundStream()


def check_records(records: Iterable[Found], ids: Collection[str] | None = None) -> list[Found]:
    """Return the points, each once, and only those in `ids` if given."""
    by_id: dict[str, Found] = {}
    for record in records:
        point_id = cast(str, record.id)
        check_id(point_id)
        if ids is None or point_id in ids:
            by_id.setdefault(point_id, record)
    return list(by_id.values())


def check_page(records: Sequence["models.Record"], offset: Any, after: str | None) -> None:
    """Raise ValueError unless all records follow the id `after`, and precede `offset`, where the next page begins.

    A server that repeats pages would be read forever.
    """
    ids = [cast(str, record.id) for record in records]
    if ids != sorted(ids) or (after is not None and ids[:1] < [after] and ids):
        raise ValueError("a page that is not in order")
    if offset is not None:
        check_id(offset)
        if (after is not None and offset <= after) or (ids and offset <= ids[-1]):
            raise ValueError("a page that leads back")


def read_point(record: "models.Record") -> Point:
    point_id, payload = cast(str, record.id), record.payload or {}
    check_payload(point_id, payload)
    vectors: dict[str, Vector] = {}
    for name, value in cast(dict[str, Any], record.vector or {}).items():
        vector = (
            read_numbers(value) if isinstance(value, list) else SparseVector(tuple(value.indices), tuple(value.values))
        )
        check_vector(name, vector)
        vectors[name] = vector
    return Point(point_id, vectors, payload)


def read_hits(search: VectorSearch, answers: Sequence[Sequence["models.ScoredPoint"]]) -> list[Hit]:
    """Return the best hits, ties by id, in the answers to the queries of `ServerIndex`."""
    if not answers:
        return []
    points, *required = map(check_records, answers)
    if not all(math.isfinite(point.score) for point in points):
        raise ValueError("a score that is no number")
    best = sorted((-point.score, cast(str, point.id)) for point in points)[: search.limit]
    if search.required is not None:
        ids = {point.id for point in required[0]}
        best = [(score, id) for score, id in best if id in ids]
    return [Hit(id, -score) for score, id in best]
