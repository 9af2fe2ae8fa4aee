"""What `doctor` says of the models that run in the program."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.installation import extras
from subtitle_rag.base.installation.extras import MEANING, NEURAL
from subtitle_rag.runtime import Runtime
from subtitle_rag.workflows import checks as doctor
from tests.stand_ins.ollama import Model, StandIn
from tests.support.tiny_graphs import tiny_graph
from tests.support.tiny_models import encoder_folder as encoder_folder, reranker_folder as reranker_folder


def checks(home: Path, text: str) -> dict[str, dict[str, str]]:
    """What is said of the device and both models with these settings."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(f"[models]\n{text}\n", encoding="utf-8")
    with Runtime(config.load()) as runtime:
        found = [doctor.probe(name, runtime) for name in ("device", "encoder", "reranker")]
    return {
        each.name: {"severity": each.severity, "message": each.message, "hint": each.remedy or ""} for each in found
    }


def test_missing_models_are_optional_and_named_with_what_fetches_them(isolated_home: Path) -> None:
    found = checks(isolated_home, "")
    for kind, name in (("encoder", "BAAI/bge-m3"), ("reranker", "BAAI/bge-reranker-v2-m3")):
        assert (found[kind]["severity"], name in found[kind]["message"]) == ("warning", True)
        assert f"subtitle-rag models get {name}" in found[kind]["hint"]


def test_models_in_folders_are_named_by_their_ids(
    isolated_home: Path, encoder_folder: Path, reranker_folder: Path
) -> None:
    own = f'encoder = "{encoder_folder.as_posix()}"\nreranker = "{reranker_folder.as_posix()}"'
    found = checks(isolated_home, own)
    for kind, folder in (("encoder", encoder_folder), ("reranker", reranker_folder)):
        assert found[kind]["severity"] == "ok"
        assert found[kind]["message"].startswith(f"{folder.name}@")


def test_no_models_wanted_is_no_finding(isolated_home: Path) -> None:
    found = checks(isolated_home, 'encoder = ""\nreranker = ""')
    assert [found[kind]["severity"] for kind in ("encoder", "reranker")] == ["ok", "ok"]


def test_a_damaged_model_is_told(isolated_home: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    found = checks(isolated_home, f'encoder = "{(tmp_path / "own").as_posix()}"')["encoder"]
    assert (found["severity"], "config.json" in found["message"]) == ("warning", True)


def test_a_graph_that_would_not_load_is_told(isolated_home: Path, tmp_path: Path) -> None:
    folder = tiny_graph(tmp_path / "own")
    text = f'encoder = "{folder.as_posix()}"'
    assert checks(isolated_home, text)["encoder"]["severity"] == "ok"
    (folder / "1_Pooling" / "config.json").unlink()
    found = checks(isolated_home, text)["encoder"]
    assert (found["severity"], "1_Pooling/config.json" in found["message"]) == ("warning", True)


def test_who_has_the_packages_of_the_light_step_is_told_to_fetch_its_model(
    isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = {*NEURAL.modules} - {*MEANING.modules}
    monkeypatch.setattr(extras, "_complete", set())
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in missing else find_spec(name))
    hint = checks(isolated_home, "")["encoder"]["hint"]
    assert "subtitle-rag models get Xenova/multilingual-e5-small --use" in hint
    assert "self add" not in hint


@pytest.mark.models
def test_device_and_precision_are_told(isolated_home: Path) -> None:
    found = checks(isolated_home, "")["device"]
    assert found["severity"] == "ok"
    assert re.match(r"(cpu|cuda:0|mps) \(.+\), (float32|bfloat16|float16): ", found["message"])


def test_without_packages_ollama_is_the_first_remedy(isolated_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_complete", set())
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    packages = checks(isolated_home, "")["encoder"]["hint"]
    assert "ollama:" not in packages
    with StandIn() as ollama:
        monkeypatch.setenv(config.HOSTS_VARIABLE, ollama.base)
        hint = checks(isolated_home, "")["encoder"]["hint"]
        assert 'write encoder = "ollama:bge-m3" under [models] in' in hint
        assert "subtitle-rag models get ollama:bge-m3" in hint
        ollama.add(Model("embeddinggemma", capabilities=("embedding",), dimensions=768))
        hint = checks(isolated_home, "")["encoder"]["hint"]
        assert ('encoder = "ollama:embeddinggemma"' in hint, "models get" in hint) == (True, False)
        assert "ollama" not in checks(isolated_home, "")["reranker"]["hint"]
