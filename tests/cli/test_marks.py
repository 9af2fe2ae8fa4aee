"""`marks`: scenes are kept by the command line, and exported."""

import json
import sys
from pathlib import Path

import pytest

from subtitle_rag.sharing import player
from subtitle_rag.sharing.player import mpv
from subtitle_rag.sharing.player.mpv import Clip, MpvLaunch
from tests.support.commandline import Run

ID = "dQw4w9WgXcQ"
CAPTIONS = """WEBVTT

00:00.000 --> 00:05.000
국수를 삶아요

00:05.400 --> 00:09.000
고명을 얹어요

01:00.000 --> 01:05.000
만두를 빚어요
"""


@pytest.fixture
def run(isolated_home: Path, tmp_path: Path, command: Run) -> Run:
    """Runs commands on a library of one video."""
    (tmp_path / f"국수 [{ID}].ko.vtt").write_text(CAPTIONS, encoding="utf-8")
    assert command("index", tmp_path).code == 0
    return command


def test_a_scene_is_marked_listed_changed_and_removed(run: Run) -> None:
    assert "No scene is marked" in run("marks", "list").err
    assert run("search", "만두").code == 0
    (mark,) = run("marks", "add", "1", "--note", "소스", "--tag", "요리", "--json").result["marks"]
    assert (mark["line"], mark["note"], mark["tag"]) == ("만두를 빚어요", "소스", "요리")
    assert mark["jump"] == {"at": 60.0, "url": f"https://youtu.be/{ID}?t=60"}
    number = mark["number"]

    assert run("marks", "note", number, "다시", "보기", "--json").result["mark"]["note"] == "다시 보기"
    assert run("marks", "tag", number, "--remove", "--json").result["mark"]["tag"] is None
    listed = run("marks", "list")
    assert "만두를 빚어요" in listed.out
    assert "Note: 다시 보기" in listed.out
    assert run("marks", "list", "--tag", "요리", "--json").result == {"marks": []}
    assert "No mark has the tag 요리." in run("--language", "en", "marks", "list", "--tag", "요리").err

    assert run("marks", "remove", number, 99, "--yes", "--json").failure == "unknown"
    assert run("marks", "remove", number, "--json").code == 2
    assert run("marks", "remove", number, "--yes", "--json").result == {"removed": [number]}
    for arguments in (("remove", number, "--yes"), ("note", number, "x"), ("tag", number, "x")):
        assert run("marks", *arguments, "--json").failure == "unknown"


def test_a_note_and_a_tag_are_shown_without_a_text_and_deleted_by_remove_alone(run: Run) -> None:
    (mark,) = run("marks", "add", f"{ID}@0:59-1:04", "--note", "소스", "--tag", "요리", "--json").result["marks"]
    number = mark["number"]
    for verb, value in (("note", "소스"), ("tag", "요리")):
        shown = run("marks", verb, number)
        assert (shown.code, value in shown.out) == (0, True)
        assert run("marks", verb, number, "x", "--remove", "--json").code == 2
        assert run("marks", verb, number, "--json").result["mark"][verb] == value
        assert run("marks", verb, number, "--remove", "--json").result["mark"][verb] is None


def test_a_shown_second_is_the_line_that_begins_in_it(run: Run) -> None:
    times = ("0:05", "0:05-0:08", "0:05.1")
    marks = run("marks", "add", *(f"{ID}@{time}" for time in times), "--json").result["marks"]

    assert [(mark["line"], mark["jump"]["at"]) for mark in marks] == [
        ("고명을 얹어요", 5.4),
        ("고명을 얹어요", 5.4),
        ("고명을 얹어요", 5.1),
    ]


def test_a_scene_is_marked_exported_and_played_from_the_second_that_is_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player, "can_show", lambda: False)
    (scene, *_rest) = run("search", "고명", "--json").result["scenes"]
    assert (scene["start"], scene["jump"]["at"]) == (0.0, 5.4)
    (mark,) = run("marks", "add", "1", "--json").result["marks"]
    (row,) = map(json.loads, run("export", "1", "--format", "jsonl").out.splitlines())
    assert mark["start"] == row["start"] == 5.4
    assert row["text"].startswith("고명을 얹어요")
    assert "국수" not in row["text"]
    assert run("play", "1").out.startswith("0:05–")
    assert run("play", "--marks").out.startswith("0:05–")


def test_marks_are_removed_after_a_question_in_numbers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("marks", "add", f"{ID}@0:01-0:03")
    run("marks", "add", f"{ID}@0:59-1:04", "--note", "소스")
    numbers = [mark["number"] for mark in run("marks", "list", "--json").result["marks"]]
    answers = iter(["n", "y"])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return next(answers)

    monkeypatch.setattr("click.termui.visible_prompt_func", answer)
    assert "Nothing was removed." in run("marks", "remove", *numbers).err
    assert asked == ["국수를 삶아요, 만두를 빚어요: 2 marks, 1 note will be removed. Remove? [y/N]: "]
    assert len(run("marks", "list", "--json").result["marks"]) == 2
    assert run("marks", "remove", *numbers).out == "2 marks removed.\n"
    assert run("marks", "list", "--json").result["marks"] == []


def test_marks_are_exported_with_note_and_tag(run: Run) -> None:
    assert run("marks", "add", f"{ID}@0:59-1:04", "--note", "소스", "--tag", "요리").code == 0
    (row,) = (json.loads(line) for line in run("export", "--marks", "--format", "jsonl").out.splitlines())
    assert (row["text"], row["note"], row["tag"], row["start"]) == ("만두를 빚어요", "소스", "요리", 59.0)
    assert run("export", "--tag", "없는 태그", "--json").failure == "nothing_chosen"

    markdown = run("export", "--marks").out
    assert f"https://youtu.be/{ID}?t=59" in markdown
    assert "**Note**: 소스" in markdown


def test_scenes_are_played_one_after_another(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[list[Clip]] = []

    def play_all(clips: list[Clip], _cache: Path) -> MpvLaunch:
        played.append(clips)
        return MpvLaunch(clips[0].what, None, None, mpv._request_count, (None, 0))

    monkeypatch.setattr(player, "play_all", play_all)
    monkeypatch.setattr(MpvLaunch, "wait", lambda _launch, _seconds: "playing")
    monkeypatch.setattr(player, "can_show", lambda: True)
    run("marks", "add", f"{ID}@0:59-1:04")
    result = run("play", "--marks", f"{ID}@0:01-0:03", "--json").result
    assert result["played"] is True
    parts = [(part["start"], part["end"]) for part in result["scenes"]]
    assert parts == [(59.0, 64.0), (1.0, 3.0)]
    assert [(clip.start_ms, clip.end_ms) for clip in played[0]] == [(59_000, 64_000), (1_000, 3_000)]
    assert played[0][0].what.endswith(ID)

    monkeypatch.setattr(player, "can_show", lambda: False)
    shown = run("play", "--marks")
    assert "There is no screen to play on here" in shown.err
    assert shown.out.startswith("0:59–1:04  https://")
    assert len(played) == 1
    assert run("play", "--tag", "없는 태그", "--json").failure == "nothing_chosen"
