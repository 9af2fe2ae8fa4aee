"""The host that holds the connection to a Qdrant server: requests of a search, keys, and failures."""

import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.hosting import host_client
from subtitle_rag.base.vectors.points import Filter, VectorSearch
from subtitle_rag.index.encoding import EncodingRun
from subtitle_rag.index.index_client import server_folder
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.parts import RETRIEVERS
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import Searcher
from tests.index.points import COLLECTION, META, found, hosted_index, pid, point, sparse
from tests.stand_ins.qdrant import StandIn
from tests.support.hosts_in_process import HOSTS
from tests.support.models_here import Asked, Here
from tests.support.served import videos

KEY = "s3cret-key-of-mine"
QUERIES = ("국수를 먹었어요", "다음 이야기", "xyzzy", "국수 qwertyuiop", "국수 -바다")


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


def settings(server: StandIn, **others: Any) -> QdrantSettings:
    return QdrantSettings(url=server.base, **others)


def runtime_of(home: Path, server: StandIn) -> Runtime:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f'[qdrant]\nurl = "{server.base}"\n')
    return Runtime(config.load(home))


def sent(server: StandIn) -> list[str]:
    paths = [re.sub("/collections/[^/]+", "", path) for _method, path, _body in server.asked]
    server.asked.clear()
    return paths


@pytest.fixture
def served(server: StandIn, tmp_path: Path) -> Iterator[Runtime]:
    """A library on a server that has another one's collection too."""
    with runtime_of(tmp_path / "theirs", server) as theirs:
        list(theirs.indexer.index([videos(tmp_path / "b", 1, 2)]))
    with runtime_of(tmp_path / "home", server) as ours:
        list(ours.indexer.index([videos(tmp_path / "a", 0)]))
        yield ours


class TestRequests:
    def test_a_search_by_words_is_one(self, served: Runtime, server: StandIn) -> None:
        searcher = served.searcher
        searcher.search(parse_query("국수"))
        sent(server)
        for query in QUERIES:
            scenes = searcher.search(parse_query(query)).scenes
            assert sent(server) == ["/points/query/batch"], query
            if query == QUERIES[0]:
                assert {scene.video.id for scene in scenes} == {"invented000"}

    def test_a_hybrid_one_takes_two_more_at_most(
        self, served: Runtime, server: StandIn, encoder_folder: Path, tmp_path: Path
    ) -> None:
        encoder = Asked(encoder_folder, "tiny@00000000")
        list(EncodingRun(served.library, served.index, encoder, Here([encoder])).run(WindowSelection(), patient=False))
        searcher = served.searcher
        searcher = Searcher(served.library, served.index, searcher._queries, Here([encoder]))
        searcher.search(parse_query("국수"))
        sent(server)
        for query in QUERIES:
            result = searcher.search(parse_query(query))
            assert result.retrievers == RETRIEVERS
            paths = sent(server)
            assert paths[:2] == ["/points/query/batch"] * min(2, len(paths))
            assert len(paths) <= 3
            assert paths[2:] in ([], ["/points"])

    @pytest.mark.campaign(part="flows")
    def test_a_new_process_counts_before_and_imports_no_engine(self, served: Runtime, server: StandIn) -> None:
        served.searcher.search(parse_query("국수"))
        sent(server)
        code = """import sys
from subtitle_rag.cli import main as cli
assert cli.run(["--home", sys.argv[1], "search", "국수"]) == 0
heavy = {"qdrant_client", "qdrant_edge", "kiwipiepy", "numpy", "pydantic", "httpx"} & set(sys.modules)
sys.exit(" ".join(sorted(heavy)) or None)"""
        home = served.settings.paths.config.parent
        ended = subprocess.run([sys.executable, "-c", code, home], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        assert "국수" in ended.stdout
        assert sent(server) == ["/points/count", "/points/query/batch"]


def test_required_terms_are_the_same_as_in_the_embedded_index(server: StandIn, tmp_path: Path) -> None:
    points = [point(n, {1: 1.0 + n % 3, 2 + n % 4: 1.0}) for n in range(1, 60)]
    there = hosted_index(tmp_path, settings(server))
    with closing(there), closing(EdgeIndex(tmp_path / "edge", META)) as here:
        for limit in (1, 7, 30, 100):
            for index in (here, there):
                index.insert(points)
            search = VectorSearch("bm25", sparse({1: 1.0}), limit, Filter(), sparse({3: 1.0}))
            hits = [[hit.id for hit in index.search_all([search])[0]] for index in (here, there)]
            assert hits[0] == hits[1]
            assert limit == 1 or hits[0]


class TestKeys:
    def test_a_key_reaches_the_server_and_stands_nowhere(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        orders: list[str] = []
        start = host_client._detached

        def detached(module: str, folder: Path, order: str, log: Any) -> Any:
            orders.append(f"{folder} {order}")
            return start(module, folder, order, log)

        monkeypatch.setattr(host_client, "_detached", detached)
        monkeypatch.setenv("MY_QDRANT_KEY", KEY)
        with StandIn(key=KEY) as server:
            own = settings(server, api_key_env="MY_QDRANT_KEY")
            with closing(hosted_index(tmp_path / "cache", own)) as index:
                index.insert([point(1)])
                assert found(index) == [1]
                assert KEY not in repr(vars(index)).replace(repr(index._order), "")
        assert len(orders) == 1
        assert KEY not in orders[0]
        files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
        assert files
        for file in files:
            assert KEY.encode() not in file.read_bytes()
            assert not file.parent.stat().st_mode & 0o077
        assert "points/query" in caplog.text
        assert KEY not in caplog.text

    def test_another_key_has_a_connection_of_its_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with StandIn(key=KEY) as server:
            own = settings(server, api_key_env="MY_QDRANT_KEY")
            for key, code in ((KEY, None), ("another", "qdrant_refused"), ("", "qdrant_refused"), (KEY, None)):
                monkeypatch.setenv("MY_QDRANT_KEY", key)
                assert failure(tmp_path, own) == code

    def test_another_config_has_another_host(self, server: StandIn, tmp_path: Path) -> None:
        with StandIn() as other:
            places = [settings(server), settings(other)]
            folders = {server_folder(tmp_path, each) for each in places}
            assert len(folders) == 2
            for each, number in zip(places, (1, 2), strict=True):
                with closing(hosted_index(tmp_path, each)) as index:
                    index.insert([point(number)])
            assert server.memory.count(COLLECTION).count == 1
            assert other.memory.count(COLLECTION).count == 1


def failure(cache: Path, qdrant: QdrantSettings) -> str | None:
    """Return the code of the failure to open and count the index."""
    caught: AppError | None = None
    try:
        with closing(hosted_index(cache, qdrant)) as index:
            index.count()
    except AppError as error:
        caught = error
    assert caught is None or KEY not in f"{caught} {caught!r} {caught.details}"
    return caught.code if caught else None


@pytest.mark.campaign(part="flows")
def test_failures_are_those_of_the_server_itself(server: StandIn, tmp_path: Path) -> None:
    server.version = "1.17.3"
    assert failure(tmp_path, settings(server)) == "qdrant_old"
    server.version = "1.20.0"
    server.failing = lambda _method, path: (401, b"") if path != "/" else None
    assert failure(tmp_path, settings(server)) == "qdrant_refused"
    server.failing = lambda _method, _path: None
    assert failure(tmp_path, settings(server)) is None
    server.stop()
    assert failure(tmp_path, settings(server)) == "qdrant_unreachable"
    server.start()
    assert failure(tmp_path, settings(server)) is None
    server.memory.update_collection(COLLECTION, metadata={"analyzer": "kiwi 0.1"})
    HOSTS.end(server_folder(tmp_path, settings(server)))
    assert failure(tmp_path, settings(server)) == "index_mismatch"


def test_a_collection_that_was_deleted_is_told_until_it_is_made_again(server: StandIn, tmp_path: Path) -> None:
    with closing(hosted_index(tmp_path, settings(server))) as index:
        index.insert([point(1)])
        server.memory.delete_collection(COLLECTION)
        for call in (index.count, lambda: index.insert([point(2)]), lambda: found(index)):
            with pytest.raises(AppError) as caught:
                call()
            assert (caught.value.code, index.place in caught.value.message) == ("index_damaged", True)
        index.clear()
        index.insert([point(2)])
        assert [each.id for each in index.points()] == [pid(2)]
