"""Names as downloaders and media servers write them."""

from datetime import date

import pytest

from subtitle_rag.captions.file_names import path_day, path_year, read_name
from tests.support.cases import cases

ID = "aB3dE6gH9jK"


@cases(
    ("name", "stem", "language", "is_forced"),
    [
        ("영화.ko.srt", "영화", "ko", False),
        ("영화.ko.hi.srt", "영화", "ko", False),
        ("영화.hi.srt", "영화", "hi", False),
        ("영화.ko.sdh.srt", "영화", "ko", False),
        ("영화.sdh.srt", "영화", "und", False),
        ("영화.ko.forced.srt", "영화", "ko", True),
        ("영화.ko-forced.srt", "영화", "ko", True),
        ("영화.forced.ko.srt", "영화", "ko", True),
        ("영화.ko.cc.srt", "영화", "ko", False),
        ("영화.ko[cc].srt", "영화", "ko", False),
        ("영화.ko.default.srt", "영화", "ko", False),
        ("영화.korean.srt", "영화", "ko", False),
        ("영화.한국어.srt", "영화", "ko", False),
        ("영화.한글자막.smi", "영화", "ko", False),
        ("영화 [한글자막].smi", "영화", "ko", False),
        ("영화.KOR.smi", "영화", "ko", False),
        ("영화.kr.srt", "영화", "ko", False),
        ("영화_kor.srt", "영화", "ko", False),
        ("영화_ko.srt", "영화", "ko", False),
        ("영화.ko_KR.srt", "영화", "ko-KR", False),
        ("영화.0.ko.srt", "영화.0", "ko", False),
        ("영화.ko.0.srt", "영화.ko.0", "ko", False),
        ("영화.Korean - SDH.srt", "영화", "ko", False),
        ("영화 - 한국어.srt", "영화", "ko", False),
        ("영화.ko.Signs & Songs.ass", "영화", "ko", True),
        ("영화 (Korean, forced).srt", "영화 (Korean, forced)", "und", False),
        ("영화.chs.ass", "영화", "zh-Hans", False),
        ("2_Korean.srt", "2", "ko", False),
        ("영화.en.mp4.srt", "영화.en", "und", False),
        ("노래.full.srt", "노래.full", "und", False),
        ("노래.feat.srt", "노래.feat", "und", False),
        ("노래.mix.srt", "노래.mix", "und", False),
        ("강연.ver2.srt", "강연.ver2", "und", False),
        ("강연 - 김하나.ssul.srt", "강연 - 김하나.ssul", "und", False),
        ("강연.webm.en.srt", "강연", "en", False),
        ("강연.ko-nP7-2PuUl7o.vtt", "강연", "ko-nP7-2PuUl7o", False),
        ("시장_구경.ko-orig.json3", "시장_구경", "ko-orig", False),
        ("시장_구경.zh-Hans.VTT", "시장_구경", "zh-Hans", False),
        ("ko.vtt", "", "ko", False),
        ("버전 3.7 어찌.srt", "버전 3.7 어찌", "und", False),
        ("my-captions.srt", "my-captions", "und", False),
        ("a.ko.en.srt", "a.ko", "en", False),
    ],
)
def test_tags_are_language_and_role(name: str, stem: str, language: str, is_forced: bool) -> None:
    found = read_name(name)
    assert found is not None
    assert (found.stem, found.language, found.is_forced) == (stem, language, is_forced)


@cases(
    ("name", "track_of"),
    [
        ("영화.0.ko.srt", "영화"),
        ("영화.ko.0.srt", "영화"),
        ("2_Korean.srt", ""),
        ("2.forced.srt", ""),
        ("123.ko.srt", None),
        ("2.mp4.ko.srt", None),
        ("2.srt", None),
        ("영화.2.srt", None),
        ("ko.srt", None),
    ],
)
def test_a_number_beside_a_language_may_count_tracks(name: str, track_of: str | None) -> None:
    found = read_name(name)
    assert found is not None
    assert found.track_of == track_of


@cases(
    ("name", "youtube_id", "title", "day"),
    [
        (f"시장 구경 [{ID}].ko.vtt", ID, "시장 구경", None),
        (f"[{ID}] 시장 구경.ko.vtt", ID, "시장 구경", None),
        (f"시장 [1080p] [{ID}] 수정본.vtt", ID, "시장 [1080p] 수정본", None),
        (f"시장 구경 ({ID}).vtt", ID, "시장 구경", None),
        (f"시장 [youtube-{ID}].vtt", ID, "시장", None),
        (f"시장 구경-{ID}.ko.vtt", ID, "시장 구경", None),
        ("시장 구경 [aB3_-xYz019].mp4.ko-KR.srt", "aB3_-xYz019", "시장 구경", None),
        (f"시장_구경_[{ID}].vtt", ID, "시장_구경", None),
        (f"[{ID}].vtt", ID, ID, None),
        ("시장 구경 [짧은글].ko.vtt", None, "시장 구경 [짧은글]", None),
        (f"{ID}.ko.vtt", ID, ID, None),
        (f"20240131_{ID}.ko.vtt", ID, ID, date(2024, 1, 31)),
        (f"20240131_{ID}_시장 구경.vtt", ID, "시장 구경", date(2024, 1, 31)),
        (f"2024-01-31 시장 구경 [{ID}].vtt", ID, "2024-01-31 시장 구경", date(2024, 1, 31)),
        ("시장 [Documentary].srt", None, "시장 [Documentary]", None),
        ("[BDRip-1080p] 시장.srt", None, "[BDRip-1080p] 시장", None),
        ("시장-10bit-1080p.srt", None, "시장-10bit-1080p", None),
        ("시장 (instruments).srt", None, "시장 (instruments)", None),
        ("시장 [20240131_01].srt", "20240131_01", "시장", date(2024, 1, 31)),
        ("hello_world.srt", None, "hello_world", None),
        ("강연-hello-world.srt", None, "강연-hello-world", None),
        ("드라마.E01.240131.1080p.smi", None, "드라마.E01.240131.1080p", date(2024, 1, 31)),
    ],
)
def test_ids_and_days_are_found_where_downloaders_put_them(
    name: str, youtube_id: str | None, title: str, day: date | None
) -> None:
    found = read_name(name)
    assert found is not None
    assert (found.youtube_id, found.title, found.published) == (youtube_id, title, day)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("20240230", None),
        ("1234567890", None),
        ("240431", None),
        ("2024.01.31", date(2024, 1, 31)),
        ("20240231 20240301", date(2024, 3, 1)),
    ],
)
def test_only_days_of_the_calendar_are_days(text: str, day: date | None) -> None:
    assert path_day(text) == day


def test_a_year_in_brackets_is_its_first_day() -> None:
    assert path_year("영화 (2024)") == date(2024, 1, 1)
    assert path_year("영화 2024") is None
