"""`index` has contexts written for what it brought in, where there is a model that can."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from subtitle_rag.config import settings as config
from subtitle_rag.contexts.writer import Writer
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from subtitle_rag.runtime import Runtime
from tests.stand_ins.ollama import Model, StandIn
from tests.support.commandline import Run, ran
from tests.support.invented import caption_folder, end_hosts

NAME = "writer:q4"


@pytest.fixture(autouse=True)
def one_analyzer(monkeypatch: pytest.MonkeyPatch, analyzer: Analyzer) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
    monkeypatch.setattr(Runtime, "analyzer", analyzer)
    settings: Any = Writer.__init__
    monkeypatch.setitem(settings.__kwdefaults__, "pause", 0)


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with StandIn() as server:
        server.add(Model(NAME))
        monkeypatch.setenv(config.HOSTS_VARIABLE, server.base)
        yield server


@pytest.fixture
def run(isolated_home: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    isolated_home.mkdir(parents=True, exist_ok=True)
    (isolated_home / "config.toml").write_text(f'[llm]\nmodel = "{NAME}"\n')
    yield partial(ran, capsys)
    end_hosts([isolated_home / "data" / "index"])


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return caption_folder(tmp_path / "captions", 2, minutes=1)


def test_only_what_came_in_gets_contexts(run: Run, ollama: StandIn, captions: Path, tmp_path: Path) -> None:
    run("index", captions, "--no-contexts")
    assert ollama.count() == 0
    more = caption_folder(tmp_path / "more", 3, minutes=1, seed=8)
    told = run("index", more / "영상 2 [invented002].ko.vtt")
    assert "writes contexts" in told.err
    assert run("contexts", "status", "--json").result["due"] == 2
    asked = ollama.count()
    assert run("index", captions, more / "영상 2 [invented002].ko.vtt", "--json").result["contexts"] is None
    assert ollama.count() == asked


def test_the_host_is_asked_about_the_model_once(run: Run, ollama: StandIn, captions: Path) -> None:
    assert run("index", captions, "--json").result["contexts"]["written"] == 2
    assert (ollama.count("show"), ollama.count("chat")) == (1, 4)


def test_without_a_model_nothing_is_missed(run: Run, ollama: StandIn, captions: Path) -> None:
    ollama.remove(NAME)
    assert run("index", captions, "--json").result["contexts"] is None


def test_whoever_writes_contexts_already_comes_to_these_as_well(
    run: Run, ollama: StandIn, captions: Path, isolated_home: Path
) -> None:
    run("status")
    with FileLock(isolated_home / "data" / "contexts.lock"):
        assert run("index", captions, "--json").result["contexts"] is None
    assert ollama.count("chat") == 0


def test_a_model_that_gives_out_is_told_and_the_captions_stay(run: Run, ollama: StandIn, captions: Path) -> None:
    ollama.refuse("chat", 500, "CUDA error: out of memory", times=99)
    told = run("index", captions, "--json")
    assert (told.code, told.document["status"]) == (0, "partial")
    assert [entry["code"] for entry in told.document["errors"]] == ["llm_out_of_memory"]
    assert told.document["result"]["videos"]["new"] == 2
