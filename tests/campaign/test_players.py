"""Jumps in a real mpv, without a window or sound, on a video that a real ffmpeg has made.

mpv reads its settings from `MPV_HOME`: the program's own command line is what is tried.
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.sharing import player
from subtitle_rag.sharing.player import mpv
from subtitle_rag.sharing.player.launch import Launch
from tests.support.invented import came_true, end_hosts
from tests.support.processes import command_line

pytestmark = [pytest.mark.campaign(part="players"), pytest.mark.hosts, pytest.mark.programs("ffmpeg", "ffprobe", "mpv")]

SETTINGS = "vo=null\nao=null\nspeed=0.01\npause=yes\nkeep-open=yes\n"
"""A second of film takes 100: where it is does not depend on when it is asked."""
SECONDS = 60
NEAR_S = 0.5


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two films of a minute with a key frame every 10 seconds: a jump to one would miss the second."""
    folder = tmp_path_factory.mktemp("films")
    made = folder / "한글 제목 100% [sovideo0001].mp4", folder / "--fs ' \" #2.mkv"
    for path in made:
        pictures = ["-f", "lavfi", "-i", f"testsrc=duration={SECONDS}:size=64x48:rate=25"]
        sound = ["-f", "lavfi", "-i", f"sine=duration={SECONDS}"]
        command = ["ffmpeg", "-loglevel", "error", *pictures, *sound, "-g", "250", f"file:{path}"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return made


class Desk:
    """mpv as the program plays in it, and what it says of itself."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache

    def play(self, path: Path, at: int) -> Launch:
        launch = player.play(
            "mpv", watch_url=None, link=None, at_ms=at * 1000, lead_in=0, extra={}, media=path, cache=self.cache
        )
        assert launch
        return launch

    def ask(self, *command: Any) -> Any:
        """mpv's answer; None while it has none."""
        address = mpv.address(self.cache)
        assert address
        with socket.socket(socket.AF_UNIX) as line, suppress(OSError):
            line.settimeout(5)
            line.connect(str(address))
            line.sendall(json.dumps({"command": command, "request_id": 7}).encode() + b"\n")
            for reply in map(json.loads, line.makefile()):
                if reply.get("request_id") == 7:
                    return reply.get("data")
        return None

    def is_at(self, path: Path, second: float) -> bool:
        """Whether it comes to show this film at this second; a seek that goes on is waited for."""

        def shown() -> bool:
            at = self.ask("get_property", "time-pos")
            is_still = self.ask("get_property", "seeking") is False
            return is_still and at is not None and self.ask("get_property", "path") == str(path) and near(at)

        def near(at: float) -> bool:
            return -0.1 < at - second < NEAR_S

        return came_true(shown, 20)

    def end(self) -> None:
        """Close the window, and wait until nobody listens."""
        self.ask("quit")
        assert came_true(lambda: self.ask("get_property", "pid") is None, 20)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    (tmp_path / "mpv").mkdir()
    (tmp_path / "mpv" / "mpv.conf").write_text(SETTINGS)
    monkeypatch.setenv("MPV_HOME", str(tmp_path / "mpv"))
    monkeypatch.setattr(mpv, "_opened", None)
    cache = Path(tempfile.mkdtemp(prefix="srm-", dir="/tmp"))  # short enough for a socket
    made = Desk(cache)
    yield made
    made.end()
    shutil.rmtree(cache)


def test_the_first_jump_opens_mpv_at_the_second(desk: Desk, films: tuple[Path, Path]) -> None:
    desk.play(films[0], 12)
    assert desk.is_at(films[0], 12)
    assert desk.ask("get_property", "duration") == pytest.approx(SECONDS, abs=0.5)


def test_the_next_jump_seeks_in_the_same_window_and_plays(desk: Desk, films: tuple[Path, Path]) -> None:
    desk.play(films[0], 12)
    assert desk.is_at(films[0], 12)
    first = desk.ask("get_property", "pid")
    for second in (47, 3):
        desk.play(films[0], second)
        assert desk.is_at(films[0], second)
    assert desk.ask("get_property", "pause") is False
    assert desk.ask("get_property", "pid") == first


def test_a_jump_while_mpv_still_starts_reaches_it(desk: Desk, films: tuple[Path, Path]) -> None:
    desk.play(films[0], 12)
    desk.play(films[0], 33)
    assert desk.is_at(films[0], 33)


def test_another_film_is_loaded_in_the_same_window(desk: Desk, films: tuple[Path, Path]) -> None:
    desk.play(films[0], 12)
    assert desk.is_at(films[0], 12)
    first = desk.ask("get_property", "pid")
    for film, second in ((films[1], 25), (films[0], 51)):
        desk.play(film, second)
        assert desk.is_at(film, second)
    assert desk.ask("get_property", "pid") == first


def test_a_window_that_was_closed_is_opened_anew(desk: Desk, films: tuple[Path, Path]) -> None:
    desk.play(films[0], 12)
    assert desk.is_at(films[0], 12)
    first = desk.ask("get_property", "pid")
    desk.end()
    desk.play(films[0], 29)
    assert desk.is_at(films[0], 29)
    assert desk.ask("get_property", "pid") != first


def test_playing_is_seen_once_it_has_begun(desk: Desk, films: tuple[Path, Path]) -> None:
    for at in (12, 33):
        assert desk.play(films[0], at).wait(20) == "playing"


@pytest.mark.parametrize("idle", ["", "idle=yes\n"])
def test_what_mpv_cannot_play_is_a_failure_with_its_reason(
    desk: Desk, films: tuple[Path, Path], tmp_path: Path, idle: str
) -> None:
    (tmp_path / "mpv" / "mpv.conf").write_text(SETTINGS + idle)
    for first in (False, True):
        if first:
            assert desk.play(films[0], 12).wait(20) == "playing"
        with pytest.raises(AppError) as caught:
            desk.play(tmp_path / "nothing.mkv", 3).wait(20)
        assert "No such file or directory" in caught.value.details["reason"]


def test_a_link_is_played_by_the_yt_dlp_of_this_environment(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "yt-dlp"
    script.write_text("#!/bin/sh\necho 'ERROR: [youtube] this one was run' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(mpv, "extractor_path", lambda cache: str(script))
    link = "http://127.0.0.1:9/watch?v=abcdefghijk"
    launch = player.play("mpv", watch_url=link, link=None, at_ms=0, lead_in=0, extra={}, cache=desk.cache)
    assert launch
    with pytest.raises(AppError) as caught:
        launch.wait(20)
    assert caught.value.details == {"player": "mpv", "link": link, "reason": "[youtube] this one was run"}


def test_open_plays_the_file_beside_the_captions(
    desk: Desk, films: tuple[Path, Path], isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cue = "1\n00:00:20,000 --> 00:00:50,000\n국수를 삶아 먹어요\n"
    films[0].with_suffix(".ko.srt").write_text(cue, encoding="utf-8")
    isolated_home.mkdir(exist_ok=True)
    (isolated_home / "config.toml").write_text('[player]\nlead_in = 0\n[models]\nencoder = ""\nreranker = ""\n')
    monkeypatch.setenv("DISPLAY", ":0")  # it asks whether there is a screen; mpv draws on none
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.5")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = command_line(isolated_home, *arguments)
        return subprocess.run(command, capture_output=True, text=True, env=os.environ, check=True, timeout=120)

    settings = json.loads(run("config", "--json").stdout)["result"]["settings"]
    desk.cache = Path(next(each["value"] for each in settings if each["key"] == "paths.cache"))
    try:
        run("index", str(films[0].parent))
        run("open", "sovideo0001@0:20", "--player", "mpv")
        assert desk.is_at(films[0], 20)
        first = desk.ask("get_property", "pid")
        run("open", "sovideo0001@0:41", "--player", "mpv")
        assert desk.is_at(films[0], 41)
        assert desk.ask("get_property", "pid") == first
    finally:
        end_hosts([isolated_home / "data" / "index"])


FAST = "vo=null\nao=null\nspeed=4\nkeep-open=yes\n"


def watched(desk: Desk, last: Path, end: float) -> list[tuple[str, float]]:
    """Where mpv was (film and second), until it stands at the end of the last part."""
    seen: list[tuple[str, float]] = []

    def has_ended() -> bool:
        path, at = desk.ask("get_property", "path"), desk.ask("get_property", "time-pos")
        if path is not None and at is not None and desk.ask("get_property", "seeking") is False:
            seen.append((path, at))
        return bool(seen) and seen[-1][0] == str(last) and end - 0.3 < seen[-1][1] < end + 0.1

    assert came_true(has_ended, 60), seen[-5:]
    return seen


@pytest.mark.parametrize("is_open", [False, True])
def test_scenes_play_one_after_another_from_start_to_end(
    desk: Desk, films: tuple[Path, Path], tmp_path: Path, is_open: bool
) -> None:
    (tmp_path / "mpv" / "mpv.conf").write_text(FAST)
    if is_open:
        desk.play(films[1], 50)
        assert came_true(lambda: desk.ask("get_property", "time-pos") is not None, 20)
    parts = [(films[0], 12.0, 15.0), (films[1], 31.5, 34.0), (films[0], 3.0, 6.0)]
    titles = ("치킨, 소스 0:12", "100% 국수", "끝")
    clips = [
        mpv.Clip(str(film), int(start * 1000), int(end * 1000), title)
        for (film, start, end), title in zip(parts, titles, strict=True)
    ]
    player.play_all(clips, desk.cache)
    if is_open:
        assert came_true(lambda: desk.ask("get_property", "path") == str(films[0]), 20)
    seen = watched(desk, films[0], 6.0)
    for film, start, end in parts:
        assert any(path == str(film) and start - 0.1 <= at < end for path, at in seen), (film.name, start)
    for path, at in seen:
        assert any(path == str(film) and start - 0.1 <= at <= end + 0.1 for film, start, end in parts), (path, at)
    assert desk.ask("get_property", "media-title") == titles[-1]
    desk.play(films[0], 40)
    assert came_true(lambda: (desk.ask("get_property", "time-pos") or 0) > 41, 20)
