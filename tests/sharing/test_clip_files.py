"""Clips: real ffmpeg on videos that it makes, and sections of them through yt-dlp from the stand-in of YouTube."""

import json
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.sharing import clip_files
from tests.stand_ins.youtube import Caption, Channel, Clip, StandIn, stand_in
from tests.support.commandline import Run, ran
from tests.support.hermetic import program
from tests.support.invented import end_hosts

ID = "vid00000001"
CAPTIONS = """WEBVTT

00:00:01.000 --> 00:00:04.000
얘들아 오늘은 멸치 육수부터 끓여 볼게요

00:00:08.000 --> 00:00:12.000
국수는 이렇게 <b>삶아요</b> {\\pos(1,1)}

00:00:13.000 --> 00:00:18.000
고명을 올려 봅시다
"""
HOSTILE = "-i $(touch x)' ,[out];%2F"
"""The end of a file's name: an option, a shell's substitution and the signs of a filter graph."""

pytestmark = [
    pytest.mark.programs("ffmpeg", "ffprobe"),
    pytest.mark.skipif(not (program("ffmpeg") and program("ffprobe")), reason="ffmpeg is not installed"),
]


def made_video(path: Path, seconds: int = 24, *, sound: bool = True) -> None:
    """Make a test picture with a key frame every five seconds."""
    audio = ["-f", "lavfi", "-i", f"sine=d={seconds}", "-c:a", "aac"] if sound else []
    picture = ["-f", "lavfi", "-i", f"testsrc2=s=320x240:r=25:d={seconds}"]
    codec = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "125", "-movflags", "+faststart"]
    command = ["ffmpeg", "-v", "error", "-y", *picture, *audio, *codec, f"file:{path}"]
    subprocess.run(command, check=True)


@pytest.fixture(scope="session")
def video_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("video") / "video.mp4"
    made_video(path)
    return path


@pytest.fixture
def run(isolated_home: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    isolated_home.mkdir(parents=True, exist_ok=True)
    (isolated_home / "config.toml").write_text("[youtube]\npause = 0\n")
    yield partial(ran, capsys)
    end_hosts([isolated_home / "data" / "index"])


@pytest.fixture
def local(run: Run, tmp_path: Path, video_file: Path) -> Run:
    folder = tmp_path / "videos"
    folder.mkdir()
    shutil.copy(video_file, folder / f"{HOSTILE} [{ID}].mp4")
    (folder / f"{HOSTILE} [{ID}].ko.vtt").write_text(CAPTIONS, encoding="utf-8")
    assert run("index", folder, "--no-contexts").code == 0
    return run


def probed(path: Path) -> tuple[float, set[str]]:
    """Return the seconds of a file and the kinds of its streams."""
    command = ["ffprobe", "-v", "error", "-show_entries", "format=duration:stream=codec_type", "-of", "json", str(path)]
    found: Any = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return float(found["format"]["duration"]), {stream["codec_type"] for stream in found["streams"]}


def captions_of(path: Path) -> str:
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-map", "0:s:0", "-f", "srt", "-"]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_exact_clip_has_the_length_of_its_scene(local: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (clip,) = local("clip", f"{ID}@0:08-0:12", "--exact", "--pad", "1.5", "-o", out, "--json").result["clips"]
    assert (clip["start"], clip["end"], clip["new"]) == (6.5, 13.5, True)
    assert clip["file"] == str(out / f"{ID}_6500-13500_exact.mp4")
    seconds, streams = probed(Path(clip["file"]))
    assert seconds == pytest.approx(7.0, abs=0.1)
    assert streams == {"video", "audio"}
    assert files(out) == [f"{ID}_6500-13500_exact.mp4"]


def test_a_copied_clip_begins_at_the_key_frame_before(local: Run, tmp_path: Path) -> None:
    local("clip", f"{ID}@0:08-0:12", "-o", tmp_path / "out")
    (path,) = (tmp_path / "out").iterdir()
    assert 4.0 <= probed(path)[0] <= 7.3


def test_a_clip_that_is_there_is_not_made_again(local: Run, tmp_path: Path) -> None:
    command = ("clip", f"{ID}@0:08-0:12", "--exact", "-o", tmp_path / "out", "--json")
    path = Path(local(*command).result["clips"][0]["file"])
    made = path.stat().st_ino
    assert local(*command).result["clips"][0]["new"] is False
    assert path.stat().st_ino == made
    assert local(*command, "--force").result["clips"][0]["new"] is True
    assert probed(path)[0] == pytest.approx(4.0, abs=0.1)


@pytest.mark.parametrize("wrong", ["no film", "another length"])
def test_a_file_under_the_name_of_a_clip_is_believed_only_if_it_is_whole(
    local: Run, tmp_path: Path, video_file: Path, wrong: str
) -> None:
    command = ("clip", f"{ID}@0:08-0:12", "--exact", "-o", tmp_path / "out", "--json")
    path = Path(local(*command).result["clips"][0]["file"])
    path.write_bytes(b"cut off" if wrong == "no film" else video_file.read_bytes())
    assert local(*command).result["clips"][0]["new"] is True
    assert probed(path)[0] == pytest.approx(4.0, abs=0.1)


@pytest.mark.parametrize("options", [(), ("--exact",), ("--join",)])
def test_a_time_beyond_the_film_makes_no_clip(local: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    out = tmp_path / "out"
    refused = local("clip", f"{ID}@0:30-0:40", *options, "-o", out, "--json")
    assert (refused.code, refused.document["errors"][0]["code"]) == (2, "beyond_end")
    assert not out.exists() or files(out) == []


@pytest.mark.parametrize("options", [(), ("--exact",)])
def test_a_clip_that_the_film_ends_says_so(local: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    command = ("clip", f"{ID}@0:20-0:40", *options, "-o", tmp_path / "out")
    (clip,) = local(*command, "--json").result["clips"]
    assert (clip["start"], clip["end"], clip["cut_short"]) == (20.0, pytest.approx(24.0, abs=0.1), True)
    assert probed(Path(clip["file"]))[0] == pytest.approx(4.0, abs=0.2)
    assert "(the film ends here)" in local(*command).out


def test_the_caption_on_the_screen_when_a_clip_begins_is_in_it(local: Run, tmp_path: Path) -> None:
    local("clip", f"{ID}@0:10-0:11", "--subs", "soft", "-o", tmp_path / "out")
    (path,) = (tmp_path / "out").iterdir()
    assert "00:00:00,000 --> 00:00:01,000\n국수는" in captions_of(path)


@pytest.mark.parametrize("subtitles", ["soft", pytest.param("burn", marks=pytest.mark.campaign(part="players"))])
def test_captions_are_beside_the_picture_or_in_it(local: Run, tmp_path: Path, subtitles: str) -> None:
    local("clip", f"{ID}@0:07-0:14", "--subs", subtitles, "-o", tmp_path / "out")
    (path,) = (tmp_path / "out").iterdir()
    seconds, streams = probed(path)
    assert seconds == pytest.approx(7.0, abs=0.1)
    assert ("subtitle" in streams) == (subtitles == "soft")
    if subtitles == "soft":
        text = captions_of(path)
        assert "00:00:01,000 --> 00:00:05,000" in text
        assert "국수는 이렇게" in text
        assert "고명을" in text
        assert "멸치" not in text


@pytest.mark.campaign(part="players")
def test_scenes_become_one_video(local: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("clip", f"{ID}@0:08-0:10", f"{ID}@0:01-0:04", "--join", "--subs", "soft", "--height", "144", "-o", out)
    path = Path(local(*command, "--json").result["joined"])
    assert files(out) == [path.name]
    seconds, streams = probed(path)
    assert seconds == pytest.approx(5.0, abs=0.15)
    assert streams == {"video", "audio", "subtitle"}
    assert "00:00:02,000 --> 00:00:05,000\n얘들아" in captions_of(path)


def picture(path: Path) -> tuple[int, int, str]:
    """Return width, height and rate of a video."""
    entries = ("-select_streams", "v", "-show_entries", "stream=width,height,avg_frame_rate", "-of", "csv=p=0")
    command = ["ffprobe", "-v", "error", *entries, str(path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True)
    width, height, rate = printed.stdout.strip().split(",")
    return int(width), int(height), rate


@pytest.mark.parametrize(("options", "expected"), [((), (320, 240, "25/1")), (("--height", "144"), (192, 144, "25/1"))])
def test_a_joined_video_has_the_size_and_the_rate_of_its_files(
    local: Run, tmp_path: Path, options: tuple[str, ...], expected: tuple[int, int, str]
) -> None:
    path = tmp_path / "한 편.mp4"
    command = ("clip", f"{ID}@0:08-0:09", f"{ID}@0:01-0:02", "--join", *options, "-o", path, "--json")
    assert local(*command).result["joined"] == str(path)
    assert picture(path) == expected
    assert local(*command).document["errors"][0]["code"] == "export_exists"
    assert local(*command, "--force").code == 0


@pytest.mark.parametrize("command", [(f"{ID}@0:08-0:09",), (f"{ID}@0:08-0:09", "--join")])
def test_the_name_of_a_video_is_no_folder(local: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "out.mkv"
    refused = local("clip", *command, "-o", path, "--json")
    assert (refused.code, refused.document["errors"][0]["code"]) == (2, "clip_folder")
    assert not path.exists()


@pytest.mark.campaign(part="players")
def test_a_video_without_sound_is_joined_with_silence(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    made_video(folder / f"무성 [{ID}].mp4", 14, sound=False)
    (folder / f"무성 [{ID}].ko.vtt").write_text(CAPTIONS, encoding="utf-8")
    run("index", folder, "--no-contexts")
    command = ("clip", f"{ID}@0:01-0:02", f"{ID}@0:08-0:09", "--join", "--height", "144", "-o", tmp_path, "--json")
    seconds, streams = probed(Path(run(*command).result["joined"]))
    assert streams == {"video", "audio"}
    assert seconds == pytest.approx(2.0, abs=0.15)


def test_a_file_that_lists_others_reaches_no_network(local: Run, tmp_path: Path) -> None:
    (media,) = (tmp_path / "videos").glob("*.mp4")
    media.write_text("#EXTM3U\n#EXTINF:5,\nhttp://127.0.0.1:9/part.ts\n#EXT-X-ENDLIST\n")
    told = local("clip", f"{ID}@0:08-0:12", "--exact", "-o", tmp_path / "out", "--json")
    assert (told.code, told.document["errors"][0]["code"]) == (1, "clip_failed")
    assert not (tmp_path / "out").exists()


def test_anki_s_cards_bring_the_clips(local: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    local("clip", f"{ID}@0:08-0:12", "--pad", "1", "-o", out)
    cards = tmp_path / "cards.apkg"
    assert local("export", f"{ID}@0:08-0:12", f"{ID}@0:01-0:04", "--clips", out, "-o", cards).code == 0
    with zipfile.ZipFile(cards) as package:
        assert json.loads(package.read("media")) == {"0": f"{ID}_7000-13000.mp4"}
    refused = local("export", f"{ID}@0:08", "--clips", tmp_path / "none", "-o", tmp_path / "other.apkg", "--json")
    assert refused.failure == "unreadable"
    assert local("export", f"{ID}@0:08", "--format", "anki", "--json").failure == "export_without_file"


def test_without_ffmpeg_one_sentence_says_so(local: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subtitle_rag.base.ffmpeg.shutil.which", lambda _name: None)
    told = local("clip", f"{ID}@0:08", "-o", tmp_path / "out", "--json")
    assert told.failure == "ffmpeg_missing"
    assert not (tmp_path / "out").exists()


def test_no_scene_is_a_mistake(local: Run) -> None:
    assert local("clip", "--json").failure == "nothing_chosen"


def test_folders_of_killed_runs_are_swept(local: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    for name in (f"{clip_files.WORK}old", "mine"):
        (out / name).mkdir(parents=True)
    local("clip", f"{ID}@0:08-0:09", "-o", out)
    assert f"{clip_files.WORK}old" in files(out)
    monkeypatch.setattr(clip_files, "DAY_S", -1)
    local("clip", f"{ID}@0:10-0:11", "-o", out)
    assert [name for name in files(out) if not name.endswith(".mp4")] == ["mine"]


@pytest.fixture
def youtube(video_file: Path) -> Iterator[StandIn]:
    with stand_in() as server:
        talk = Caption(lines=((1_000, 4_000, "멸치 육수부터 끓여 볼게요"), (8_000, 12_000, "국수를 삶아요")))
        clip = Clip(ID, HOSTILE, [talk], duration=24, media=video_file.read_bytes())
        server.add(Channel("UC" + "a" * 22, "@느린부엌", "느린 부엌", [clip]))
        yield server


@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), marks=pytest.mark.campaign(part="players")),
        ("--exact",),
        pytest.param(("--subs", "soft"), marks=pytest.mark.campaign(part="players")),
    ],
)
def test_a_section_of_youtube_is_downloaded(
    run: Run, youtube: StandIn, tmp_path: Path, options: tuple[str, ...]
) -> None:
    assert run("index", f"https://www.youtube.com/watch?v={ID}", "--no-contexts").code == 0
    assert youtube.count("media") == 0
    out = tmp_path / "out"
    (clip,) = run("clip", f"{ID}@0:08-0:12", *options, "-o", out, "--json").result["clips"]
    assert youtube.count("media") > 0
    seconds, streams = probed(Path(clip["file"]))
    assert {"video", "audio"} <= streams
    assert ("subtitle" in streams) == ("soft" in options)
    if options:
        assert seconds == pytest.approx(4.0, abs=0.1)
    else:
        assert 3.9 <= seconds <= 7.3
    assert files(out) == [Path(clip["file"]).name]


@pytest.mark.campaign(part="players")
def test_a_video_that_youtube_refuses_leaves_the_others(run: Run, youtube: StandIn, local: Run, tmp_path: Path) -> None:
    other = "vid00000002"
    youtube.add(Clip(other, "다른 영상", duration=24))
    run("index", f"https://www.youtube.com/watch?v={other}", "--no-contexts")
    youtube.refuse("watch", status=404, times=None)
    youtube.refuse("player", status=404, times=None)
    told = run("clip", f"{other}@0:01-0:02", f"{ID}@0:01-0:02", "-o", tmp_path / "out", "--json")
    assert told.code == 0
    assert len(told.document["errors"]) == 1
    assert [clip["video"]["id"] for clip in told.document["result"]["clips"]] == [ID]
