"""Caption tracks inside of films: chosen by language, pictures named as such, read once."""

import subprocess
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import AppError, CaptionError
from subtitle_rag.base.domain.events import FileNotice, IndexReport
from subtitle_rag.base.ffmpeg import EmbeddedTrack, Ffmpeg, FilmProbe, MediaProbe
from subtitle_rag.captions.files import discover, read
from subtitle_rag.captions.films import find_media
from subtitle_rag.captions.parse import parse_captions
from tests.support.hermetic import program
from tests.support.place import Place
from tests.support.reading import SUBRIP, groups, put

TWO_LINES = SUBRIP + "\n2\n00:00:03,000 --> 00:00:04,000\n물이 끓네요\n"

PICTURES, KOREAN, ENGLISH = (
    EmbeddedTrack(0, "", "kor", False),
    EmbeddedTrack(1, "srt", "kor", False),
    EmbeddedTrack(2, "srt", "eng", False),
)
FORCED = EmbeddedTrack(3, "srt", "kor", True)


class Films:
    """Stands for ffmpeg: the tracks of each film by name, and which were extracted."""

    def __init__(self) -> None:
        self.tracks: dict[str, tuple[EmbeddedTrack, ...]] = {}
        self.extracted: list[tuple[str, int]] = []
        self.rates: dict[str, Fraction] = {}

    def film(self, path: Path) -> FilmProbe:
        if path.name not in self.tracks:
            raise AppError("film_unreadable", reason="moov atom not found")
        return FilmProbe(self.tracks[path.name], "", "2023-04-05T10:00:00Z" if "날짜" in path.name else "")

    def probe(self, path: Path) -> MediaProbe:
        if path.name not in self.rates:
            raise AppError("clip_failed", reason="no such file")
        return MediaProbe(frozenset({"video"}), 60_000, (64, 64), self.rates[path.name])

    def extract(self, path: Path, track: int, _format: str, _most: int) -> bytes:
        self.extracted.append((path.name, track))
        return TWO_LINES.encode()


@pytest.fixture
def films(monkeypatch: pytest.MonkeyPatch) -> Films:
    stand_in = Films()
    monkeypatch.setattr(Ffmpeg, "find", lambda: stand_in)
    return stand_in


def test_a_track_is_chosen_by_language_and_is_no_forced_one(tmp_path: Path, films: Films) -> None:
    put(tmp_path, "가.mkv", "나.mp4", "다.mkv")
    films.tracks = {"가.mkv": (PICTURES, FORCED, ENGLISH, KOREAN), "나.mp4": (ENGLISH,), "다.mkv": (PICTURES,)}
    found = {group.video.title: group for group in groups(tmp_path)}
    assert {title: (group.candidates[0].language, group.candidates[0].track) for title, group in found.items()} == {
        "가": ("ko", 1),
        "나": ("en", 2),
    }
    assert find_media(found["가"].video) == tmp_path / "가.mkv"
    (notice,) = (entry for entry in discover([tmp_path]) if isinstance(entry, FileNotice))
    assert (notice.code, notice.details["counts"]) == ("left_out_formats", {"mkv": 1})


@pytest.mark.parametrize("tag", ["", "und", "eng"])
def test_the_title_of_a_track_without_a_language_says_it(tmp_path: Path, films: Films, tag: str) -> None:
    put(tmp_path, "가.mkv")
    titled = [EmbeddedTrack(1, "srt", tag, False, "English"), EmbeddedTrack(2, "srt", tag, False, "한국어 (SDH)")]
    films.tracks = {"가.mkv": (ENGLISH, *titled, EmbeddedTrack(3, "srt", "jpn", False, "한국어 표지판"))}
    (file,) = groups(tmp_path)[0].candidates
    assert (file.track, file.language) == (2, "ko")


def test_signs_beside_a_film_do_not_hide_the_captions_inside(tmp_path: Path, films: Films) -> None:
    put(tmp_path, "가.mkv", "가.forced.srt", "나.mkv", "나.ko.forced.srt")
    films.tracks = dict.fromkeys(("가.mkv", "나.mkv"), (KOREAN,))
    assert [group.candidates[0].path.suffix for group in groups(tmp_path)] == [".mkv", ".mkv"]


def test_a_file_beside_the_film_comes_first_unless_its_language_is_another(tmp_path: Path, films: Films) -> None:
    put(tmp_path, "가.mkv", "나.mkv", "날짜.mkv")
    put(tmp_path, "가.srt", "나.en.srt", "날짜.ko.srt")
    films.tracks = dict.fromkeys(("가.mkv", "나.mkv", "날짜.mkv"), (KOREAN,))
    found = {group.video.title: group for group in groups(tmp_path)}
    assert [file.path.name for file in found["가"].candidates] == ["가.srt"]
    assert [file.path.name for file in found["나"].candidates] == ["나.mkv", "나.en.srt"]
    assert found["날짜"].video.published == date(2023, 4, 5)


def test_films_and_sounds_without_captions_and_a_missing_ffmpeg_are_told(
    tmp_path: Path, films: Films, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "가.mkv", "깨짐.mp4", "노래.mp3", "말.ogg", "가사.aac", "가사.lrc")
    (tmp_path / "가사.lrc").write_text("[00:01.00]국수를 삶아요\n", encoding="utf-8")
    films.tracks = {"가.mkv": ()}

    def told() -> dict[str, dict[str, int]]:
        notices = [entry for entry in discover([tmp_path]) if isinstance(entry, FileNotice)]
        return {notice.code: notice.details["counts"] for notice in notices}

    assert told() == {"left_out_films": {"mkv": 1, "mp4": 1, "mp3": 1, "ogg": 1}}
    monkeypatch.undo()
    monkeypatch.setattr("subtitle_rag.base.ffmpeg.shutil.which", lambda _name: None)
    assert told() == {"left_out_unseen": {"mkv": 1, "mp4": 1}, "left_out_films": {"mp3": 1, "ogg": 1}}


def test_a_film_that_has_not_changed_is_read_once(place: Place, tmp_path: Path, films: Films) -> None:
    put(tmp_path / "영화", "가.mkv")
    films.tracks = {"가.mkv": (PICTURES, KOREAN)}
    sums = []
    for _run in range(2):
        report: IndexReport = place.report(tmp_path / "영화")
        sums.append((report.new, report.unchanged, report.failed))
    assert sums == [(1, 0, 0), (0, 1, 0)]
    assert films.extracted == [("가.mkv", 1)]


def test_a_track_that_cannot_be_extracted_is_told(
    tmp_path: Path, films: Films, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: Any) -> bytes:
        raise AppError("film_unreadable", reason="Invalid data found")

    put(tmp_path, "가.mkv")
    films.tracks = {"가.mkv": (KOREAN,)}
    file = groups(tmp_path)[0].candidates[0]
    monkeypatch.setattr(films, "extract", fail)
    with pytest.raises(CaptionError) as caught:
        read(file)
    assert (caught.value.code, caught.value.details["reason"]) == ("unreadable", "Invalid data found")


@pytest.mark.programs("ffmpeg", "ffprobe")
@pytest.mark.skipif(not (program("ffmpeg") and program("ffprobe")), reason="ffmpeg is not installed")
@pytest.mark.parametrize(("suffix", "codec"), [("mkv", "srt"), ("mkv", "ass"), ("mp4", "mov_text"), ("mkv", "webvtt")])
def test_the_real_ffmpeg_gives_text_and_times(tmp_path: Path, suffix: str, codec: str) -> None:
    captions, film = tmp_path / "captions.srt", tmp_path / "영화" / f"-가 $(x).{suffix}"
    film.parent.mkdir()
    captions.write_text(TWO_LINES, encoding="utf-8")
    picture = ["-f", "lavfi", "-i", "color=c=black:s=64x64:r=5:d=5"]
    maps = ["-map", "0:v", "-map", "1", "-map", "1", "-c:v", "mpeg4", "-c:s", codec]
    languages = ["-metadata:s:s:0", "language=eng", "-metadata:s:s:1", "language=kor", "-metadata", "title=골목 국수"]
    command = ["ffmpeg", "-v", "error", "-y", *picture, "-i", f"file:{captions}", *maps, *languages, f"file:{film}"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    (group,) = groups(film.parent)
    track = read(group.candidates[0])
    assert (group.video.title, track.language, group.candidates[0].track) == ("골목 국수", "ko", 1)
    cues = parse_captions(track.raw, track.format, language="ko")
    assert [(cue.start_ms, cue.end_ms, cue.text) for cue in cues] == [
        (1000, 2000, "국수를 삶아요"),
        (3000, 4000, "물이 끓네요"),
    ]


@pytest.mark.programs("ffmpeg", "ffprobe")
@pytest.mark.skipif(not (program("ffmpeg") and program("ffprobe")), reason="ffmpeg is not installed")
def test_a_film_that_ffmpeg_cannot_read_is_told_as_a_film_and_no_clip(tmp_path: Path) -> None:
    (broken := tmp_path / "깨진.mkv").write_bytes(b"\x1aE\xdf\xa3" + bytes(64))
    with pytest.raises(AppError) as raised:
        Ffmpeg.find().film(broken)
    assert raised.value.code == "film_unreadable"
    assert "clip" not in raised.value.message


@pytest.mark.parametrize("frames", ["{25}{100}국수를 삶아요\n", "{1}{1}25.000\n{25}{100}국수를 삶아요\n"])
def test_lines_that_count_frames_take_the_rate_of_their_film(tmp_path: Path, films: Films, frames: str) -> None:
    put(tmp_path, "가.sub", text=frames)
    put(tmp_path, "가.mkv", "가 sample.mkv")
    films.tracks, films.rates = {"가.mkv": ()}, {"가.mkv": Fraction(25)}
    (group,) = groups(tmp_path)
    for _run in range(2):
        track = read(group.candidates[0])
        assert [(cue.start_ms, cue.end_ms) for cue in parse_captions(track.raw, track.format)] == [(1000, 4000)]


@pytest.mark.parametrize("rate", [None, Fraction(0)])
def test_lines_that_count_frames_of_no_film_are_refused(tmp_path: Path, films: Films, rate: Fraction | None) -> None:
    put(tmp_path, "가.sub", text="{25}{100}국수를 삶아요\n")
    put(tmp_path, "가.mkv")
    films.rates = {} if rate is None else {"가.mkv": rate}
    track = read(groups(tmp_path)[0].candidates[0])
    with pytest.raises(CaptionError) as caught:
        parse_captions(track.raw, track.format)
    assert "a film beside it" in caught.value.message
