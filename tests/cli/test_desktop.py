"""`desktop`: an entry in the menu, and its icon."""

import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from subtitle_rag import desktop
from tests.support.cases import cases
from tests.support.commandline import Run
from tests.support.hermetic import program


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data home"))
    return tmp_path / "data home"


def read(entry: str) -> dict[str, str]:
    head, *lines = entry.splitlines()
    assert head == "[Desktop Entry]"
    pairs = [line.partition("=") for line in lines]
    assert len({name for name, _equals, _value in pairs}) == len(pairs)
    return {name: value for name, _equals, value in pairs}


@pytest.mark.programs("desktop-file-validate")
def test_the_entry_and_its_icon_are_written_where_desktops_look(run: Run, data: Path, isolated_home: Path) -> None:
    told = run("desktop", "install")
    entry, icon = data / "applications/subtitle-rag.desktop", data / "icons/hicolor/scalable/apps/subtitle-rag.svg"
    assert (told.code, told.err, told.out) == (0, "", f"{icon}\n{entry}\n")
    assert sorted(path for path in data.rglob("*") if path.is_file()) == [entry, icon]
    values = read(entry.read_text(encoding="utf-8"))
    assert values["Type"] == "Application"
    assert (values["Terminal"], values["StartupNotify"], values["Icon"]) == ("true", "true", "subtitle-rag")
    assert values["Name[ko]"] == "장면 찾기"
    assert "장면을 찾습니다" in values["Comment[ko]"]
    command = shlex.split(values["Exec"])
    assert Path(command[0]).is_absolute()
    assert Path(command[0]).is_file()
    assert command[-2:] == ["--home", str(isolated_home)]  # a desktop knows nothing of the variable
    assert values["TryExec"] == command[0]
    if place := program("desktop-file-validate"):
        checked = subprocess.run([place, entry], capture_output=True, encoding="utf-8", check=False)
        assert (checked.returncode, checked.stdout) == (0, "")
    root = ET.parse(icon).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.attrib["viewBox"] == "0 0 128 128"


def test_installing_again_writes_the_same_and_removing_takes_both_away(run: Run, data: Path) -> None:
    first = run("desktop", "install", "--json").result
    assert list(first) == ["written", "command"]
    assert run("desktop", "install", "--json").result == first
    foreign = data / "applications" / "other.desktop"
    foreign.write_text("[Desktop Entry]\n")
    assert sorted(run("desktop", "remove", "--json").result["removed"]) == sorted(first["written"])
    assert [path for path in data.rglob("*") if path.is_file()] == [foreign]
    again = run("desktop", "remove")
    assert (again.code, again.out, again.err) == (0, "", "There is no entry of subtitle-rag in the menu.\n")


@cases("name", ["applications/subtitle-rag.desktop", "icons/hicolor/scalable/apps/subtitle-rag.svg"])
def test_the_file_of_another_stays(run: Run, data: Path, name: str) -> None:
    foreign = data / name
    foreign.parent.mkdir(parents=True, exist_ok=True)
    foreign.write_text("[Desktop Entry]\nName=A packager's\n")
    refused = run("desktop", "install", "--json")
    assert (refused.code, refused.failure) == (2, "foreign_file")
    assert run("desktop", "remove", "--json").result == {"removed": []}
    assert foreign.read_text() == "[Desktop Entry]\nName=A packager's\n"
    assert [path for path in data.rglob("*") if path.is_file()] == [foreign]
    foreign.unlink()


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems_are_told_in_one_sentence(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for verb in ("install", "remove"):
        refused = run("desktop", verb, "--json")
        assert (refused.code, refused.failure) == (2, "no_desktop_entries")
    assert not data.exists()


def test_a_data_folder_that_is_no_whole_path_is_left_out(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert all(place.is_relative_to(Path.home() / ".local/share") for place in desktop.entry_paths())


@cases(
    ("argument", "written"),
    [
        ("/usr/bin/subtitle-rag", "/usr/bin/subtitle-rag"),
        ("/home/한글/a b", '"/home/한글/a b"'),
        ("100%", "100%%"),
        ('a"b', r'"a\\"b"'),
        ("a$b", r'"a\\$b"'),
        ("a\\b", r'"a\\\\b"'),
        ("", '""'),
    ],
)
def test_a_command_is_quoted_as_the_specification_says(argument: str, written: str) -> None:
    assert read(desktop.entry(["/x", argument]))["Exec"] == f"/x {written}"


def test_the_command_is_that_of_this_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "python"))
    assert desktop.start_command("pytest") == [str(tmp_path / "venv" / "python"), "-m", "subtitle_rag"]
    for folder in ("venv", "bin"):
        command = tmp_path / folder / "subtitle-rag"
        command.parent.mkdir()
        command.touch(0o755)
    assert desktop.start_command("pytest") == [str(tmp_path / "venv" / "subtitle-rag")]
    assert desktop.start_command(str(command)) == [str(command)]
    monkeypatch.chdir(command.parent)
    assert desktop.start_command("subtitle-rag") == [str(command)]
