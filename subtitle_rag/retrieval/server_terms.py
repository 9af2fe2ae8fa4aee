"""Conversions to and from a Qdrant server: addresses, filters, vectors, points, failures."""

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
from subtitle_rag.retrieval.index import DenseVector, Filter, Point, Vector
from subtitle_rag.retrieval.index_rules import read_vectors

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

logger = logging.getLogger(__name__)

OLDEST = (1, 18)
"""The first version of Qdrant with named vectors added to existing collections."""
PORT = 6333
_READS = ("/points", "/query", "/scroll", "/count", "/search")
CONNECT_S = 5.0
"""Timeout of a connection: a machine without power does not answer."""


def address(url: str) -> str:
    """Return the server's address in one spelling: scheme, host, port (default 6333) and path.

    Raises:
        UsageError: `qdrant_url`; also for an address with a password.
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
    """Return a client of the server; sends nothing.

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
    # its own check of versions prints a warning from a thread, over the app's screen
    client = QdrantClient(
        url=address(settings.url), headers=headers, timeout=settings.timeout, check_compatibility=False
    )

    def send_logged(request: Any, send: Any) -> Any:
        request.extensions["timeout"]["connect"] = min(CONNECT_S, settings.timeout)
        return _logged(request, send)

    client.http.client.add_middleware(send_logged)
    return client


def _logged(request: Any, send: Any) -> Any:
    """Send a request and log it; reads, which every key of a search makes, are logged at debug level."""
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


def is_supported(version: str) -> bool:
    """Return whether this version of Qdrant is new enough; an unknown format counts as new."""
    match = re.match(r"v?(\d+)\.(\d+)", version)
    return match is None or (int(match[1]), int(match[2])) >= OLDEST


def to_app_error(error: Exception, url: str, variable: str) -> AppError:
    """Return the typed failure for an exception of the client, without the key should the server repeat it."""
    status = getattr(error, "status_code", None)
    source = getattr(error, "source", None)
    is_foreign = isinstance(source or error, ValueError | AssertionError)
    if status is not None:
        match = re.search(rb'"error"\s*:\s*"([^"]*)"', getattr(error, "content", b""))
        message = match[1].decode(errors="replace") if match else getattr(error, "reason_phrase", "")
        reason = f"{status} {message}"
    elif is_foreign:
        reason = _("its answer is not one of Qdrant's")
    else:
        reason = str(source or error) or type(source or error).__name__
    key = os.environ.get(variable, "").strip() if variable else ""
    reason = " ".join((reason.replace(key, "…") if key else reason).split())[:200]
    if status in (401, 403):
        if not variable:
            return AppError("qdrant_key_needed", url=url)
        return AppError("qdrant_refused", url=url, variable=variable)
    if is_foreign or (status is not None and status < 500 and status not in (408, 429)):
        return AppError("qdrant_failed", url=url, reason=reason)
    return BusyError("qdrant_unreachable", url=url, reason=reason)


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


def read_layout(collection: "models.CollectionInfo") -> dict[str, int | None]:
    """Return the layout of a collection, in the form of `Index.vectors`."""
    params = collection.config.params
    dense = params.vectors if isinstance(params.vectors, dict) else {}
    return {**dict.fromkeys(params.sparse_vectors or {}), **{name: each.size for name, each in dense.items()}}


def server_vector(vector: Vector) -> "models.SparseVector | list[float]":
    from qdrant_client import models

    if isinstance(vector, DenseVector):
        return list(vector.values)
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def point_from(record: "models.Record") -> Point:
    return Point(str(record.id), read_vectors(record.vector), record.payload or {})
