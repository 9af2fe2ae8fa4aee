"""The script of `player mpv-script` in a real mpv, without a window or sound, on a video that ffmpeg has made."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.commandline import ran
from tests.support.invented import came_true, end_hosts

pytestmark = [pytest.mark.campaign(part="players"), pytest.mark.hosts, pytest.mark.programs("ffmpeg", "ffprobe", "mpv")]

CAPTIONS = """WEBVTT

00:00:01.000 --> 00:00:04.000
얘들아 오늘은 멸치 육수부터 끓여 볼게요

00:00:08.000 --> 00:00:12.000
국수는 이렇게 {\\pos(1,1)} 삶아요

00:00:13.000 --> 00:00:18.000
고명을 올려 봅시다
"""


@pytest.fixture
def ask(
    isolated_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Any]:
    """mpv with the script, which plays an indexed video; call it with a command of its IPC."""
    video = tmp_path / "video" / "-국수 영상 [vid00000001].mp4"
    video.parent.mkdir()
    pictures = ["-f", "lavfi", "-i", "testsrc=duration=24:size=64x48:rate=25"]
    subprocess.run(["ffmpeg", "-v", "error", *pictures, f"file:{video}"], check=True, stdin=subprocess.DEVNULL)
    video.with_suffix(".ko.vtt").write_text(CAPTIONS, encoding="utf-8")
    isolated_home.mkdir(parents=True, exist_ok=True)
    assert ran(capsys, "index", video.parent, "--no-contexts").code == 0
    monkeypatch.setenv("MPV_HOME", str(tmp_path / "mpv"))
    assert ran(capsys, "player", "mpv-script", "--install").code == 0
    place = Path(tempfile.mkdtemp(prefix="srm-", dir="/tmp"))
    options = ["--vo=null", "--ao=null", "--pause", "--keep-open", "--idle", f"--input-ipc-server={place / 's'}"]
    root = str(Path(__file__).parents[2])
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "xclip").write_text("#!/bin/sh\nprintf ' 고명\\n'\n", encoding="utf-8")
    (programs / "xclip").chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": root, "PATH": f"{programs}:{os.environ['PATH']}"}
    with ExitStack() as stack:
        mpv = subprocess.Popen(["mpv", *options, "--", str(video)], env=environment, stdout=subprocess.DEVNULL)
        stack.enter_context(mpv)
        stack.callback(mpv.kill)  # also if it does not answer
        assert came_true(lambda: (place / "s").exists(), 20)
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(20)
            line.connect(str(place / "s"))
            replies = line.makefile()

            def command(*words: Any) -> Any:
                line.sendall(json.dumps({"command": words, "request_id": 7}).encode() + b"\n")
                return next(reply.get("data") for reply in map(json.loads, replies) if reply.get("request_id") == 7)

            assert came_true(lambda: command("get_property", "time-pos") is not None, 20)
            yield command
    end_hosts([isolated_home / "data" / "index"])
    shutil.rmtree(place)


def jumps_to(ask: Any, second: float) -> bool:
    """Press Enter until the film is there: the first press may come before the answer."""

    def there() -> bool:
        ask("keypress", "ENTER")
        time.sleep(0.5)
        return bool(ask("get_property", "time-pos") == pytest.approx(second, abs=0.1))

    return came_true(there, 30)


def test_a_search_by_message_jumps_to_its_scene(ask: Any) -> None:
    ask("script-message-to", "subtitle_rag", "search", "국수")
    assert jumps_to(ask, 8.0)


def test_a_typed_search_jumps_to_its_scene(ask: Any) -> None:
    ask("keypress", "Ctrl+f")
    time.sleep(1)  # mpv binds the keys of the line in its own time
    for key in ("x", "BS", "고", "명"):
        ask("keypress", key)
        time.sleep(0.2)
    assert jumps_to(ask, 13.0)


def test_the_keys_of_the_other_keyboard_are_offered_and_taken(ask: Any) -> None:
    ask("script-message-to", "subtitle_rag", "search", "rhaud")  # 고명, typed with the keyboard in English

    def there() -> bool:
        ask("keypress", "TAB")
        time.sleep(0.5)
        ask("keypress", "ENTER")
        return bool(ask("get_property", "time-pos") == pytest.approx(13.0, abs=0.1))

    assert came_true(there, 30)


def test_a_query_is_pasted(ask: Any) -> None:
    ask("keypress", "Ctrl+f")
    time.sleep(1)
    ask("keypress", "Ctrl+v")
    time.sleep(0.5)
    assert jumps_to(ask, 13.0)


def test_what_is_not_said_stays_where_it_is(ask: Any) -> None:
    ask("script-message-to", "subtitle_rag", "search", "우주정거장")
    time.sleep(3)
    ask("keypress", "ENTER")
    assert ask("get_property", "time-pos") == pytest.approx(0, abs=0.1)
