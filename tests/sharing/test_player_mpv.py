"""mpv's window is used again, by a stand-in that is started as `mpv` and speaks its JSON IPC on the socket it is given.

What it was asked lies in files beside it, one JSON document a line.
"""

import json
import os
import shutil
import signal
import socket
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.sharing import player
from subtitle_rag.sharing.player import mpv
from subtitle_rag.sharing.player.launch import Launch

URL = "https://www.youtube.com/watch?v=abc"
OTHER = "https://www.youtube.com/watch?v=def"

STAND_IN = """
import json, os, pathlib, signal, socket, sys, time
place, version, mood, lag = pathlib.Path({place!r}), {version!r}, {mood!r}, {lag!r}
signal.alarm(60)
def note(name, what):
    with (place / name).open("a") as file:
        file.write(json.dumps(what) + "\\n")
note("started", {{"pid": os.getpid(), "argv": sys.argv[1:]}})
address = next((one.split("=", 1)[1] for one in sys.argv if one.startswith("--input-ipc-server=")), None)
if address is None:
    sys.exit()
if mood == "fails":
    print("[ffmpeg] tcp: no such host\\n[ytdl_hook] ERROR: [youtube] abc: Private video", file=sys.stderr)
    sys.exit(2)
time.sleep(lag)
listener = socket.socket(socket.AF_UNIX)
pathlib.Path(address).unlink(missing_ok=True)
listener.bind(address)
listener.listen()
path, ontop, end = sys.argv[-1], False, "none"
def answer(name, *rest):
    global path, ontop, end
    if name == "get_property":
        at = None if mood in ("loading", "idle") else 1.0
        values = {{"path": path, "ontop": ontop, "time-pos": at, "idle-active": mood == "idle", "end": end}}
        return {{"error": "success", "data": values[rest[0]]}}
    if name == "loadfile":
        options = rest[3:] if version >= 38 else rest[2:]
        if len(rest) != (4 if version >= 38 else 3) or not str(options[0]).startswith("start="):
            return {{"error": "invalid parameter"}}
        path, end = rest[0], "70.0" if "end=" in options[0] else "none"
    if name == "seek" and mood == "loading":
        return {{"error": "error running command"}}
    return {{"error": "success", "data": None}}
while True:
    line = listener.accept()[0]
    for asked in line.makefile():
        asked = json.loads(asked)
        note("asked", asked["command"])
        if mood == "silent":
            continue
        if mood == "foreign":
            line.sendall(b"HTTP/1.1 400 Bad Request\\r\\n\\r\\n")
            break
        event = json.dumps({{"event": "log-message", "text": "\\ud55c\\uae00"}}) + "\\n"
        event += json.dumps({{"request_id": 0, "error": "invalid parameter"}}) + "\\n"
        reply = {{**answer(*asked["command"]), "request_id": asked["request_id"]}}
        line.sendall((event * 3 + json.dumps(reply) + "\\n").encode())
"""


class Desk:
    """What the stand-in was started with and asked."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._place = place
        self.cache = Path(tempfile.mkdtemp(prefix="srm-", dir="/tmp"))  # short enough for a socket
        (place / "bin").mkdir()
        monkeypatch.setenv("PATH", str(place / "bin"))
        monkeypatch.setattr(mpv, "_opened", None)
        monkeypatch.setattr(mpv, "extractor_path", lambda cache: "/환경/bin/yt-dlp")

    def install(self, version: int = 40, mood: str = "", lag: float = 0.0) -> None:
        path = self._place / "bin" / "mpv"
        code = STAND_IN.format(place=str(self._place), version=version, mood=mood, lag=lag)
        path.write_text(f"#!{sys.executable} -S\n{code}")
        path.chmod(0o755)

    def play(self, what: str = URL, at: int = 61, **changes: Any) -> Launch:
        given: dict[str, Any] = {"watch_url": what, "link": None, "at_ms": at * 1000, "lead_in": 0, "extra": {}}
        launch = player.play("mpv", **{**given, "cache": self.cache, **changes})
        assert launch
        return launch

    def _noted(self, name: str) -> list[Any]:
        path = self._place / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def started(self, count: int) -> list[list[str]]:
        """The arguments of the windows so far, as many as there should be by now."""
        deadline = time.monotonic() + 20
        while len(self._noted("started")) < count:
            assert time.monotonic() < deadline, self._noted("started")
            time.sleep(0.02)
        return [one["argv"] for one in self._noted("started")]

    def asked(self) -> list[Any]:
        return [one for one in self._noted("asked") if one[0] in ("seek", "loadfile", "set_property")]

    def end(self) -> None:
        for one in self._noted("started"):
            with suppress(ProcessLookupError):
                os.kill(one["pid"], signal.SIGKILL)

    def close(self) -> None:
        self.end()
        shutil.rmtree(self.cache)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    desk = Desk(tmp_path, monkeypatch)
    yield desk
    desk.close()


OPTIONS = ["--msg-level=all=error", "--script-opts-append=ytdl_hook-ytdl_path=/환경/bin/yt-dlp"]
"""Its errors alone, and this program's own yt-dlp."""
SHOWN = [
    ["set_property", "pause", False],
    ["set_property", "window-minimized", False],
    ["set_property", "ontop", True],
    ["set_property", "ontop", False],
]


def test_the_first_jump_opens_a_window_that_listens(desk: Desk) -> None:
    desk.install()
    desk.play()
    socket = f"--input-ipc-server={desk.cache}/mpv/socket"
    rest = ["--start=+61", "--resume-playback=no", "--force-window=immediate", "--", URL]
    assert desk.started(1) == [[*OPTIONS, socket, *rest]]
    assert (desk.cache / "mpv").stat().st_mode & 0o777 == 0o700


def test_the_next_one_seeks_in_it(desk: Desk) -> None:
    desk.install()
    desk.play()
    desk.play(at=7)  # at once: the window is waited for
    assert desk.asked() == [["seek", 7, "absolute+exact"], *SHOWN]
    assert len(desk.started(1)) == 1


@pytest.mark.parametrize("lag", [0.0, 0.5])
def test_two_at_once_are_one_window(desk: Desk, lag: float) -> None:
    desk.install(lag=lag)
    jumps = [threading.Thread(target=desk.play, kwargs={"at": at}) for at in (1, 2)]
    for jump in jumps:
        jump.start()
    for jump in jumps:
        jump.join(20)
    assert [one[0] for one in desk.asked()][:1] == ["seek"]
    assert len(desk.started(1)) == 1


def test_another_video_is_loaded_in_it(desk: Desk) -> None:
    desk.install()
    desk.play()
    desk.play(OTHER, at=9)
    file = Path("/비디오/제목.mkv")
    desk.play(OTHER, at=5, media=file)
    loaded = [one for one in desk.asked() if one[0] == "loadfile"]
    assert loaded == [
        ["loadfile", OTHER, "replace", -1, "start=+9"],
        ["loadfile", str(file), "replace", -1, "start=+5"],
    ]
    assert len(desk.started(1)) == 1


def test_an_old_mpv_is_asked_in_its_own_way(desk: Desk) -> None:
    desk.install(version=35)
    desk.play()
    desk.play(OTHER, at=9)
    assert desk.asked() == [
        ["loadfile", OTHER, "replace", -1, "start=+9"],
        ["loadfile", OTHER, "replace", "start=+9"],
        *SHOWN,
    ]
    assert len(desk.started(1)) == 1


def test_a_video_that_cannot_be_sought_in_yet_is_loaded(desk: Desk) -> None:
    desk.install(mood="loading")
    desk.play()
    desk.play(at=9)
    assert ["loadfile", URL, "replace", -1, "start=+9"] in desk.asked()


@pytest.mark.parametrize("mood", ["silent", "foreign"])
def test_what_does_not_answer_as_mpv_is_left_alone(desk: Desk, mood: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpv, "REPLY_S", 0.3)
    desk.install(mood=mood)
    desk.play()
    desk.started(1)
    desk.install()
    desk.play(at=9)
    assert "--start=+9" in desk.started(2)[1]
    desk.play(at=10)
    assert desk.asked()[0] == ["seek", 10, "absolute+exact"], "the new window is the one that is used again"


def test_a_window_that_was_closed_is_opened_anew(desk: Desk) -> None:
    desk.install()
    desk.play()
    desk.play(at=7)
    desk.end()
    desk.play(at=8)
    assert [one[3] for one in desk.started(2)] == ["--start=+61", "--start=+8"]
    desk.play(at=9)
    assert ["seek", 9, "absolute+exact"] in desk.asked()


def test_what_floods_the_line_is_left_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpv, "MOST_BYTES", 100_000)
    path = mpv.address(desk.cache)
    assert path
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        sent = 0

        def flood() -> None:
            nonlocal sent
            with listener.accept()[0] as line, suppress(OSError):
                while True:
                    line.sendall(b"x" * 65_536)
                    sent += 65_536

        thread = threading.Thread(target=flood, daemon=True)
        thread.start()
        desk.install()
        desk.play()
        assert len(desk.started(1)) == 1
        thread.join(20)
        assert not thread.is_alive()
        assert sent < 2_000_000, "what fits between the two ends, and no more"


def test_a_long_path_has_its_socket_elsewhere(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(desk.cache))
    path = mpv.address(desk.cache / ("가" * 40))
    assert path
    assert path.parent == desk.cache / f"subtitle-rag-{os.getuid()}"
    assert path != mpv.address(desk.cache / ("나" * 40))
    monkeypatch.setattr(tempfile, "tempdir", str(desk.cache / ("다" * 40)))
    assert mpv.address(desk.cache / ("가" * 40)) is None


def _open_to_all(cache: Path) -> None:
    (cache / "mpv").mkdir()
    (cache / "mpv").chmod(0o755)


def _linked(cache: Path) -> None:
    (cache / "elsewhere").mkdir(mode=0o700)
    (cache / "mpv").symlink_to("elsewhere")


def _a_file(cache: Path) -> None:
    (cache / "mpv").write_text("")


@pytest.mark.parametrize("spoil", [_open_to_all, _linked, _a_file])
def test_where_others_could_reach_it_no_window_listens(desk: Desk, spoil: Callable[[Path], None]) -> None:
    spoil(desk.cache)
    desk.install()
    desk.play()
    desk.started(1)
    desk.play(at=7)
    assert [one[2] for one in desk.started(2)] == ["--start=+61", "--start=+7"]


def test_somebodys_own_mpv_is_only_started(desk: Desk) -> None:
    desk.install()
    for _time in range(2):
        desk.play(extra={"mpv": ("mpv", "{url}")})
    assert desk.started(2) == [[URL], [URL]]


def test_windows_opens_a_window_each_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert mpv.address(desk.cache) is None


class TestLaunch:
    """What a player does after its start."""

    def test_it_plays_as_soon_as_the_video_has_a_position(self, desk: Desk) -> None:
        desk.install()
        assert desk.play().wait(20) == "playing"
        assert desk.play(at=7).wait(20) == "playing"

    def test_neither_playing_nor_failing_it_is_loading(self, desk: Desk) -> None:
        desk.install(mood="loading")
        assert desk.play().wait(0.2) == "loading"

    def test_a_link_that_mpv_cannot_play_is_named_with_the_reason_of_yt_dlp(self, desk: Desk) -> None:
        desk.install(mood="fails")
        with pytest.raises(AppError) as caught:
            desk.play().wait(20)
        assert caught.value.code == "player_failed"
        assert caught.value.details == {"player": "mpv", "link": URL, "reason": "[youtube] abc: Private video"}

    def test_a_window_that_stays_without_a_video_has_failed(self, desk: Desk) -> None:
        desk.install(mood="idle")
        with pytest.raises(AppError) as caught:
            desk.play().wait(20)
        assert caught.value.code == "player_failed"

    def test_the_window_of_another_run_that_closes_has_failed(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        desk.install()
        desk.play().wait(20)
        monkeypatch.setattr(mpv, "_opened", None)  # it was opened by another run
        launch = desk.play(OTHER)
        desk.end()
        with pytest.raises(AppError) as caught:
            launch.wait(20)
        assert caught.value.details["link"] == OTHER

    def test_a_later_jump_takes_the_watch(self, desk: Desk) -> None:
        desk.install(mood="loading")
        first = desk.play()
        desk.play(at=9)
        assert first.wait(20) == "replaced"


class TestExtractor:
    def test_it_is_the_one_of_this_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        script = tmp_path / "yt-dlp"
        script.write_text("#!/bin/sh\n")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", "")
        monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
        assert mpv.extractor_path(None) == str(script)

    @pytest.mark.campaign(part="flows")
    @pytest.mark.programs("sh")
    def test_without_a_console_script_the_module_runs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cache = Path(tempfile.mkdtemp(prefix="srm-", dir="/tmp"))
        monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
        try:
            path = mpv.extractor_path(cache)
            assert path == str(cache / "mpv" / "yt-dlp")
            assert mpv.version([path])[:2] == "20"
        finally:
            shutil.rmtree(cache)


CLIPS = (
    mpv.Clip(URL, 61_500, 70_000, "치킨, 소스 1:01"),
    mpv.Clip("/영상/--fs ' #2.mkv", 5_000, 9_250, "국수=100% 0:05"),
)


def test_scenes_open_a_window_with_the_start_and_end_of_each(desk: Desk) -> None:
    desk.install()
    player.play_all(CLIPS, desk.cache)
    [arguments] = desk.started(1)
    at = arguments.index("--{")
    assert arguments[at:] == [
        *("--{", "--start=+61.500", "--end=70.000", "--force-media-title=치킨, 소스 1:01", URL, "--}"),
        *("--{", "--start=+5.000", "--end=9.250", "--force-media-title=국수=100% 0:05", CLIPS[1].what, "--}"),
    ]


@pytest.mark.parametrize("version", [37, 40])
def test_scenes_replace_what_plays_in_the_open_window_and_a_jump_plays_past_their_ends(
    desk: Desk, version: int
) -> None:
    desk.install(version=version)
    desk.play()
    player.play_all(CLIPS, desk.cache)
    desk.play(CLIPS[1].what, at=20)
    assert len(desk.started(1)) == 1
    loaded = [asked for asked in desk.asked() if asked[0] == "loadfile" and len(asked) == (5 if version >= 38 else 4)]
    options = ["start=%7%+61.500,end=%6%70.000,force-media-title=%19%치킨, 소스 1:01"]
    options.append("start=%6%+5.000,end=%5%9.250,force-media-title=%16%국수=100% 0:05")
    assert [(asked[1], asked[2], asked[-1]) for asked in loaded] == [
        (URL, "replace", options[0]),
        (CLIPS[1].what, "append", options[1]),
        (CLIPS[1].what, "replace", "start=+20"),
    ]
    assert not [asked for asked in desk.asked() if asked[0] == "seek"]


def test_without_mpv_scenes_do_not_play(desk: Desk) -> None:
    with pytest.raises(AppError) as caught:
        player.play_all(CLIPS, desk.cache)
    assert (caught.value.code, caught.value.details) == ("no_player", {"player": "mpv"})


@pytest.mark.parametrize(
    ("programs", "name"),
    [((), ""), (("node",), "node"), (("qjs",), "quickjs"), (("bun", "qjs"), "bun"), (("deno", "node"), "")],
)
def test_yt_dlp_is_told_of_a_javascript_runtime_where_its_own_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: tuple[str, ...], name: str
) -> None:
    for program in programs:
        (tmp_path / program).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path / "none"))
    assert mpv._javascript_runtime() == name
