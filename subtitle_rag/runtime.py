"""The composition: builds each door once, when it is first needed, from the settings."""

import logging
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from subtitle_rag.config import Settings
from subtitle_rag.errors import AppError, BusyError, LlmError
from subtitle_rag.i18n import _

if TYPE_CHECKING:
    from subtitle_rag.answers.answer import Answerer
    from subtitle_rag.contexts.writer import Writer
    from subtitle_rag.encoding import EncodingRun
    from subtitle_rag.fetching.fetcher import Fetcher
    from subtitle_rag.fetching.pictures import Pictures
    from subtitle_rag.indexing import Indexer
    from subtitle_rag.library.store import Library
    from subtitle_rag.llm import Llm
    from subtitle_rag.models.model_store import ModelStore
    from subtitle_rag.retrieval.index import Index
    from subtitle_rag.retrieval.index_client import HostedIndex
    from subtitle_rag.retrieval.index_fallback import FallbackIndex
    from subtitle_rag.retrieval.index_server import ServerIndex
    from subtitle_rag.retrieval.morphemes import Analyzer, TextMorphemes
    from subtitle_rag.retrieval.neural_client import HostedModels
    from subtitle_rag.retrieval.search import Searcher

logger = logging.getLogger(__name__)

T = TypeVar("T")


class door(Generic[T]):  # noqa: N801 - a decorator
    """A property of `Runtime` that is built when it is first read, under the runtime's lock: never twice."""

    def __init__(self, build: Callable[[Any], T]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, runtime: None, owner: type) -> "door[T]": ...

    @overload
    def __get__(self, runtime: "Runtime", owner: type) -> T: ...

    def __get__(self, runtime: "Runtime | None", owner: type) -> "T | door[T]":
        if runtime is None:
            return self
        with runtime.lock:
            if self._name not in runtime.__dict__:
                runtime.__dict__[self._name] = self._build(runtime)
            built: T = runtime.__dict__[self._name]
            return built


class Runtime:
    """What the faces work with, from any thread. Close it, or use it as a context manager."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.lock = threading.RLock()
        """Held while a door is built."""
        self.prioritize_queries = False
        """Somebody looks on: what is indexed is analysed behind queries (`background_analyzer`)."""

    def __enter__(self) -> "Runtime":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened, so that it is opened anew if it is asked for. What was written stays."""
        # they hold the doors that are closed below
        for name in ("searcher", "indexer", "index", "fallback", "pictures"):
            self.__dict__.pop(name, None)
        for name in ("host", "server", "neural", "library"):
            door = self.__dict__.pop(name, None)
            if door is not None:
                door.close()

    def preload(self) -> None:
        """Begin to load what answers queries; a query waits for it."""
        threading.Thread(target=_quietly, args=(self.words.load,), daemon=True).start()

    def preload_neural(self) -> None:
        """Begin to load the models that a search with all retrievers asks, where they are here; nothing waits."""
        self.neural.load_soon(self.library.vectors.active())

    @door
    def library(self) -> "Library":
        from subtitle_rag.library.store import Library

        return Library(self.settings.paths.library)

    @door
    def analyzer(self) -> "Analyzer":
        from subtitle_rag.retrieval.morphemes import Analyzer

        return Analyzer()

    @door
    def host(self) -> "HostedIndex":
        """The search index as its host process has it, whatever state that is in."""
        return self._open_host()

    def _open_host(self, *, fresh: bool = False) -> "HostedIndex":
        from subtitle_rag.retrieval.index_client import HostedIndex
        from subtitle_rag.retrieval.morphemes import ANALYZER

        return HostedIndex(self.settings.paths.index, {"analyzer": ANALYZER}, fresh=fresh)

    @door
    def server(self) -> "ServerIndex":
        """The search index on the Qdrant server that the settings name, whatever state that is in."""
        return self._open_server()

    def _open_server(self, *, own: Collection[str] | None = None) -> "ServerIndex":
        from subtitle_rag.retrieval.index_server import open_server
        from subtitle_rag.retrieval.morphemes import ANALYZER

        return open_server(self.settings.qdrant, {"analyzer": ANALYZER}, own=own)

    @property
    def words(self) -> "HostedIndex | Analyzer":
        """What analyses queries: the host of the embedded index, else this process."""
        return self.analyzer if self.settings.qdrant.url else self.host

    @door
    def index(self) -> "Index":
        """The search index that the settings name.

        Raises:
            AppError: `index_elsewhere` where the library has filled another one, `index_damaged` where it has lost
                points that the library knows of.
        """
        from subtitle_rag.library.app_state import index_address

        filled, wanted = index_address(self.library), self.place
        known = self.library.counts().searchable
        if known and filled != wanted:
            raise AppError("index_elsewhere", found=filled, wanted=wanted)
        index: Index = self.server if self.settings.qdrant.url else self.host
        found = index.count()
        # an indexer at work takes windows out of the library first, then out of the index
        known = min(known, self.library.counts().searchable)
        if known > found:
            path = wanted if self.settings.qdrant.url else str(self.settings.paths.index)
            reason = _("it holds {found} of {known} windows").format(found=found, known=known)
            raise AppError("index_damaged", path=path, reason=reason)
        return index

    @property
    def place(self) -> str:
        """Where the index is that the settings name, as `library.app_state` notes it."""
        from subtitle_rag.library.app_state import EMBEDDED
        from subtitle_rag.retrieval.server_terms import address

        return address(self.settings.qdrant.url) if self.settings.qdrant.url else EMBEDDED

    @door
    def fallback(self) -> "FallbackIndex":
        """The server's index for searches, and the embedded one, where there is one, while it cannot be reached."""
        from subtitle_rag.retrieval.index_fallback import FallbackIndex

        def embedded() -> "Index | None":
            try:
                return self.host if (self.settings.paths.index / "shard").exists() else None
            except AppError:
                logger.info("the embedded index cannot stand in", exc_info=True)
                return None

        return FallbackIndex(lambda: self.index, embedded)

    @property
    def degraded_reason(self) -> BusyError | None:
        """Why another index than the one that the settings name has answered the last search."""
        return self.fallback.degraded_reason if self.settings.qdrant.url else None

    @door
    def searcher(self) -> "Searcher":
        from subtitle_rag.retrieval.search import Searcher

        if not self.settings.qdrant.url:
            from subtitle_rag.retrieval.index_client import HostedQueryAnalyzer

            hosted = HostedQueryAnalyzer(self.host, self.library.path)
            return Searcher(self.library, self.index, hosted, self.neural)
        from subtitle_rag.retrieval.lexical import QueryAnalyzer
        from subtitle_rag.retrieval.shared_index import SharedIndexWindows

        queries = QueryAnalyzer(self.library, self.analyzer)
        shared = SharedIndexWindows(self.library, self.fallback, self.analyzer)
        return Searcher(self.library, self.fallback, queries, self.neural, shared)

    @door
    def indexer(self) -> "Indexer":
        from subtitle_rag.indexing import Indexer

        return Indexer(self.library, self.index, self.background_analyzer if self.prioritize_queries else self.analyzer)

    @property
    def background_analyzer(self) -> "TextMorphemes":
        """What analyses texts while somebody searches: the host of the embedded index, else this process in slices."""
        if self.settings.qdrant.url:
            from subtitle_rag.retrieval.analysis import SlicedAnalyzer

            return SlicedAnalyzer(self.analyzer)
        from subtitle_rag.retrieval.index_client import HostedAnalyzer

        return HostedAnalyzer(self.host)

    @door
    def models(self) -> "ModelStore":
        """The encoders and rerankers that are here."""
        from subtitle_rag.models.model_store import ModelStore

        own = self.settings.models
        folder = Path(own.folder).expanduser() if own.folder else self.settings.paths.models
        return ModelStore(folder, own)

    @door
    def neural(self) -> "HostedModels":
        """The encoders and the reranker, as the process that holds them has them; it starts when one is used."""
        from subtitle_rag.retrieval.neural_client import HostedModels

        return HostedModels(self.settings.paths.cache / "neural", self.models)

    def fetcher(self, stop: threading.Event | None = None) -> "Fetcher":
        """What brings captions from YouTube; `stop` ends its runs from another thread."""
        from subtitle_rag.fetching.fetcher import Fetcher

        return Fetcher(self.library, self.indexer, self.settings.youtube, stop)

    @door
    def pictures(self) -> "Pictures":
        """The scenes' pictures, which are fetched from YouTube when they are asked for."""
        from subtitle_rag.fetching.pictures import Pictures

        return Pictures(self.library, self.settings.paths.cache / "storyboards", self.settings.youtube)

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
        """The model that writes contexts unless the user names another, or has chosen one for a channel."""
        from subtitle_rag import models

        return self.settings.llm.model or models.default().name

    @contextmanager
    def writer(self, model: str | None = None, stop: threading.Event | None = None) -> "Iterator[Writer]":
        """What has contexts written: by `model`, else each channel's by its own; `stop` ends its runs from another
        thread. Raises what `llms` does."""
        from subtitle_rag.contexts.writer import Writer

        with self.llms() as hosts:
            usual = model or self.context_model
            yield Writer(self.library, self.indexer, hosts, usual, stop, by_channel=model is None)

    def encoding(self, stop: threading.Event | None = None) -> "EncodingRun":
        """What makes neural vectors; `stop` ends its runs from another thread.

        Raises:
            AppError: `neural_missing`, `model_missing`, `encoder_off`, and what `HostedModels.encoder` raises.
        """
        from subtitle_rag.encoding import EncodingRun
        from subtitle_rag.installation.extras import NEURAL
        from subtitle_rag.installation.missing import require
        from subtitle_rag.models.manifest import ENCODER

        encoder = self.neural.encoder()
        if encoder is None:
            name = self.models.configured(ENCODER)
            if not name:
                raise AppError("encoder_off")
            require(NEURAL)
            raise AppError("model_missing", name=name)
        return EncodingRun(self.library, self.index, encoder, self.neural, stop)

    @contextmanager
    def answerer(self, model: str | None = None, *, remember: bool = False) -> "Iterator[Answerer]":
        """What answers questions; where no host can be asked it shows scenes. With `remember` answers are kept."""
        from subtitle_rag.answers.answer import Answerer
        from subtitle_rag.answers.gathering import Gatherer

        gatherer = Gatherer(self.library, self.searcher)
        with ExitStack() as opened:
            hosts: list[Llm] = []
            missing: AppError | None = None
            try:
                hosts = opened.enter_context(self.llms())
            except LlmError as error:
                logger.info("no model answers", exc_info=True)
                missing = error
            yield Answerer(
                self.library,
                gatherer,
                self.words,
                hosts,
                model or self.context_model,
                missing=missing,
                remember=remember,
            )

    def rebuilder(self) -> "Indexer":
        """An indexer for `rebuild`."""
        from subtitle_rag.indexing import Indexer

        return Indexer(self.library, self.usable_index(), self.analyzer)

    def usable_index(self) -> "Index":
        """The search index that the settings name, whatever the library knows of it; one that cannot be used is made
        anew, a server's only if it holds nobody else's windows."""
        from subtitle_rag.retrieval.vector_backup import back_up_vectors

        try:
            return self.server if self.settings.qdrant.url else self.host
        except BusyError:
            raise
        except AppError as error:
            logger.info("the index cannot be used as it is", exc_info=True)
            if not self.settings.qdrant.url:
                if error.code == "index_mismatch":
                    back_up_vectors(self.settings.paths.index, self.library)
                self.__dict__["host"] = self._open_host(fresh=True)
                return self.host
            if error.code != "index_mismatch":
                raise
            own = [state.video.id for state in self.library.videos()]
            self.__dict__["server"] = self._open_server(own=[*own, *self.library.purges()])
            return self.server


def _quietly(call: Callable[[], None]) -> None:
    """For a hint: whoever needs what it prepares meets the failure, if there is one, and tells it."""
    try:
        call()
    except (AppError, RuntimeError):
        logger.info("nothing was loaded ahead", exc_info=True)
