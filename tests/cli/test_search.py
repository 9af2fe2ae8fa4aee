"""What `search` says where several retrievers and a reranker answer: tiny models, run in this process."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from rich.live import Live

import subtitle_rag
from subtitle_rag.base.config import settings as config
from subtitle_rag.cli import find_scenes, main as cli
from subtitle_rag.index.encoding import EncodingRun
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.parts import RETRIEVERS
from tests.support.commandline import Run, ran
from tests.support.invented import end_hosts
from tests.support.models_here import Asked, Here, Read
from tests.support.tiny_models import tiny_encoder, tiny_reranker

pytestmark = pytest.mark.models

SAMPLE = Path(subtitle_rag.__file__).parent / "sample"


@pytest.fixture(autouse=True)
def shared_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Here:
    folder = tmp_path_factory.mktemp("models")
    encoder = Asked(tiny_encoder(folder / "tiny-m3"), "tiny@00000000")
    return Here([encoder], Read(tiny_reranker(folder / "tiny-reranker"), depth=3))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, models: Here) -> Iterator[Path]:
    """A home whose library holds the sample, with vectors."""
    home = tmp_path_factory.mktemp("sample") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
        assert cli.run(["--home", str(home), "index", str(SAMPLE)]) == 0
        with Runtime(config.load(home=home)) as runtime:
            for _event in EncodingRun(runtime.library, runtime.index, models.encoders[0], models).run(patient=False):
                pass
    yield home
    end_hosts([config.Paths.under(home).index])


@pytest.fixture
def search(capsys: pytest.CaptureFixture[str], home: Path, models: Here, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(Runtime, "neural", models)
    return partial(ran, capsys, "--home", home, "search", "치킨", "소스")


def test_json_tells_what_every_retriever_made_of_a_scene(search: Run) -> None:
    result = search("--limit", "5", "--json").result
    assert (result["retrievers"], result["reranked"]) == (list(RETRIEVERS), True)
    assert set(result["took_ms"]) == {"retrieve", "encode", "rerank"}
    assert list(result["shares"]) == list(RETRIEVERS)
    assert sum(result["shares"].values()) == pytest.approx(1)
    read, others = result["scenes"][:3], result["scenes"][3:]
    assert [scene["score"] for scene in read] == [scene["scores"]["rerank"] for scene in read]
    assert [scene["score"] for scene in others] == [scene["scores"]["fused"] for scene in others]
    for scene in result["scenes"]:
        assert set(scene["scores"]["dense"]) == {"rank", "score"}


def test_explain_aligns_ranks_and_scores(search: Run) -> None:
    lines = search("--explain").out.splitlines()
    assert lines[1].startswith("What decides the fused score: bm25 ")
    told = [line for line in lines if "fused #" in line]
    assert len(told) > 3
    assert len({line.index("fused #") for line in told}) == len({line.index("dense ") for line in told}) == 1
    assert "reranked #1" in told[0]
    assert "reranked –" in told[3]
    assert [line.split()[0] for line in told] == ["bm25"] * len(told)


def test_the_order_of_the_retrievers_can_be_kept_and_they_can_be_chosen(search: Run, models: Here) -> None:
    assert models.read
    read = len(models.read.calls)
    result = search("--no-rerank", "--retrievers", "dense, bm25", "--json").result
    assert (set(result["retrievers"]), result["reranked"], len(models.read.calls)) == ({"bm25", "dense"}, False, read)
    assert set(result["scenes"][0]["scores"]) == {"bm25", "dense", "fused"}


def test_words_alone_ask_no_model(search: Run, models: Here) -> None:
    encoded = len(models.encoders[0].queries)
    plain = search("--retrievers", "bm25", "--no-rerank")
    assert plain.code == 0
    assert len(models.encoders[0].queries) == encoded


def test_without_a_model_s_files_no_process_is_started_for_one(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    result = ran(capsys, "--home", home, "search", "치킨", "--json").result
    assert (result["retrievers"], result["reranked"]) == (["bm25"], False)
    assert not (config.Paths.under(home).cache / "neural").exists()


def test_only_videos_of_some_kinds(search: Run, home: Path) -> None:
    with Runtime(config.load(home=home)) as runtime, runtime.library.database.write() as db:
        db.execute("UPDATE video SET kind = CASE rowid % 3 WHEN 0 THEN 'short' WHEN 1 THEN 'stream' ELSE 'video' END")
        kinds = dict(db.execute("SELECT id, kind FROM video"))
    whole = search("--json").result
    found = search("--kind", "shorts", "--kind", "라이브", "--json").result
    assert found.keys() == whole.keys()
    assert {kinds[scene["video"]["id"]] for scene in found["scenes"]} == {"short", "stream"}
    assert {kinds[scene["video"]["id"]] for scene in search("종류:영상", "--json").result["scenes"]} == {"video"}


@pytest.fixture
def broken(models: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The encoder's weights are cut off."""
    whole = models.encoders[0]
    folder = Path(shutil.copytree(whole.path, tmp_path / "broken"))
    (folder / "pytorch_model.bin").write_bytes(b"PK")
    monkeypatch.setattr(Runtime, "neural", Here([Asked(folder, whole.id)]))


def test_a_model_that_fails_is_told_beside_what_words_find(search: Run, broken: None) -> None:
    plain = search("--json")
    document = plain.document
    assert (plain.code, document["status"], document["result"]["retrievers"]) == (0, "partial", ["bm25"])
    assert [entry["code"] for entry in document["errors"]] == ["model_damaged"]
    assert document["result"]["scenes"]
    told = search()
    assert told.code == 0
    assert told.err.startswith(f"! {document['errors'][0]['message']}\n")
    assert "치킨" in told.out


def test_a_model_that_fails_where_it_was_asked_for_ends_the_search(search: Run, broken: None) -> None:
    ran = search("--retrievers", "dense", "--json")
    assert (ran.code, ran.failure) == (1, "model_damaged")


def test_whoever_waits_at_a_terminal_has_the_scenes_by_words_at_once(
    search: Run, models: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_words = search("--retrievers", "bm25").out.splitlines()[1]
    monkeypatch.setattr(find_scenes, "PATIENCE_S", 0.0)
    assert "Still searching." not in search().err
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    encode, drawn = models.encoders[0].query, Event()
    monkeypatch.setattr(models.encoders[0], "query", lambda text: drawn.wait(60) and encode(text))
    monkeypatch.setattr(Live, "refresh", lambda live: drawn.set() if by_words in str(live.get_renderable()) else None)
    assert "치킨" in search().out
    assert drawn.is_set()


def test_the_depth_of_the_reranker_is_an_option(search: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def depth(*options: str) -> int:
        return sum("rerank" in scene["scores"] for scene in search("--json", *options).result["scenes"])

    assert (depth("--rerank-depth", "9"), depth("--rerank-depth", "2")) == (9, 2)


def test_a_query_of_unknown_words_alone_is_offered_another_one(
    capsys: pytest.CaptureFixture[str], home: Path, models: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runtime, "neural", models)
    result = ran(capsys, "--home", home, "search", "clzls", "--json").result
    # an encoder of random weights has no floor: it finds something for every query
    assert not any(scene["highlights"] for scene in result["scenes"])
    (suggestion,) = result["suggestions"]
    assert (suggestion["kind"], suggestion["query"], suggestion["changed"]) == ("layout", "치킨", "clzls")
    assert suggestion["scenes"] > 0
    assert "치킨" in ran(capsys, "--home", home, "search", "clzls").err
    assert ran(capsys, "--home", home, "search", "치킨 clzls", "--json").result["suggestions"] == []
