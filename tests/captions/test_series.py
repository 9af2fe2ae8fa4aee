"""Folders of a series: whatever the pattern of their names, as many videos as files."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from subtitle_rag.base.domain.events import FileNotice
from subtitle_rag.captions.files import discover
from subtitle_rag.captions.films import find_media
from tests.support.cases import cases
from tests.support.place import Place
from tests.support.reading import SUBRIP, groups, put

FILES = 40

PATTERNS = (
    "{n}.ko.srt",
    "{n:02d}.ko.srt",
    "{n:03d}.ko.srt",
    "{n}.kor.srt",
    "{n}.ko-KR.srt",
    "{n}.ko_KR.srt",
    "{n}.한국어.srt",
    "{n}_Korean.srt",
    "{n:02d}_kor.smi",
    "{n} 한국어.srt",
    "{n} - Korean.srt",
    "{n} (Korean).srt",
    "{n}.Korean - SDH.srt",
    "{n:03d} - 강의.ko.srt",
    "강의.{n}.ko.srt",
    "강의.ko.{n}.srt",
    "강의.{n}.ko.forced.srt",
    "강의.{n}.0.ko.srt",
    "1.{n}.ko.srt",
    "{n}.0.ko.srt",
    "{n}.ko.auto.srt",
    "{n}.ko-orig.json3",
    "{n}.ko.sdh.srt",
    "{n}.ko[cc].srt",
    "{n}.forced.srt",
    "{n}.cc.srt",
    "{n}.mp4.ko.srt",
    "강의 Part {n}.ko.srt",
    "강의 {n}p.ko.srt",
    "연속극.S01E{n:02d}.ko.srt",
    "연속극.E{n:02d}.240301.1080p-NEXT.smi",
    "뉴스 240{n:03d}.ko.srt",
    "강의 {n} [aB{n:02d}E6gH9jK].ko.srt",
    "aB{n:02d}E6gH9jK.ko.vtt",
    "[BDRip-1080p] 연속극 {n:02d}.ko.srt",
    "연속극 {n:02d} [BDRip-1080p].smi",
    "{n}강 (Lecture2024).ko.vtt",
    "{n}강-BDRip-1080p.smi",
    "Subs/{n}_Korean.srt",
    "자막/{n}.ko.srt",
    "자막/1주차/{n}.ko.srt",
    "Season 1/{n}.ko.srt",
    "Subs/강의 {n}/2_Korean.srt",
    "강의 {n}/ko.srt",
    "강의 {n}/Subs/ko.srt",
)
"""The manners of servers, downloaders, rippers and people."""


def stem_of(name: str) -> str:
    """What a film, or the `.info.json`, beside the captions is named like."""
    return name.partition(".ko")[0] if ".ko" in name else name.rpartition(".")[0]


def with_nothing(_folder: Path) -> None:
    """Only the captions."""


def with_films(folder: Path) -> None:
    """A film beside each caption file."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        (path.parent / f"{stem_of(path.name)}.mp4").write_bytes(b"")


def with_descriptions(folder: Path) -> None:
    """The `.info.json` of yt-dlp beside each caption file."""
    for n, path in enumerate(path for path in list(folder.rglob("*")) if path.is_file()):
        info = {"id": f"zY{n:02d}W8vU7tS", "extractor": "youtube", "title": f"제목 {n}"}
        (path.parent / f"{stem_of(path.name)}.info.json").write_text(json.dumps(info))


def with_one_film(folder: Path) -> None:
    """One film, of which none of the captions is."""
    (folder / "강의.mp4").write_bytes(b"")


@pytest.mark.parametrize("beside", [with_nothing, with_films, with_descriptions, with_one_film])
@cases("pattern", PATTERNS)
def test_files_named_by_one_pattern_are_as_many_videos(
    tmp_path: Path, pattern: str, beside: Callable[[Path], None]
) -> None:
    folder = tmp_path / str(PATTERNS.index(pattern)) / "강의 모음"
    put(folder, *(pattern.format(n=n) for n in range(1, FILES + 1)))
    beside(folder)
    found = groups(folder)
    assert sorted(str(file.path) for group in found for file in group.candidates) == sorted(
        str(folder / pattern.format(n=n)) for n in range(1, FILES + 1)
    )
    assert len(found) == FILES


@pytest.mark.parametrize(
    "pattern", ["{n}.ko.srt", "강의.{n}.ko.srt", "자막/{n}.ko.srt", "[BDRip-1080p] 연속극 {n}.smi"]
)
@pytest.mark.parametrize("has_film", [False, True])
def test_files_that_are_added_one_by_one_take_no_other_out(
    place: Place, tmp_path: Path, pattern: str, has_film: bool
) -> None:
    folder = tmp_path / "모음"
    folder.mkdir()
    if has_film:
        with_one_film(folder)
    for n in range(1, 5):
        put(folder, pattern.format(n=n), text=SUBRIP.replace("국수", f"국수 {n}그릇"))
        report = place.report(folder)
        assert (report.new, report.failed) == (1, 0)
        sources = {state.video.source for state in place.library.videos() if state.windows}
        assert sources == {str(folder / pattern.format(n=each)) for each in range(1, n + 1)}


@cases(
    ("names", "videos"),
    [
        (("영화.mkv", "영화.0.ko.srt", "영화.1.en.srt"), 1),
        (("영화.mkv", "2_Korean.srt", "3_English.srt"), 1),
        (("영화.mkv", "Subs/2_English.srt", "Subs/3_English.srt", "Subs/4_Korean.srt"), 1),
        (("영화.mkv", "Subs/2_Korean.srt", "Subs/3_Korean.srt"), 2),
        (("Subs/1.ko.srt", "Subs/2.ko.srt", "Subs/3.en.srt"), 3),
        (("Subs/2_Korean.srt", "Subs/3_Korean.srt", "Subs/4_English.srt"), 3),
        (("Subs/1.ko.srt", "Subs/2.ko.forced.srt", "Subs/3.ko.srt", "Subs/4.en.srt"), 3),
        (("Subs/1.ko.srt", "Subs/2.en.srt"), 1),
        (("영화.mkv", "2_Korean.srt", "3_Korean.srt"), 2),
        (("영화.mkv", "2_Korean.srt", "2_Korean.vtt"), 1),
        (("영화.mkv", "영화.ko.srt", "2_Korean.srt"), 2),
        (("영화.mkv", "2.ko.srt", "3.ko.forced.srt"), 1),
        (("영화 가.mkv", "영화 나.mkv", "2_Korean.srt"), 1),
        (("1.ko.srt", "1.en.srt", "2.ko.srt", "2.en.srt"), 2),
        (("영화.mkv", "1.ko.srt", "1.en.srt", "2.ko.srt", "2.en.srt"), 2),
        (("옛 제목 [aB3dE6gH9jK].ko.srt", "새 제목 [aB3dE6gH9jK].ko.srt"), 1),
    ],
)
def test_numbers_count_tracks_only_where_no_two_are_the_same(
    tmp_path: Path, names: tuple[str, ...], videos: int
) -> None:
    folder = tmp_path / f"{hash(names)}"
    put(folder, *names)
    assert len(groups(folder)) == videos


@cases("name", ["강의 (Lecture2024).srt", "강의 [aB3dE6gH9jK].ko.srt", "[Lecture_001].srt"])
def test_a_file_with_the_id_of_one_that_is_there_takes_it_not_out(place: Place, tmp_path: Path, name: str) -> None:
    first, second, moved = (tmp_path / name / week / name for week in ("1주", "2주", "3주"))

    def videos() -> dict[str | None, str]:
        return {state.video.source: state.video.id for state in place.library.videos() if state.windows}

    put(first.parent, name, text=SUBRIP.replace("국수", "국수 한 그릇"))
    put(second.parent, name, text=SUBRIP.replace("국수", "국수 두 그릇"))
    assert place.report(first.parent).new == 1
    assert place.report(second.parent).new == 1
    earlier = videos()
    assert earlier.keys() >= {str(first), str(second)}
    for _run in range(2):
        for folder in (second.parent, first.parent):
            report = place.report(folder)
            assert (report.new, report.changed, report.unchanged) == (0, 0, 1)
    moved.parent.mkdir()
    for path in (second, first):
        path.rename(moved)
        report = place.report(moved.parent)
        assert (report.new, report.unchanged + report.changed) == (0, 1)
        assert videos()[str(moved)] == earlier[str(path)]
        moved.rename(path)
        place.report(path.parent)
    assert videos() == earlier


def test_a_copy_of_a_file_with_an_id_is_the_same_video(place: Place, tmp_path: Path) -> None:
    for week in ("1주", "2주"):
        put(tmp_path / week, "강의 [aB3dE6gH9jK].ko.srt")
        place.run(tmp_path / week)
    assert len(place.library.videos()) == 1


def test_files_that_another_is_taken_for_are_counted_and_named(place: Place, tmp_path: Path) -> None:
    put(tmp_path, "영화.ko.srt", "영화.en.srt", "영화.ko.forced.srt", "강의.ko.srt")
    for _run in range(2):
        notices = [event for event in place.run(tmp_path) if isinstance(event, FileNotice)]
        (notice,) = notices
        taken = str(tmp_path / "영화.ko.srt")
        assert (notice.code, notice.details["counts"]) == ("left_out_tracks", {"srt": 2})
        assert notice.details["left_out"] == [
            {"file": str(tmp_path / name), "taken": taken} for name in ("영화.ko.forced.srt", "영화.en.srt")
        ]
        assert notice.details["files"] == "영화.ko.forced.srt, 영화.en.srt"


def test_a_file_taken_for_a_damaged_one_is_not_left_out(place: Place, tmp_path: Path) -> None:
    put(tmp_path, "영화.ko.srt", text="깨짐")
    put(tmp_path, "영화.en.srt", "영화.ja.sbv")
    (notice,) = [event for event in place.run(tmp_path) if isinstance(event, FileNotice)]
    assert notice.details["left_out"] == [
        {"file": str(tmp_path / "영화.ja.sbv"), "taken": str(tmp_path / "영화.en.srt")}
    ]


@cases(
    "names",
    [
        ("영화.forced.srt", "영화.Korean - SDH.srt"),
        ("영화.forced.srt", "영화.English - SDH.srt"),
        ("영화.forced.srt", "영화 - Korean (SDH).srt"),
        ("영화.ko.forced.srt", "영화 [Korean SDH].srt"),
        ("영화.en.Signs & Songs.srt", "영화.en.srt"),
        ("영화.강제.ko.srt", "영화.kor-sdh.srt"),
    ],
)
def test_what_has_all_speech_comes_before_signs(tmp_path: Path, names: tuple[str, str]) -> None:
    folder = tmp_path / names[1]
    put(folder, "영화.mkv", *names)
    put(folder, names[0], text=SUBRIP * 9)
    (group,) = groups(folder)
    assert [file.path.name for file in group.candidates] == [names[1], names[0]]


@cases(
    ("captions", "media"),
    [
        ("영화.ko.srt", "영화 - 1080p.mkv"),
        ("영화.srt", "영화 (2024) [1080p].mkv"),
        ("영화 2024.ko.srt", "영화.2024.1080p.BluRay.x264-NEXT.mp4"),
        ("연속극.E01.240301.smi", "연속극.E01.240301.1080p-NEXT.mp4"),
        ("연속극.E01.240301.720p-WITH.smi", "연속극.E01.240301.1080p-NEXT.mp4"),
        ("연속극 E01.ko.srt", "연속극.E01.240301.1080p.H265.AAC-NEXT.mp4"),
    ],
)
def test_captions_find_the_film_that_differs_in_how_it_was_made(tmp_path: Path, captions: str, media: str) -> None:
    folder = tmp_path / media / captions
    put(folder, captions, media, "연속극.E02.240302.1080p-NEXT.mp4", "딴 영화.mkv")
    (group,) = groups(folder)
    assert find_media(group.video) == folder / media
    counts = [entry.details["counts"] for entry in discover([folder]) if isinstance(entry, FileNotice)]
    assert counts == [{"mp4": 1, "mkv": 1}]


@cases(
    ("captions", "media"),
    [
        ("연속극.E01.srt", ("연속극.E02.240301.1080p-NEXT.mp4",)),
        ("뉴스.240301.srt", ("뉴스.240302.1080p.mp4",)),
        ("영화.srt", ("영화 - 720p.mkv", "영화 - 1080p.mkv")),
        ("영화.srt", ("영화 2부 1080p.mkv",)),
        ("영화.srt", ("영화 1080p 2부.mkv",)),
        ("1080p 1강.srt", ("1080p 2강.mkv",)),
        ("강의 1080p 도입.srt", ("강의 1080p 끝.mkv",)),
    ],
)
def test_a_film_of_other_words_or_one_of_two_is_not_guessed(
    tmp_path: Path, captions: str, media: tuple[str, ...]
) -> None:
    folder = tmp_path / captions / media[0]
    put(folder, captions, *media)
    assert find_media(groups(folder)[0].video) is None
