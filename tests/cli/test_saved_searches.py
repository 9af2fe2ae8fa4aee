"""`search --save` and what tells of new scenes afterwards."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from subtitle_rag import announcing
from tests.support.commandline import Run

CAPTIONS = "WEBVTT\n\n00:00.000 --> 00:05.000\n국수를 삶아요\n\n02:00.000 --> 02:05.000\n만두를 빚어요\n"


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    folder = tmp_path / "captions"
    folder.mkdir()
    return folder


def put(folder: Path, name: str) -> Path:
    path = folder / f"{name}.ko.vtt"
    path.write_text(CAPTIONS, encoding="utf-8")
    return path


@pytest.fixture
def run(isolated_home: Path, command: Run, captions: Path) -> Run:
    assert command("index", put(captions, "처음")).code == 0
    return command


def test_a_search_is_saved_told_of_looked_at_and_forgotten(run: Run, captions: Path) -> None:
    saved = run("search", "국수", "--save", "면", "--kind", "video", "--json").result
    assert saved["saved"] == {"name": "면", "query": 'kind:"video" 국수', "new": 0, "new_ranks": []}
    assert "Saved as 만두" in run("search", "만두", "--save", "만두").err

    indexed = run("index", put(captions, "다음"))
    assert "1 new scene in saved searches: 만두 1" in indexed.out
    assert "1 new scene in saved searches: 만두 1" in run("status").out
    assert [each["new"] for each in run("status", "--json").result["saved"]] == [1, 0]

    listed = run("search", "--saved", "--json").result
    assert listed == {
        "saved": [{"name": "만두", "query": "만두", "new": 1}, {"name": "면", "query": 'kind:"video" 국수', "new": 0}]
    }
    looked = run("search", "--saved", "만두", "--json").result
    videos = [scene["video"]["title"] for scene in looked["scenes"]]
    assert [videos[rank - 1] for rank in looked["saved"]["new_ranks"]] == ["다음"]
    assert (len(videos), looked["saved"]["new"]) == (2, 1)
    assert "No new scene of 만두" in run("search", "--saved", "만두", "--new").err

    assert run("search", "--forget", "만두", "--json").result == {"forgotten": "만두"}
    assert run("search", "--forget", "만두", "--json").failure == "unknown_search"
    assert run("search", "--saved", "만두", "--json").failure == "unknown_search"


def test_new_scenes_are_shown_alone_and_named(run: Run, captions: Path) -> None:
    run("search", "만두", "--save", "만두")
    run("index", put(captions, "다음"))
    only = run("search", "--saved", "만두", "--new")
    assert "new · " in only.out
    assert "처음" not in only.out
    assert "1 scene is new since the last look." in only.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--save", "면"],
        [],
        ["--saved", "면", "--save", "면"],
        ["--forget", "면", "--saved"],
        ["국수", "--new"],
        ["국수", "--forget", "면"],
    ],
)
def test_what_does_not_go_together_is_refused(run: Run, arguments: list[str]) -> None:
    assert run("search", *arguments).code == 2


def test_a_faulty_query_and_a_faulty_name_are_not_saved(run: Run) -> None:
    assert run("search", "-국수", "--save", "면", "--json").failure == "only_exclusions"
    assert run("search", "국수", "--save", " ", "--json").failure == "bad_search_name"
    assert run("search", "--saved", "--json").result == {"saved": []}
    assert "No search is saved" in run("search", "--saved").err


@pytest.fixture
def notify_send(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in of notify-send, which writes its arguments, each on a line."""
    folder = tmp_path / "programs"
    folder.mkdir()
    path = folder / "notify-send"
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {folder}/notices\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(sys, "platform", "linux")
    return folder / "notices"


def test_a_notice_on_the_desktop_is_shown_only_where_it_is_asked_for(
    run: Run, captions: Path, isolated_home: Path, notify_send: Path
) -> None:
    run("search", "만두", "--save", "<b>만두&")
    run("index", put(captions, "다음"))
    assert not notify_send.exists()

    (isolated_home / "config.toml").write_text("[search]\nannounce = true\n")
    run("index", put(captions, "다음 다음"))
    assert notify_send.read_text().splitlines() == [
        "--app-name=subtitle-rag",
        "--",
        "subtitle-rag",
        "2 new scenes in saved searches: &lt;b&gt;만두&amp; 2",
    ]
    notify_send.unlink()
    run("index", captions / "다음 다음.ko.vtt")
    assert not notify_send.exists()  # nothing has come


def test_a_notice_is_no_script_and_its_failure_is_none_of_the_run(
    notify_send: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    announcing.announce("--version\x1b]2;x\a\n$(rm)")
    assert notify_send.read_text().splitlines()[3] == "--version·]2;x· $(rm)"
    notify_send.with_name("notify-send").write_text("#!/bin/sh\nexit 3\n")
    assert announcing.announce("x") is False
    notify_send.with_name("notify-send").unlink()
    assert announcing.announce("x") is False

    asked: list[tuple[list[str], str]] = []

    def note(command: list[str], **options: dict[str, str]) -> subprocess.CompletedProcess[str]:
        asked.append((command, options["env"].get("NOTICE_TEXT", "")))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", note)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    text = "'); Remove-Item * # \" end tell"
    for platform in ("darwin", "win32"):
        monkeypatch.setattr(sys, "platform", platform)
        assert announcing.announce(text)
    (apple, _none), (windows, variable) = asked
    assert (apple[0], apple[3:]) == ("osascript", [text, "subtitle-rag"])
    assert text not in apple[2]
    assert (windows[0], variable) == ("powershell", text)
    assert not any(text in argument for argument in windows)
