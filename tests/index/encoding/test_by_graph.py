"""Vectors by an ONNX graph: from the stand-in of the hub to the search, and what belongs to an encoder's identity."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.models import manifest
from tests.models.conftest import hub as hub
from tests.models.tiny import SHIPPED, clear
from tests.stand_ins.hub import Hub
from tests.stand_ins.ollama import Model, StandIn
from tests.support.commandline import Run
from tests.support.invented import caption_folder
from tests.support.tiny_graphs import WIDTH, tiny_graph

NAME = "Xenova/multilingual-e5-small"

pytestmark = pytest.mark.usefixtures("one_analyzer")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    return tiny_graph(tmp_path / "tiny")


@pytest.fixture
def offered(hub: Hub, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The manifest's entry of the light encoder, with a tiny graph's files on the hub. Its commit."""
    pushed = {path.relative_to(graph).as_posix(): path.read_bytes() for path in graph.rglob("*") if path.is_file()}
    commit = hub.push(NAME, pushed)
    before, start, after = SHIPPED.read_text("utf-8").partition(f'[[encoder]]\nname = "{NAME}"')
    entry, files, rest = after.partition("files = [")
    entry = re.sub(r'revision = "\w+"', f'revision = "{commit}"', entry).replace("= 384", f"= {WIDTH}")
    files += re.sub(r', bytes = \d+, sha256 = "\w+"', "", rest.partition("]\n")[0]) + "]\n"
    path = tmp_path / "models.toml"
    path.write_text(before + start + entry + files + rest.partition("]\n")[2], "utf-8")
    monkeypatch.setattr(manifest, "_MANIFESTS", (path,))
    clear()
    yield commit
    clear()


@pytest.fixture
def run(isolated_home: Path, command: Run) -> Run:
    return command


def choose(home: Path, encoder: object) -> None:
    (home / "config.toml").write_text(f'[models]\nencoder = "{encoder}"\nreranker = ""\n', encoding="utf-8")


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return caption_folder(tmp_path / "captions", 2, minutes=2)


def test_the_light_encoder_is_fetched_makes_vectors_and_is_searched(
    run: Run, hub: Hub, offered: str, captions: Path, isolated_home: Path
) -> None:
    choose(isolated_home, NAME)
    assert run("index", captions, "--no-contexts", "--json").result["vectors"] is None  # the model is not here
    [fetched] = run("models", "get", "--json").result["models"]
    paths = {asked.path.rpartition(offered)[2] for asked in hub.asked if "/resolve/" in asked.path}
    assert (fetched["name"], fetched["revision"]) == (NAME, offered)
    assert paths == {"/config.json", "/tokenizer.json", "/onnx/model_quantized.onnx"}
    made = run("vectors", "--json").result
    assert (made["left"], made["failed"]) == (0, 0)
    assert made["encoder"] == f"multilingual-e5-small@{offered[:8]}?query=query:+&document=passage:+"
    assert run("search", "바다", "--json").result["retrievers"][:2] == ["bm25", "dense"]
    checks = {each["name"]: each["message"] for each in run("doctor", "--offline", "--json").result["checks"]}
    assert checks["encoder"] == f"multilingual-e5-small@{offered[:8]}"
    assert "ONNX" in checks["device"]


def test_an_encoder_without_known_prompts_says_so(run: Run, graph: Path, isolated_home: Path) -> None:
    choose(isolated_home, graph)
    told = "no prompts are known for it"
    [check] = [each for each in run("doctor", "--offline", "--json").result["checks"] if each["name"] == "encoder"]
    assert (check["severity"], told in check["message"]) == ("ok", True)


def test_a_damaged_graph_leaves_the_search_for_words(
    run: Run, graph: Path, captions: Path, isolated_home: Path
) -> None:
    choose(isolated_home, graph)
    made = run("index", captions, "--no-contexts", "--json").result["vectors"]["made"]
    path = graph / "onnx" / "model_quantized.onnx"
    whole = path.read_bytes()
    path.write_bytes(whole[:-5_000])
    found, written = run("search", "바다", "--json"), run("vectors", "--json")
    path.write_bytes(whole)
    repaired = run("vectors", "--json").result

    assert (found.code, found.result["retrievers"]) == (0, ["bm25"])
    assert written.code == 1
    assert "its graph is cut short or damaged" in written.document["errors"][0]["message"]
    assert (repaired["made"], repaired["left"], made > 0) == (0, 0, True)


def test_an_unlisted_encoder_in_ollama_says_that_no_prompts_are_known(
    run: Run, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StandIn() as server:
        monkeypatch.setenv(config.HOSTS_VARIABLE, server.base)
        server.add(Model("some-e5", capabilities=("embedding",), dimensions=WIDTH))
        choose(isolated_home, "ollama:some-e5")
        assert "no prompts are known for it" in run("doctor", "--offline").out


def test_vectors_of_another_length_than_the_manifest_says_leave_the_search_for_words(
    run: Run, captions: Path, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StandIn() as server:
        monkeypatch.setenv(config.HOSTS_VARIABLE, server.base)
        right = Model("bge-m3", capabilities=("embedding",), dimensions=1024)
        server.add(right)
        choose(isolated_home, "ollama:bge-m3")
        assert run("index", captions, "--no-contexts", "--json").result["vectors"]["left"] == 0
        server.add(Model("bge-m3", capabilities=("embedding",), dimensions=32))
        found, written = run("search", "바다", "--json"), run("vectors", "--redo", "--json")

    assert (found.code, found.result["retrievers"]) == (0, ["bm25"])
    assert "does not fit the vectors: 32 numbers instead of 1024" in found.err
    assert (written.code, written.document["errors"][0]["code"]) == (1, "encoder_changed")
    assert "ollama pull bge-m3" in written.err
