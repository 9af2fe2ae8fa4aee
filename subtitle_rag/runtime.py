"""The composition: builds each door once, when it is first needed, from the settings."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from subtitle_rag.config import Settings
from subtitle_rag.errors import AppError, BusyError, LlmError
from subtitle_rag.i18n import _

if TYPE_CHECKING:
    from subtitle_rag.contexts.writer import Writer
    from subtitle_rag.fetching.run import Fetcher
    from subtitle_rag.indexing import Indexer
    from subtitle_rag.library.store import Library
    from subtitle_rag.llm import Llm
    from subtitle_rag.retrieval.index import Index
    from subtitle_rag.retrieval.index_client import HostedIndex
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
        """Close what was opened, so that it is opened anew if it is asked for. What was written stays."""
        for name in ("searcher", "indexer", "index"):  # they hold the doors that are closed here
            self.__dict__.pop(name, None)
        for name in ("host", "library"):
            door = self.__dict__.pop(name, None)
            if door is not None:
                door.close()

    def preload(self) -> None:
        """Begin to load what answers queries; a query waits for it."""
        threading.Thread(target=_quietly, args=(self.host.load,), daemon=True).start()

    @cached_property
    def library(self) -> "Library":
        from subtitle_rag.library.store import Library

        return Library(self.settings.paths.library)

    @cached_property
    def analyzer(self) -> "Analyzer":
        from subtitle_rag.retrieval.morphemes import Analyzer

        return Analyzer()

    @cached_property
    def host(self) -> "HostedIndex":
        """The search index as its host process has it, whatever state that is in."""
        return self._open_host()

    def _open_host(self, *, fresh: bool = False) -> "HostedIndex":
        from subtitle_rag.retrieval.index_client import HostedIndex
        from subtitle_rag.retrieval.morphemes import ANALYZER

        return HostedIndex(self.settings.paths.index, {"analyzer": ANALYZER}, fresh=fresh)

    @cached_property
    def index(self) -> "Index":
        """The search index; raises `index_damaged` where it has lost points that the library knows of."""
        known, found = self.library.counts().searchable, self.host.count()
        # an indexer at work takes windows out of the library first, then out of the index
        known = min(known, self.library.counts().searchable)
        if known > found:
            path = str(self.settings.paths.index)
            raise AppError(
                "index_damaged",
                path=path,
                reason=_("it holds {found} of {known} windows").format(found=found, known=known),
            )
        return self.host

    @cached_property
    def searcher(self) -> "Searcher":
        from subtitle_rag.retrieval.lexical import QueryAnalyzer
        from subtitle_rag.retrieval.search import Searcher

        return Searcher(self.library, self.index, QueryAnalyzer(self.library, self.host))

    @cached_property
    def indexer(self) -> "Indexer":
        from subtitle_rag.indexing import Indexer

        return Indexer(self.library, self.index, self.analyzer)

    def fetcher(self, stop: threading.Event | None = None) -> "Fetcher":
        """What brings captions from YouTube; `stop` ends its runs from another thread."""
        from subtitle_rag.fetching.run import Fetcher

        return Fetcher(self.library, self.indexer, self.settings.youtube, stop)

    @contextmanager
    def llms(self) -> "Iterator[list[Llm]]":
        """The hosts of Ollama, as the settings name them; raises LlmError `llm_off` where they name none."""
        from subtitle_rag.llm import Llm

        own = self.settings.llm
        if not own.hosts:
            raise LlmError("llm_off")
        with ExitStack() as opened:
            yield [opened.enter_context(closing(Llm(host, own))) for host in own.hosts]

    @property
    def context_model(self) -> str:
        """The model that writes contexts unless the user names another."""
        from subtitle_rag import models

        return self.settings.llm.model or models.default().name

    @contextmanager
    def writer(self, model: str | None = None, stop: threading.Event | None = None) -> "Iterator[Writer]":
        """What has contexts written; `stop` ends its runs from another thread. Raises what `llms` does."""
        from subtitle_rag.contexts.writer import Writer

        with self.llms() as hosts:
            yield Writer(self.library, self.indexer, hosts, model or self.context_model, stop)

    def rebuilder(self) -> "Indexer":
        """An indexer for `rebuild`: an index that cannot be used is emptied."""
        from subtitle_rag.indexing import Indexer

        try:
            index = self.host
        except BusyError:
            raise
        except AppError:
            index = self.__dict__["host"] = self._open_host(fresh=True)
        return Indexer(self.library, index, self.analyzer)


def _quietly(call: Callable[[], None]) -> None:
    """For a hint: whoever needs what it prepares meets the failure, if there is one, and tells it."""
    with suppress(AppError, RuntimeError):
        call()
