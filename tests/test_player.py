import os
import select
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag import player
from subtitle_rag.errors import UsageError

URL = "https://www.youtube.com/watch?v=abc&x={seconds};rm -rf $HOME"
Played = Callable[[], list[str]]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Played]]:
    """Puts a stand-in of this name on the PATH; the result waits for what it was started with."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    with ExitStack() as opened:

        def make(name: str) -> Played:
            told = tmp_path / f"{name}.told"
            os.mkfifo(told)
            read = os.open(told, os.O_RDONLY | os.O_NONBLOCK)
            opened.callback(os.close, read)
            path = folder / name
            path.write_text(
                f"#!{sys.executable} -S\nimport os, sys\n"
                f"open({str(told)!r}, 'w').write(chr(0).join([str(os.getsid(0) == os.getpid()), *sys.argv[1:]]))\n"
            )
            path.chmod(0o755)

            def played() -> list[str]:
                assert select.select([read], [], [], 20)[0], f"{name} was never started"
                alone, *arguments = os.read(read, 10_000).decode().split("\0")
                assert alone == "True"
                return arguments

            return played

        yield make


def play(name: str, **changes: Any) -> None:
    given = {"watch_url": URL, "link": "https://youtu.be/abc?t=9", "at_ms": 61_900, "lead_in": 2, "extra": {}}
    player.play(name, **{**given, **changes})


def test_mpv_gets_exactly_its_arguments(program: Callable[[str], Played]) -> None:
    played = program("mpv")
    play("mpv")
    assert played() == ["--start=59", "--force-window=immediate", "--", URL]


def test_iina_and_vlc_get_exactly_theirs(program: Callable[[str], Played]) -> None:
    iina, vlc = program("iina-cli"), program("vlc")
    play("iina")
    play("vlc")
    assert iina() == ["--mpv-start=59", URL]
    assert vlc() == ["--start-time=59", URL]


def test_a_player_of_the_config_replaces_a_built_in_one(program: Callable[[str], Played]) -> None:
    played = program("my player")
    play("mpv", extra={"mpv": ("my player", "a b", "{url}#{seconds}", "", "$HOME; true", "{other}")})
    assert played() == ["a b", f"{URL}#59", "", "$HOME; true", "{other}"]


@pytest.mark.parametrize(("at_ms", "lead_in", "start"), [(0, 2, 0), (1_999, 2, 0), (3_000, 2, 1), (5_500, 0, 5)])
def test_playing_never_starts_before_the_video(
    program: Callable[[str], Played], at_ms: int, lead_in: int, start: int
) -> None:
    played = program("vlc")
    play("vlc", at_ms=at_ms, lead_in=lead_in)
    assert played()[0] == f"--start-time={start}"


@pytest.mark.parametrize("name", ["mpv", "vlc", "nothing", "", "mpv; true", "../mpv"])
def test_a_player_that_is_not_there_is_named(program: Callable[[str], Played], name: str) -> None:
    with pytest.raises(UsageError) as caught:
        play(name)
    assert (caught.value.code, caught.value.details) == ("no_player", {"player": name})


def test_a_program_that_cannot_run_is_no_player(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    with pytest.raises(UsageError) as caught:
        play("mine", extra={"mine": (str(broken), "{url}")})
    assert caught.value.code == "no_player"


def test_the_browser_opens_the_link(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def open_link(link: str) -> bool:
        opened.append(link)
        return True

    monkeypatch.setattr(webbrowser, "open", open_link)
    play("browser")
    assert opened == ["https://youtu.be/abc?t=9"]


def test_a_machine_without_a_browser_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda link: False)
    with pytest.raises(UsageError) as caught:
        play("browser")
    assert caught.value.details == {"player": "browser"}


def test_all_players_can_be_asked_for_once() -> None:
    assert player.names({"mpv": ("x",), "mine": ("y",)}) == ["browser", "mpv", "iina", "vlc", "mine"]


@pytest.mark.parametrize(
    ("platform", "variables", "shown"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("linux", {"DISPLAY": ":0", "SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22"}, False),
        ("darwin", {}, True),
        ("darwin", {"SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22"}, False),
        ("win32", {}, True),
    ],
)
def test_a_screen_is_there_or_not(
    platform: str, variables: dict[str, str], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert player.can_show() is shown
