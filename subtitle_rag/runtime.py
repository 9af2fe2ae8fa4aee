"""The composition: builds each door once, when it is first needed, from the settings."""

import threading
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any

from subtitle_rag.config import Settings

if TYPE_CHECKING:
    from subtitle_rag.indexing import Indexer
    from subtitle_rag.library.store import Library
    from subtitle_rag.retrieval.index import Index
    from subtitle_rag.retrieval.morphemes import Analyzer
    from subtitle_rag.retrieval.search import Searcher


class Runtime:
    """What the faces work with. Close it, or use it as a context manager."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __enter__(self) -> "Runtime":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened. What was written stays."""
        for name in ("index", "library"):
            door = self.__dict__.pop(name, None)
            if door is not None:
                door.close()

    def preload(self) -> None:
        """Begin to load the analyzer in the background; what needs it waits for it."""
        threading.Thread(target=self.analyzer.load, daemon=True).start()

    @cached_property
    def library(self) -> "Library":
        from subtitle_rag.library.store import Library

        return Library(self.settings.paths.library)

    @cached_property
    def analyzer(self) -> "Analyzer":
        from subtitle_rag.retrieval.morphemes import Analyzer

        return Analyzer()

    @cached_property
    def index(self) -> "Index":
        """The search index; raises `index_damaged` where it has lost points that the library knows of."""
        from subtitle_rag.errors import AppError

        index = self.open_index()
        known = self.library.counts().searchable
        if known > index.count():
            index.close()
            raise AppError("index_damaged", path=str(self.settings.paths.index), reason=f"{known} > {index.count()}")
        return index

    def open_index(self, *, fresh: bool = False) -> "Index":
        """The index as it is; `fresh` empties it, whatever state it is in."""
        from subtitle_rag.retrieval.index_client import open_index
        from subtitle_rag.retrieval.morphemes import ANALYZER

        meta: dict[str, Any] = {"analyzer": ANALYZER}
        return open_index(self.settings.paths.index, meta, fresh=fresh)

    @cached_property
    def searcher(self) -> "Searcher":
        from subtitle_rag.retrieval.lexical import QueryAnalyzer
        from subtitle_rag.retrieval.search import Searcher

        return Searcher(self.library, self.index, QueryAnalyzer(self.library, self.analyzer))

    @cached_property
    def indexer(self) -> "Indexer":
        from subtitle_rag.indexing import Indexer

        return Indexer(self.library, self.index, self.analyzer)

    def rebuilder(self) -> "Indexer":
        """An indexer whose index may have been unusable: then it begins empty."""
        from subtitle_rag.errors import AppError, BusyError
        from subtitle_rag.indexing import Indexer

        try:
            index = self.open_index()
        except BusyError:
            raise
        except AppError:
            index = self.open_index(fresh=True)
        self.__dict__["index"] = index
        return Indexer(self.library, index, self.analyzer)
