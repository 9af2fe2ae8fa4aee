"""The library as it is, and copies of it with another context in front of its windows."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from subtitle_rag.domain import Video, Window
from subtitle_rag.evaluation import context_file, temp_library
from subtitle_rag.evaluation.arms import GIVEN, MODEL, NO_MODEL, NONE, EvalModels, ProgressCallback, View
from subtitle_rag.evaluation.questions import Dataset, windows_by_name
from subtitle_rag.retrieval import DEFAULT_PARAMS, NEURAL, Bm25Params
from subtitle_rag.runtime import Runtime

Documents = Sequence[tuple[Video, Sequence[Window]]]


@dataclass(slots=True)
class Views:
    """Make the views of an evaluation; the copies are gone when `opened` closes.

    With `neural`, the encoder makes vectors of every copy, and `encoding` hears of it.
    """

    runtime: Runtime
    models: EvalModels
    opened: ExitStack
    neural: bool
    encoding: ProgressCallback | None = None
    _analyzer: temp_library.CachingAnalyzer = field(init=False)

    def of(self, dataset: Dataset, contexts: Sequence[context_file.FileContext], setting: str) -> list[View]:
        """Return views of the set's own documents, or else of the library.

        They have no contexts, a model's, those of a file (`setting` names it), or nothing but the windows' text.
        """
        library = self.runtime.library
        documents: Documents = dataset.documents or list(temp_library.documents(library))
        cache = {} if dataset.documents else temp_library.known_morphemes(library)
        self._analyzer = temp_library.CachingAnalyzer(self.runtime.analyzer, cache)
        views = [self._copy(NO_MODEL, documents)] if dataset.documents else list(self._library_views(documents))
        if contexts:
            windows = {video.id: some for video, some in documents}
            assigned = context_file.assign(contexts, lambda names: windows_by_name(library, windows, names))
            views.append(self._copy(GIVEN, documents, assigned, setting))
        bare = [(replace(video, title="", chapters=()), windows) for video, windows in documents]
        return [*views, self._copy(NONE, bare, making=Bm25Params(keywords=0))]

    def without_contexts(self) -> View:
        """Return a copy of the library without its contexts; the library itself if it has none."""
        return next(self._library_views(self._documents()))

    def as_it_is(self) -> View:
        """Return the library, or a copy if its vectors are incomplete."""
        return self._whole_view(self._documents(), self._contexts())

    def _documents(self) -> Documents:
        library = self.runtime.library
        self._analyzer = temp_library.CachingAnalyzer(self.runtime.analyzer, temp_library.known_morphemes(library))
        return list(temp_library.documents(library))

    def _contexts(self) -> dict[str, str]:
        library = self.runtime.library
        return {
            id: context.text
            for state in library.videos()
            for id, context in library.contexts.of_video(state.video.id).items()
        }

    def _library_views(self, documents: Documents) -> Iterator[View]:
        """Yield the library itself, or a copy if its vectors are incomplete; before it, a copy without its contexts."""
        contexts = self._contexts()
        if contexts:
            yield self._copy(NO_MODEL, documents)
        yield self._whole_view(documents, contexts)

    def _whole_view(self, documents: Documents, contexts: Mapping[str, str]) -> View:
        encoder = self.models.encoder
        level = MODEL if contexts else NO_MODEL
        setting = f"{len(contexts)}/{sum(len(windows) for _video, windows in documents)}" if contexts else ""
        if self.neural and encoder and not self._has_vectors(encoder.id):
            return self._copy(level, documents, contexts, setting)
        return View(level, self.runtime.library, self.runtime.searcher, setting)

    def _has_vectors(self, encoder_id: str) -> bool:
        vectors = self.runtime.library.vectors
        is_current = vectors.active() == encoder_id and not vectors.counts(encoder_id).due
        return is_current and not set(NEURAL).isdisjoint(self.runtime.searcher.ready())

    def _copy(
        self,
        level: str,
        documents: Documents,
        contexts: Mapping[str, str] | None = None,
        setting: str = "",
        making: Bm25Params = DEFAULT_PARAMS,
    ) -> View:
        models = self.runtime.neural if self.neural else None
        settings = self.runtime.settings.search
        copy = self.opened.enter_context(
            temp_library.create(
                documents,
                self._analyzer,
                contexts,
                making=making,
                models=models,
                fusion=settings.fusion,
                levels=settings.levels,
            )
        )
        if models is not None and self.models.encoder is not None:
            total, done = sum(len(windows) for _video, windows in documents), 0
            report = self.encoding or (lambda _done, _total: None)
            report(0, total)
            for count in temp_library.encode(copy, self.models.encoder, models):
                done += count
                report(done, total)
        return View(level, copy.library, copy.searcher, setting)
