"""What arrives in other programs, to the frame: a film has the number of each frame in its picture.

| Format            | Program | What arrives                                            |
|-------------------|---------|---------------------------------------------------------|
| clip, exact       | ffmpeg  | the frames of the range, and no other                   |
| clip, copied      | ffmpeg  | the frames from the key frame before on                 |
| EDL               | mpv     | the frames of the ranges, in the order that is asked for |
| clips, joined     | ffmpeg  | the frames of the ranges as one film, in their order    |
| m3u               | VLC     | the frames of the ranges, in their order, to 0.3 s       |
| m3u               | mpv     | the films, whole and in order                           |
| clip of no time   | -       | an error, and no file                                   |

`test_players` has jumps, `play` and m3u in mpv, `tests/exporting/test_anki_cards.py` Anki,
`tests/web/test_exported_page.py` the page in Chromium.
"""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.commandline import Run, ran
from tests.support.invented import end_hosts

pytestmark = [
    pytest.mark.campaign(part="players"),
    pytest.mark.hosts,
    pytest.mark.programs("ffmpeg", "ffprobe", "mpv", "vlc"),
]

ID = "framesfilm1"
RATE, SECONDS, KEY_FRAMES = 25, 24, 125
WIDTH, HEIGHT, BIT = 96, 32, 6
"""Sixteen columns of six pixels: the bits of the frame's number, the lowest first."""
PICTURE = (
    f"color=black:s={WIDTH}x{HEIGHT}:r={RATE}:d={SECONDS},"
    f"geq=lum='if(mod(floor(N/pow(2,floor(X/{BIT}))),2),235,16)':cb=128:cr=128"
)
VLC_S = 0.3
"""VLC begins and ends an entry some frames beside its times."""
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
def run(isolated_home: Path, capsys: pytest.CaptureFixture[str], film: Path) -> Iterator[Run]:
    isolated_home.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="srm-", dir="/tmp"))
    folder.chmod(0o755)  # VLC refuses to be root, and is somebody else then
    shutil.copy(film, folder / f"국수 [{ID}].mp4")
    (folder / f"국수 [{ID}].ko.vtt").write_text(CAPTIONS, encoding="utf-8")
    assert ran(capsys, "index", folder, "--no-contexts").code == 0
    yield partial(ran, capsys)
    end_hosts([isolated_home / "data" / "index"])
    shutil.rmtree(folder)


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


def numbers_in_vlc(playlist: Path) -> list[int]:
    """Return the numbers in the pictures that VLC shows, one playlist entry after the other.

    VLC truncates its file of pictures before each entry; a pipe keeps them all.
    """
    pipe, end = playlist.with_name("pictures"), b"the end"
    os.mkfifo(pipe)
    pipe.chmod(0o622)
    descriptor = os.open(pipe, os.O_RDWR)  # open for writing, too: no end between two entries
    parts: list[bytes] = []

    def read() -> None:
        while not b"".join(parts[-2:]).endswith(end):
            parts.append(os.read(descriptor, 1 << 16))

    reader = threading.Thread(target=read)
    reader.start()
    window = [
        "--intf=dummy",
        "--no-audio",
        "--no-spu",
        "--avcodec-hw=none",
        "--no-drop-late-frames",
        "--no-skip-frames",
    ]
    shown = ["--vout=yuv", f"--yuv-file={pipe}", "--yuv-yuv4mpeg2"]
    user = "nobody" if os.geteuid() == 0 else None
    command = ["vlc", *window, *shown, str(playlist), "vlc://quit"]
    try:
        subprocess.run(command, check=True, timeout=120, user=user, capture_output=True)
    finally:
        os.write(descriptor, end)
        reader.join()
        os.close(descriptor)
    return [number(picture) for picture in b"".join(parts).split(b"FRAME\n")[1:]]


def frames(start: float, end: float) -> list[int]:
    return list(range(round(start * RATE), round(end * RATE)))


def parts(shown: Sequence[int]) -> list[list[int]]:
    """Divide the numbers where they do not go on: a picture that stays or is left out is no end."""
    ends = [at for at, (before, after) in enumerate(pairwise(shown), 1) if not 0 <= after - before <= RATE * VLC_S]
    return [list(shown[start:end]) for start, end in pairwise((0, *ends, len(shown)))]


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


def test_an_m3u_has_its_ranges_in_vlc(run: Run, film: Path, tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="srm-", dir="/tmp"))
    folder.chmod(0o755)
    path, ranges = folder / "scenes.m3u", [(20, 21), (3, 5), (11, 12)]
    told = run("export", *(f"{ID}@0:{start:02}-0:{end:02}" for start, end in ranges), "--format", "m3u", "-o", path)
    assert told.code == 0, told.err
    path.chmod(0o644)
    shown = parts(numbers_in_vlc(path))
    shutil.rmtree(folder)
    assert len(shown) == len(ranges), shown
    for (start, end), part in zip(ranges, shown, strict=True):
        assert part[0] / RATE == pytest.approx(start, abs=VLC_S)
        assert part[-1] / RATE == pytest.approx(end, abs=VLC_S)


def test_an_edl_has_its_ranges_in_mpv(run: Run, tmp_path: Path) -> None:
    path, shots = tmp_path / "scenes.edl", tmp_path / "shots"
    told = run("export", f"{ID}@0:20-0:21", f"{ID}@0:03-0:04", "--format", "edl", "-o", path)
    assert told.code == 0, told.err
    options = ["--no-config", "--no-audio", "--vo=image", "--vo-image-format=png", f"--vo-image-outdir={shots}"]
    subprocess.run(["mpv", "--really-quiet", *options, str(path)], check=True, timeout=120)
    assert numbers(shots) == [*frames(20, 21), *frames(3, 4)]


@pytest.mark.parametrize("options", [(), ("--exact",)])
def test_a_time_that_the_film_does_not_have_makes_no_clip(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    told = run("clip", f"{ID}@1:00-1:05", *options, "-o", tmp_path / "out")
    assert told.code
    assert not list((tmp_path / "out").glob("*.mp4"))
