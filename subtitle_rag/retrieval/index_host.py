"""The process that owns a library's embedded index (`hosting`); `index_client` starts it and talks to it.

qdrant-edge holds the GIL in every call and lets one process in at a time. So one host process per folder owns
the `EdgeIndex`; the app and every run of the command line are clients of it at the same time. It analyses their
queries too: Kiwi takes longer to load than a whole search may take, and 270 MB that they share here. So a search by
words is one call (`search_text`), for which the host reads the vocabulary of the client's library. What the app indexes
is analysed here too (`text_morphemes`), in slices that let queries go first.

It lingers for `SUBTITLE_RAG_HOST_LINGER` seconds (20). A client orders a meta record, which must be the index's.
"""

import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from subtitle_rag.domain import Morphemes
from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.hosting.entry import HostKind
from subtitle_rag.library.migrations import MIGRATIONS
from subtitle_rag.retrieval.analysis import END, QUERY, TEXTS, AnalysisQueue, SlicedAnalyzer
from subtitle_rag.retrieval.index import Filter, Hit
from subtitle_rag.retrieval.index_rules import BM25, mismatch, record_of
from subtitle_rag.retrieval.lexical import LexicalQuery
from subtitle_rag.retrieval.library_queries import LibraryQueries
from subtitle_rag.retrieval.morphemes import Analyzer

if TYPE_CHECKING:
    from subtitle_rag.retrieval.index_edge import EdgeIndex

logger = logging.getLogger(__name__)

ANALYSES = frozenset({"load", "morphemes", "related", "analyze"})
"""What a person waits for."""
METHODS = frozenset(
    {"insert", "add_vector", "drop_vector", "vectors", "replace_vector", "delete_video", "search", "ids", "points"}
    | {"search_all", "replace_payload", "get", "count", "clear"}
)
LINGER_S = 20.0
IDLE_S = 5.0
"""Seconds without a call after which the host optimizes."""
REPLY_S = 120.0
"""A call takes this long only behind an `optimize` of millions of points."""
RELEASE_S = 1.0
"""Seconds without a call after which the library is closed."""
SIGBUS = 7
"""Its number on Linux; macOS calls it 10 and has other ways to say that the disk is full."""


SentHit = tuple[str, float, dict[str, Any]]
"""A `Hit` on its way: tuples are pickled four times as fast as frozen dataclasses."""

T = TypeVar("T")


def _failure(folder: Path, error: OSError) -> AppError:
    from subtitle_rag.retrieval.edge_terms import as_app_error

    return as_app_error(folder, error)


def _unreachable(reason: str) -> BusyError:
    return BusyError("index_unreachable", reason=reason)


KIND = HostKind(
    module="subtitle_rag.retrieval.index_host",
    protocol=(5, len(MIGRATIONS)),  # a host reads the library too
    unreachable=_unreachable,
    failure=_failure,
    reply_s=REPLY_S,
    signals={SIGBUS: "disk_full"},  # the engine writes into mapped files, which on a full disk ends like this
)


def _sent(hits: Sequence[Hit]) -> list[SentHit]:
    return [(hit.id, hit.score, hit.payload) for hit in hits]


def _raised(work: Callable[[], T]) -> T:
    """What an analysis returns; its ValueError is not the client's fault, as those of the index are."""
    try:
        return work()
    except ValueError as error:
        raise RuntimeError(str(error)) from error


class IndexService:
    """An `EdgeIndex`, one call at a time, and an analyzer, one call at a time too."""

    def __init__(self, folder: Path, index: "EdgeIndex") -> None:
        self._folder = folder
        self._index = index
        self._analyzer = Analyzer()
        self._queries = LibraryQueries(self._analyzer)
        self._analyses = AnalysisQueue()
        self._texts = SlicedAnalyzer(self._analyzer, partial(self._analyses.call, TEXTS))
        self._calls = threading.Lock()

    def greet(self, *, meta: dict[str, Any], fresh: bool) -> dict[str, Any]:
        """The record that the client's calls are made under."""
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
        if method in ANALYSES:
            return self._analysed(lambda: getattr(self, f"_{method}")(*args, **options))
        if method == "search_text":
            return self._search_text(session, *args, **options)
        if method == "text_morphemes":
            return _raised(lambda: list(self._texts.morphemes(*args)))
        if method not in METHODS:
            raise ValueError(f"no such method: {method!r}")
        value = self._indexed(session, method, args, options)
        if method == "search":
            return _sent(value)
        return list(map(_sent, value)) if method == "search_all" else value

    def _indexed(self, session: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        with self._calls:
            self._check(session or {})  # somebody may have put the index under another record since
            return getattr(self._index, method)(*args, **options)

    def _search_text(
        self, session: Any, library: str, text: str, *, limit: int, where: Filter
    ) -> tuple[LexicalQuery, list[SentHit]]:
        lexical = self._analysed(lambda: self._analyze(library, text))
        options = {"limit": limit, "where": where, "payload": ()}
        return lexical, _sent(self._indexed(session, "search", (BM25, lexical.vector), options))

    def _analysed(self, work: Callable[[], T]) -> T:
        """Analyses wait for each other, and for no call of the index."""
        return _raised(lambda: self._analyses.call(QUERY, work))

    def _load(self) -> None:
        self._analyzer.load()

    def _morphemes(self, texts: list[str]) -> list[Morphemes]:
        return list(self._analyzer.morphemes(texts))

    def _related(self, forms: list[str], *, limit: int) -> dict[str, dict[str, float]]:
        return self._analyzer.related(forms, limit=limit)

    def _analyze(self, library: str, text: str) -> LexicalQuery:
        return self._queries.analyze(library, text)

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


def open_service(folder: Path, meta: dict[str, Any], fresh: bool) -> IndexService:
    from subtitle_rag.retrieval.index_edge import EdgeIndex

    return IndexService(folder, EdgeIndex(folder, meta, fresh=fresh, is_checked=True))


def main(argument: str) -> int:
    """Run the host that `argument` (JSON: folder, meta, fresh, report) asks for; the process's exit status."""
    from subtitle_rag.hosting.server import serve

    return serve(KIND, argument, open_service, float(os.environ.get("SUBTITLE_RAG_HOST_LINGER") or LINGER_S))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
