"""Speakers: kept with the lines, searched by `speaker:`, shown and exported."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.base.domain.values import Line
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.index.index_document import to_payload
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.suggestions import suggest_queries
from subtitle_rag.sharing import subtitles
from subtitle_rag.sharing.scene_reader import read_scenes, span_at
from tests.support.place import Place

MEETING = """WEBVTT

00:00:01.000 --> 00:00:30.000
<v 홍길동>예산 회의를 시작하겠습니다</v>

00:00:31.000 --> 00:00:59.000
<v 김영희>먼저 삼분기 실적부터 볼게요</v>
"""


@pytest.fixture
def place(tmp_path: Path, analyzer: Analyzer) -> Iterator[Place]:
    with closing(Place.at(tmp_path / "place", analyzer)) as opened:
        (tmp_path / "회의").mkdir()
        (tmp_path / "회의" / "예산.vtt").write_text(MEETING, encoding="utf-8")
        plain = "WEBVTT\n\n00:00:01.000 --> 00:00:30.000\n홍길동 씨가 예산 회의를 했어요\n"
        (tmp_path / "회의" / "소식.vtt").write_text(plain, encoding="utf-8")
        opened.run(tmp_path / "회의")
        yield opened


def found(place: Place, query: str) -> list[str]:
    return [scene.video.title for scene in place.searcher.search(parse_query(query)).scenes]


def test_a_query_names_who_speaks(place: Place) -> None:
    assert set(found(place, "예산 회의")) == {"예산", "소식"}
    assert found(place, "예산 회의 speaker:홍길동") == ["예산"]
    assert found(place, '예산 회의 화자:"홍 길동"') == ["예산"]
    assert found(place, "예산 회의 speaker:철수") == []
    assert found(place, '"예산 회의" speaker:영희') == ["예산"]


def test_a_speaker_alone_lists_what_is_said_from_his_line_on(place: Place) -> None:
    result = place.searcher.search(parse_query("화자:영희"))

    assert [(scene.video.title, scene.lines[scene.best_line].speaker, scene.reason) for scene in result.scenes] == [
        ("예산", "김영희", "said")
    ]
    assert place.searcher.mentions(parse_query("화자:영희"), result.scenes[0].video.id) == []


@pytest.mark.parametrize(
    ("typed", "offered"), [("홍길동", "speaker:홍길동"), ("홍길동이 시작한 예산", "시작한 예산 speaker:홍길동")]
)
def test_the_name_of_a_speaker_offers_the_filter(place: Place, typed: str, offered: str) -> None:
    first, *_others = suggest_queries(place.searcher, place.library, typed)

    assert (first.kind, first.changed, first.query, first.scenes) == ("speaker", "홍길동", offered, 1)


def test_lines_keep_their_speakers_in_library_and_index(place: Place) -> None:
    (window,) = next(
        place.library.windows_of(state.video.id) for state in place.library.videos() if state.video.title == "예산"
    )
    assert window.lines == (Line(0, 1000, "홍길동"), Line(15, 31_000, "김영희"))
    assert window.text == "예산 회의를 시작하겠습니다 먼저 삼분기 실적부터 볼게요"
    assert [text for _at, text in window.dialogue()][1] == "김영희: 먼저 삼분기 실적부터 볼게요"
    video = place.library.video(window.video_id)
    assert video is not None
    payload = to_payload(video, window)
    assert list(zip(payload["lines"], payload["speakers"], strict=True)) == [
        ([line.offset, line.start_ms], line.speaker) for line in window.lines
    ]


def test_exported_captions_name_the_speakers(place: Place) -> None:
    video = next(state.video for state in place.library.videos() if state.video.title == "예산")
    (scene,) = read_scenes(place.library, [span_at(place.library, video, 0)])
    assert "<v 홍길동>예산 회의를" in subtitles.vtt([scene], "")
    assert "홍길동: 예산 회의를" in subtitles.srt([scene], "")
    assert scene.values(1)["speakers"] == ["홍길동", "김영희"]
    again = parse_captions(subtitles.srt([scene], "").encode(), "srt")
    assert [(cue.speaker, cue.text) for cue in again] == [(cue.speaker, cue.text) for cue in scene.cues]
