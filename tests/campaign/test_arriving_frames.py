"""What arrives in other programs, to the frame: a film has the number of each frame in its picture.

| Format            | Program | What arrives                                            |
|-------------------|---------|---------------------------------------------------------|
| clip, exact       | ffmpeg  | the frames of the range, and no other                   |
| clip, copied      | ffmpeg  | the frames from the key frame before on                 |
| clips, joined     | ffmpeg  | the frames of the ranges as one film, in their order    |
| clip of no time   | -       | an error, and no file                                   |

`test_players` has jumps and `play` in mpv, `tests/sharing/test_anki_cards.py` Anki.
"""

import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.support.commandline import Run, ran
from tests.support.invented import end_hosts

pytestmark = [
    pytest.mark.campaign(part="players"),
    pytest.mark.hosts,
    pytest.mark.programs("ffmpeg", "ffprobe"),
]

ID = "framesfilm1"
RATE, SECONDS, KEY_FRAMES = 25, 24, 125
WIDTH, HEIGHT, BIT = 96, 32, 6
"""Sixteen columns of six pixels: the bits of the frame's number, the lowest first."""
PICTURE = (
    f"color=black:s={WIDTH}x{HEIGHT}:r={RATE}:d={SECONDS},"
    f"geq=lum='if(mod(floor(N/pow(2,floor(X/{BIT}))),2),235,16)':cb=128:cr=128"
)
CAPTIONS = "WEBVTT\n\n00:00:01.000 --> 00:00:23.000\n국수를 삶아요\n"


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    codec = ["-c:v", "libx264", "-qp", "8", "-pix_fmt", "yuv420p", "-sc_threshold", "0"]
    key_frames = ["-g", str(KEY_FRAMES), "-keyint_min", str(KEY_FRAMES)]
    command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", PICTURE, *codec, *key_frames, str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


@pytest.fixture
def run(isolated_home: Path, capsys: pytest.CaptureFixture[str], film: Path, tmp_path: Path) -> Iterator[Run]:
    isolated_home.mkdir(parents=True, exist_ok=True)
    folder = tmp_path / "films"
    folder.mkdir()
    shutil.copy(film, folder / f"국수 [{ID}].mp4")
    (folder / f"국수 [{ID}].ko.vtt").write_text(CAPTIONS, encoding="utf-8")
    assert ran(capsys, "index", folder, "--no-contexts").code == 0
    yield partial(ran, capsys)
    end_hosts([isolated_home / "data" / "index"])


def numbers(source: Path) -> list[int]:
    """Return the numbers in the pictures of a video, or of a folder of pictures."""
    read = ["-pattern_type", "glob", "-i", f"{source}/*.png"] if source.is_dir() else ["-i", str(source)]
    command = [
        "ffmpeg",
        "-v",
        "error",
        *read,
        "-an",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "gray",
        "-fps_mode",
        "passthrough",
        "-",
    ]
    raw = subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout
    return [number(raw[at : at + WIDTH * HEIGHT]) for at in range(0, len(raw), WIDTH * HEIGHT)]


def number(picture: bytes) -> int:
    """Return the number in the luminance of a picture."""
    line = picture[HEIGHT // 2 * WIDTH :]
    return sum((line[bit * BIT + BIT // 2] > 128) << bit for bit in range(16))


def frames(start: float, end: float) -> list[int]:
    return list(range(round(start * RATE), round(end * RATE)))


def test_the_film_has_its_numbers(film: Path) -> None:
    assert numbers(film) == frames(0, SECONDS)


@pytest.mark.parametrize(("start", "end"), [(0, 2), (8, 12), (10, 11), (22, 24)])
def test_an_exact_clip_has_the_frames_of_its_range(run: Run, tmp_path: Path, start: int, end: int) -> None:
    (clip,) = run("clip", f"{ID}@0:{start:02}-0:{end:02}", "--exact", "-o", tmp_path / "out", "--json").result["clips"]
    assert numbers(Path(clip["file"])) == frames(start, end)


def test_a_copied_clip_begins_at_the_key_frame_before(run: Run, tmp_path: Path) -> None:
    (clip,) = run("clip", f"{ID}@0:08-0:12", "-o", tmp_path / "out", "--json").result["clips"]
    shown = numbers(Path(clip["file"]))
    assert shown[0] in (KEY_FRAMES, 8 * RATE), "a player may honour the edit list"
    assert set(frames(8, 12)) <= set(shown)
    assert shown == list(range(shown[0], shown[-1] + 1))
    assert shown[-1] <= 12 * RATE + 2


def test_joined_clips_have_the_frames_of_their_ranges_in_one_film(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "joined.mp4"
    ranges = [f"{ID}@0:20-0:21", f"{ID}@0:03-0:05", f"{ID}@0:11-0:12"]
    told = run("clip", *ranges, "--join", "-o", path)
    assert told.code == 0, told.err
    assert numbers(path) == [*frames(20, 21), *frames(3, 5), *frames(11, 12)]


@pytest.mark.parametrize("options", [(), ("--exact",)])
def test_a_time_that_the_film_does_not_have_makes_no_clip(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    told = run("clip", f"{ID}@1:00-1:05", *options, "-o", tmp_path / "out")
    assert told.code
    assert not list((tmp_path / "out").glob("*.mp4"))
