"""Vectors by an encoder that Ollama runs: from the settings to the search, without this program's own models."""

from pathlib import Path

import pytest

from tests.stand_ins.ollama import Model, StandIn
from tests.support.commandline import Run
from tests.support.invented import caption_folder

NAME = "ollama:bge-m3"
EMBEDDER = Model("bge-m3", capabilities=("embedding",), dimensions=1024)

pytestmark = pytest.mark.usefixtures("one_analyzer")


@pytest.fixture
def ollama(ollama_server: StandIn) -> StandIn:
    ollama_server.offer(EMBEDDER)
    return ollama_server


@pytest.fixture
def run(ollama: StandIn, isolated_home: Path, command: Run) -> Run:
    settings = f'[models]\nencoder = "{NAME}"\nreranker = ""\n[llm]\nmodel = "writer:q4"\n'
    (isolated_home / "config.toml").write_text(settings)
    return command


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return caption_folder(tmp_path / "captions", 2, minutes=2)


def test_a_download_and_an_index_give_vectors_to_search(run: Run, ollama: StandIn, captions: Path) -> None:
    told = run("index", captions, "--no-contexts", "--json")
    assert (told.code, told.result["vectors"]) == (0, None)  # the model is not here
    [fetched] = run("models", "get", NAME, "--json").result["models"]
    assert (fetched["kind"], fetched["name"]) == ("encoder", NAME)
    [listed] = [each for each in run("models", "list", "--json").result["models"] if each["name"] == NAME]
    assert (listed["kind"], listed["state"], listed["chosen"]) == ("encoder", "here", True)
    made = run("vectors", "--json").result
    assert (made["encoder"], made["left"], made["failed"], made["cut"]) == (f"{NAME}@{EMBEDDER.digest[:8]}", 0, 0, 0)
    assert made["made"] == run("status", "--json").result["stages"]["vectors"]["done"] > 0
    assert ollama.count("chat") == 0
    found = run("search", "바다", "--json").result
    assert found["retrievers"] == ["bm25", "dense"]
    check = next(each for each in run("doctor", "--offline", "--json").result["checks"] if each["name"] == "encoder")
    assert (check["severity"], check["message"]) == ("ok", made["encoder"])


def test_without_ollama_words_are_searched(run: Run, ollama: StandIn, captions: Path) -> None:
    ollama.add(EMBEDDER)
    assert run("index", captions, "--no-contexts", "--json").result["vectors"]["left"] == 0
    ollama.stop()
    told = run("search", "바다", "--json")
    assert (told.code, told.result["retrievers"]) == (0, ["bm25"])
    assert "Ollama does not answer" in told.err
    status = run("status", "--json")
    assert (status.code, status.err) == (0, "")
    assert status.result["stages"]["vectors"]["done"] > 0


def test_windows_that_the_model_cannot_read_are_counted(run: Run, ollama: StandIn, captions: Path) -> None:
    ollama.add(EMBEDDER)
    ollama.refuse("embed", 500, "failed to encode response: json: unsupported value: NaN", times=None)
    assert run("index", captions, "--no-contexts", "--no-vectors").code == 0
    told = run("vectors")
    assert told.code == 0
    windows = run("status", "--json").result["windows"]
    assert f"{windows} windows stay without vectors: {NAME}@{EMBEDDER.digest[:8]} cannot read them." in told.out


def test_windows_that_lose_their_end_are_counted(run: Run, ollama: StandIn, captions: Path) -> None:
    ollama.add(EMBEDDER)
    assert run("index", captions, "--no-contexts", "--no-vectors").code == 0
    ollama.refuse("embed", 400, "the input length exceeds the context length", times=6)
    told = run("vectors")
    assert told.code == 0
    assert f"1 window was too long for {NAME}@{EMBEDDER.digest[:8]}, and its end was left out." in told.out
