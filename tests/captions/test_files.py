"""Caption files on disk: names, folders, groups, sidecars, and reading."""

import hashlib
import json
import ntpath
import os
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import CaptionError, UsageError
from subtitle_rag.base.domain.events import FileNotice, VideoFailed
from subtitle_rag.base.domain.values import Video
from subtitle_rag.captions import files, films
from subtitle_rag.captions.files import CaptionFile, CaptionGroup, discover, read
from subtitle_rag.captions.films import find_media
from subtitle_rag.captions.formats import FORMATS, suffix_list

CONTENT = "WEBVTT\n\n00:01.000 --> 00:02.000\n안녕하세요\n"
ID = "aB3_-xYz019"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "동네 채널"
    path.mkdir()
    return path


def put(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CONTENT, encoding="utf-8")


def groups(*sources: Path, languages: Sequence[str] = ("ko",)) -> list[CaptionGroup]:
    found = [item for item in discover(sources, languages=languages) if not isinstance(item, FileNotice)]
    assert all(isinstance(item, CaptionGroup) for item in found), found
    return [item for item in found if isinstance(item, CaptionGroup)]


def only(source: Path) -> CaptionFile:
    (group,) = groups(source)
    (file,) = group.candidates
    assert group.video == file.video
    return file


def digest(text: str) -> str:
    return hashlib.sha256(unicodedata.normalize("NFC", text).encode()).hexdigest()[:16]


# --- names ---


def test_what_a_name_and_its_folder_say(folder: Path) -> None:
    name = f"제\u202e목\u200b  둘 [{ID}].mp4.ko-KR.VTT"
    put(folder, name, "가/ko.vtt")
    own, nameless = groups(folder)
    (file,) = own.candidates
    assert (file.language, file.format) == ("ko-KR", "vtt")
    assert file.video == Video(
        id=ID,
        title="제목 둘",
        channel_id="folder-" + digest(str(folder)),
        channel="동네 채널",
        url=f"https://www.youtube.com/watch?v={ID}",
        source=unicodedata.normalize("NFC", str(folder / name)),
    )
    assert (nameless.video.title, nameless.video.url) == ("가", None)


def test_an_id_without_youtube_hangs_on_folder_and_stem(folder: Path) -> None:
    put(folder, "첫 강연.mp4.ko.vtt")
    assert only(folder).video.id == "file-" + digest(f"{folder}/첫 강연")


def test_another_spelling_of_a_path_gives_the_same_video_on_windows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, "Talk.ko.vtt")
    monkeypatch.setattr(os.path, "normcase", ntpath.normcase)
    (one,) = groups(folder)
    put(folder, "TALK.vtt")
    (both,) = groups(folder)
    assert both.video.id == one.video.id
    assert files._digest("C:/Captions/강연") == files._digest(r"c:\captions\강연")


def test_decomposed_names_give_the_same_video(folder: Path) -> None:
    put(folder, "첫 강연.ko.vtt")
    composed = only(folder)
    (folder / "첫 강연.ko.vtt").unlink()
    put(folder, unicodedata.normalize("NFD", "첫 강연.ko.vtt"))
    decomposed = only(folder)
    assert decomposed.video == composed.video
    assert read(decomposed).raw.decode() == CONTENT


def test_long_names_are_cut(folder: Path) -> None:
    put(folder, "긴" * 80 + ".vtt")
    (folder / ("긴" * 80 + ".info.json")).write_text(json.dumps({"title": "아주" * 5000, "channel": "긴" * 5000}))
    video = only(folder).video
    assert (len(video.title), len(video.channel)) == (300, 300)


# --- folders ---


def test_folders_are_walked_in_order_without_hidden_entries(folder: Path) -> None:
    put(folder, "나/둘.srt", "나/하나.srt", "가/셋.vtt", "다.json3", "메모.md", "다.info.json", "다.live_chat.json")
    put(folder, ".git/x.vtt", "._AppleDouble/x.vtt", "가/._셋.vtt", "가/.셋.vtt", "나/깊이/넷.sbv")
    assert [group.video.title for group in groups(folder)] == ["다", "셋", "둘", "하나", "넷"]
    assert [group.video.channel for group in groups(folder)] == ["동네 채널", "가", "나", "나", "깊이"]


def test_sources_are_taken_in_turn_and_each_file_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, "가.vtt", "나.vtt")
    monkeypatch.chdir(folder)
    found = groups(Path("나.vtt"), folder, Path("../동네 채널/가.vtt"))
    assert [group.video.title for group in found] == ["나", "가"]
    assert all(len(group.candidates) == 1 for group in found)


def test_link_loops_end_and_real_paths_win(folder: Path) -> None:
    put(folder, "바깥/안/강연.vtt")
    (folder / "가짜").symlink_to(folder / "바깥" / "안", target_is_directory=True)
    (folder / "바깥" / "안" / "위").symlink_to(folder, target_is_directory=True)
    (folder / "자기").symlink_to(folder / "자기")
    assert only(folder).path == folder / "바깥" / "안" / "강연.vtt"


def test_a_linked_folder_outside_is_walked(folder: Path, tmp_path: Path) -> None:
    put(tmp_path / "밖", "강연.vtt")
    (folder / "연결").symlink_to(tmp_path / "밖", target_is_directory=True)
    assert only(folder).video.channel == "연결"


def test_an_unreadable_folder_is_told_once_and_the_walk_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, "가/하나.vtt", "나/둘.vtt", "다/셋.vtt")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if path.name == "나":
            raise PermissionError(13, "no")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    first, failure, last = discover([folder])
    assert isinstance(first, CaptionGroup)
    assert isinstance(last, CaptionGroup)
    path = str(folder / "나")
    details = {"path": path, "reason": os.strerror(13)}
    assert failure == VideoFailed(video=path, title="나", code="unreadable", details=details)


def test_a_file_of_another_kind_is_told(folder: Path) -> None:
    put(folder, "메모.md", "강연.vtt")
    failure, group = discover([folder / "메모.md", folder / "강연.vtt"])
    assert isinstance(group, CaptionGroup)
    assert isinstance(failure, VideoFailed)
    assert (failure.code, failure.title) == ("not_captions", "메모.md")
    assert failure.details["path"] == str(folder / "메모.md")


@pytest.mark.parametrize("name", ["없음", "없음.vtt", "강연.vtt/없음.vtt", "a\0b"])
def test_a_path_that_does_not_exist_stops_before_anything(folder: Path, name: str) -> None:
    put(folder, "강연.vtt")
    with pytest.raises(UsageError) as caught:
        next(discover([folder, folder / name]))
    assert caught.value.code == "unsupported_source"
    assert caught.value.details == {"source": str(folder / name), "formats": suffix_list()}


def test_names_that_are_no_utf8_do_no_harm(folder: Path) -> None:
    path = os.fsencode(folder) + b"/\xb0\xad\xbf\xac.vtt"
    try:
        Path(os.fsdecode(path)).write_text(CONTENT)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    file = only(folder)
    for text in (file.video.title, file.video.source, file.video.id):
        assert text
        text.encode()
    assert read(file).raw.decode() == CONTENT


# --- groups ---


def names(group: CaptionGroup) -> list[str]:
    return [file.path.name for file in group.candidates]


def test_the_tracks_of_a_video_come_best_first(folder: Path) -> None:
    order = ["강연.ko.json3", "강연.ko.vtt", "강연.ko-KR.srt", "강연.ko.sbv", "강연.ko-orig.json3"]
    order += ["강연.vtt", "강연.srt", "강연.en.json3", "강연.en.vtt", "강연.ja-orig.vtt"]
    put(folder, *order)
    (group,) = groups(folder)
    assert names(group) == order
    assert group.video == group.candidates[0].video
    (group,) = groups(folder, languages=["ja", "EN"])
    assert names(group)[:3] == ["강연.ja-orig.vtt", "강연.en.json3", "강연.en.vtt"]


def test_one_youtube_id_is_one_video_in_whatever_folder(folder: Path) -> None:
    put(folder, f"가/옛 제목 [{ID}].ko.srt", f"나/새 제목 [{ID}].ko.vtt", "나/하나.vtt", "가/하나.vtt")
    first, *others = groups(folder)
    assert names(first) == [f"새 제목 [{ID}].ko.vtt", f"옛 제목 [{ID}].ko.srt"]
    assert (first.video.title, first.video.channel) == ("새 제목", "나")
    assert len(others) == 2


# --- sidecars ---


def sidecar(folder: Path, content: object) -> CaptionFile:
    put(folder, f"강연 [{ID}].ko.vtt")
    (folder / f"강연 [{ID}].info.json").write_text(
        content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
    )
    return only(folder)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[1]",
        "null",
        '{"a":' * 100_000,
        "9" * 5000,
        {"title": 3, "channel": [], "uploader": {}, "channel_id": "../x y", "upload_date": 20260531, "duration": "1"},
    ],
)
def test_a_broken_sidecar_is_passed_over(folder: Path, content: object) -> None:
    video = sidecar(folder, content).video
    assert (video.title, video.channel, video.published) == ("강연", "동네 채널", None)
    assert (video.duration_ms, video.chapters) == (None, ())
    assert video.channel_id.startswith("folder-")


def test_a_huge_sidecar_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(films, "SIDECAR_LIMIT", 10)
    assert sidecar(folder, {"title": "너무 긴 것"}).video.title == "강연"


def test_a_sidecar_that_is_a_folder_or_a_pipe_is_left_alone(folder: Path) -> None:
    put(folder, "가.vtt", "나.vtt", "가.info.json/x.md")
    os.mkfifo(folder / "나.info.json")
    assert [group.video.title for group in groups(folder)] == ["가", "나"]


def test_a_film_that_is_a_pipe_or_a_link_to_itself_is_left_alone(folder: Path) -> None:
    put(folder, "가.vtt", "다.mp4/x.md")
    os.mkfifo(folder / "나.wav")
    (folder / "라.wav").symlink_to(folder / "라.wav")
    (folder / "마.wav").write_bytes(b"RIFF")
    assert [film.title for film in files.silent_films([folder])] == ["마"]


def test_the_film_of_a_name_in_another_encoding_is_found(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    film = Path(os.fsdecode(os.fsencode(folder) + "/국수".encode() + "삶기.wav".encode("euc-kr")))
    try:
        film.write_bytes(b"RIFF")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    (video,) = files.silent_films([folder])
    assert find_media(video) == film


# --- reading ---


def test_reading_gives_the_bytes_with_their_digest_and_time(folder: Path) -> None:
    put(folder, "강연.ko.vtt")
    os.utime(folder / "강연.ko.vtt", (0, 1_780_000_000.9))
    track = read(only(folder))
    assert (track.language, track.kind, track.format) == ("ko", "file", "vtt")
    assert track.raw == CONTENT.encode()
    assert track.sha256 == hashlib.sha256(CONTENT.encode()).hexdigest()
    assert track.fetched_at == 1_780_000_000


def test_a_file_over_the_limit_is_refused_before_it_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "vtt", replace(FORMATS["vtt"], limit_mb=3))
    put(folder, "강연.vtt")
    file = only(folder)
    os.truncate(file.path, 3 * 2**20 + 1)
    with pytest.raises(CaptionError) as caught:
        read(file)
    assert caught.value.code == "too_large"
    assert caught.value.details == {"path": str(file.path), "reason": "4 MB, and 3 MB are the most"}
    os.truncate(file.path, 3 * 2**20)
    assert len(read(file).raw) == 3 * 2**20


def _removed(path: Path) -> None:
    path.unlink()


def _folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe_instead(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("spoil", [_removed, _folder_instead, _pipe_instead])
def test_what_cannot_be_read_says_why(folder: Path, spoil: Callable[[Path], None]) -> None:
    name = unicodedata.normalize("NFD", "강연.vtt")
    put(folder, name)
    file = only(folder)
    spoil(file.path)
    with pytest.raises(CaptionError) as caught:
        read(file)
    assert caught.value.code == "unreadable"
    assert caught.value.details["path"] == str(folder / "강연.vtt")
    assert caught.value.details["reason"] in {os.strerror(2), "it is not a regular file"}


def test_a_broken_link_is_found_and_fails_when_read(folder: Path) -> None:
    (folder / "강연.vtt").symlink_to(folder / "없음.vtt")
    with pytest.raises(CaptionError) as caught:
        read(only(folder))
    assert caught.value.details == {"path": str(folder / "강연.vtt"), "reason": os.strerror(2)}


def test_a_link_to_a_folder_above_is_told_and_not_followed(tmp_path: Path) -> None:
    source = tmp_path / "above" / "captions"
    source.mkdir(parents=True)
    (tmp_path / "beside.srt").write_text("")
    (source / "own.srt").write_text("")
    (source / "up").symlink_to(tmp_path)
    (source / "root").symlink_to("/")
    entries = list(discover([source]))
    assert [entry.code for entry in entries if isinstance(entry, VideoFailed)] == ["unreadable"] * 2
    assert len(entries) == 3


# --- media ---

BRACKETED = "[dQw4w9WgXcQ]"


@pytest.mark.parametrize(
    ("captions", "file"),
    [
        (f"제목 {BRACKETED}.ko.vtt", f"제목 {BRACKETED}.mp4"),
        (f"제목 {BRACKETED}.ko-orig.json3", f"제목 {BRACKETED}.webm"),
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
    assert find_media(only(tmp_path).video) == tmp_path / file


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
        "제목.ko.md",
    ],
)
def test_other_files_are_not_the_video(tmp_path: Path, file: str) -> None:
    put(tmp_path, "제목.ko.vtt", file)
    assert find_media(only(tmp_path).video) is None


def test_pictures_come_before_sound(tmp_path: Path) -> None:
    put(tmp_path, "제목.ko.vtt", "제목.flac", "제목.m4a", "제목.webm", "제목.mkv")
    assert find_media(only(tmp_path).video) == tmp_path / "제목.mkv"


def test_a_folder_is_no_video(tmp_path: Path) -> None:
    put(tmp_path, "제목.ko.vtt")
    (tmp_path / "제목.mp4").mkdir()
    assert find_media(only(tmp_path).video) is None


def test_decomposed_names_are_found_as_the_disk_spells_them(tmp_path: Path) -> None:
    apart = unicodedata.normalize("NFD", "한글")
    put(tmp_path / apart, f"{apart}.ko.vtt", f"{apart}.mp4")
    own = only(tmp_path).video
    assert own.source is not None
    assert unicodedata.is_normalized("NFC", own.source)
    found = find_media(own)
    assert found is not None
    assert found.samefile(tmp_path / apart / f"{apart}.mp4")


def test_a_video_that_is_not_on_a_disk_has_no_file(tmp_path: Path) -> None:
    assert find_media(Video("dQw4w9WgXcQ", "제목", "UC1", "채널")) is None
    gone = tmp_path / "뽑힌 디스크" / "안" / "제목.ko.vtt"
    assert find_media(Video("file-1", "제목", "UC1", "채널", source=str(gone))) is None


# --- what is left out ---


def notices(*sources: Path) -> list[FileNotice]:
    return [entry for entry in discover(sources) if isinstance(entry, FileNotice)]


def test_what_a_folder_holds_and_is_not_read_is_counted_by_reason(folder: Path) -> None:
    put(folder, "가.srt", "나.sup", "다.sup", "다.idx", "라.stl", "묶음.zip", "메모.md", "마.sub")
    (folder / "바.sub").write_bytes(b"\0\0\1\xba" + bytes(100))
    found = {notice.code: notice.details["counts"] for notice in notices(folder)}
    assert found == {
        "left_out_formats": {"sup": 2, "idx": 1, "sub": 1, "stl": 1},
        "left_out_archives": {"zip": 1},
    }
    assert [each.video.title for each in discover([folder]) if isinstance(each, CaptionGroup)] == ["가", "마"]


def test_a_file_whose_encoding_is_not_certain_is_told(folder: Path) -> None:
    put(folder, "가.srt")
    (folder / "가.srt").write_bytes("1\n00:00:01,000 --> 00:00:02,000\n국수를 삶아요\n".encode("cp949") + b"\xff")
    file = only(folder)
    notice = next(files.track_notices(read(file), str(file.path)))
    assert notice == FileNotice("doubtful_encoding", {"path": str(file.path), "encoding": "cp949"})
    put(folder, "나.srt")
    assert not list(files.track_notices(read(groups(folder)[1].candidates[0]), "나"))
