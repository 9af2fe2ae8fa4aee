"""The program's terms in Qdrant's: addresses, filters, vectors, points, and what a server's failures mean."""

import logging
import os
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from subtitle_rag.config import QdrantSettings
from subtitle_rag.errors import AppError, BusyError, UsageError
from subtitle_rag.i18n import _
from subtitle_rag.installation.extras import SERVER
from subtitle_rag.installation.missing import require
from subtitle_rag.redaction import register_secret
from subtitle_rag.retrieval.index import DenseVector, Filter, Point, SparseVector, Vector

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

logger = logging.getLogger(__name__)

OLDEST = (1, 18)
"""The first version of Qdrant whose collections can be given further named vectors."""
PORT = 6333
_READS = ("/points", "/query", "/scroll", "/count", "/search")
CONNECT_S = 5.0
"""Longest wait for a connection: a machine that is off does not answer at all."""


def address(url: str) -> str:
    """The server's address in one spelling: scheme, host and port (6333), and a path where there is one.

    Raises:
        UsageError: `qdrant_url`; also where it holds a password.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        raise UsageError("qdrant_url") from None
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.query or parts.fragment:
        raise UsageError("qdrant_url")
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}:{port}{parts.path.rstrip('/')}"


def connect(settings: QdrantSettings) -> "QdrantClient":
    """A client of the server; sends nothing.

    Raises:
        AppError: `server_missing`.
        UsageError: `qdrant_url`, `qdrant_no_key`.
    """
    require(SERVER)
    from qdrant_client import QdrantClient

    headers = {}
    if settings.api_key_env:
        key = os.environ.get(settings.api_key_env, "").strip()
        if not key:
            raise UsageError("qdrant_no_key", variable=settings.api_key_env)
        register_secret(key)
        headers = {"api-key": key}
    # its own check of versions warns from a thread, over a screen that is drawn on
    place = address(settings.url)
    client = QdrantClient(url=place, headers=headers, timeout=settings.timeout, check_compatibility=False)

    def hasty(request: Any, send: Any) -> Any:
        request.extensions["timeout"]["connect"] = min(CONNECT_S, settings.timeout)
        return _logged(request, send)

    client.http.client.add_middleware(hasty)
    return client


def _logged(request: Any, send: Any) -> Any:
    """Send a request and log it; what every key of a search asks is logged for debugging alone."""
    told = f"{request.method} {request.url.host}:{request.url.port}{request.url.path}"
    began = time.monotonic()
    try:
        response = send(request)
    except Exception:
        logger.warning("%s failed after %.0f ms", told, (time.monotonic() - began) * 1000, exc_info=True)
        raise
    reads = request.method == "GET" or (request.method == "POST" and request.url.path.endswith(_READS))
    level = logging.WARNING if response.is_error else logging.DEBUG if reads else logging.INFO
    logger.log(level, "%s %d in %.0f ms", told, response.status_code, (time.monotonic() - began) * 1000)
    return response


def recent(version: str) -> bool:
    """Whether a server of this version can hold the collection; one that tells none is taken for recent."""
    match = re.match(r"v?(\d+)\.(\d+)", version)
    return match is None or (int(match[1]), int(match[2])) >= OLDEST


def failure(error: Exception, place: str, variable: str) -> AppError:
    """What the client raised, as the program tells it; the key is cut out should the server repeat it."""
    status = getattr(error, "status_code", None)
    source = getattr(error, "source", None)
    strange = isinstance(source or error, ValueError | AssertionError)
    if status is not None:
        found = re.search(rb'"error"\s*:\s*"([^"]*)"', getattr(error, "content", b""))
        told = found[1].decode(errors="replace") if found else getattr(error, "reason_phrase", "")
        reason = f"{status} {told}"
    elif strange:
        reason = _("its answer is not one of Qdrant's")
    else:
        reason = str(source or error) or type(source or error).__name__
    key = os.environ.get(variable, "").strip() if variable else ""
    reason = " ".join((reason.replace(key, "…") if key else reason).split())[:200]
    if status in (401, 403):
        if not variable:
            return AppError("qdrant_key_needed", url=place)
        return AppError("qdrant_refused", url=place, variable=variable)
    if strange or (status is not None and status < 500 and status not in (408, 429)):
        return AppError("qdrant_failed", url=place, reason=reason)
    return BusyError("qdrant_unreachable", url=place, reason=reason)


def server_filter(where: Filter) -> "models.Filter | None":
    from qdrant_client import models

    must: list[models.Condition] = []
    if where.channels:
        must.append(models.FieldCondition(key="channel_id", match=models.MatchAny(any=list(where.channels))))
    if where.videos:
        must.append(models.FieldCondition(key="video", match=models.MatchAny(any=list(where.videos))))
    if where.after or where.before:
        first = f"{where.after}T00:00:00Z" if where.after else None
        last = f"{where.before}T23:59:59.999999Z" if where.before else None
        days = models.DatetimeRange.model_validate({"gte": first, "lte": last})
        must.append(models.FieldCondition(key="published", range=days))
    if where.only is not None:
        must.append(models.HasIdCondition(has_id=list(where.only)))
    without: list[models.Condition] = [models.HasIdCondition(has_id=list(where.without))] if where.without else []
    return models.Filter(must=must, must_not=without) if must or without else None


def room(described: "models.CollectionInfo") -> dict[str, int | None]:
    """The named vectors of a collection, as `Index.vectors` tells them."""
    told = described.config.params
    dense = told.vectors if isinstance(told.vectors, dict) else {}
    return {**dict.fromkeys(told.sparse_vectors or {}), **{name: params.size for name, params in dense.items()}}


def server_vector(vector: Vector) -> "models.SparseVector | list[float]":
    from qdrant_client import models

    if isinstance(vector, DenseVector):
        return list(vector.values)
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def point_from(record: "models.Record") -> Point:
    found: dict[str, Any] = dict(record.vector) if isinstance(record.vector, dict) else {}
    vectors: dict[str, Vector] = {
        name: DenseVector(tuple(value))
        if isinstance(value, list)
        else SparseVector(tuple(value.indices), tuple(value.values))
        for name, value in found.items()
    }
    return Point(str(record.id), vectors, record.payload or {})
