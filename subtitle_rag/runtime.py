"""The composition: builds each door from the settings, once, at its first use."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from subtitle_rag.config import Settings
from subtitle_rag.domain import AppError, BusyError, LlmError
from subtitle_rag.i18n import _

if TYPE_CHECKING:
    from subtitle_rag.answers import Answerer, AnswerPrompt
    from subtitle_rag.contexts import Writer
    from subtitle_rag.encoding import EncodingRun
    from subtitle_rag.fetching import Fetcher, Pictures
    from subtitle_rag.indexing import Indexer
    from subtitle_rag.library import Counts, Library
    from subtitle_rag.llm import Llm
    from subtitle_rag.models import ModelStore
    from subtitle_rag.retrieval import (
        Analyzer,
        EncoderOffer,
        FallbackIndex,
        HostedIndex,
        HostedModels,
        HostedPoints,
        HostedServerIndex,
        Index,
        Searcher,
        TextMorphemes,
    )

logger = logging.getLogger(__name__)

T = TypeVar("T")


class door(Generic[T]):  # noqa: N801 - a decorator
    """A cached property of `Runtime`, built at its first use under the runtime's lock."""

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
    """The doors for the faces, thread-safe. Close it, or use it as a context manager."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.lock = threading.RLock()
        """Held during the construction of a door."""
        self.prioritize_queries = False
        """Index texts with a lower priority than queries (`background_analyzer`); set by the app."""

    def __enter__(self) -> "Runtime":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all open doors; their next use opens them again."""
        # they use the doors closed below
        for name in ("searcher", "indexer", "index", "fallback", "pictures"):
            self.__dict__.pop(name, None)
        self.back_up()
        for name in ("host", "server", "neural", "library"):
            door = self.__dict__.pop(name, None)
            if door is not None:
                door.close()

    def back_up(self) -> None:
        """Copy the library if a run has changed it, and reserve space for removals; a failure is logged."""
        from subtitle_rag.library import back_up, keep_reserve

        library: Library | None = self.__dict__.get("library")
        if library is None or not library.database.has_changed:
            return
        keep_reserve(library.path)
        try:
            back_up(library.database)
        except AppError:
            logger.warning("the library cannot be copied", exc_info=True)

    def preload(self) -> None:
        """Begin to load the query analyzer; a query waits for it."""
        self.words.load_soon()

    def preload_neural(self) -> None:
        """Begin to load the installed models for a search with all retrievers; nothing waits for them."""
        self.neural.load_soon(self.library.vectors.active())

    @door
    def library(self) -> "Library":
        from subtitle_rag.library import Library

        return Library(self.settings.paths.library)

    @door
    def analyzer(self) -> "Analyzer":
        from subtitle_rag.retrieval import Analyzer

        return Analyzer()

    @door
    def host(self) -> "HostedIndex":
        """The client of the embedded index's host, without a check of the index's state."""
        return self._open_host()

    def _open_host(self, *, fresh: bool = False) -> "HostedIndex":
        from subtitle_rag.retrieval import ANALYZER, HostedIndex

        return HostedIndex(self.settings.paths.index, {"analyzer": ANALYZER}, fresh=fresh)

    @door
    def server(self) -> "HostedServerIndex":
        """The client of the host with the connection to the settings' Qdrant server, which its first call opens."""
        from subtitle_rag.library import library_id
        from subtitle_rag.retrieval import ANALYZER, HostedServerIndex

        member = ""
        try:
            member = library_id(self.library)
        except AppError:  # it may only be read, and will write no points
            logger.info("the library has no id in a shared index", exc_info=True)
        meta = {"analyzer": ANALYZER}
        return HostedServerIndex(self.settings.paths.cache, self.settings.qdrant, meta, member=member)

    @property
    def words(self) -> "HostedPoints":
        """The analyzer of queries: the host of the settings' index."""
        return self.server if self.settings.qdrant.url else self.host

    @door
    def index(self) -> "Index":
        """The settings' index.

        Raises:
            AppError: `index_elsewhere` if the library has filled another one, `index_damaged` if it has lost points,
                `index_orphaned` if it has points and the library nothing.
        """
        from subtitle_rag.library import index_address

        filled, configured = index_address(self.library), self.index_address
        counts = self.library.counts()
        expected = counts.searchable
        if expected and filled != configured:
            raise AppError("index_elsewhere", found=filled, wanted=configured)
        if self.settings.qdrant.url:
            self.server.last_counts()  # raises its failures; what is missing there ends no search
            return self.server
        count = self.host.count()
        if count and self._is_new(counts):
            raise AppError("index_orphaned", path=str(self.settings.paths.library), n=count)
        # a running indexer removes windows from the library first, then from the index
        expected = min(expected, self.library.counts().searchable)
        if expected > count:
            reason = _("it holds {found} of {known} windows").format(found=count, known=expected)
            raise AppError("index_damaged", path=str(self.settings.paths.index), reason=reason)
        return self.host

    @property
    def missing_windows(self) -> AppError | None:
        """The notice that a server lacks windows of this library; None if it has all, or cannot be asked.

        Points of earlier versions are not held for a library yet: there only a collection that is too small shows.
        """
        from subtitle_rag.library import holding_address

        if not self.settings.qdrant.url:
            return None
        try:
            known = self.library.counts().searchable
            points, held = self.server.last_counts()
            present = held if holding_address(self.library) == self.server.place else points
            # a running indexer removes windows from the library first, then from the index
            known = min(known, self.library.counts().searchable)
        except AppError:
            logger.debug("the windows on the server were not counted", exc_info=True)
            return None
        missing = known - present
        return AppError("windows_missing", url=self.server.place, n=missing, known=known) if missing > 0 else None

    def require_library(self) -> None:
        """Raise `index_orphaned` if the library is empty beside a full index, which a lost file leaves."""
        if (self.settings.paths.index / "shard").exists() and self._is_new(self.library.counts()):
            _ = self.index

    def _is_new(self, counts: "Counts") -> bool:
        """Return whether the library has never had a video: removed ones are purged from the index first."""
        return not (counts.videos or self.library.purges())

    def moved_index(self) -> AppError | None:
        """Return that another process has moved the library's index since it was opened here (`index_moved`)."""
        from subtitle_rag.library import index_address

        place = index_address(self.library)
        is_moved = place != self.index_address and self.library.counts().searchable > 0
        return AppError("index_moved", place=place) if is_moved else None

    @property
    def index_address(self) -> str:
        """The address of the settings' index, in the form of `library.app_state`."""
        from subtitle_rag.library import EMBEDDED
        from subtitle_rag.retrieval import address

        return address(self.settings.qdrant.url) if self.settings.qdrant.url else EMBEDDED

    @door
    def fallback(self) -> "FallbackIndex":
        """The server's index for searches, with an existing embedded one as the fallback."""
        from subtitle_rag.retrieval import FallbackIndex

        def embedded() -> "Index | None":
            try:
                return self.host if (self.settings.paths.index / "shard").exists() else None
            except AppError:
                logger.info("the embedded index cannot stand in", exc_info=True)
                return None

        return FallbackIndex(lambda: self.index, embedded)

    @property
    def degraded_reason(self) -> BusyError | None:
        """The failure for which the fallback answered the last search; None if the settings' index did."""
        return self.fallback.degraded_reason if self.settings.qdrant.url else None

    @property
    def search_trouble(self) -> AppError | None:
        """Why the last search may have found less than it should: another index answered, or windows are missing."""
        return self.degraded_reason or self.missing_windows

    @door
    def searcher(self) -> "Searcher":
        from subtitle_rag.retrieval import HostedQueryAnalyzer, RerankBudget, Searcher

        settings = self.settings.search
        fusion, levels, budget = settings.fusion, settings.levels, RerankBudget(settings.rerank_depth)
        if not self.settings.qdrant.url:
            hosted = HostedQueryAnalyzer(self.host, self.library.path)
            return Searcher(self.library, self.index, hosted, self.neural, fusion=fusion, levels=levels, budget=budget)
        from subtitle_rag.retrieval import SharedIndexWindows

        queries = HostedQueryAnalyzer(self.server, self.library.path, self.fallback)
        shared = SharedIndexWindows(self.library, self.fallback.shared_payloads, self.server)
        return Searcher(
            self.library,
            self.fallback,
            queries,
            self.neural,
            shared,
            fusion=fusion,
            levels=levels,
            budget=budget,
            notice=lambda: self.missing_windows,
        )

    @door
    def indexer(self) -> "Indexer":
        from subtitle_rag.indexing import Indexer

        analyzer = self.background_analyzer if self.prioritize_queries else self.analyzer
        return Indexer(self.library, self.index, analyzer, levels=self.settings.search.levels)

    @property
    def background_analyzer(self) -> "TextMorphemes":
        """The analyzer of texts beside searches: the host of the settings' index."""
        from subtitle_rag.retrieval import HostedAnalyzer

        return HostedAnalyzer(self.words)

    @door
    def models(self) -> "ModelStore":
        """The installed encoders and rerankers."""
        from subtitle_rag.models import ModelStore

        settings = self.settings.models
        folder = Path(settings.folder).expanduser() if settings.folder else self.settings.paths.models
        return ModelStore(folder, settings)

    @door
    def neural(self) -> "HostedModels":
        """The client of the models' host, which starts at their first use."""
        from subtitle_rag.retrieval import HostedModels, OllamaEncoders

        ollama = OllamaEncoders(self._open_ollama, self._is_writing_contexts)
        return HostedModels(self.settings.paths.cache / "neural", self.models, ollama)

    @contextmanager
    def neural_with(self, encoder: str) -> "Iterator[HostedModels]":
        """Open a client of the same host whose encoder is this one, by name or folder, instead of the settings'."""
        from subtitle_rag.models import ModelStore
        from subtitle_rag.retrieval import HostedModels, OllamaEncoders

        store = ModelStore(self.models.folder, replace(self.models.settings, encoder=encoder))
        ollama = OllamaEncoders(self._open_ollama, self._is_writing_contexts)
        with closing(HostedModels(self.settings.paths.cache / "neural", store, ollama)) as models:
            yield models

    def _open_ollama(self) -> "Llm":
        """Open the first of the settings' hosts; raises LlmError `llm_off` without any."""
        from subtitle_rag.llm import Llm

        if not self.settings.llm.hosts:
            raise LlmError("llm_off")
        return Llm(self.settings.llm.hosts[0], self.settings.llm)

    def offered_encoder(self) -> "EncoderOffer":
        """Return the encoder that the first of the settings' hosts has or can fetch.

        Raises:
            LlmError: `llm_off` without a host, and those of one that does not answer.
        """
        from subtitle_rag.retrieval import choose_encoder

        with closing(self._open_ollama()) as llm:
            return choose_encoder(llm)

    def use_encoder(self, name: str) -> None:
        """Encode and search by this encoder until the program ends; the config stays as it is."""
        self.settings = replace(self.settings, models=replace(self.settings.models, encoder=name))
        self.models.settings = self.settings.models

    def _is_writing_contexts(self) -> bool:
        from subtitle_rag.encoding import AT_WORK_S

        return bool(self.library.vectors.videos_in_work(time.time(), AT_WORK_S))

    def fetcher(self, stop: threading.Event | None = None) -> "Fetcher":
        """Return a fetcher of captions from YouTube; `stop` ends its runs from another thread."""
        from subtitle_rag.fetching import Fetcher

        return Fetcher(self.library, self.indexer, self.settings.youtube, stop)

    @door
    def pictures(self) -> "Pictures":
        """The scenes' pictures, fetched from YouTube on demand."""
        from subtitle_rag.fetching import Pictures

        return Pictures(self.library, self.settings.paths.cache / "storyboards", self.settings.youtube)

    @contextmanager
    def llms(self) -> "Iterator[list[Llm]]":
        """Open the settings' hosts of Ollama; raises LlmError `llm_off` without any."""
        from subtitle_rag.llm import Llm

        settings = self.settings.llm
        if not settings.hosts:
            raise LlmError("llm_off")
        with ExitStack() as stack:
            yield [stack.enter_context(closing(Llm(host, settings))) for host in settings.hosts]

    @property
    def context_model(self) -> str:
        """The default model for contexts, by the name of its fetch; a verb's option or a channel's overrides it."""
        from subtitle_rag import models
        from subtitle_rag.library import fetched_alternatives

        name = self.settings.llm.model or models.default().name
        if not models.alternatives(name):
            return name
        try:
            return fetched_alternatives(self.library).get(name, name)
        except AppError:  # the library's failure is shown by whatever needs it
            return name

    @contextmanager
    def writer(self, model: str | None = None, stop: threading.Event | None = None) -> "Iterator[Writer]":
        """Open a writer of contexts: by `model`, else by each channel's own; `stop` ends its runs from another thread.

        Raises the failures of `llms`, and UsageError `bad_prompt`.
        """
        from subtitle_rag.contexts import ContextPrompts, Writer

        prompts = ContextPrompts.read(self.settings, self.library.channels())

        with self.llms() as hosts:
            default = model or self.context_model
            yield Writer(
                self.library,
                self.indexer,
                hosts,
                default,
                stop,
                by_channel=model is None,
                prompts=prompts,
                summaries=self.settings.llm.summaries,
            )

    def encoding(self, stop: threading.Event | None = None) -> "EncodingRun":
        """Return a run that encodes windows; `stop` ends it from another thread.

        Raises:
            AppError: `neural_missing`, `model_missing`, `encoder_off`, and the failures of `HostedModels.encoder`.
        """
        from subtitle_rag.encoding import EncodingRun
        from subtitle_rag.installation import NEURAL, require
        from subtitle_rag.models import ENCODER, is_ollama

        encoder = self.neural.encoder()
        if encoder is None:
            name = self.models.configured(ENCODER)
            if not name:
                raise AppError("encoder_off")
            if not is_ollama(name):
                require(NEURAL)
            raise AppError("model_missing", name=name)
        return EncodingRun(self.library, self.index, encoder, self.neural, stop)

    def answer_prompt(self, path: Path | None = None) -> "AnswerPrompt":
        """Read the prompt of answers from `path`, else as the settings have it; raises UsageError `bad_prompt`."""
        from subtitle_rag.answers import BUILT_IN, AnswerPrompt
        from subtitle_rag.contexts import prompt_path

        name = self.settings.prompts.answers
        path = path or (prompt_path(self.settings, name) if name else None)
        return AnswerPrompt.read(path) if path else BUILT_IN

    @contextmanager
    def answerer(
        self, model: str | None = None, *, remember: bool = False, prompt: Path | None = None
    ) -> "Iterator[Answerer]":
        """Open an answerer of questions; without a model it shows scenes. With `remember` answers are stored.

        `prompt` is a file in place of the settings' one; raises UsageError `bad_prompt`.
        """
        from subtitle_rag.answers import Answerer, Gatherer

        gatherer = Gatherer(self.library, self.searcher, self.settings.llm.scenes, self.answer_prompt(prompt))
        with ExitStack() as stack:
            hosts: list[Llm] = []
            missing: AppError | None = None
            try:
                hosts = stack.enter_context(self.llms())
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
        """Return an indexer for `rebuild`."""
        from subtitle_rag.indexing import Indexer

        return Indexer(self.library, self.usable_index(), self.analyzer, levels=self.settings.search.levels)

    def usable_index(self) -> "Index":
        """Return the settings' index without a check; an unusable one is replaced, after a backup of its vectors.

        On a server it is replaced only if it has no windows of other libraries.
        """
        from subtitle_rag.retrieval import back_up_vectors

        try:
            if not self.settings.qdrant.url:
                return self.host
            self.server.check()
            return self.server
        except BusyError:
            raise
        except AppError as error:
            logger.info("the index cannot be used as it is", exc_info=True)
            if not self.settings.qdrant.url:
                back_up_vectors(self.settings.paths.index, self.library)
                self.__dict__["host"] = self._open_host(fresh=True)
                return self.host
            if error.code != "index_mismatch":
                raise
            videos = [state.video.id for state in self.library.videos()]
            self.server.replace_collection([*videos, *self.library.purges()])
            return self.server
