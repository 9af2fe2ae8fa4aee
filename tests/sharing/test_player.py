import os
import select
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import pytest

from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.sharing import player
from subtitle_rag.sharing.player.launch import Launch, installed_program

URL = "https://www.youtube.com/watch?v=abc&x={seconds};rm -rf $HOME"
FILE = Path("/비디오/--제목 {seconds} [abc].mkv")
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
    given = {"watch_url": URL, "link": "https://youtu.be/abc?t=61", "at_ms": 61_900, "lead_in": 2, "extra": {}}
    player.play(name, **{**given, **changes})


def test_mpv_gets_exactly_its_arguments(program: Callable[[str], Played]) -> None:
    played = program("mpv")
    play("mpv")
    level, extractor, *arguments = played()
    assert arguments == ["--start=+59", "--resume-playback=no", "--force-window=immediate", "--", URL]
    assert level == "--msg-level=all=error"
    assert extractor.startswith("--script-opts-append=ytdl_hook-ytdl_path=/")


def test_iina_and_vlc_get_exactly_theirs(program: Callable[[str], Played]) -> None:
    iina, vlc = program("iina-cli"), program("vlc")
    play("iina")
    play("vlc", media=FILE)
    assert iina() == ["--no-stdin", "--mpv-start=59", URL]
    assert vlc() == ["--start-time=59", str(FILE)]


def test_a_player_of_the_config_replaces_a_built_in_one(program: Callable[[str], Played]) -> None:
    played = program("my player")
    play("mpv", extra={"mpv": ("my player", "a b", "{url}#{seconds}", "", "$HOME; true", "{other}")})
    assert played() == ["a b", f"{URL}#59", "", "$HOME; true", "{other}"]


@pytest.mark.parametrize(("at_ms", "lead_in", "start"), [(0, 2, 0), (1_999, 2, 0), (3_000, 2, 1), (5_500, 0, 5)])
def test_playing_never_starts_before_the_video(
    program: Callable[[str], Played], at_ms: int, lead_in: int, start: int
) -> None:
    played = program("vlc")
    play("vlc", at_ms=at_ms, lead_in=lead_in, media=FILE)
    assert played()[0] == f"--start-time={start}"


@pytest.mark.parametrize(("name", "command"), [("mpv", "mpv"), ("iina", "iina-cli"), ("mine", "mine")])
def test_a_file_is_played_in_the_place_of_the_link(program: Callable[[str], Played], name: str, command: str) -> None:
    played = program(command)
    play(name, media=FILE, extra={"mine": ("mine", "{url}")})
    assert played()[-1] == str(FILE)


def test_a_file_needs_no_link(program: Callable[[str], Played]) -> None:
    played = program("mpv")
    play("mpv", media=FILE, watch_url=None, link=None)
    assert played()[-1] == str(FILE)


def test_vlc_is_given_no_link(program: Callable[[str], Played]) -> None:
    played = program("vlc")
    with pytest.raises(UsageError) as caught:
        play("vlc")
    assert caught.value.message == (
        "vlc cannot play this video: it plays only files, and there is none beside the video's captions."
    )
    play("vlc", extra={"vlc": ("vlc", "{url}")})  # somebody's own command may know how
    assert played() == [URL]


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
    play("browser", media=FILE)
    play("browser", at_ms=1_500)
    play("browser", lead_in=0)
    assert opened == ["https://youtu.be/abc?t=59", "https://youtu.be/abc?t=0", "https://youtu.be/abc?t=61"]


def test_the_browser_opens_no_file() -> None:
    with pytest.raises(UsageError) as caught:
        play("browser", media=FILE, watch_url=None, link=None)
    assert caught.value.code == "player_unfit"


def test_a_machine_without_a_browser_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda link: False)
    with pytest.raises(AppError) as caught:
        play("browser")
    assert caught.value.message == "browser could not play https://youtu.be/abc?t=59: no browser was found."


def test_all_players_can_be_asked_for_once() -> None:
    assert player.names({"mpv": ("x",), "mine": ("y",)}) == ["browser", "mpv", "iina", "vlc", "mine"]


class TestChoosing:
    OWN: ClassVar[dict[str, tuple[str, ...]]] = {"mine": ("my player", "{url}"), "gone": ("gone", "{url}")}

    @pytest.mark.parametrize(
        ("link", "media", "names"),
        [
            (True, False, ["browser", "mpv", "mine"]),
            (False, True, ["mpv", "vlc", "mine"]),
            (True, True, ["browser", "mpv", "vlc", "mine"]),
        ],
    )
    def test_only_what_is_here_and_can_play_it_is_offered(
        self, program: Callable[[str], Played], link: bool, media: bool, names: list[str]
    ) -> None:
        for name in ("mpv", "vlc", "my player"):
            program(name)
        assert player.usable(self.OWN, link=link, media=media) == names

    def test_the_player_asked_first_plays_what_it_can(self, program: Callable[[str], Played]) -> None:
        program("vlc")
        program("my player")
        assert player.choose("vlc", self.OWN, link=True, media=True) == "vlc"
        assert player.choose("vlc", self.OWN, link=True, media=False) == "browser"
        assert player.choose("browser", self.OWN, link=False, media=True) == "vlc"
        assert player.choose("mpv", self.OWN, link=True, media=False) == "mpv", "it is missed aloud when it plays"

    def test_a_file_without_a_player_of_files_is_told(self, program: Callable[[str], Played]) -> None:
        with pytest.raises(UsageError) as caught:
            player.choose("browser", self.OWN, link=False, media=True)
        assert caught.value.code == "no_file_player"


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_a_player_is_found_where_its_installer_puts_it(
    platform: str, program: Callable[[str], Played], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = program("VLC")
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("PATH", "")
    assert not player.installed("vlc", {})
    place = tmp_path / "bin" / "VLC" if platform == "darwin" else "bin/VLC"
    monkeypatch.setattr("subtitle_rag.sharing.player.launch.PROGRAM_PATHS", {platform: {"vlc": str(place)}})
    monkeypatch.setenv("PROGRAMFILES", str(tmp_path))
    assert player.installed("vlc", {})
    play("vlc", media=FILE)
    assert played() == ["--start-time=59", str(FILE)]
    monkeypatch.setattr(sys, "platform", "linux")
    assert not player.installed("vlc", {})


def test_a_player_on_the_path_is_started_by_its_name(
    program: Callable[[str], Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    program("vlc")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert installed_program("vlc") == "vlc"


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


def script(tmp_path: Path, text: str) -> dict[str, tuple[str, ...]]:
    path = tmp_path / "own"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"own": (str(path), "{url}")}


def launched(extra: dict[str, tuple[str, ...]]) -> Launch:
    launch = player.play("own", watch_url=URL, link=None, at_ms=0, lead_in=0, extra=extra)
    assert launch
    return launch


@pytest.mark.programs("sh")
def test_a_player_that_ends_at_once_with_an_error_has_failed(tmp_path: Path) -> None:
    with pytest.raises(AppError) as caught:
        launched(script(tmp_path, "exit 3")).wait(20)
    assert caught.value.message == f"own could not play {URL}: it ended at once, with status 3."


@pytest.mark.programs("sh")
@pytest.mark.parametrize("text", ["exit 0", "exec sleep 5"])
def test_a_player_that_runs_or_hands_on_plays(tmp_path: Path, text: str) -> None:
    assert launched(script(tmp_path, text)).wait(0.2) == "playing"


def test_a_named_browser_opens_links_without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "can_show", lambda: False)
    monkeypatch.delenv("BROWSER", raising=False)
    assert not player.can_open_links()
    monkeypatch.setenv("BROWSER", "/opt/editor/open-there")
    assert player.can_open_links()
