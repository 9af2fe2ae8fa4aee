"""The library itself, and temporary copies for a measurement, made by the same code as the user's."""

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

from subtitle_rag.base.domain.events import VectorsReport
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import Morphemes, Track
from subtitle_rag.captions.windows import RULE
from subtitle_rag.contexts import context_file
from subtitle_rag.evaluation.arm_models import EvalModels
from subtitle_rag.evaluation.arms import GIVEN, MODEL, NO_MODEL, NONE
from subtitle_rag.evaluation.questions import Document
from subtitle_rag.index.encoding import EncodingRun
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.indexing import Indexer
from subtitle_rag.index.interface import Index
from subtitle_rag.index.vector_backup import VectorBackup, backup_path
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import ANALYZER, DEFAULT_PARAMS, Analyzer, Bm25Params
from subtitle_rag.library.portable_names import windows_by_name
from subtitle_rag.library.store import Library
from subtitle_rag.models.neural.protocols import Encoder, Models
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.parts import NEURAL
from subtitle_rag.search.searcher import Searcher

ProgressCallback = Callable[[int, int], object]
"""Gets the number of finished items, and the total."""


def ignore_progress(_count: int, _total: int) -> None:
    """Ignore the progress."""


class CachingAnalyzer(Analyzer):
    """Analyzer that analyses each text once for several libraries; `cache` has known texts."""

    def __init__(self, analyzer: Analyzer, cache: Mapping[str, Morphemes] | None = None) -> None:
        super().__init__()
        self._analyzer = analyzer
        self._cache = dict(cache or {})

    def load(self) -> Any:
        return self._analyzer.load()

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        new = [text for text in dict.fromkeys(texts) if text not in self._cache]
        if new:
            self._cache.update(zip(new, super().morphemes(new), strict=True))
        yield from (self._cache[text] for text in texts)


@dataclass(frozen=True, slots=True)
class LibraryView:
    """A searchable library; `level`: text in front of its windows, `setting`: its origin."""

    library: Library
    searcher: Searcher
    level: str = NO_MODEL
    setting: str = ""
    encode_seconds: float = 0.0
    """Time to make the vectors of a copy."""


def documents(library: Library) -> Iterator[Document]:
    """Yield the videos with windows of a library."""
    for state in library.videos():
        if state.windows:
            yield state.video, library.windows_of(state.video.id)


def known_morphemes(library: Library) -> dict[str, Morphemes]:
    """Return the analyses stored in a library, by the text of their windows."""
    cache: dict[str, Morphemes] = {}
    for _video, windows in documents(library):
        analyses = library.morphemes([window.id for window in windows])
        cache.update({window.text: analyses[window.id] for window in windows if window.id in analyses})
    return cache


@contextmanager
def create(
    videos: Iterable[Document],
    analyzer: Analyzer,
    contexts: Mapping[str, str] | None = None,
    *,
    making: Bm25Params = DEFAULT_PARAMS,
    models: Models | None = None,
    encoder: Encoder | None = None,
    earlier: tuple[Library, Index] | None = None,
    encoded: Callable[[int], object] = lambda _count: None,
    level: str = NO_MODEL,
    setting: str = "",
) -> Iterator[LibraryView]:
    """Create a temporary library of these videos. Raises the encoder's errors.

    Args:
        videos: the videos with their windows.
        analyzer: for the morphemes.
        contexts: contexts by window.
        making: parameters of BM25.
        models: finds the encoder.
        encoder: makes the vectors.
        earlier: library and index with vectors to reuse for the same passages.
        encoded: gets the size of each batch.
        level: text in front of windows.
        setting: origin of the contexts.
    """
    # Windows deletes no open files
    with tempfile.TemporaryDirectory(prefix="subtitle-rag-eval-", ignore_cleanup_errors=True) as folder:
        library = Library(Path(folder) / "library.db")
        index = EdgeIndex(Path(folder) / "index", {"analyzer": ANALYZER})
        try:
            for video, windows in videos:
                digest = hashlib.sha256("\n".join(window.text for window in windows).encode()).hexdigest()
                library.put_video(video, Track("ko", "file", "vtt", b"", digest, 0), windows, RULE)
            library.put_rule(RULE)
            context_file.store(library, contexts or {})
            if encoder is not None and earlier is not None:
                with closing(VectorBackup(backup_path(library))) as backup:  # restored by the rebuild
                    backup.save(earlier[1], earlier[0])
            for _event in Indexer(library, index, analyzer, making).rebuild():
                pass
            started = perf_counter()
            if encoder is not None and models is not None:
                for count in _encode(EncodingRun(library, index, encoder, models)):
                    encoded(count)
            seconds = perf_counter() - started
            queries = QueryAnalyzer(library, analyzer)
            searcher = Searcher(library, index, queries, models)
            yield LibraryView(library, searcher, level, setting, seconds)
        finally:
            index.close()
            library.close()


def _encode(run: EncodingRun) -> Iterator[int]:
    """Make the vectors of a copy, and yield the size of each batch. Raises the encoder's errors."""
    done = 0
    for event in run.run(patient=False):
        if isinstance(event, Progress) and event.stage == "vectors":
            if event.done > done:
                yield event.done - done
            done = event.done
        elif isinstance(event, VectorsReport) and event.blocked is not None:
            raise event.blocked


@dataclass
class LibraryViews:
    """Views for an evaluation; the copies are deleted when `opened` closes."""

    runtime: Runtime
    models: EvalModels
    opened: ExitStack
    neural: bool
    """Whether the encoder makes vectors of every copy."""
    encoding: ProgressCallback = ignore_progress
    """Gets 0 and the number of a copy's windows before the first is encoded, then the size of every batch."""

    @cached_property
    def _documents(self) -> Sequence[Document]:
        return list(documents(self.runtime.library))

    @cached_property
    def _analyzer(self) -> CachingAnalyzer:
        return CachingAnalyzer(self.runtime.analyzer, known_morphemes(self.runtime.library))

    @cached_property
    def _contexts(self) -> dict[str, str]:
        return self.runtime.library.contexts.texts()

    def of(self, contexts: Sequence[context_file.FileContext], setting: str) -> list[LibraryView]:
        """Return views of the library: without contexts, with a model's, with a file's, with the text only.

        `setting` names the file.
        """
        views = [*([self.without_contexts()] if self._contexts else []), self.as_it_is()]
        if contexts:
            windows = {video.id: some for video, some in self._documents}
            by_name = windows_by_name(self.runtime.library, windows, {context.video for context in contexts})
            views.append(self._copy(GIVEN, self._documents, context_file.assign(contexts, by_name), setting))
        bare = [(replace(video, title="", chapters=()), windows) for video, windows in self._documents]
        return [*views, self._copy(NONE, bare, making=Bm25Params(keywords=0))]

    def without_contexts(self) -> LibraryView:
        """Return a copy of the library without contexts; the library itself if it has none."""
        return self._copy(NO_MODEL, self._documents) if self._contexts else self.as_it_is()

    def as_it_is(self) -> LibraryView:
        """Return the library, or a copy if its vectors are incomplete."""
        contexts, encoder = self._contexts, self.models.encoder
        level = MODEL if contexts else NO_MODEL
        setting = f"{len(contexts)}/{sum(len(windows) for _video, windows in self._documents)}" if contexts else ""
        if self.neural and encoder:
            vectors = self.runtime.library.vectors
            is_current = vectors.active() == encoder.id and not vectors.counts(encoder.id).due
            if not is_current or set(NEURAL).isdisjoint(self.runtime.searcher.ready()):
                return self._copy(level, self._documents, contexts, setting)
        return LibraryView(self.runtime.library, self.runtime.searcher, level, setting)

    def _copy(
        self,
        level: str,
        documents: Sequence[Document],
        contexts: Mapping[str, str] | None = None,
        setting: str = "",
        making: Bm25Params = DEFAULT_PARAMS,
    ) -> LibraryView:
        models = self.runtime.neural if self.neural else None
        encoder = self.models.encoder if self.neural else None
        total = sum(len(windows) for _video, windows in documents)
        if encoder is not None:
            self.encoding(0, total)
        return self.opened.enter_context(
            create(
                documents,
                self._analyzer,
                contexts,
                making=making,
                models=models,
                encoder=encoder,
                earlier=(self.runtime.library, self.runtime.index),
                encoded=lambda count: self.encoding(count, total),
                level=level,
                setting=setting,
            )
        )
