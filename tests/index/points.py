"""Points, queries and opened indexes, as the tests of every `Index` want them."""

import json
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.base.vectors.points import (
    DenseVector,
    Filter,
    Hit,
    Point,
    Searched,
    SparseVector,
    Vector,
    VectorSearch,
)
from subtitle_rag.index.index_client import HostedIndex, HostedServerIndex
from subtitle_rag.index.index_server import ServerIndex
from subtitle_rag.index.interface import Index
from subtitle_rag.index.server_terms import collection_name
from tests.support.hosts_in_process import HOSTS

META = {"kiwi": "0.24.1", "bm25": 1}
COLLECTION = collection_name("0badcafe")
"""Of the library that the tests are about."""
Open = Callable[..., Index]


def server_index(settings: QdrantSettings, meta: dict[str, Any] = META, **how: Any) -> ServerIndex:
    """Open the collection of the library on a server; it is made if it is missing."""
    return ServerIndex(settings, meta, COLLECTION, **{"create": True, **how})


def hosted_index(cache: Path, settings: QdrantSettings, meta: dict[str, Any] = META) -> HostedServerIndex:
    """Open the same collection through a host."""
    index = HostedServerIndex(cache, settings, meta, COLLECTION)
    index.create()
    return index


def host_of(folder: Path, meta: dict[str, Any], *, fresh: bool = False) -> HostedIndex:
    """Open the embedded index through a host; with `fresh` it is emptied first."""
    index = HostedIndex(folder, meta)
    try:
        if fresh:
            index.clear()
        index.open()
    except BaseException:
        index.close()
        raise
    return index


def settle(folder: Path) -> None:
    """Wait until no host holds `folder`."""
    if HOSTS.end(folder):
        return
    try:
        pid = json.loads((folder / "host.json").read_text())["pid"]
    except OSError:
        pid = None
    deadline = time.monotonic() + 10
    while pid is not None:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < deadline, "the host stays"
        time.sleep(0.01)


def pid(n: int) -> str:
    return str(uuid.UUID(int=n))


def sparse(weights: dict[int, float]) -> SparseVector:
    return SparseVector(tuple(weights), tuple(weights.values()))


def dense(*values: float) -> DenseVector:
    return DenseVector(tuple(values))


def point(n: int, weights: dict[int, float] | None = None, **payload: Any) -> Point:
    return Point(pid(n), {"bm25": sparse({1: 1.0} if weights is None else weights)}, payload)


def search(index: Searched, name: str, query: Vector, *, limit: int, where: Filter | None = None) -> list[Hit]:
    (hits,) = index.search_all([VectorSearch(name, query, limit, where or Filter())])
    return hits


def payloads(index: Index, *ids: str) -> dict[str, dict[str, Any]]:
    return {point.id: point.payload for point in index.get(ids)}


def found(index: Index, *terms: int, name: str = "bm25", limit: int = 100, where: Filter | None = None) -> list[int]:
    query = sparse(dict.fromkeys(terms or (1,), 1.0))
    return [uuid.UUID(hit.id).int for hit in search(index, name, query, limit=limit, where=where)]
