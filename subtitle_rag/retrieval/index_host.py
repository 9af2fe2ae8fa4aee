"""The process that owns a library's embedded index (`hosting`); its client is `index_client`.

qdrant-edge holds the GIL in every call and admits one process to a folder. So one host process per folder owns the
`EdgeIndex`, and the app and all commands are its clients. It also analyses their queries: Kiwi loads longer than a
whole search may take, and its 270 MB are shared here. So a lexical search is one call (`search_text`), for which the
host reads the vocabulary of the client's library. The app's texts for the index are analysed here too
(`text_morphemes`), in slices with a lower priority than queries.

The host lingers for `SUBTITLE_RAG_HOST_LINGER` seconds (20). A client orders a meta record, which must be the index's.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.hosting.entry import HostKind
from subtitle_rag.library.migrations import MIGRATIONS
from subtitle_rag.retrieval.analysis_queue import END, QUERY, TEXTS, AnalysisQueue, SlicedAnalyzer
from subtitle_rag.retrieval.index import Filter, Hit
from subtitle_rag.retrieval.index_rules import BM25, mismatch, record_of
from subtitle_rag.retrieval.lexical import LexicalQuery
from subtitle_rag.retrieval.library_queries import LibraryQueries
from subtitle_rag.retrieval.morphemes import Analyzer

if TYPE_CHECKING:
    from subtitle_rag.retrieval.index_edge import EdgeIndex

logger = logging.getLogger(__name__)

INDEX_METHODS = frozenset(
    {"insert", "add_vector", "drop_vector", "vectors", "replace_vector", "delete_video", "search", "ids", "points"}
    | {"delete_videos", "get_neural", "adopt", "search_all", "replace_payload", "get", "count", "clear"}
)
IDLE_S = 5.0
"""Seconds without a call until the host optimizes."""
RELEASE_S = 1.0
"""Seconds without a call until the library is closed."""
SIGBUS = 7
"""Its number on Linux; macOS uses 10 and reports a full disk in other ways."""


SentHit = tuple[str, float, dict[str, Any]]
"""A `Hit` in a message: tuples are pickled four times as fast as frozen dataclasses."""

T = TypeVar("T")


def _sent(hits: Sequence[Hit]) -> list[SentHit]:
    return [(hit.id, hit.score, hit.payload) for hit in hits]


def _analysis(work: Callable[[], T]) -> T:
    """Return the work's result; its ValueError is a fault of the analyzer, not of the client's arguments."""
    try:
        return work()
    except ValueError as error:
        raise RuntimeError(str(error)) from error


class IndexService:
    """An `EdgeIndex` and an analyzer, each with one call at a time."""

    def __init__(self, folder: Path, index: "EdgeIndex") -> None:
        self._folder = folder
        self._index = index
        self._analyzer = Analyzer()
        self._queries = LibraryQueries(self._analyzer)
        self._analyses = AnalysisQueue()
        self._texts = SlicedAnalyzer(self._analyzer, partial(self._analyses.call, TEXTS))
        self._calls = threading.Lock()
        self._query_methods: dict[str, Callable[..., Any]] = {
            "load": self._load,
            "morphemes": lambda texts: list(self._analyzer.morphemes(texts)),
            "related": self._analyzer.related,
            "analyze": self._queries.analyze,
        }
        self.methods = INDEX_METHODS | self._query_methods.keys() | {"search_text", "text_morphemes", "meta_record"}

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

    def call(self, session: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if method in self._query_methods:
            return self._analyze(partial(self._query_methods[method], *args, **options))
        if method == "meta_record":
            return self._index.record
        if method == "search_text":
            return self._search_text(session, *args, **options)
        if method == "text_morphemes":
            return _analysis(lambda: list(self._texts.morphemes(*args)))
        value = self._call_index(session, method, args, options)
        if method == "search":
            return _sent(value)
        return list(map(_sent, value)) if method == "search_all" else value

    def _call_index(self, session: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        with self._calls:
            if session is not None:
                self._check(session)  # another client may have put the index under another record
            return getattr(self._index, method)(*args, **options)

    def _search_text(
        self, session: Any, library: str, text: str, *, limit: int, where: Filter
    ) -> tuple[LexicalQuery, list[SentHit]]:
        lexical = self._analyze(lambda: self._queries.analyze(library, text))
        options = {"limit": limit, "where": where, "payload": ()}
        return lexical, _sent(self._call_index(session, "search", (BM25, lexical.vector), options))

    def _load(self) -> None:
        """Load Kiwi; the client gets no answer to unpickle, which would load it there as well."""
        self._analyzer.load()

    def _analyze(self, work: Callable[[], T]) -> T:
        """Run an analysis of a query; it waits for other analyses, never for the index."""
        return _analysis(lambda: self._analyses.call(QUERY, work))

    def rest(self, quiet_s: float, *, leaving: bool) -> bool:
        if self._queries.is_open and (leaving or quiet_s >= RELEASE_S):
            self._analyses.call(QUERY, self._queries.release)
        if leaving or quiet_s >= IDLE_S:
            self._optimize()
        return False

    def _optimize(self) -> None:
        from subtitle_rag.retrieval.loading import return_memory

        with self._calls:
            try:
                if self._index.optimize():
                    return_memory()  # 300 MB at 20,000 windows of 390 terms
            except AppError:
                logger.warning("optimizing failed", exc_info=True)

    def close(self) -> None:
        self._analyses.call(END, self._queries.release)
        self._calls.acquire()
        self._index.close()


def _open_service(folder: Path, meta: dict[str, Any] | None, fresh: bool) -> IndexService:
    from subtitle_rag.retrieval.index_edge import EdgeIndex

    return IndexService(folder, EdgeIndex(folder, meta, fresh=fresh, is_checked=True))


def _failure(folder: Path, error: OSError) -> AppError:
    from subtitle_rag.retrieval.edge_terms import as_app_error

    return as_app_error(folder, error)


KIND = HostKind(
    module=__name__,
    protocol=(10, len(MIGRATIONS)),  # a host reads the library too
    open_service=_open_service,
    linger_s=20.0,
    linger_variable="SUBTITLE_RAG_HOST_LINGER",
    reply_s=120.0,  # reached only behind an `optimize` of millions of points
    unreachable=lambda reason: BusyError("index_unreachable", reason=reason),
    failure=_failure,
    signals={SIGBUS: "disk_full"},  # the engine writes into mapped files, which kills it on a full disk
)
