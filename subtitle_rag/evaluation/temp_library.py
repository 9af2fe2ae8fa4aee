"""Make libraries for the length of a measurement, by the same code as the user's."""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subtitle_rag.captions import RULE
from subtitle_rag.domain import Morphemes, Track, VectorsMade, VectorsReport, Video, Window
from subtitle_rag.encoding import EncodingRun
from subtitle_rag.evaluation import context_file
from subtitle_rag.indexing import Indexer
from subtitle_rag.library import Library
from subtitle_rag.retrieval import (
    ANALYZER,
    BY_SCORES,
    DEFAULT_PARAMS,
    Analyzer,
    Bm25Params,
    EdgeIndex,
    Encoder,
    Index,
    Models,
    QueryAnalyzer,
    Searcher,
)

Documents = Iterable[tuple[Video, Sequence[Window]]]


class CachingAnalyzer(Analyzer):
    """Analyse each text once for several libraries of the same texts; those in `cache` not at all."""

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
class TempLibrary:
    """A library with its index and its search."""

    library: Library
    index: Index
    searcher: Searcher


def documents(library: Library) -> Iterator[tuple[Video, Sequence[Window]]]:
    """Yield the videos with windows of a library."""
    for state in library.videos():
        if state.windows:
            yield state.video, library.windows_of(state.video.id)


def known_morphemes(library: Library) -> dict[str, Morphemes]:
    """Return the analyses in a library, by the text of their windows."""
    cache: dict[str, Morphemes] = {}
    for _video, windows in documents(library):
        analyses = library.morphemes([window.id for window in windows])
        cache.update({window.text: analyses[window.id] for window in windows if window.id in analyses})
    return cache


@contextmanager
def create(
    videos: Documents,
    analyzer: Analyzer,
    contexts: Mapping[str, str] | None = None,
    *,
    making: Bm25Params = DEFAULT_PARAMS,
    models: Models | None = None,
    fusion: str = BY_SCORES,
    levels: bool = False,
) -> Iterator[TempLibrary]:
    """Create a library of these videos, gone at the end; `contexts` by window. `models` search the vectors it has."""
    # Windows deletes nothing that is still open
    with tempfile.TemporaryDirectory(prefix="subtitle-rag-eval-", ignore_cleanup_errors=True) as folder:
        library = Library(Path(folder) / "library.db")
        index = EdgeIndex(Path(folder) / "index", {"analyzer": ANALYZER})
        try:
            for video, windows in videos:
                digest = hashlib.sha256("\n".join(window.text for window in windows).encode()).hexdigest()
                library.put_video(video, Track("ko", "file", "vtt", b"", digest, 0), windows, RULE)
            library.put_rule(RULE)
            context_file.store(library, contexts or {})
            for _event in Indexer(library, index, analyzer, making, levels=levels).rebuild():
                pass
            queries = QueryAnalyzer(library, analyzer)
            yield TempLibrary(library, index, Searcher(library, index, queries, models, fusion=fusion, levels=levels))
        finally:
            index.close()
            library.close()


def encode(copy: TempLibrary, encoder: Encoder, models: Models) -> Iterator[int]:
    """Make the neural vectors of a copy, and yield the size of each batch. Raises what the encoder raises."""
    for event in EncodingRun(copy.library, copy.index, encoder, models).run(patient=False):
        if isinstance(event, VectorsMade):
            yield event.count
        elif isinstance(event, VectorsReport) and event.blocked is not None:
            raise event.blocked
