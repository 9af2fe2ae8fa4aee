"""The film of a caption file, its tracks, and what stands beside it."""

import json
from datetime import date
from pathlib import Path

import pytest

from subtitle_rag.base.domain.events import FileNotice
from subtitle_rag.base.domain.values import Chapter
from subtitle_rag.captions import films
from subtitle_rag.captions.files import discover, silent_films
from subtitle_rag.captions.films import find_media
from tests.support.cases import cases
from tests.support.reading import SUBRIP, groups, put

ID, OTHER_ID = "aB3dE6gH9jK", "zY9xW8vU7tS"


@cases(
    ("captions", "media"),
    [
        ("영화 (2024)/Subs/2_Korean.srt", "영화 (2024)/영화 (2024).mkv"),
        ("영화 (2024)/subs/영화 (2024).ko.srt", "영화 (2024)/영화 (2024).mkv"),
        ("영화 (2024)/자막/Korean.srt", "영화 (2024)/영화.1080p.mkv"),
        ("영화 (2024)/ko.srt", "영화 (2024)/영화 (2024).mkv"),
        ("1기/Subs/연속극.S01E02/2_Korean.srt", "1기/연속극.S01E02.mkv"),
        ("영화 [한글자막].smi", "영화 [한글자막].mkv"),
        ("영화_kor.srt", "영화.mp4"),
    ],
)
def test_captions_belong_to_the_film_whose_folder_or_name_they_share(tmp_path: Path, captions: str, media: str) -> None:
    root = tmp_path / str(abs(hash(captions)))
    put(root, captions, media)
    put(root, "영화 (2024)/sample.mkv", text="")
    (group,) = groups(root)
    assert find_media(group.video) == root / media
    left_out = [entry for entry in discover([root]) if isinstance(entry, FileNotice)]
    assert [notice.details["counts"] for notice in left_out] == [{"mkv": 1}], "only the sample has no captions"
    assert group.video.title == Path(media).stem.removesuffix(" [한글자막]")


def test_all_tracks_of_a_film_are_one_video_and_the_fuller_one_is_taken(tmp_path: Path) -> None:
    put(tmp_path, "영화.mp4", "영화.ko.forced.srt", "영화.ko.ass", "영화.en.srt", "Subs/영화.ko.hi.srt")
    put(tmp_path, "영화.ko.srt", text=SUBRIP + "\n2\n00:00:03,000 --> 00:00:04,000\n물이 끓네요\n")
    put(tmp_path, "영화.ko.ass", text="[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,간판\n")
    (group,) = groups(tmp_path)
    names = [file.path.name for file in group.candidates]
    assert names == ["영화.ko.srt", "영화.ko.ass", "영화.ko.hi.srt", "영화.ko.forced.srt", "영화.en.srt"]


def test_the_richer_format_of_the_same_text_comes_first(tmp_path: Path) -> None:
    put(tmp_path, "영화.ko.srt")
    put(tmp_path, "영화.ko.vtt", text="WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n국수를 삶아요.\n")
    assert [file.path.suffix for file in groups(tmp_path)[0].candidates] == [".vtt", ".srt"]


def test_an_info_json_is_believed_before_the_name(tmp_path: Path) -> None:
    info = {
        "id": ID,
        "extractor": "youtube",
        "title": "시장\u202e 구경\n",
        "channel": "느긋한 식탁",
        "channel_id": "UCabcdefghijklmnopqrstuv",
        "upload_date": "20240301",
        "duration": 61.5,
        "chapters": [{"start_time": 30, "title": "둘"}, {"start_time": 0.0, "title": "하나", "end_time": 30}],
    }
    put(tmp_path, "자리만.ko.vtt", f"딴 이름 [{OTHER_ID}].ko.vtt")
    (tmp_path / "자리만.info.json").write_text(json.dumps(info))
    (tmp_path / f"딴 이름 [{OTHER_ID}].info.json").write_text(json.dumps(info | {"extractor": "navertv", "id": "123"}))
    first, second = sorted((group.video for group in groups(tmp_path)), key=lambda video: video.url is None)
    assert (first.id, first.title, first.channel, first.published) == (ID, "시장 구경", "느긋한 식탁", date(2024, 3, 1))
    assert (first.channel_id, first.duration_ms) == ("UCabcdefghijklmnopqrstuv", 61_500)
    assert first.chapters == (Chapter(0, "하나"), Chapter(30_000, "둘"))
    assert first.url == f"https://www.youtube.com/watch?v={ID}"
    assert second.url is None
    assert second.id.startswith("file-")


@cases(
    ("nfo", "title", "channel", "day"),
    [
        (
            "<movie><title>호숫가의 집</title><premiered>2023-05-01</premiered></movie>",
            "호숫가의 집",
            "모음",
            date(2023, 5, 1),
        ),
        ("<movie><title>호숫가 &amp; 집</title><year>2023</year></movie>", "호숫가 & 집", "모음", date(2023, 1, 1)),
        (
            "<episodedetails><title>첫날</title><showtitle>골목</showtitle><season>1</season><episode>2</episode>"
            "<aired>2022-02-03</aired></episodedetails>",
            "골목 S01E02 첫날",
            "골목",
            date(2022, 2, 3),
        ),
        ("아무 글", "영화 가", "모음", None),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><movie><title>&a;</title></movie>", "&a;", "모음", None),
    ],
)
def test_an_nfo_says_title_series_and_day(tmp_path: Path, nfo: str, title: str, channel: str, day: date | None) -> None:
    folder = tmp_path / "모음"
    put(folder, "영화 가.ko.srt")
    (folder / "영화 가.nfo").write_text(nfo, encoding="utf-8")
    (group,) = groups(folder)
    assert (group.video.title, group.video.channel, group.video.published) == (title, channel, day)


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("영화 (2024)/영화.srt", date(2024, 1, 1)),
        ("2024-01-31 나들이/영상.srt", date(2024, 1, 31)),
        ("나들이/영상 20240131.srt", date(2024, 1, 31)),
        ("나들이/영상.srt", None),
    ],
)
def test_the_path_says_the_day_where_nothing_else_does(tmp_path: Path, name: str, day: date | None) -> None:
    put(tmp_path, name)
    assert groups(tmp_path)[0].video.published == day


SUFFIXES = [
    ".ogg",
    ".oga",
    ".aac",
    ".ac3",
    ".aif",
    ".aiff",
    ".wma",
    ".mka",
    ".amr",
    ".m4b",
    ".weba",
    ".wmv",
    ".asf",
    ".mpg",
    ".mpeg",
    ".flv",
    ".3gp",
    ".m2ts",
    ".mts",
    ".vob",
    ".ogv",
    ".rmvb",
]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_whatever_ffmpeg_opens_is_heard_and_told_and_found(tmp_path: Path, suffix: str) -> None:
    put(tmp_path, f"나들이{suffix}", f"영화{suffix.upper()}", "영화.srt")
    assert [video.title for video in silent_films([tmp_path])] == ["나들이"]
    assert find_media(groups(tmp_path)[0].video) == tmp_path / f"영화{suffix.upper()}"
    counts = [entry.details["counts"] for entry in discover([tmp_path]) if isinstance(entry, FileNotice)]
    assert counts in ([{suffix[1:]: 1}], [])


def test_a_program_is_no_film(tmp_path: Path) -> None:
    put(tmp_path, "app.ts", text="export const x = 1;\n" * 20)
    (tmp_path / "녹화.ts").write_bytes((b"G" + bytes(187)) * 3)
    assert [video.title for video in silent_films([tmp_path])] == ["녹화"]


def test_a_folder_of_captions_alone_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[Path] = []
    list_folder = films._list

    def counting(folder: Path) -> films._Listing:
        listed.append(folder)
        return list_folder(folder)

    monkeypatch.setattr(films, "_list", counting)
    put(tmp_path, *(f"강연 {word}.srt" for word in "가나다라마바사"))
    assert len(groups(tmp_path)) == 7
    assert len(listed) == 1
