"""Caption files that were moved or renamed stay the same videos, with everything that is theirs."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from subtitle_rag.base.domain.events import IndexReport
from subtitle_rag.captions.windows import RULE
from subtitle_rag.korean.morphemes import ANALYZER, Analyzer
from tests.support.invented import context_of
from tests.support.place import Place

SUBRIP = "1\n00:00:01,000 --> 00:00:30,000\n{}\n\n2\n00:00:31,000 --> 00:00:59,000\n{}\n"


def put(folder: Path, name: str, words: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(SUBRIP.format(words, words[::-1]), encoding="utf-8")
    return path


def sums(report: IndexReport) -> tuple[int, int, int]:
    return report.new, report.changed, report.unchanged


def ids(place: Place) -> dict[str, str]:
    return {state.video.title: state.video.id for state in place.library.videos()}


def kept(place: Place, video_id: str) -> tuple[list[str], list[str], list[str]]:
    """Ids of windows, contexts and vectors, and marks of a video."""
    windows = place.library.windows_of(video_id)
    vectors = place.library.vectors.stored([window.id for window in windows])
    marks = [mark.note for mark in place.library.marks.all() if mark.video_id == video_id]
    return sorted(place.library.contexts.of_video(video_id)), sorted(vectors), marks


def test_a_moved_and_renamed_file_takes_everything_along(place: Place, tmp_path: Path) -> None:
    first = put(tmp_path / "내려받기", "국수.ko.srt", "두레반 삼촌이 국수를 삶아요")
    put(tmp_path / "내려받기", "만두.ko.srt", "할머니가 만두를 빚어요")
    assert sums(place.report(tmp_path / "내려받기")) == (2, 0, 0)
    id = ids(place)["국수"]
    (window,) = place.library.windows_of(id)
    video = place.library.video(id)
    assert video is not None
    assert place.library.contexts.put(context_of(window, "삼촌이 멸치로 육수를 내는 장면입니다."))
    place.library.marks.add(video, window.start_ms, window.end_ms, 1000, "국수", note="여기")
    before = kept(place, id)
    folder = tmp_path / "영상 모음" / "식당"
    folder.mkdir(parents=True)
    first.rename(folder / "골목 국수.ko.srt")
    assert sums(place.report(folder)) == (0, 1, 0)
    assert ids(place) == {"골목 국수": id, "만두": ids(place)["만두"]}
    assert kept(place, id) == before
    moved = place.library.video(id)
    assert moved is not None
    assert moved.source is not None
    assert moved.source.endswith("골목 국수.ko.srt")
    assert place.results("골목")[0][0] == window.id, "its new title is found"
    assert place.sound()
    assert sums(place.report(folder)) == (0, 0, 1)


def test_a_copy_beside_the_file_is_another_video(place: Place, tmp_path: Path) -> None:
    put(tmp_path / "가", "국수.srt", "국수를 삶아요")
    place.run(tmp_path / "가")
    put(tmp_path / "나", "국수.srt", "국수를 삶아요")
    put(tmp_path / "다", "국수.srt", "국수를 삶아요")
    assert sums(place.report(tmp_path)) == (2, 0, 1)


def test_of_two_copies_one_is_the_file_that_is_gone(place: Place, tmp_path: Path) -> None:
    file = put(tmp_path / "가", "국수.srt", "국수를 삶아요")
    place.run(tmp_path / "가")
    file.unlink()
    put(tmp_path / "나", "국수.srt", "국수를 삶아요")
    put(tmp_path / "다", "국수.srt", "국수를 삶아요")
    assert sums(place.report(tmp_path)) == (1, 1, 0)


def test_another_file_in_the_old_place_is_a_new_video(place: Place, tmp_path: Path) -> None:
    file = put(tmp_path / "가", "국수.srt", "국수를 삶아요")
    place.run(tmp_path / "가")
    id = ids(place)["국수"]
    (tmp_path / "나").mkdir()
    file.rename(tmp_path / "나" / "국수 2.srt")
    assert sums(place.report(tmp_path / "나")) == (0, 1, 0)
    put(tmp_path / "가", "국수.srt", "전혀 다른 이야기를 해요")
    assert sums(place.report(tmp_path)) == (1, 0, 1)
    assert ids(place)["국수 2"] == id
    assert ids(place)["국수"] != id
    assert sums(place.report(tmp_path)) == (0, 0, 2)


def test_a_video_from_a_pack_is_the_one_whose_file_is_indexed(place: Place, tmp_path: Path, analyzer: Analyzer) -> None:
    put(tmp_path / "남의 폴더", "국수.srt", "국수를 삶아요")
    with closing(Place.at(tmp_path / "남의 보관함", analyzer)) as other:
        other.run(tmp_path / "남의 폴더")
        (state,) = other.library.videos()
        track, windows = other.library.track(state.video.id), other.library.windows_of(state.video.id)
        assert track is not None
        place.library.put_video(replace(state.video, source=None), track, windows, RULE)  # a pack tells no path
    list(place.indexer.finish())
    put(tmp_path / "내 폴더", "국수.srt", "국수를 삶아요")
    assert sums(place.report(tmp_path / "내 폴더")) == (0, 1, 0)
    assert ids(place) == {"국수": state.video.id}
    assert place.sound()


def test_a_title_that_changed_keeps_the_windows(place: Place, tmp_path: Path) -> None:
    put(tmp_path / "가", "국수.srt", "국수를 삶아요")
    place.run(tmp_path / "가")
    (window,) = place.library.windows_of(ids(place)["국수"])
    (tmp_path / "가" / "국수.nfo").write_text("<movie><title>골목 식당</title></movie>", encoding="utf-8")
    assert sums(place.report(tmp_path / "가")) == (0, 1, 0)
    assert place.results("식당")[0][0] == window.id
    assert place.library.database.column("SELECT encoder FROM indexed WHERE vector = 'bm25'") == [ANALYZER]
    assert place.sound()
