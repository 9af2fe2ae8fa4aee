"""Composition: builds each part from the settings, once, at its first use."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from subtitle_rag.base.config.settings import QdrantSettings, Settings
from subtitle_rag.base.domain.errors import UNUSABLE_INDEX, AppError, BusyError, LlmError
from subtitle_rag.base.i18n import _
from subtitle_rag.library import app_state
from subtitle_rag.library.app_state import EMBEDDED, fetched_alternatives, library_id

if TYPE_CHECKING:
    from subtitle_rag.answers.answer import Answerer
    from subtitle_rag.answers.answer_prompt import AnswerPrompt
    from subtitle_rag.base.domain.events import WindowsIndexed
    from subtitle_rag.contexts.writer import Writer
    from subtitle_rag.index.encoding import EncodingRun
    from subtitle_rag.index.index_client import HostedIndex, HostedServerIndex
    from subtitle_rag.index.indexing import Indexer
    from subtitle_rag.index.interface import Index
    from subtitle_rag.korean.morphemes import Analyzer, TextMorphemes
    from subtitle_rag.library.rows import Counts
    from subtitle_rag.library.store import Library
    from subtitle_rag.listening.listener import Listener
    from subtitle_rag.models.model_store import ModelStore
    from subtitle_rag.models.neural.neural_client import HostedModels
    from subtitle_rag.models.neural.ollama_encoder import EncoderOffer
    from subtitle_rag.models.ollama.llm_client import Llm
    from subtitle_rag.search.searcher import Searcher
    from subtitle_rag.youtube.fetcher import Fetcher

logger = logging.getLogger(__name__)

SMALL_INDEX = 3_000
"""Windows of an index that a search rebuilds before it answers: about 10 s."""

T = TypeVar("T")


class locked_cached_property(Generic[T]):  # noqa: N801 - a decorator
    """A cached property of `Runtime`, built at first use under the runtime's lock."""

    def __init__(self, build: Callable[[Any], T]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    def __get__(self, runtime: "Runtime | None", owner: type) -> T:
        if runtime is None:
            return self  # type: ignore[return-value]
        built, name = vars(runtime), self._build.__name__
        with runtime.lock:
            if name not in built:
                built[name] = self._build(runtime)
            value: T = built[name]
            return value


class Runtime:
    """The parts for all interfaces, thread-safe. Close it, or use it as a context manager."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.lock = threading.RLock()
        """Held while a part is built."""
        self.shown_windows: tuple[str, ...] = ()
        """Windows on the app's screen, encoded first."""
        self.chosen_encoder = ""
        """Chosen in this session; the config does not have it yet."""
        self.may_fetch_speech_model = False
        """The user has agreed to download the speech model, in this session of the app."""
        self.prioritize_queries = False
        """Give queries priority over indexing (`text_analyzer`); set by the app."""

    def __enter__(self) -> "Runtime":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all open parts; their next use opens them again."""
        # these use the parts closed below
        for name in ("searcher", "indexer", "index"):
            self.__dict__.pop(name, None)
        self.back_up()
        for name in ("host", "server", "neural", "library"):
            door = self.__dict__.pop(name, None)
            if door is not None:
                door.close()

    def back_up(self) -> None:
        """Back up the library if a run has changed it; logs a failure."""
        from subtitle_rag.library import backup

        opened: Library | None = self.__dict__.get("library")
        if opened is None or not opened.database.has_changed:
            return
        try:
            backup.back_up(opened.database)
        except AppError:
            logger.warning("the library cannot be copied", exc_info=True)

    def preload(self) -> None:
        """Start the index host and load the query analyzer in the background; a query waits for it."""
        if self.settings.paths.library.exists():  # A new library needs no host yet.
            self.words.load_soon()
        _ = self.library  # an outdated library must be reported before the index

    def preload_neural(self) -> None:
        """Start to load the installed models for a search with all retrievers; nothing waits for them."""
        self.neural.load_soon(self.library.vectors.active())

    @locked_cached_property
    def library(self) -> "Library":
        from subtitle_rag.library.store import Library

        return Library(self.settings.paths.library)

    @locked_cached_property
    def analyzer(self) -> "Analyzer":
        from subtitle_rag.korean.morphemes import Analyzer

        return Analyzer(yields=True)

    @locked_cached_property
    def host(self) -> "HostedIndex":
        """The client of the embedded index's host."""
        from subtitle_rag.index.index_client import HostedIndex
        from subtitle_rag.korean.morphemes import ANALYZER

        return HostedIndex(self.settings.paths.index, {"analyzer": ANALYZER}, any_rules=True)

    @locked_cached_property
    def server(self) -> "HostedServerIndex":
        """The client of the host connected to the configured Qdrant server; connects at its first call."""
        return self._open_server(self.settings.qdrant)

    def _open_server(self, settings: QdrantSettings) -> "HostedServerIndex":
        from subtitle_rag.index.index_client import HostedServerIndex
        from subtitle_rag.index.server_terms import collection_name
        from subtitle_rag.korean.morphemes import ANALYZER

        meta = {"analyzer": ANALYZER}
        collection = collection_name(library_id(self.library))
        return HostedServerIndex(self.settings.paths.cache, settings, meta, collection, any_rules=True)

    @property
    def words(self) -> "HostedIndex | HostedServerIndex":
        """The analyzer of queries: the client of the configured index."""
        return self.server if self.settings.qdrant.url else self.host

    @locked_cached_property
    def index(self) -> "Index":
        """The configured index.

        Raises:
            AppError: `index_elsewhere` if the library uses another one, `index_damaged` if it has lost points,
                `index_orphaned` if it has points but the library is empty.
        """
        counts = self.library.counts()
        expected = counts.searchable
        if expected:
            self._require_same_place()
        if self.settings.qdrant.url and not expected:
            self.server.create()
        client, count = self.words, self.words.count()
        if count and self._is_new(counts):
            raise AppError("index_orphaned", path=str(self.settings.paths.library), n=count)
        # A running indexer removes windows from the library first, then from the index.
        expected = min(expected, self.library.counts().searchable)
        if expected > count:
            raise self._incomplete(count, expected)
        return client

    def check_index(self) -> None:
        """Raise the errors of `index` that its folder shows without the host; a server is asked."""
        from subtitle_rag.index.index_edge import has_record, stored_record

        expected = self.library.counts().searchable
        if not expected:
            return
        if self.settings.qdrant.url:
            self.index.count()
            return
        self._require_same_place()
        folder = self.settings.paths.index
        if not any((folder / name).exists() for name in ("shard", "shard.old")):
            raise self._incomplete(0, expected)
        if has_record(folder):
            stored_record(folder)

    def _require_same_place(self) -> None:
        filled, configured = app_state.index_address(self.library), self.index_address
        if filled != configured:
            from subtitle_rag.index.server_terms import server_address

            addresses = [server_address(address) for address in (filled, configured)]
            raise AppError("index_elsewhere", found=addresses[0], wanted=addresses[1])

    def _incomplete(self, found: int, known: int) -> AppError:
        reason = _("it holds {found} of {known} windows").format(found=found, known=known)
        path = self.server.place if self.settings.qdrant.url else str(self.settings.paths.index)
        return AppError("index_damaged", path=path, reason=reason)

    @property
    def has_outdated_index(self) -> bool:
        """Whether an earlier version made the configured index; it stays in use until `renew_index`."""
        return self.index is not None and self.words.is_outdated

    def renew_index(self) -> "Iterator[WindowsIndexed]":
        """Rebuild the index of an earlier version from the library; it stays searchable meanwhile.

        Raises the errors of `Indexer.rebuild`.
        """
        if self.has_outdated_index:
            yield from self.rebuilder().rebuild()

    def renew_small_index(self) -> None:
        """Rebuild the index of an earlier version, if that takes only seconds and no other process is working."""
        if not self.has_outdated_index or self.library.counts().windows > SMALL_INDEX:
            return
        try:
            for _event in self.renew_index():
                pass
        except BusyError:
            logger.info("the index of an earlier version stays for now", exc_info=True)

    def require_library(self) -> None:
        """Raise `index_orphaned` if the library is empty but its index is full, because the file was lost."""
        if (self.settings.paths.index / "shard").exists() and self._is_new(self.library.counts()):
            _ = self.index

    def _is_new(self, counts: "Counts") -> bool:
        """Return whether the library never had a video: removed ones are purged from the index first."""
        return not (counts.videos or self.library.pending_index_deletes())

    def moved_index(self) -> AppError | None:
        """Return `index_moved` if another process has moved the library's index since it was opened here, else None."""
        from subtitle_rag.index.server_terms import server_address

        filled_address = app_state.index_address(self.library)
        is_moved = filled_address != self.index_address and self.library.counts().searchable > 0
        return AppError("index_moved", place=server_address(filled_address)) if is_moved else None

    @property
    def index_address(self) -> str:
        """The address of the configured index, in the form of `library.app_state`."""
        return self.server.place if self.settings.qdrant.url else EMBEDDED

    @locked_cached_property
    def searcher(self) -> "Searcher":
        from subtitle_rag.index.analysis_client import HostedQueryAnalyzer
        from subtitle_rag.search.searcher import Searcher

        return Searcher(
            self.library,
            self.index,
            HostedQueryAnalyzer(self.words, self.library.path),
            self.neural,
        )

    @locked_cached_property
    def indexer(self) -> "Indexer":
        from subtitle_rag.index.indexing import Indexer

        return Indexer(self.library, self.index, self.text_analyzer)

    @property
    def text_analyzer(self) -> "TextMorphemes":
        """The analyzer for indexing: in the app the index host's, which gives priority to searches."""
        from subtitle_rag.index.analysis_client import HostedAnalyzer

        return HostedAnalyzer(self.words) if self.prioritize_queries else self.analyzer

    @locked_cached_property
    def models(self) -> "ModelStore":
        """The installed encoders and rerankers."""
        from subtitle_rag.models.model_store import ModelStore

        settings = self.settings.models
        folder = Path(settings.folder).expanduser() if settings.folder else self.settings.paths.models
        return ModelStore(folder, settings)

    @locked_cached_property
    def neural(self) -> "HostedModels":
        """The client of the models' host, which starts when first needed."""
        return self._open_neural(self.models)

    def neural_with(self, encoder: str) -> "AbstractContextManager[HostedModels]":
        """Open a client of the same host with this encoder, by name or folder, instead of the configured one."""
        from subtitle_rag.models.model_store import ModelStore

        store = ModelStore(self.models.folder, replace(self.models.settings, encoder=encoder))
        return closing(self._open_neural(store))

    def _open_neural(self, store: "ModelStore") -> "HostedModels":
        from subtitle_rag.models.neural.neural_client import HostedModels
        from subtitle_rag.models.neural.ollama_encoder import OllamaEncoders

        ollama = OllamaEncoders(self._open_ollama, self._is_writing_contexts)
        return HostedModels(self.settings.paths.cache / "neural", store, ollama)

    def _open_ollama(self) -> "Llm":
        """Open the first configured Ollama host; raises LlmError `llm_off` without any."""
        from subtitle_rag.models.ollama.llm_client import Llm

        if not self.settings.llm.hosts:
            raise LlmError("llm_off")
        return Llm(self.settings.llm.hosts[0], self.settings.llm)

    def offered_encoder(self) -> "EncoderOffer":
        """Return the encoder that the first configured host has or can download.

        Raises:
            LlmError: `llm_off` without a host, and the errors of an unreachable one.
        """
        from subtitle_rag.models.neural.ollama_encoder import choose_encoder

        with closing(self._open_ollama()) as host:
            return choose_encoder(host)

    def use_encoder(self, name: str) -> None:
        """Use this encoder until the program ends, without a change to the config."""
        self.chosen_encoder = name
        self.settings = replace(self.settings, models=replace(self.settings.models, encoder=name))
        self.models.settings = self.settings.models

    def _is_writing_contexts(self) -> bool:
        from subtitle_rag.index.encoding import AT_WORK_S

        return bool(self.library.vectors.videos_in_work(time.time(), AT_WORK_S))

    def fetcher(self, stop: threading.Event | None = None) -> "Fetcher":
        """Return a run that fetches captions from YouTube; `stop` ends it from another thread."""
        from subtitle_rag.youtube.fetcher import Fetcher

        return Fetcher(self.library, self.indexer, self.settings.youtube, stop or threading.Event())

    def listener(self, model: str | None = None, stop: threading.Event | None = None) -> "Listener":
        """Return a run that transcribes by `model`, or by the configured one; `stop` ends it from another thread.

        Raises:
            AppError: The errors of `listening.open_transcriber`.
        """
        from subtitle_rag.listening.listener import Listener
        from subtitle_rag.listening.transcribers import open_transcriber

        return Listener(
            self.library,
            self.indexer,
            open_transcriber(self.models, model),
            self.settings.youtube,
            self.settings.paths.cache / "sounds",
            stop or threading.Event(),
        )

    @contextmanager
    def llms(self) -> "Iterator[list[Llm]]":
        """Open the configured Ollama hosts; raises LlmError `llm_off` without any."""
        from subtitle_rag.models.ollama.llm_client import Llm

        settings = self.settings.llm
        if not settings.hosts:
            raise LlmError("llm_off")
        with ExitStack() as stack:
            yield [stack.enter_context(closing(Llm(host, settings))) for host in settings.hosts]

    @property
    def context_model(self) -> str:
        """The default model for contexts, under the name of its download; a command's option overrides it."""
        from subtitle_rag.models.manifest import alternatives, default_context_model

        name = self.settings.llm.model or default_context_model().name
        if not alternatives(name):
            return name
        try:
            return fetched_alternatives(self.library).get(name, name)
        except AppError:  # the code that needs the library shows its error
            return name

    @contextmanager
    def writer(self, model: str | None = None, stop: threading.Event | None = None) -> "Iterator[Writer]":
        """Open a writer of contexts by `model`, or by the configured one; `stop` ends its runs from another thread.

        Raises the errors of `llms`, and UsageError `bad_prompt`.
        """
        from subtitle_rag.contexts.prompt_layout import configured_prompt
        from subtitle_rag.contexts.writer import Writer

        prompt = configured_prompt(self.settings)
        with self.llms() as hosts:
            yield Writer(
                self.library,
                self.indexer,
                hosts,
                model or self.context_model,
                stop or threading.Event(),
                analyzer=self.words,
                prompt=prompt,
                summaries=True,
            )

    def encoding(self, stop: threading.Event | None = None) -> "EncodingRun":
        """Return a run that encodes windows; `stop` ends it from another thread.

        Raises:
            AppError: `missing_extra`, `model_missing`, `encoder_off`, and the errors of
                `HostedModels.encoder`.
        """
        from subtitle_rag.base.installation.package_installer import require_extra
        from subtitle_rag.index.encoding import EncodingRun
        from subtitle_rag.models.manifest import ENCODER

        encoder = self.neural.encoder()
        if encoder is None:
            name = self.models.configured(ENCODER)
            if not name:
                raise AppError("encoder_off")
            extra = self.models.required_extra(name)
            if extra is not None:
                require_extra(extra)
            raise AppError("model_missing", name=name)
        return EncodingRun(
            self.library, self.index, encoder, self.neural, stop, windows_on_screen=lambda: self.shown_windows
        )

    def answer_prompt(self, path: Path | None = None) -> "AnswerPrompt":
        """Read the prompt of answers from `path`, or the configured one; raises UsageError `bad_prompt`."""
        from subtitle_rag.answers.answer_prompt import BUILT_IN, AnswerPrompt
        from subtitle_rag.contexts.prompt_layout import prompt_path

        name = self.settings.prompts.answers
        path = path or (prompt_path(self.settings, name) if name else None)
        return AnswerPrompt.read(path) if path else BUILT_IN

    @contextmanager
    def answerer(
        self, model: str | None = None, *, remember: bool = False, prompt: Path | None = None
    ) -> "Iterator[Answerer]":
        """Open an answerer of questions; without a model it shows scenes. With `remember` it stores answers.

        `prompt` is a file that replaces the configured one; raises UsageError `bad_prompt`.
        """
        from subtitle_rag.answers.answer import Answerer
        from subtitle_rag.answers.context_builder import SCENES
        from subtitle_rag.answers.gathering import Gatherer

        scenes, answer_prompt = SCENES, self.answer_prompt(prompt)
        gatherer = Gatherer(self.library, self.searcher, self.words, scenes, answer_prompt)
        with ExitStack() as stack:
            hosts: list[Llm] = []
            missing: AppError | None = None
            try:
                hosts = stack.enter_context(self.llms())
            except LlmError as error:
                logger.info("no model answers", exc_info=True)
                missing = error
            name = model or self.context_model
            yield Answerer(gatherer, hosts, name, missing=missing, remember=remember)

    def rebuilder(self) -> "Indexer":
        """Return an indexer for `rebuild`."""
        from subtitle_rag.index.indexing import Indexer

        index = self.usable_index()  # may replace the host
        return Indexer(self.library, index, self.text_analyzer)

    def open_earlier_index(self) -> "Index | None":
        """Open the index that the library uses, if the settings name another one; the caller closes it.

        Raises:
            AppError: The errors of an index that cannot be opened; `index_damaged` if it is empty.
        """
        from subtitle_rag.index.index_client import HostedIndex
        from subtitle_rag.index.server_terms import server_address

        filled = app_state.index_address(self.library)
        if filled == self.index_address or not self.library.counts().searchable:
            return None
        earlier: HostedIndex | HostedServerIndex
        if filled == EMBEDDED:
            path, earlier = str(self.settings.paths.index), HostedIndex(self.settings.paths.index, None)
        else:
            path = server_address(filled)
            earlier = self._open_server(replace(self.settings.qdrant, url=path))
        try:
            if not earlier.count():
                known = self.library.counts().searchable
                reason = _("it holds {found} of {known} windows").format(found=0, known=known)
                raise AppError("index_damaged", path=path, reason=reason)
        except BaseException:
            earlier.close()
            raise
        return earlier

    def usable_index(self) -> "Index":
        """Return the configured index without a check; replaces an unusable one after a backup of its vectors."""
        from subtitle_rag.index import vector_backup

        try:
            if self.settings.qdrant.url and app_state.index_address(self.library) != self.server.place:
                self.server.create()
            self.words.open()
            self.words.count()
        except BusyError:
            raise
        except AppError as error:
            if error.code == "newer_version":
                raise
            logger.info("the index cannot be used as it is", exc_info=True)
            if not self.settings.qdrant.url:
                if app_state.index_address(self.library) == EMBEDDED:  # otherwise its vectors are outdated
                    vector_backup.back_up_vectors(self.settings.paths.index, self.library)
            elif error.code not in UNUSABLE_INDEX:
                raise
            self.words.clear()
        return self.words
