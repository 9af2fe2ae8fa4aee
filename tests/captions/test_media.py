"""Which file is the video of captions."""

import unicodedata
from pathlib import Path

import pytest

from subtitle_rag.captions.files import CaptionGroup, discover
from subtitle_rag.captions.media import find_media
from subtitle_rag.domain import Video

ID = "[dQw4w9WgXcQ]"


def put(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"WEBVTT\n\n")


def video(folder: Path) -> Video:
    """The one video of the captions in a folder, as it is kept."""
    [group] = discover([folder])
    assert isinstance(group, CaptionGroup)
    return group.video


@pytest.mark.parametrize(
    ("captions", "file"),
    [
        (f"제목 {ID}.ko.vtt", f"제목 {ID}.mp4"),
        (f"제목 {ID}.ko-orig.json3", f"제목 {ID}.webm"),
        ("제목.vtt", "제목.MKV"),
        ("제목.kor.srt", "제목.m4a"),
        ("제목.zh-Hans.srt", "제목.mov"),
        ("제목.mp4.ko.srt", "제목.mp4"),
        ("제목.mp4.srt", "제목.mp4"),
        ("제목. 1부.ko.vtt", "제목. 1부.mp3"),
        ("[대괄호]*?.vtt", "[대괄호]*?.opus"),
    ],
)
def test_the_file_has_the_captions_name_but_for_its_language(tmp_path: Path, captions: str, file: str) -> None:
    put(tmp_path, captions, file)
    assert find_media(video(tmp_path)) == tmp_path / file


@pytest.mark.parametrize(
    "file",
    [
        "제목 2부.mp4",
        "제.mp4",
        "제목.mp4.part",
        "제목.f137.mp4",
        "제목.jpg",
        "제목",
        "mp4",
        ".mp4",
        "제목.ko.txt",
    ],
)
def test_other_files_are_not_the_video(tmp_path: Path, file: str) -> None:
    put(tmp_path, "제목.ko.vtt", file)
    assert find_media(video(tmp_path)) is None


def test_the_rest_of_a_title_is_no_language(tmp_path: Path) -> None:
    put(tmp_path, "제목.이어서.vtt", "제목.mp4")
    assert find_media(video(tmp_path)) is None


def test_pictures_come_before_sound(tmp_path: Path) -> None:
    put(tmp_path, "제목.ko.vtt", "제목.flac", "제목.m4a", "제목.webm", "제목.mkv")
    assert find_media(video(tmp_path)) == tmp_path / "제목.mkv"


def test_a_folder_is_no_video(tmp_path: Path) -> None:
    put(tmp_path, "제목.ko.vtt")
    (tmp_path / "제목.mp4").mkdir()
    assert find_media(video(tmp_path)) is None


def test_decomposed_names_are_found_as_the_disk_spells_them(tmp_path: Path) -> None:
    apart = unicodedata.normalize("NFD", "한글")
    put(tmp_path / apart, f"{apart}.ko.vtt", f"{apart}.mp4")
    own = video(tmp_path)
    assert own.source is not None
    assert unicodedata.is_normalized("NFC", own.source)
    found = find_media(own)
    assert found is not None
    assert found.samefile(tmp_path / apart / f"{apart}.mp4")


def test_a_video_that_is_not_on_a_disk_has_no_file(tmp_path: Path) -> None:
    assert find_media(Video("dQw4w9WgXcQ", "제목", "UC1", "채널")) is None
    gone = tmp_path / "뽑힌 디스크" / "안" / "제목.ko.vtt"
    assert find_media(Video("file-1", "제목", "UC1", "채널", source=str(gone))) is None
