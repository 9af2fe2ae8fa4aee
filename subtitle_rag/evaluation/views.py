"""The library as it is, and copies of it with other things in front of its windows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from subtitle_rag.domain import Video, Window
from subtitle_rag.evaluation import context_file, temp_library
from subtitle_rag.evaluation.arms import GIVEN, MODEL, NO_MODEL, NONE, EvalModels, View
from subtitle_rag.evaluation.dataset import Dataset
from subtitle_rag.evaluation.gold import windows_by_name
from subtitle_rag.retrieval.material import MAKING, Making
from subtitle_rag.runtime import Runtime

Progress = Callable[[int, int], None]
"""Called with what is done and the total."""

Documents = Sequence[tuple[Video, Sequence[Window]]]


@dataclass(slots=True)
class Views:
    """Makes the views of an evaluation; the copies are gone when `opened` closes.

    `doors.encoder` makes vectors of every copy where `neural`; `encoding` is told of it.
    """

    runtime: Runtime
    doors: EvalModels
    opened: ExitStack
    neural: bool
    encoding: Progress | None = None
    _analyzer: temp_library.CachingAnalyzer = field(init=False)

    def of(self, dataset: Dataset, contexts: Sequence[context_file.FileContext], setting: str) -> list[View]:
        """The set's own documents, or else the library: without contexts, with those that a model has written, with
        those that are given (`setting` names them), and the windows' text alone."""
        library = self.runtime.library
        documents: Documents = dataset.documents or list(temp_library.documents(library))
        known = {} if dataset.documents else temp_library.known_morphemes(library)
        self._analyzer = temp_library.CachingAnalyzer(self.runtime.analyzer, known)
        views = [self._copied(NO_MODEL, documents)] if dataset.documents else list(self._own(documents))
        if contexts:
            windows = {video.id: own for video, own in documents}
            laid = context_file.assign(contexts, lambda names: windows_by_name(library, windows, names))
            views.append(self._copied(GIVEN, documents, laid, setting))
        return [*views, self._bare(documents)]

    def _own(self, documents: Documents) -> Iterator[View]:
        """The library itself, where it has all that is to be searched, else a copy; and one without its contexts."""
        library = self.runtime.library
        written = {id: one.text for video, _own in documents for id, one in library.contexts.of_video(video.id).items()}
        count = sum(len(own) for _video, own in documents)
        setting = f"{len(written)}/{count}" if written else ""
        level = MODEL if written else NO_MODEL
        if written:
            yield self._copied(NO_MODEL, documents)
        encoder = self.doors.encoder
        if self.neural and encoder and (self._outdated(encoder.id) or not self._searches_neural()):
            yield self._copied(level, documents, written, setting)
        else:
            yield View(level, library, self.runtime.searcher, setting)

    def _outdated(self, encoder_id: str) -> bool:
        vectors = self.runtime.library.vectors
        return vectors.active() != encoder_id or vectors.counts(encoder_id).due > 0

    def _searches_neural(self) -> bool:
        return len(self.runtime.searcher.ready()) > 1

    def _bare(self, documents: Documents) -> View:
        return self._copied(NONE, list(temp_library.without_titles(documents)), making=temp_library.TEXT_ALONE)

    def _copied(
        self,
        level: str,
        documents: Documents,
        contexts: Mapping[str, str] | None = None,
        setting: str = "",
        making: Making = MAKING,
    ) -> View:
        models = self.runtime.neural if self.neural else None
        copy = self.opened.enter_context(
            temp_library.create(documents, self._analyzer, contexts, making=making, models=models)
        )
        if models is not None and self.doors.encoder is not None:
            total = sum(len(own) for _video, own in documents)
            tell = self.encoding or (lambda _done, _total: None)
            tell(0, total)
            done = 0
            for count in temp_library.encode(copy, self.doors.encoder, models):
                done += count
                tell(done, total)
        return View(level, copy.library, copy.searcher, setting)
