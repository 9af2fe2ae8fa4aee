"""Prompt files at the command line: validated, named in the config, and told before a run."""

from pathlib import Path

import pytest

from tests.stand_ins.ollama import StandIn
from tests.support.commandline import Run
from tests.support.invented import caption_folder

NAME = "writer:q4"


@pytest.fixture
def run(command: Run) -> Run:
    return command


@pytest.fixture
def library(run: Run, isolated_home: Path, tmp_path: Path, ollama: StandIn, no_pauses: None) -> Path:
    """A library of two windows with contexts; its config."""
    file = isolated_home / "config.toml"
    file.write_text(f'[llm]\nmodel = "{NAME}"\n')
    assert run("index", caption_folder(tmp_path / "captions", 1, minutes=1.8)).code == 0
    return file


def test_why_a_prompt_file_cannot_be_read_is_said_in_the_users_language(run: Run, isolated_home: Path) -> None:
    (isolated_home / "config.toml").write_text('[prompts]\ncontexts = "gone.txt"\n')
    told = run("--language", "ko", "config")
    assert f"({isolated_home / 'gone.txt'}): 파일이 없음" in told.err


def test_config_lists_the_mistakes_of_all_prompt_files(run: Run, isolated_home: Path) -> None:
    (isolated_home / "a.txt").write_text("{transcript}\n{win}\n{window}")
    (isolated_home / "config.toml").write_text(
        '[prompts]\ncontexts = "a.txt"\nanswers = "~nobody-here/b.txt"\n',
        encoding="utf-8",
    )
    told = run("--language", "en", "config", "--json")
    assert (told.code, {entry["code"] for entry in told.document["errors"]}) == (2, {"bad_prompt"})
    mistakes = told.document["result"]["mistakes"]
    found = {(mistake["key"], Path(mistake["file"]).name, mistake["line"]) for mistake in mistakes}
    assert found == {
        ("prompts.contexts", "a.txt", 2),
        ("prompts.answers", "b.txt", None),
    }


def test_a_change_is_told_before_the_first_window(run: Run, library: Path, ollama: StandIn) -> None:
    own = library.with_name("own.txt")
    own.write_text("요리 영상입니다.\n{transcript}\n\n{window}", encoding="utf-8")
    library.write_text(library.read_text() + '[prompts]\ncontexts = "own.txt"\n')
    ollama.clear()
    told = run("--language", "en", "contexts", "write")
    assert told.code == 0
    assert "The prompt has changed: 2 of 2 windows have contexts by an earlier one" in told.err
    assert "That takes about 1 minute." in told.err
    assert {asked.messages[0]["content"].split("\n")[0] for asked in ollama.asked("chat")} == {"요리 영상입니다."}
    assert run("contexts", "list", "--json").result["prompt"] == "own.txt"
    assert "The prompt has changed" not in run("--language", "en", "contexts", "write").err


def test_a_faulty_prompt_stops_contexts_alone(run: Run, library: Path, tmp_path: Path, ollama: StandIn) -> None:
    library.with_name("own.txt").write_text("{transcript}\n{windw}")
    library.write_text(library.read_text() + '[prompts]\ncontexts = "own.txt"\nanswers = "own.txt"\n')
    ollama.clear()
    for command in (["contexts", "write"], ["ask", "국수"]):
        told = run(*command, "--json")
        assert (told.code, told.failure) == (2, "bad_prompt")
    more = run("index", caption_folder(tmp_path / "more", 3, minutes=1.8), "--json")
    assert [entry["code"] for entry in more.document["errors"]] == ["bad_prompt"]
    assert more.document["result"]["videos"]["new"] == 2
    assert ollama.count("chat") == 0


def test_ask_takes_a_prompt_file(run: Run, library: Path, ollama: StandIn) -> None:
    own = library.with_name("own.txt")
    own.write_text("존댓말로 답합니다.\n{scenes}", encoding="utf-8")
    ollama.clear()
    assert run("ask", "국수", "--prompt", own).code == 0
    assert ollama.asked("chat")[-1].messages[0]["content"].startswith("존댓말로 답합니다.\n<장면>\n")
