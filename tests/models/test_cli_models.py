"""`models` at the command line, on the stand-in of the hub."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config, template
from subtitle_rag.base.installation import extras
from subtitle_rag.models.manifest import default_context_model
from tests.models.tiny import ENCODER, RERANKER, WEIGHTS, clear
from tests.stand_ins.hub import Hub, Reply
from tests.stand_ins.ollama import Model, StandIn
from tests.support.commandline import Ran, ran
from tests.support.tiny_models import encoder_folder as encoder_folder

Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], commit: str, isolated_home: Path) -> Run:
    isolated_home.mkdir()
    (isolated_home / "config.toml").write_text(f'[models]\nencoder = "{ENCODER}"\nreranker = "{RERANKER}"\n')
    return lambda *arguments: ran(capsys, *arguments)


def entry(run: Run, name: str) -> dict[str, object]:
    (found,) = [each for each in run("models", "list", "--json").result["models"] if each["name"] == name]
    return dict(found)


def test_models_are_fetched_listed_and_removed(run: Run, hub: Hub, commit: str) -> None:
    assert entry(run, ENCODER) | {"note": ""} == {
        "kind": "encoder",
        "name": ENCODER,
        "here": False,
        "state": "missing",
        "chosen": True,
        "disk_gb": 0.003,
        "memory_gb": 0.1,
        "licence": "MIT",
        "suits": None,
        "revision": commit,
        "note": "",
    }
    assert not hub.asked
    (got,) = run("models", "get", ENCODER, "--json").result["models"]
    assert got == {
        "kind": "encoder",
        "name": ENCODER,
        "revision": commit,
        "bytes": got["bytes"],
        "fetched_bytes": got["bytes"],
    }
    assert (entry(run, ENCODER)["here"], entry(run, RERANKER)["here"]) == (True, False)
    assert run("models", "remove", ENCODER, "--json").result["bytes"] >= got["bytes"]
    assert entry(run, ENCODER)["state"] == "missing"


def test_text_says_what_would_come_and_what_is_here(run: Run, hub: Hub, isolated_home: Path) -> None:
    told = run("models", "get", RERANKER)
    folder = isolated_home / "data" / "models"
    assert told.out == f"{RERANKER} is here.\n"
    assert told.err == f"{RERANKER} (MIT): 3.0 MB to fetch into {folder}\n"
    assert run("models", "get", RERANKER).err == ""
    listed = run("models", "list").out
    assert f"  {ENCODER}  3.0 MB  MIT  0.1 GB of memory  (in the settings, but not here)" in listed
    assert f"✓ {RERANKER}" in listed
    assert listed.index("Contexts, through Ollama") < listed.index("Encoders") < listed.index("Rerankers")
    assert run("models", "remove", RERANKER).out == f"{RERANKER} was deleted, which freed 0.2 MB.\n"


def test_without_a_name_what_the_config_names_is_fetched(run: Run, hub: Hub) -> None:
    got = run("models", "get", "--json").result["models"]
    assert [each["name"] for each in got] == [ENCODER, RERANKER]


def test_without_a_name_the_model_for_contexts_comes_too(run: Run, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with StandIn() as server:
        monkeypatch.setenv(config.HOSTS_VARIABLE, server.base)
        server.offer(Model(default_context_model().name))
        got = run("models", "get", "--json").result["models"]
        assert [each["kind"] for each in got] == ["encoder", "reranker", "context"]
    told = run("models", "get", "--json")  # Ollama is gone: the others count
    assert (told.code, told.document["status"]) == (3, "error")
    assert [error["code"] for error in told.document["errors"]] == ["llm_not_running"]
    assert [each["fetched_bytes"] for each in told.document["result"]["models"]] == [0, 0]


def test_a_flipped_byte_is_found_and_mended_by_fetching_again(run: Run, hub: Hub, isolated_home: Path) -> None:
    run("models", "get")
    weights = isolated_home / "data" / "models" / "maker--tiny-m3" / "pytorch_model.bin"
    weights.write_bytes(WEIGHTS[:1_000] + bytes([WEIGHTS[1_000] ^ 1]) + WEIGHTS[1_001:])
    assert run("models", "get", ENCODER, "--json").result["models"][0]["fetched_bytes"] == len(WEIGHTS)
    assert weights.read_bytes() == WEIGHTS


def test_failures_have_their_codes_and_exit_codes(run: Run, hub: Hub) -> None:
    told = run("models", "remove", "maker/unknown", "--json")
    assert (told.code, told.failure) == (2, "unknown")
    for status, exit_code, code in ((429, 3, "hub_unreachable"), (404, 1, "hub_refused")):
        hub.refusals = [Reply(status)]
        told = run("models", "get", ENCODER, "--json")
        assert (told.code, [error["code"] for error in told.document["errors"]]) == (exit_code, [code])


def test_a_model_without_a_pinned_revision_says_so_until_the_first_download(run: Run, hub: Hub) -> None:
    def lines(name: str) -> list[str]:
        return [line for line in run("models", "list").out.splitlines() if line[2:].startswith(name)]

    first_use = "(the first download decides the revision)"
    assert [first_use in line for line in lines(RERANKER)] == [True]
    assert [first_use in line for line in lines(ENCODER)] == [False]
    assert run("models", "get", RERANKER).code == 0
    assert [first_use in line for line in lines(RERANKER)] == [False]


def test_a_partial_model_is_listed_as_such(run: Run, hub: Hub) -> None:
    hub.cut_after = 0
    assert run("models", "get", ENCODER).code == 3
    assert entry(run, ENCODER)["state"] == "partial"
    assert f"… {ENCODER}" in run("models", "list").out


def test_a_folder_in_the_settings_is_listed(run: Run, isolated_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (isolated_home / "config.toml").write_text(f'[models]\nencoder = "{folder.as_posix()}"\nreranker = "gone"\n')
    told = run("models", "list", "--json")
    (own,) = [each for each in told.result["models"] if each["name"] == str(folder)]
    assert (own["kind"], own["chosen"], own["here"]) == ("encoder", True, True)
    assert "There is no model or folder of a model “gone”." in told.err


def test_the_folder_of_the_settings_is_used(run: Run, hub: Hub, isolated_home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "big disk"
    (isolated_home / "config.toml").write_text(f'[models]\nfolder = "{elsewhere.as_posix()}"\n')
    run("models", "get", RERANKER)
    assert (elsewhere / "maker--tiny-reranker" / "model.safetensors").is_file()


@pytest.mark.campaign(part="flows")
def test_offline_is_told_and_what_is_here_is_used(hub: Hub, isolated_home: Path) -> None:
    clear()
    command = [sys.executable, "-m", "subtitle_rag", "models", "get", "BAAI/bge-m3"]
    variables = {**os.environ, "HF_HUB_OFFLINE": "1"}
    ended = subprocess.run(command, env=variables, capture_output=True, encoding="utf-8", timeout=60)
    assert ended.returncode == 2
    assert f"! BAAI/bge-m3 cannot be downloaded from {hub.base}: HF_HUB_OFFLINE is set." in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not hub.asked


def test_looking_imports_no_hub(isolated_home: Path) -> None:
    code = """
import sys
from subtitle_rag.cli.main import run
for verb in (["models", "list"], ["models", "--help"]):
    assert run(verb) == 0
print(*({name.partition(".")[0] for name in sys.modules} & {"huggingface_hub", "httpx2", "torch", "filelock", "rich"}))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=60, check=True)
    assert ended.stdout.splitlines()[-1] == ""


def test_encoders_of_ollama_come_first_where_it_answers_and_packages_are_missing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def encoders() -> list[str]:
        every = run("models", "list", "--json").result["models"]
        return [each["name"] for each in every if each["kind"] == "encoder"]

    with StandIn() as server:
        monkeypatch.setenv(config.HOSTS_VARIABLE, server.base)
        assert encoders()[0] == ENCODER
        monkeypatch.setattr(extras, "_complete", set())
        monkeypatch.setattr(extras, "find_spec", lambda _name: None)
        with_ollama = encoders()
    assert (with_ollama[0], with_ollama[-1]) == ("ollama:bge-m3", ENCODER)
    assert encoders()[0] == ENCODER


def test_a_fetched_encoder_is_used_once_the_config_names_it(
    run: Run, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = isolated_home / "config.toml"
    path.write_text('# mine\n[models]\nencoder = ""\n')
    noted = run("models", "get", ENCODER)
    assert f"subtitle-rag models get {ENCODER} --use has this one used" in noted.err
    assert run("models", "get", ENCODER, "--use").code == 0
    assert path.read_text() == f'# mine\n[models]\nencoder = "{ENCODER}"\n'
    assert run("models", "get", ENCODER).err.count("--use") == 0
    path.write_text('[models]\nencoder = ""\n')
    monkeypatch.setattr(template, "write_setting", lambda *_setting: False)
    assert f'write into it: [models] encoder = "{ENCODER}"' in run("models", "get", ENCODER, "--use").err
