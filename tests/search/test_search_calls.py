"""How many calls of the hosts a search takes, and that its answer is the one of the parts called one by one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.hosting.host_client import Client
from subtitle_rag.base.vectors.points import Filter
from subtitle_rag.index.analysis_client import HostedQueryAnalyzer
from subtitle_rag.index.analysis_service import RELEASE_S, LibraryQueries
from subtitle_rag.index.edge_service import EdgeService
from subtitle_rag.index.encoding import EncodingRun
from subtitle_rag.korean import lexical, vocabulary
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.library.store import Library
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.parts import RETRIEVERS
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import Searcher
from tests.index.points import search as search_index
from tests.support.failures import failing
from tests.support.invented import caption_folder
from tests.support.models_here import Asked, Here
from tests.support.searchable import filled, video

pytestmark = pytest.mark.budget

QUERIES = (
    *("바다", "치킨 소스", "할머니 김치", "국수를 먹었어요", "xyzzy", "바다 -김치", '"김치"'),
    *("바다 after:2999-01-01", '바다 "없는 말"', "kind:short 바다"),
)


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A library with its index behind the host."""
    folder = tmp_path_factory.mktemp("library")
    with Runtime(config.load(folder / "home")) as made:
        list(made.indexer.index([caption_folder(folder / "captions", 3, minutes=6)]))
        yield made


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The methods that hosts are called with."""
    made: list[str] = []
    whole = Client.call

    def counted(client: Client, method: str, *args: Any, **options: Any) -> Any:
        made.append(method)
        return whole(client, method, *args, **options)

    monkeypatch.setattr(Client, "call", counted)
    return made


@pytest.fixture
def hybrid(runtime: Runtime, encoder_folder: Path) -> tuple[Searcher, Asked]:
    encoder = Asked(encoder_folder, "tiny@00000000")
    models = Here([encoder])
    for _event in EncodingRun(runtime.library, runtime.index, encoder, models).run(WindowSelection(), patient=False):
        pass
    encoder.queries.clear()
    queries = HostedQueryAnalyzer(runtime.host, runtime.library.path)
    return Searcher(runtime.library, runtime.index, queries, models), encoder


def test_a_search_by_words_is_one_call(runtime: Runtime, calls: list[str]) -> None:
    searcher = runtime.searcher
    for query in QUERIES:
        calls.clear()
        searcher.search(parse_query(query), retrievers=("bm25",))
        assert calls == ["search_text"], query


def test_places_in_a_video_are_one_call(runtime: Runtime, calls: list[str]) -> None:
    searcher = runtime.searcher
    (video, *_others) = runtime.library.videos()
    calls.clear()
    searcher.mentions(parse_query("바다"), video.video.id)
    assert len(calls) == 1


def test_a_hybrid_search_is_two_calls_more(hybrid: tuple[Searcher, Asked], calls: list[str]) -> None:
    searcher, encoder = hybrid
    result = searcher.search(parse_query("바다 김치"))
    assert result.retrievers == RETRIEVERS
    assert (calls, encoder.queries) == (["search_text", "search_all"], ["바다 김치"])  # no list ends before all windows


def test_scores_that_are_missing_are_one_call_more(hybrid: tuple[Searcher, Asked], calls: list[str]) -> None:
    result = hybrid[0].search(parse_query("바다 김치"), depth=3)
    assert result.retrievers == RETRIEVERS
    assert calls == ["search_text", "search_all", "search_all"]


def test_one_call_answers_as_analysis_and_search_apart(runtime: Runtime, hybrid: tuple[Searcher, Asked]) -> None:
    apart = Searcher(
        runtime.library, runtime.index, QueryAnalyzer(runtime.library, runtime.analyzer), hybrid[0]._neural
    )
    for query in map(parse_query, QUERIES):
        assert hybrid[0].rank(query) == apart.rank(query)
        assert hybrid[0].search(query).scenes == apart.search(query).scenes
        assert hybrid[0].search(query).lexical == apart.search(query).lexical


def test_the_host_sees_what_has_been_added_to_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subtitle_rag.korean.lexical.VOCABULARY_SECONDS", 0.0)
    with Runtime(config.load(tmp_path / "home")) as runtime:
        queries = HostedQueryAnalyzer(runtime.host, runtime.library.path)
        here = QueryAnalyzer(runtime.library, runtime.analyzer)
        for videos in (0, 2):
            if videos:
                list(runtime.indexer.index([caption_folder(tmp_path / "captions", videos, minutes=6)]))
            for text in ("치킨 소스", "할머니 김치"):
                assert queries.analyze(text) == here.analyze(text)


@pytest.fixture
def library(tmp_path: Path, analyzer: Analyzer) -> Iterator[Library]:
    made = filled(tmp_path / "library.db", analyzer, {video("a"): [["할머니의 김치를 먹습니다"]]})
    yield made
    made.close()


class TestALibraryIsOpenOnlyWhileQueriesCome:
    @pytest.fixture
    def queries(self, library: Library, analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch) -> LibraryQueries:
        monkeypatch.setattr(lexical, "VOCABULARY_SECONDS", 0.0)
        made = LibraryQueries(analyzer)
        made.analyze(str(library.path), "김치")
        made.release()
        return made

    def test_its_log_goes_with_the_last_who_has_it_open(self, library: Library, queries: LibraryQueries) -> None:
        library.close()
        log = library.path.with_name("library.db-wal")
        assert not log.exists()
        queries.analyze(str(library.path), "김치")
        assert log.exists()
        queries.release()
        assert not log.exists()

    def test_what_came_meanwhile_is_seen(
        self, library: Library, queries: LibraryQueries, analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = str(library.path)
        assert queries.analyze(path, "청귤청을").vector == QueryAnalyzer(library, analyzer).analyze("청귤청을").vector
        before = queries.analyze(path, "할마니").related
        queries.release()
        filled(library.path, analyzer, {video("b"): [["할마너 할머나 할마이"]]}).close()
        after = queries.analyze(path, "할마니").related
        assert after == QueryAnalyzer(library, analyzer).analyze("할마니").related
        assert after > before

    def test_the_vocabulary_is_not_read_again_where_nothing_came(
        self, library: Library, queries: LibraryQueries, analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        readings: list[str] = []
        whole = Library.vocabulary

        def vocabulary(self: Library, *arguments: Any, **options: Any) -> Any:
            readings.append("read")
            return whole(self, *arguments, **options)

        monkeypatch.setattr(Library, "vocabulary", vocabulary)
        expected = QueryAnalyzer(library, analyzer).analyze("할마니")
        assert readings, "the count would see it"
        readings.clear()
        for _again in range(2):
            assert queries.analyze(str(library.path), "할마니") == expected
            queries.release()
        assert readings == []

    def test_another_library_in_its_place_is_read(
        self, library: Library, queries: LibraryQueries, analyzer: Analyzer
    ) -> None:
        library.close()
        library.path.unlink()
        filled(library.path, analyzer, {video("b"): [["국수"]]}).close()
        assert queries.analyze(str(library.path), "할마니").forms == frozenset(
            QueryAnalyzer(library, analyzer).analyze("할마니").forms
        )


class TestARestMakesTheTablesOfTheVocabulary:
    @pytest.fixture
    def service(self, library: Library, tmp_path: Path) -> Iterator[EdgeService]:
        made = EdgeService(tmp_path / "index")
        made.call(None, "analyze", (str(library.path), "김치"), {})
        yield made
        made.close()

    def test_later_queries_make_none(
        self, library: Library, service: EdgeService, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made: list[object] = []
        for name in ("key_sequence", "video_facets"):
            whole = getattr(vocabulary, name)
            monkeypatch.setattr(vocabulary, name, lambda of, whole=whole: made.append(of) or whole(of))  # type: ignore[func-returns-value]
        service.rest(0.0, leaving=False)
        assert not made
        service.rest(RELEASE_S, leaving=False)
        assert not service._queries.is_open
        assert "김치" in made, "the keys of each word"
        assert any(isinstance(of, Library) for of in made), "the names of its videos"
        made.clear()
        for text in ("할ㅁ", "ㅂㄷ"):
            service.call(None, "analyze", (str(library.path), text), {})
        service.rest(RELEASE_S, leaving=False)
        assert "김치" not in made
        assert all(isinstance(of, str) for of in made)

    def test_a_failure_is_left_to_the_next_query(
        self, library: Library, service: EdgeService, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(_library: Library) -> list[object]:
            raise AppError("library_damaged", path=str(library.path), reason="")

        monkeypatch.setattr(vocabulary, "video_facets", broken)
        service.rest(RELEASE_S, leaving=False)
        assert not service._queries.is_open
        with pytest.raises(AppError):
            service.call(None, "analyze", (str(library.path), "ㅂㄷ"), {})


def test_a_library_that_is_gone_is_not_made_anew(runtime: Runtime, tmp_path: Path) -> None:
    with failing("library_moved"):
        HostedQueryAnalyzer(runtime.host, tmp_path / "gone" / "library.db").analyze("바다")
    assert not (tmp_path / "gone").exists()


def test_ties_at_the_cut_are_read_on_in_the_same_call(runtime: Runtime, calls: list[str]) -> None:
    made, hits = HostedQueryAnalyzer(runtime.host, runtime.library.path).search(
        runtime.host, "다음 이야기", limit=3, where=Filter()
    )
    assert calls == ["search_text"]
    assert hits == search_index(runtime.host, "bm25", made.vector, limit=1_000)[:3]
