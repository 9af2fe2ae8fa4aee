"""Query analysis in the index host, with the vocabulary of the client's library."""

from pathlib import Path

from subtitle_rag.domain import BusyError
from subtitle_rag.library import Library
from subtitle_rag.retrieval.lexical import LexicalQuery, QueryAnalyzer
from subtitle_rag.retrieval.morphemes import Analyzer

Stamp = tuple[tuple[int, int, int], ...]


class LibraryQueries:
    """A `QueryAnalyzer` with a library that is open only while queries arrive. For one thread.

    An open library keeps SQLite's log beside its file, and a copy of the file alone would be incomplete.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._file: tuple[str, int, int] | None = None
        self._library: Library | None = None
        self._queries: QueryAnalyzer | None = None
        self._released: Stamp | None = None
        """The stamp of the files when the library was closed; None while it is open."""

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

    def release(self) -> None:
        """Close the library; its vocabulary stays in memory."""
        if self._library is not None and self._released is None:
            self._library.close()
            self._released = _stamp(str(self._library.path))

    def _opened(self, path: str) -> QueryAnalyzer:
        try:
            status = Path(path).stat()
        except OSError as error:  # opening it would create an empty one
            raise BusyError("library_readonly", path=str(Path(path).parent), reason=str(error.strerror)) from error
        file = path, status.st_dev, status.st_ino
        if self._queries is None or file != self._file:
            self.release()
            library = Library(Path(path))
            self._library, self._queries = library, QueryAnalyzer(library, self._analyzer)
            self._file, self._released = file, None
        return self._queries


def _stamp(path: str) -> Stamp:
    """Return inode, size and time of a library's files, to notice commits; an empty log counts as none."""
    stamps: list[tuple[int, int, int]] = []
    for file in (Path(path), Path(f"{path}-wal")):
        try:
            status = file.stat()
        except OSError:
            continue
        if status.st_size:
            stamps.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(stamps)
