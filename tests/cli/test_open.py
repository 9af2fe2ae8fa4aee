"""`open`: which player plays, and what it is given; what `doctor` says of it."""

import webbrowser
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.cli import main as cli
from subtitle_rag.library import connection
from subtitle_rag.runtime import Runtime
from subtitle_rag.sharing import player
from subtitle_rag.workflows import checks as doctor
from tests.support.commandline import Run, ran
from tests.support.invented import end_hosts

CAPTIONS = "WEBVTT\n\n00:00.000 --> 00:05.000\n국수를 삶아요\n"
ID = "dQw4w9WgXcQ"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of a library of three videos: with a link, with a file, and with both."""
    folder = tmp_path_factory.mktemp("자막")
    for name in (f"링크 [{ID}]", "파일", "둘 다 [aaaaaaaaaA1]"):
        (folder / f"{name}.ko.vtt").write_text(CAPTIONS)
    for name in ("파일", "둘 다 [aaaaaaaaaA1]"):
        (folder / f"{name}.mp4").write_bytes(b"")
    home = folder / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
        assert cli.run(["--home", str(home), "index", str(folder)]) == 0
    yield home
    end_hosts([config.Paths.under(home).index])


@pytest.fixture
def home(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """mpv and VLC are installed, and there is a screen."""
    for name in ("mpv", "vlc"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(player, "can_show", lambda: True)
    yield shared
    (shared / "config.toml").unlink(missing_ok=True)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was played, whatever plays it."""
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(player, "play", lambda name, **how: seen.append({"name": name, **how}))
    return seen


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], home: Path) -> Run:
    return partial(partial(ran, capsys), "--home", home)


def prefer(home: Path, name: str) -> None:
    (home / "config.toml").write_text(f'[player]\ndefault = "{name}"\n')


def test_a_file_without_a_link_is_played_and_printed(run: Run, home: Path, played: list[dict[str, Any]]) -> None:
    opened = run("open", "파일@0:03")
    file = home.parent / "파일.mp4"
    assert (opened.code, opened.out) == (0, f"{file}\n")
    assert [(one["name"], one["media"], one["link"], one["at_ms"]) for one in played] == [("mpv", file, None, 3_000)]
    assert run("open", "파일", "--json").result == {"url": None, "at": 0.0, "played": True}


def test_a_link_is_printed_though_the_file_is_played(run: Run, home: Path, played: list[dict[str, Any]]) -> None:
    opened = run("open", "둘 다@0:03", "--player", "vlc")
    assert opened.out == "https://youtu.be/aaaaaaaaaA1?t=3\n"
    assert [(one["name"], one["media"]) for one in played] == [("vlc", home.parent / "둘 다 [aaaaaaaaaA1].mp4")]


def test_the_configured_player_is_asked_first(run: Run, home: Path, played: list[dict[str, Any]]) -> None:
    run("open", "링크")
    prefer(home, "mpv")
    run("open", "링크")
    prefer(home, "vlc")
    run("open", "링크")  # which VLC cannot play
    run("open", "링크", "--player", "iina")
    assert [one["name"] for one in played] == ["browser", "mpv", "browser", "iina"]


@pytest.mark.parametrize(
    ("target", "name", "said"),
    [
        ("링크", "vlc", "vlc cannot play this video: it plays only files"),
        ("파일", "browser", "browser cannot play this video: it opens only links"),
        ("링크", "iina", "The player iina is not installed"),
        ("링크", "nothing", "The player nothing is not installed"),
    ],
)
def test_a_player_that_was_named_is_not_replaced(run: Run, target: str, name: str, said: str) -> None:
    refused = run("open", target, "--player", name)
    assert (refused.code, refused.out) == (2, "")
    assert said in refused.err


def test_without_a_screen_a_file_is_named(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "can_show", lambda: False)
    refused = run("open", "파일")
    assert refused.code == 2
    assert f"There is no screen here to play {home.parent / '파일.mp4'} on." in refused.err


def test_a_named_browser_needs_no_screen(
    run: Run, played: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player, "can_show", lambda: False)
    monkeypatch.setenv("BROWSER", "/opt/editor/open-there")
    assert run("open", "링크", "--json").result["played"]
    assert [one["name"] for one in played] == ["browser"]


def test_print_wants_a_link(run: Run) -> None:
    refused = run("open", "파일", "--print")
    assert refused.code == 2
    assert "has no link" in refused.err


def test_doctor_looks_at_the_player_that_would_play(home: Path) -> None:
    prefer(home, "vlc")
    with Runtime(config.load(home=home, language="en")) as runtime:
        assert doctor.probe("player", runtime) == doctor.Check("player", "ok", "vlc")


@pytest.mark.programs("sh")
def test_a_player_that_fails_is_an_error_with_the_link(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mpv").write_text("#!/bin/sh\necho 'ERROR: [youtube] Private video' >&2\nexit 2\n")
    failed = run("open", f"{ID}@0:03", "--player", "mpv")
    assert failed.code == 1
    assert f"mpv could not play https://www.youtube.com/watch?v={ID}: " in failed.err
    assert "Private video" in failed.err


@pytest.mark.programs("sh")
def test_doctor_tries_mpv_and_the_yt_dlp_that_it_gets(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefer(home, "mpv")
    (tmp_path / "mpv").write_text("#!/bin/sh\necho mpv 0.35.1\n")
    extractor = tmp_path / "extractor"
    extractor.write_text("#!/bin/sh\necho 2026.01.02\n")
    extractor.chmod(0o755)
    monkeypatch.setattr(player.mpv, "extractor_path", lambda cache: str(extractor))
    with Runtime(config.load(home=home, language="en")) as runtime:
        assert doctor.probe("player", runtime) == doctor.Check("player", "ok", "mpv 0.35.1, yt-dlp 2026.01.02")
        extractor.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
        check = doctor.probe("player", runtime)
        assert (check.severity, check.message) == (
            "warning",
            "mpv plays files but no links, for it finds no yt-dlp that runs. It said: broken",
        )
        (tmp_path / "mpv").write_text("#!/bin/sh\necho no display >&2\nexit 1\n")
        check = doctor.probe("player", runtime)
        assert (check.severity, check.message) == (
            "warning",
            "mpv is installed but does not start. It said: no display",
        )


def test_a_number_is_that_of_the_last_search(run: Run, played: list[dict[str, Any]]) -> None:
    scenes = run("search", "국수", "--json").result["scenes"]
    assert len(scenes) == 3
    opened = run("open", "2", "--json")
    assert (opened.code, opened.result["at"]) == (0, scenes[1]["jump"]["at"])
    assert played[-1]["watch_url"] == scenes[1]["video"]["url"]
    for number in ("0", "4"):
        refused = run("--language", "en", "open", number)
        assert refused.code == 2
        assert f"There is no scene {number}: the last search found 3." in refused.err
    run("search", "없는말없는말")
    refused = run("--language", "en", "open", "1")
    assert (refused.code, "the last search found 0" in refused.err) == (2, True)


def test_a_search_that_cannot_be_remembered_names_the_reason(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise BusyError("library_readonly", path=str(path.parent), reason="Read-only file system")

    run("search", "없는말없는말")
    with monkeypatch.context() as patch:
        patch.setattr(connection, "_connect_to_write", refuse)
        found = run("--language", "en", "search", "국수")
        assert (found.code, "국수" in found.out) == (0, True)
        assert "open and marks cannot name these scenes by number" in found.err
        assert "cannot be written: Read-only file system" in found.err
        for verb in (("open", "1"), ("marks", "add", "1")):
            refused = run(*verb, "--json")
            assert (refused.code, refused.failure) == (3, "library_readonly")
        checks = run("doctor", "--offline", "--json").result["checks"]
        (library,) = (check for check in checks if check["name"] == "library")
        assert library["severity"] == "warning"
        assert "cannot be written: Read-only file system" in library["message"]


def test_a_number_is_refused_with_the_reason_where_searches_are_not_remembered(run: Run, home: Path) -> None:
    assert run("search", "국수").code == 0
    file = home / "config.toml"
    file.write_text("[search]\nremember = false\n", encoding="utf-8")
    try:
        refused = run("open", "1")
    finally:
        file.unlink()
    assert (refused.code, refused.out) == (2, "")
    assert "searches are not remembered (remember = false under [search])" in refused.err
    assert "set remember = true" in refused.err


def test_the_printed_link_is_the_one_that_the_browser_opened(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def open_link(link: str) -> bool:
        opened.append(link)
        return True

    monkeypatch.setattr(webbrowser, "open", open_link)
    printed = run("open", "링크@0:03", "--player", "browser")
    assert [printed.out] == [f"{link}\n" for link in opened] == [f"https://youtu.be/{ID}?t=1\n"]
    assert run("open", "링크@0:03", "--print").out == f"https://youtu.be/{ID}?t=3\n"


def test_a_transcript_is_shown_around_the_time_of_its_argument(run: Run) -> None:
    assert run("show", "링크@0:03").out == run("show", "링크", "--at", "0:03").out
    assert run("show", "링크@99:99", "--json").failure == "bad_value"


def test_play_speaks_of_playing(run: Run) -> None:
    assert run("play", "--json").failure == "nothing_chosen"
