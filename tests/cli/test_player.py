"""`player mpv-script`: the script is written, replaced and deleted, and nobody else's file is."""

from functools import partial
from pathlib import Path

import click
import pytest

from subtitle_rag import cli
from subtitle_rag.player import mpv_script
from tests.support.commandline import Run, ran


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MPV_HOME", str(tmp_path / "mpv"))
    return tmp_path / "mpv" / "scripts"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], folder: Path) -> Run:
    return partial(ran, capsys, "player", "mpv-script")


def test_it_is_written_replaced_and_deleted(run: Run, folder: Path, isolated_home: Path) -> None:
    path = folder / "subtitle-rag.lua"
    for _turn in range(2):
        assert run("--install", "--json").result == {"path": str(path), "text": None}
    text = path.read_text(encoding="utf-8")
    assert f'local HOME = "{isolated_home}"' in text
    assert '"-m", "subtitle_rag"}' in text
    assert "filled in by" not in text
    assert [each.name for each in folder.iterdir()] == [path.name]
    assert run("--remove", "--json").result["path"] == str(path)
    assert run("--remove", "--json").result["path"] is None
    assert not path.exists()


def test_another_s_file_stays(run: Run, folder: Path) -> None:
    folder.mkdir(parents=True)
    path = folder / "subtitle-rag.lua"
    path.write_text("-- my own\n")
    assert run("--install", "--json").failure == "foreign_file"
    assert run("--remove").code == 0
    assert path.read_text() == "-- my own\n"


def test_it_is_printed_in_the_user_s_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert "이 영상에서 찾기:" in ran(capsys, "--language", "ko", "player", "mpv-script", "--print").out
    refused = ran(capsys, "player", "mpv-script", "--json")
    assert (refused.failure, refused.document["command"]) == ("mpv_script_action", "player mpv-script")


def test_paths_and_words_are_strings_of_lua() -> None:
    text = mpv_script.script(["/opt/a b/'\"\\\n/py", "-m"], 'C:\\"x"')
    assert 'local COMMAND = {"/opt/a b/\'\\034\\092\\010/py", "-m"}' in text
    assert 'local HOME = "C:\\092\\034x\\034"' in text


def test_the_verbs_with_subcommands_are_known_without_their_modules() -> None:
    root = cli.Verbs("subtitle-rag")
    groups = {name for name in cli.VERBS if isinstance(root.get_command(click.Context(root), name), click.Group)}
    assert groups == set(cli.GROUPS)
