"""The analyzer in the index host, shared by queries and indexing, with the vocabulary of the client's library.

Kiwi processes the texts of all calls in order, so a query would wait for a batch of 256 windows. Therefore texts for
the index are analysed in slices, with a lower priority than queries.
"""

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from itertools import count
from pathlib import Path
from queue import PriorityQueue
from typing import Any, TypeVar

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.domain.values import Morphemes
from subtitle_rag.base.vectors.batches import split_by_weight
from subtitle_rag.base.vectors.points import Filter, Hit
from subtitle_rag.index.interface import Index
from subtitle_rag.korean.lexical import LexicalQuery, QueryAnalyzer, word_search
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.store import Library

logger = logging.getLogger(__name__)

QUERY, TEXTS, END = range(3)
"""Priorities, lowest number first. `END` ends the thread."""
SLICE_LETTERS = 1_500
"""Maximum characters of a slice: about 20 ms of Kiwi's two workers, twice as long on a busy machine."""
INDEX_METHODS = frozenset(name for name in dir(Index) if name[0] != "_") - {"place", "close"} | {"open", "adopt"}
"""Methods that a host calls for its clients: the interface's, and those of an embedded index."""
RELEASE_S = 1.0
"""Seconds without a call before the library is closed."""

T = TypeVar("T")
Stamp = tuple[tuple[int, int, int], ...]


class AnalysisQueue:
    """Runs calls one by one in its own thread. Thread-safe."""

    def __init__(self) -> None:
        self._numbers = count()
        self._waiting: PriorityQueue[tuple[int, int, Future[Any], Callable[[], Any]]] = PriorityQueue()
        threading.Thread(target=self._run, name="analyzer", daemon=True).start()

    def call(self, rank: int, work: Callable[[], T]) -> T:
        """Run `work` when its turn comes, by priority, then by order of calls. Return its result or raise its error.

        A ValueError here is a fault of the analyzer, not of the client's arguments, so it becomes a RuntimeError.
        """
        future: Future[T] = Future()
        self._waiting.put((rank, next(self._numbers), future, work))
        try:
            return future.result()
        except ValueError as error:
            raise RuntimeError(str(error)) from error

    def _run(self) -> None:
        rank = QUERY
        while rank != END:
            rank, _number, future, work = self._waiting.get()
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
            del future, work  # the result must not outlive its caller's use


def slices(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the texts in order, in slices of up to `SLICE_LETTERS` characters."""
    return split_by_weight(texts, len(texts), len, SLICE_LETTERS)


class LibraryQueries:
    """A `QueryAnalyzer` whose library is open only while queries arrive. For one thread.

    An open library has SQLite's write-ahead log beside it, so a user's copy of the file alone would be incomplete.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._file: tuple[str, int, int] | None = None
        self._library: Library | None = None
        self._queries: QueryAnalyzer | None = None
        self._released: Stamp | None = None
        """The files' stamp when the library was closed; None while it is open."""

    @property
    def is_open(self) -> bool:
        return self._library is not None and self._released is None

    def analyze(self, path: str, text: str) -> LexicalQuery:
        """See `QueryAnalyzer.analyze`. Raises the library's failures."""
        queries = self._opened(path)
        if self._released is not None:
            queries.reopened(lambda: _stamp(path) != self._released)
            self._released = None
        return queries.analyze(text)

    def tables(self) -> Iterator[Callable[[], object]]:
        """See `QueryAnalyzer.tables`."""
        return self._queries.tables() if self._queries else iter(())

    def release(self) -> None:
        """Close the library; its vocabulary stays in memory."""
        if self._library is not None and self._released is None:
            self._library.close()
            self._released = _stamp(str(self._library.path))

    def _opened(self, path: str) -> QueryAnalyzer:
        try:
            status = Path(path).stat()
        except FileNotFoundError as error:  # opening would create an empty library
            raise AppError("library_moved", path=path) from error
        except OSError as error:
            raise BusyError("library_readonly", path=str(Path(path).parent), reason=str(error.strerror)) from error
        file = path, status.st_dev, status.st_ino
        if self._queries is None or file != self._file:
            self.release()
            library = Library(Path(path))
            self._library, self._queries = library, QueryAnalyzer(library, self._analyzer)
            self._file, self._released = file, None
        return self._queries


def _stamp(path: str) -> Stamp:
    """Return inode, size and time of a library's files, to detect commits. An empty log counts as missing."""
    stamps: list[tuple[int, int, int]] = []
    for file in (Path(path), Path(f"{path}-wal")):
        try:
            status = file.stat()
        except OSError:
            continue
        if status.st_size:
            stamps.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(stamps)


class AnalysisService(ABC):
    """Base of both kinds of index host: an analyzer that runs one call at a time."""

    def __init__(self) -> None:
        self._analyzer = Analyzer()
        self._queries = LibraryQueries(self._analyzer)
        self._analyses = AnalysisQueue()
        self._query_methods: dict[str, Callable[..., Any]] = {
            "load": self._load,
            "morphemes": self._morphemes,
            "tagged": self._analyzer.tagged,
            "nearness": self._analyzer.nearness,
            "adverbs": self._analyzer.adverbs,
            "analyze": self._queries.analyze,
        }
        self.methods = INDEX_METHODS | self._query_methods.keys() | {"search_text", "text_morphemes"}

    def call(self, order: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if method in self._query_methods:
            # queued with other analyses, independent of the index
            return self._analyses.call(QUERY, partial(self._query_methods[method], *args, **options))
        if method == "search_text":
            return self._search_text(order, *args, **options)
        if method == "text_morphemes":
            return self._text_morphemes(*args)
        return self._call_index(order, method, args, options)

    @abstractmethod
    def _call_index(self, order: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call a method of the index."""

    def _search_text(
        self, order: Any, library: str, text: str, *, limit: int, where: Filter
    ) -> tuple[LexicalQuery, list[Hit]]:
        lexical = self._analyses.call(QUERY, lambda: self._queries.analyze(library, text))
        search = word_search(lexical, limit=limit, where=where)
        return lexical, self._call_index(order, "search_all", ([search],), {})[0]

    def _text_morphemes(self, texts: Sequence[str]) -> list[Morphemes]:
        """Analyse texts for the index in slices, so that queries need not wait."""
        parts = (self._analyses.call(TEXTS, partial(self._morphemes, part)) for part in slices(texts))
        return [analysis for part in parts for analysis in part]

    def _morphemes(self, texts: Sequence[str]) -> list[Morphemes]:
        return list(self._analyzer.morphemes(texts))

    def _load(self) -> None:
        """Load Kiwi. Returns nothing: unpickling a result would load Kiwi in the client as well."""
        self._analyzer.load()

    def rest(self, quiet_s: float, *, leaving: bool) -> bool:
        if self._queries.is_open and (leaving or quiet_s >= RELEASE_S):
            if not leaving:
                self._make_tables()
            self._analyses.call(QUERY, self._queries.release)
        return False

    def _make_tables(self) -> None:
        """Build tables for later queries in advance; current queries need not wait."""
        try:
            for make in self._queries.tables():
                self._analyses.call(TEXTS, make)
        except AppError:
            logger.info("no tables were made ahead", exc_info=True)

    def close(self) -> None:
        self._analyses.call(END, self._queries.release)
