"""`index` has contexts written for what it brought in, where there is a model that can."""

from pathlib import Path

import pytest
from filelock import FileLock

from tests.stand_ins.ollama import StandIn
from tests.support.commandline import Run
from tests.support.invented import caption_folder

NAME = "writer:q4"

pytestmark = pytest.mark.usefixtures("one_analyzer", "no_pauses")


@pytest.fixture
def run(isolated_home: Path, command: Run) -> Run:
    (isolated_home / "config.toml").write_text(f'[llm]\nmodel = "{NAME}"\n')
    return command


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return caption_folder(tmp_path / "captions", 2, minutes=1)


def test_only_what_came_in_gets_contexts(run: Run, ollama: StandIn, captions: Path, tmp_path: Path) -> None:
    run("index", captions, "--no-contexts")
    assert ollama.count() == 0
    more = caption_folder(tmp_path / "more", 3, minutes=1, seed=8)
    told = run("index", more / "영상 2 [invented002].ko.vtt")
    assert "writes contexts" in told.err
    assert run("contexts", "list", "--json").result["due"] == 2
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
