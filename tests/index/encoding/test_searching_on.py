"""Queries go on, and none of them fails, while the encoder is missing, arrives, and is changed for another one."""

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from subtitle_rag.base.vectors.named_vectors import vector_names
from subtitle_rag.index.encoding import EncodingRun
from subtitle_rag.index.index_client import HostedIndex
from subtitle_rag.index.indexing import Indexer
from subtitle_rag.index.interface import Index
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.library.store import Library
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import Searcher
from tests.index.encoding.desk import Counting
from tests.index.points import search
from tests.support.invented import came_true, caption_folder, end_hosts
from tests.support.models_here import Here


@dataclass
class Asking:
    """Asks again and again, by words and by the vectors of the encoder that is searched, until it is stopped."""

    library: Library
    index: Index
    searcher: Searcher
    encoders: dict[str, Counting]
    stop: threading.Event = field(default_factory=threading.Event)
    failures: list[BaseException] = field(default_factory=list)
    by_words: int = 0
    without: int = 0
    """Queries before there was an encoder to search with."""
    found: dict[str, int] = field(default_factory=dict)
    """Encoder → its queries that found something."""

    def ask(self) -> None:
        while not self.stop.is_set():
            try:
                self._once()
            except BaseException as error:
                self.failures.append(error)
                return
        self.library.close()

    def _once(self) -> None:
        assert self.searcher.rank(parse_query("국수를 먹었어요"), retrievers=("bm25",))
        self.by_words += 1
        active = self.library.vectors.active()
        if active is None:
            self.without += 1
            return
        dense, sparse = vector_names(active)
        query = self.encoders[active].query("국수를 먹었어요")
        hits = search(self.index, dense, query.dense, limit=5)
        assert query.sparse is not None
        search(self.index, sparse, query.sparse, limit=5)
        if hits:
            self.found[active] = self.found.get(active, 0) + 1


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
    yield tmp_path / "home"
    end_hosts([tmp_path / "home" / "index"])


@pytest.mark.campaign(part="models")
def test_no_query_fails_while_an_encoder_arrives_and_is_changed(
    folder: Path, captions: Path, tmp_path: Path, analyzer: Analyzer, encoder: Counting, other: Counting
) -> None:
    with closing(Library(folder / "library.db")) as library, closing(_hosted(folder)) as index:
        indexer = Indexer(library, index, analyzer)
        list(indexer.index([captions]))
        searcher = Searcher(library, index, QueryAnalyzer(library, analyzer))
        asking = Asking(library, index, searcher, {encoder.id: encoder, other.id: other})
        thread = threading.Thread(target=asking.ask)
        thread.start()
        try:
            assert came_true(lambda: asking.without > 3 or bool(asking.failures), 60)
            list(EncodingRun(library, index, encoder, Here([encoder])).run())
            assert came_true(lambda: asking.found.get(encoder.id, 0) > 3 or bool(asking.failures), 60)
            half = EncodingRun(library, index, other, Here([other, encoder])).run()
            for _event in range(3):
                next(half)
            list(indexer.index([caption_folder(tmp_path / "more", 1, minutes=2, seed=9)]))
            list(half)
            assert came_true(lambda: asking.found.get(other.id, 0) > 3 or bool(asking.failures), 60)
        finally:
            asking.stop.set()
            thread.join()
        assert asking.failures == []
        assert set(index.vectors()) == {"bm25", *vector_names(other.id)}
        assert asking.by_words > 12


def _hosted(folder: Path) -> Index:
    folder.mkdir(exist_ok=True)
    return HostedIndex(folder / "index", {"analyzer": ANALYZER})
