"""The process that owns a library's index (`hosting`), for the clients in `index_client`.

qdrant-edge holds the GIL in every call and admits one process to a folder. So one host process per folder owns the
`EdgeIndex`, and the app and all commands are its clients. With `[qdrant]` in the config the host holds the connection
to that server instead, since importing its client takes longer than a whole search.

The host also analyses their queries: Kiwi loads longer than a whole search may take, and its 270 MB are shared here.
So a lexical search is one call (`search_text`), for which the host reads the vocabulary of the client's library. The
app's texts for the index are analysed here too (`text_morphemes`), in slices with a lower priority than queries.

The host lingers for `SUBTITLE_RAG_HOST_LINGER` seconds (20). A client orders a meta record, which must be the index's.
"""

import json
import logging
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.config.settings import QdrantSettings
from subtitle_rag.domain.errors import AppError, BusyError
from subtitle_rag.hosting.entry import HostKind
from subtitle_rag.library.schema import SCHEMA_VERSION
from subtitle_rag.retrieval.index.analysis_service import AnalysisService
from subtitle_rag.retrieval.index.index_edge import EdgeIndex
from subtitle_rag.retrieval.index.index_rules import mismatch, record_of
from subtitle_rag.retrieval.index.index_server import ServerIndex
from subtitle_rag.retrieval.korean.morphemes import ANALYZER, REVISION

logger = logging.getLogger(__name__)

IDLE_S = 5.0
"""Seconds without a call until the host optimizes."""
SIGBUS = 7
"""Its number on Linux; macOS uses 10 and reports a full disk in other ways."""


class EdgeService(AnalysisService):
    """An `EdgeIndex` with one call at a time, and the analyzer."""

    def __init__(self, folder: Path, index: EdgeIndex) -> None:
        super().__init__()
        self._folder = folder
        self._index = index
        self._calls = threading.Lock()

    def greet(self, *, meta: dict[str, Any] | None, fresh: bool) -> dict[str, Any] | None:
        """Return the meta record for the client's calls; None for a rescue, which takes any."""
        if meta is None:
            return None
        record = record_of(meta)
        with self._calls:
            if fresh:
                self._index.clear(meta=meta)
            self._check(record)
        return record

    def _check(self, record: dict[str, Any]) -> None:
        if record != self._index.record:
            raise mismatch(self._folder, self._index.record, record)

    def _call_index(self, session: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        with self._calls:
            if session is not None:
                self._check(session)  # another client may have put the index under another record
            return getattr(self._index, method)(*args, **options)

    def rest(self, quiet_s: float, *, leaving: bool) -> bool:
        super().rest(quiet_s, leaving=leaving)
        if leaving or quiet_s >= IDLE_S:
            self._optimize()
        return False

    def _optimize(self) -> None:
        from subtitle_rag.garbage import return_memory

        with self._calls:
            try:
                if self._index.optimize():
                    return_memory()  # 300 MB at 20,000 windows of 390 terms
            except AppError:
                logger.warning("optimizing failed", exc_info=True)

    def close(self) -> None:
        super().close()
        self._calls.acquire()
        self._index.close()


@dataclass(frozen=True, slots=True)
class ServerSession:
    """What a client wants of a server; equal sessions share a connection. The key is in no text of it."""

    settings: QdrantSettings
    record: str
    collection: str
    key: str = field(repr=False)


class ServerService(AnalysisService):
    """Connections to the Qdrant server of a config, and the analyzer, which needs none.

    A connection is opened by its first call, so that a server that is away fails calls and not the host. One with
    another key is never used: who has a key shows it, by reaching the server with it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._opening = threading.Lock()
        self._indexes: dict[ServerSession, ServerIndex] = {}
        self.methods |= {"create", "server_version"}

    def greet(self, *, meta: dict[str, Any] | None, server: dict[str, Any], collection: str, key: str) -> ServerSession:
        return ServerSession(QdrantSettings(**server), json.dumps(meta, sort_keys=True), collection, key)

    def _call_index(self, session: ServerSession, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if method in ("create", "clear"):
            self._replace(session, create=True, fresh=method == "clear")
            return None
        try:
            return getattr(self._index(session), method)(*args, **options)
        except AppError as error:
            if error.code != "qdrant_failed":
                raise
            logger.info("the connection is opened again", exc_info=True)  # somebody may have deleted the collection
            self._replace(session)
            return getattr(self._index(session), method)(*args, **options)

    def _index(self, session: ServerSession) -> ServerIndex:
        with self._opening:
            if session not in self._indexes:
                self._indexes[session] = self._open_index(session)
            return self._indexes[session]

    def _open_index(self, session: ServerSession, **how: bool) -> ServerIndex:
        from subtitle_rag.retrieval.index.index_server import ServerIndex

        return ServerIndex(session.settings, json.loads(session.record), session.collection, key=session.key, **how)

    def _replace(self, session: ServerSession, **how: bool) -> None:
        """Open the session's connection again; those who still have the one before end with it."""
        with self._opening:
            self._indexes.pop(session, None)
            self._indexes[session] = self._open_index(session, **how)

    def close(self) -> None:
        super().close()
        with self._opening:
            for index in self._indexes.values():
                index.close()


def _open_service(
    folder: Path,
    meta: dict[str, Any] | None,
    fresh: bool = False,
    server: dict[str, Any] | None = None,
    **_session: Any,
) -> AnalysisService:
    if server is not None:
        return ServerService()
    from subtitle_rag.retrieval.index.index_edge import EdgeIndex

    return EdgeService(folder, EdgeIndex(folder, meta, fresh=fresh, is_checked=True))


def _failure(folder: Path, error: OSError) -> AppError:
    from subtitle_rag.retrieval.index.edge_terms import as_app_error

    return as_app_error(folder, error)


KIND = HostKind(
    module=__name__,
    protocol=(25, SCHEMA_VERSION, REVISION, ANALYZER),  # a host reads the library too, and analyses queries
    open_service=_open_service,
    linger_s=20.0,
    linger_variable="SUBTITLE_RAG_HOST_LINGER",
    reply_s=120.0,  # reached only after an `optimize` of millions of points
    unreachable=lambda reason: BusyError("index_unreachable", reason=reason),
    failure=_failure,
    signals={SIGBUS: "disk_full"},  # the engine writes into mapped files, which kills it on a full disk
)
