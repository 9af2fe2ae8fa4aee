"""Queries and texts at one analyzer: the same morphemes as alone, queries first, whatever becomes of the host."""

import os
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag import tui
from subtitle_rag.base.config.settings import QdrantSettings, Settings, load
from subtitle_rag.base.domain.values import Morphemes
from subtitle_rag.base.vectors.points import Filter
from subtitle_rag.index import analysis_service
from subtitle_rag.index.analysis_client import HostedAnalyzer, HostedQueryAnalyzer
from subtitle_rag.index.analysis_service import END, QUERY, TEXTS, AnalysisQueue, slices
from subtitle_rag.index.edge_service import EdgeService
from subtitle_rag.index.index_client import FORMS, HostedIndex
from subtitle_rag.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.runtime import Runtime
from subtitle_rag.workflows import checks as doctor
from tests.support.invented import alive, came_true, caption_folder
from tests.support.searchable import filled, video

pytestmark = pytest.mark.kiwi

SAID = "간장 마늘 고기 냄비 주방 식당 여행 바다 시장 골목 강아지 고양이 노래 편지 아침 저녁 김밥 국수 두부 소금 설탕"
SENTENCES = [f"꽃게를 {number}마리 먹었어요" for number in range(70)]
META = {"analyzer": ANALYZER}


def test_slices_hold_all_texts_in_order_and_no_more_letters_than_they_may() -> None:
    most = analysis_service.SLICE_LETTERS
    parts = slices(["가" * count for count in (most - 1, 2, 1, most + 1, 0, 1, most - 1)])
    assert [[len(text) for text in part] for part in parts] == [[most - 1], [2, 1], [most + 1], [0, 1, most - 1]]


class Gate:
    """Keeps the queue's thread busy until it is opened."""

    def __init__(self, queue: AnalysisQueue) -> None:
        self._opened, entered = threading.Event(), threading.Event()

        def wait() -> None:
            entered.set()
            assert self._opened.wait(20)

        self._thread = threading.Thread(target=queue.call, args=(QUERY, wait))
        self._thread.start()
        assert entered.wait(20)

    def open(self) -> None:
        self._opened.set()
        self._thread.join()


@pytest.fixture
def queue() -> Iterator[AnalysisQueue]:
    made = AnalysisQueue()
    yield made
    made.call(END, lambda: None)


def test_queries_go_first_and_each_rank_keeps_its_order(queue: AnalysisQueue) -> None:
    gate, order = Gate(queue), list[str]()
    waiting = []
    for rank, name in [(TEXTS, "a"), (TEXTS, "b"), (QUERY, "first"), (TEXTS, "c"), (QUERY, "second")]:
        count = queue._waiting.qsize()
        waiting.append(threading.Thread(target=queue.call, args=(rank, lambda name=name: order.append(name))))
        waiting[-1].start()
        assert came_true(lambda count=count: queue._waiting.qsize() > count)  # type: ignore[misc]
    gate.open()
    for thread in waiting:
        thread.join()
    assert order == ["first", "second", "a", "b", "c"]


def test_a_failure_reaches_its_caller_and_the_next_has_its_turn(queue: AnalysisQueue) -> None:
    with pytest.raises(ZeroDivisionError):
        queue.call(QUERY, lambda: 1 // 0)
    assert queue.call(TEXTS, lambda: 7) == 7


class Watched(Analyzer):
    """Notes what it analyses; stops in the first batch of texts until it is let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[list[str]] = []
        self.entered, self.go_on = threading.Event(), threading.Event()

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        self.seen.append(list(texts))
        if len(self.seen) == 1:
            self.entered.set()
            assert self.go_on.wait(20)
        return super().morphemes(texts)


def test_a_query_waits_for_one_slice_of_what_is_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_service, "SLICE_LETTERS", 30)
    monkeypatch.setattr("subtitle_rag.index.analysis_service.Analyzer", Watched)
    services: list[EdgeService] = []
    opened = EdgeService.__init__

    def noted(service: EdgeService, *given: object) -> None:
        opened(service, *given)  # type: ignore[arg-type]
        services.append(service)

    monkeypatch.setattr(EdgeService, "__init__", noted)
    library = filled(tmp_path / "library.db", Analyzer(), {video("a"): [["국수"]]})
    index = HostedIndex(tmp_path / "index", META)
    index.open()
    indexed: list[Morphemes] = []
    indexing = threading.Thread(target=lambda: indexed.extend(HostedAnalyzer(index).morphemes(SENTENCES[:16])))
    indexing.start()
    watched = services[0]._analyzer
    assert isinstance(watched, Watched)
    assert watched.entered.wait(20)
    queries = HostedQueryAnalyzer(index, library.path)
    query = threading.Thread(target=queries.search, args=(index, "국수"), kwargs={"limit": 3, "where": Filter()})
    query.start()
    assert came_true(lambda: services[0]._analyses._waiting.qsize() == 1)
    watched.go_on.set()
    query.join()
    indexing.join()
    assert watched.seen[1] == ["국수"], "after the slice under way, before all others"
    assert [text for part in (watched.seen[0], *watched.seen[2:]) for text in part] == SENTENCES[:16]
    assert indexed == list(Analyzer().morphemes(SENTENCES[:16]))
    index.close()
    library.close()


@pytest.mark.parametrize("count", [0, 1, 16, 70])
def test_texts_are_analysed_by_the_host_as_here_and_in_their_order(
    tmp_path: Path, analyzer: Analyzer, count: int
) -> None:
    index = HostedIndex(tmp_path / "index", META)
    hosted = HostedAnalyzer(index)
    hosted.load_soon()
    assert list(hosted.morphemes(SENTENCES[:count])) == list(analyzer.morphemes(SENTENCES[:count]))
    index.close()


def test_who_looks_at_the_first_texts_alone_has_no_others_analysed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = HostedIndex(tmp_path / "index", META)
    asked: list[int] = []
    whole, first = HostedIndex.call, threading.Event()

    def counted(client: HostedIndex, method: str, texts: Sequence[str]) -> list[Morphemes]:
        assert method == "text_morphemes"
        asked.append(len(texts))
        if len(asked) > 1:
            assert first.wait(20)
        morphemes: list[Morphemes] = whole(client, method, texts)
        return morphemes

    monkeypatch.setattr(HostedIndex, "call", counted)
    found = HostedAnalyzer(index).morphemes(SENTENCES)
    next(found)
    found.close()  # type: ignore[attr-defined]
    first.set()
    assert len(asked) <= 2
    index.close()


def test_nearness_is_that_of_the_analyzer_and_a_query_waits_for_few_forms(
    tmp_path: Path, analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    forms = [form for morphemes in analyzer.morphemes([SAID]) for form in morphemes.forms]
    assert len(forms) > FORMS
    asked: list[int] = []
    nearness = Analyzer.nearness

    def counted(self: Analyzer, some: Sequence[str]) -> dict[str, float]:
        asked.append(len(some))
        return nearness(self, some)

    expected = analyzer.nearness(forms)
    monkeypatch.setattr(Analyzer, "nearness", counted)
    with closing(HostedIndex(tmp_path / "index", META)) as index:
        assert index.nearness(forms) == expected
        assert index.adverbs(["훨씬", "치킨"]) == {"훨씬"}
    assert sum(asked) == len(forms)
    assert max(asked) <= FORMS


class TestAnalysisInTheApp:
    @pytest.fixture
    def settings(self, tmp_path: Path) -> Settings:
        return load(tmp_path / "home")

    def test_the_host_analyses_and_this_process_loads_nothing(
        self, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Runtime(settings) as runtime:
            runtime.prioritize_queries = True
            monkeypatch.setattr(Runtime, "analyzer", property(lambda _runtime: pytest.fail("loaded here")))
            assert doctor.probe("kiwi", runtime).severity == "ok"
            list(runtime.indexer.index([caption_folder(tmp_path / "captions", 2, minutes=4)]))
            assert runtime.library.counts().searchable == runtime.library.counts().windows > 0
            assert sum(event.count for event in runtime.rebuilder().rebuild()) == runtime.library.counts().windows

    @pytest.mark.campaign(part="flows")
    def test_no_module_of_the_app_asks_for_an_analyzer_of_its_own(self) -> None:
        sources = {path: path.read_text(encoding="utf-8") for path in Path(tui.__file__).parent.rglob("*.py")}
        assert len(sources) > 50
        assert [path for path, source in sources.items() if re.search(r"runtime\.analyzer\b", source)] == []

    def test_with_a_server_its_host_analyses_also_while_the_server_is_away(
        self, settings: Settings, analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Runtime(settings) as runtime:
            object.__setattr__(runtime.settings, "qdrant", QdrantSettings(url="http://127.0.0.1:9"))
            monkeypatch.setattr(Runtime, "analyzer", property(lambda _runtime: pytest.fail("loaded here")))
            runtime.prioritize_queries = True
            assert list(runtime.text_analyzer.morphemes(SENTENCES)) == list(analyzer.morphemes(SENTENCES))
            assert "host" not in vars(runtime)


@pytest.mark.hosts
def test_a_host_that_is_killed_in_the_midst_is_started_again(
    tmp_path: Path, analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.1")
    index = HostedIndex(tmp_path / "index", META)
    found = HostedAnalyzer(index).morphemes(SENTENCES)
    first, killed = next(found), index.host_pid
    os.kill(killed, signal.SIGKILL)
    assert [first, *found] == list(analyzer.morphemes(SENTENCES))
    assert index.host_pid != killed
    index.close()
    assert came_true(lambda: not alive(index.host_pid))
