"""`contexts model` at the command line, and what the other verbs make of it."""

from pathlib import Path
from typing import Any

import pytest

from tests.stand_ins.ollama import Model, StandIn
from tests.support.commandline import Run
from tests.support.invented import caption_folder

NAME, OWN = "writer:q4", "better:q4"

pytestmark = pytest.mark.usefixtures("one_analyzer", "no_pauses")


@pytest.fixture
def run(isolated_home: Path, tmp_path: Path, command: Run, ollama: StandIn) -> Run:
    """Runs a command on a library of two videos of two windows each."""
    ollama.add(Model(OWN))
    (isolated_home / "config.toml").write_text(f'[llm]\nmodel = "{NAME}"\n')
    assert command("index", caption_folder(tmp_path / "captions", 2, minutes=1.8), "--no-contexts").code == 0
    return command


@pytest.fixture
def channel(run: Run) -> str:
    return str(run("list", "--json").result["channels"][0]["name"])


def model(run: Run, *arguments: object) -> dict[str, Any]:
    return dict(run("contexts", "model", *arguments, "--json").result)


def test_a_channel_is_written_by_the_usual_model_until_another_is_chosen(run: Run, channel: str) -> None:
    assert run("contexts", "model", channel).out == f"{NAME}\n"
    told = model(run, channel)
    assert (told["model"], told["own"], told["written_by_others"]) == (NAME, False, 0)
    assert run("contexts", "model", channel, "--set", OWN).out == f"{OWN}\n"
    assert run("contexts", "write").out.startswith("4 contexts written.\n")
    told = model(run, channel)
    assert (told["model"], told["own"], told["written_by_others"]) == (OWN, True, 0)


def test_what_another_has_written_stays_and_how_to_redo_it_is_told(run: Run, channel: str) -> None:
    run("contexts", "write", "--limit", "3")
    chosen = run("contexts", "model", channel, "--set", OWN)
    assert chosen.out == f"{OWN}\n"
    assert "3 contexts by other models stay: subtitle-rag contexts redo --channel" in chosen.err
    assert run("contexts", "write").out.startswith("1 context written.\n")
    assert run("contexts", "redo", "--channel", channel).out.startswith("4 contexts written.\n")
    assert model(run, channel)["written_by_others"] == 0


def test_the_usual_one_can_be_chosen_again(run: Run, channel: str) -> None:
    run("contexts", "model", channel, "--set", OWN)
    run("contexts", "write")
    told = model(run, channel, "--default")
    assert (told["model"], told["own"], told["written_by_others"]) == (NAME, False, 4)


def test_status_tells_the_models_of_channels(run: Run, channel: str) -> None:
    assert "Model" not in run("contexts", "status").out
    result = run("contexts", "status", "--json").result
    assert (result["model"], result["channel_models"]) == (NAME, [])
    run("contexts", "write", "--limit", "1")
    run("contexts", "model", channel, "--set", OWN)
    (told,) = run("contexts", "status", "--json").result["channel_models"]
    assert (told["name"], told["model"], told["written_by_others"]) == (channel, OWN, 1)
    out = run("contexts", "status").out
    assert f"Model: {NAME}\nModel of {channel}: {OWN}\n  1 context by another model stays: " in out


@pytest.mark.parametrize("wrong", [["--set", " "], ["--set", OWN, "--default"], ["--set"]])
def test_what_is_not_meant_is_refused(run: Run, channel: str, wrong: list[str]) -> None:
    assert run("contexts", "model", channel, *wrong).code == 2
    assert model(run, channel)["own"] is False


def test_an_unknown_channel_is_told(run: Run) -> None:
    assert run("contexts", "model", "없는 채널").code == 2
