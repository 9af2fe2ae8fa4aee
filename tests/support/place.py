"""A library and its index in this process, with helpers to compare their contents."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from subtitle_rag.base.domain.events import IndexEvent, IndexReport
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.indexing import Indexer
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.library.store import Library
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import Searcher
from tests.support.invented import dump

QUERIES = ("치킨 소스", "할머니 김치", "국수를 먹었어요", "바다", "python 와이파이", "고양이 사진", "비 오는 날 캠핑")


@contextmanager
def removal_cut_short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Interrupt a removal after its videos have left the library, before their points leave the index."""

    def kill(*_arguments: object) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Library, "pending_index_deletes", kill)
        with pytest.raises(KeyboardInterrupt):
            yield


@dataclass
class Place:
    """A library with its index in this process."""

    folder: Path
    library: Library
    index: EdgeIndex
    analyzer: Analyzer

    @classmethod
    def at(cls, folder: Path, analyzer: Analyzer) -> "Place":
        library = Library(folder / "library.db")
        return cls(folder, library, EdgeIndex(folder / "index", {"analyzer": ANALYZER}), analyzer)

    @property
    def indexer(self) -> Indexer:
        return Indexer(self.library, self.index, self.analyzer)

    @property
    def searcher(self) -> Searcher:
        return Searcher(self.library, self.index, QueryAnalyzer(self.library, self.analyzer))

    def run(self, *sources: Path) -> list[IndexEvent]:
        return list(self.indexer.index(sources))

    def report(self, *sources: Path) -> IndexReport:
        last = self.run(*sources)[-1]
        assert isinstance(last, IndexReport)
        return last

    def results(self, *queries: str) -> list[tuple[str, Any]]:
        """Return the windows found by all queries with their scores, in order."""
        searcher = self.searcher
        ranked = [searcher.rank(parse_query(query), depth=50) for query in queries or QUERIES]
        return [(entry.window_id, pytest.approx(entry.score, rel=1e-6)) for found in ranked for entry in found]

    def content(self) -> dict[str, list[tuple[Any, ...]]]:
        return dump(self.library.path)

    def written(self) -> dict[str, tuple[int, int]]:
        """Return the state of the index's files, which any write would change."""
        files = (file for file in (self.folder / "index").rglob("*") if file.is_file())
        return {str(file): (file.stat().st_size, file.stat().st_mtime_ns) for file in files}

    def sound(self) -> bool:
        """Whether the index has exactly the library's windows, all searchable, and no work is pending."""
        ids = {window_id for state in self.library.videos() for window_id in self.index.ids(state.video.id)}
        windows = {w.id for state in self.library.videos() for w in self.library.windows_of(state.video.id)}
        counts = self.library.counts()
        return (
            ids == windows
            and self.index.count() == counts.windows == counts.searchable
            and not self.library.pending_index_deletes()
        )

    def close(self) -> None:
        self.library.close()
        self.index.close()
