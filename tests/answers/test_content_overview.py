"""What a video or channel is about, read from a library without a model."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.answers.content_overview import (
    NAME_WINDOWS,
    OverviewTerm,
    channel_overview,
    highest_parts,
    video_overview,
)
from subtitle_rag.base.domain.values import Chapter, Details, Heat, Video
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.store import Library
from subtitle_rag.library.summary_store import VideoSummary
from tests.support.searchable import LINE_MS, filled, video

NOODLES = replace(
    video("noodles0000", "청귤 국수 삶기", published="2026-05-02"),
    chapters=(Chapter(0, "육수"), Chapter(120_000, "면")),
)
CAMP = video("camp0000000", "달무리 캠핑", published="2026-05-03")
TALK = video("talk0000000", "파이썬 강연", channel="개발자 모임")
SPEECH = {
    NOODLES: [
        ["멸치 육수를 끓입니다", "청귤 국수를 두레반에서 먹었어요"],
        ["멸치는 많이 넣어요", "두레반이 정말 맛있어요", "현우 씨가 왔어요"],
        ["면을 삶아요", "두레반은 멸치를 써요", "현우 님이 면을 건져요"],
        ["면이 익었어요", "현우 씨가 먹어요", "냉장고를 열어요"],
    ],
    CAMP: [
        ["텐트를 쳤어요", "냉장고를 들고 왔어요"],
        ["텐트에 물이 샙니다", "달무리에 갔어요"],
        ["텐트를 접어요", "달무리가 좋아요", "두레반도 들렀어요"],
    ],
    TALK: [
        ["파이썬 코드를 봅시다", "냉장고를 예로 들죠"],
        ["코드가 길어요", "모니터를 켜요", "냉장고가 커요"],
        ["파이썬은 코드가 짧아요", "모니터를 꺼요"],
    ],
}


@pytest.fixture
def library(tmp_path: Path, analyzer: Analyzer) -> Iterator[Library]:
    with closing(filled(tmp_path / "library.db", analyzer, SPEECH)) as opened:
        yield opened


def summarise(library: Library, one: Video, text: str) -> None:
    assert library.summaries.put(VideoSummary(one.id, text, "m", "d", "p", 1, True, 1, 1, 1, 1))


def by_text(mentions: tuple[OverviewTerm, ...]) -> dict[str, OverviewTerm]:
    return {mention.text: mention for mention in mentions}


def test_a_video_s_overview_has_what_the_library_knows(library: Library, analyzer: Analyzer) -> None:
    summarise(library, NOODLES, "두레반에서 국수를 삶습니다. 현우가 먹습니다.")
    heat = tuple(Heat(at * 30_000, (at + 1) * 30_000, value) for at, value in enumerate((1.0, 0.2, 0.9, 0.1)))
    library.put_details(NOODLES.id, Details(heatmap=heat))
    overview = video_overview(library, NOODLES, analyzer)
    assert overview.video == NOODLES
    assert overview.summary == "두레반에서 국수를 삶습니다. 현우가 먹습니다."
    assert [(each.start_ms, each.title) for each in overview.sections] == [(0, "육수"), (120_000, "면")]
    [peak] = overview.peaks
    assert (peak.start_ms, peak.value, peak.line) == (60_000, 0.9, "멸치는 많이 넣어요")
    assert {"두레반", "현우"} <= set(by_text(overview.names))


def test_names_and_words_open_the_line_that_says_them_first(library: Library, analyzer: Analyzer) -> None:
    overview = video_overview(library, NOODLES, analyzer)
    names, words = by_text(overview.names), by_text(overview.words)
    assert (names["두레반"].at_ms, names["두레반"].windows) == (LINE_MS, 3)
    assert (names["현우"].at_ms, names["현우"].windows) == (60_000 + 2 * LINE_MS, 3)
    assert (words["멸치"].at_ms, words["멸치"].windows, words["멸치"].video) == (0, 3, NOODLES)


def test_telling_words_are_those_that_the_rest_of_the_library_does_not_say(
    library: Library, analyzer: Analyzer
) -> None:
    words = [word.text for word in video_overview(library, TALK, analyzer).words]
    assert words[:3] == ["코드", "모니터", "냉장고"], "the last is said elsewhere too"
    assert "이야기" not in words, "an ordinary word"
    channel = channel_overview(library, TALK.channel_id, analyzer)
    assert [word.text for word in channel.words][:2] == ["코드", "모니터"]


def test_a_word_is_no_word_where_it_is_a_name_or_a_stem(library: Library, analyzer: Analyzer) -> None:
    overview = video_overview(library, NOODLES, analyzer)
    words = by_text(overview.words)
    assert not words.keys() & by_text(overview.names).keys()
    assert "끓이" not in words


def test_the_glossary_comes_first_whatever_its_spaces_and_only_what_is_said(
    library: Library, analyzer: Analyzer
) -> None:
    library.contexts.put_glossary(NOODLES.channel_id, ("청귤국수", "없는 이름", "멸치"))
    names = [mention.text for mention in video_overview(library, NOODLES, analyzer).names]
    assert names[:2] == ["멸치", "청귤국수"]
    assert "없는 이름" not in names


def test_names_of_the_channel_s_other_videos_count_too(library: Library, analyzer: Analyzer) -> None:
    [*windows] = library.windows_of(CAMP.id)
    assert len(windows) < NAME_WINDOWS
    names = by_text(video_overview(library, CAMP, analyzer).names)
    assert names["두레반"].windows == 1, "once would not do in this video alone"
    assert "현우" not in names, "nobody says it there"


def test_a_channel_s_overview_lists_its_videos_with_first_sentences(library: Library, analyzer: Analyzer) -> None:
    summarise(library, NOODLES, "두레반에서 국수를 삶습니다. 현우가 먹습니다.")
    overview = channel_overview(library, NOODLES.channel_id, analyzer)
    assert (overview.channel_id, overview.name) == (NOODLES.channel_id, NOODLES.channel)
    assert overview.videos == ((CAMP, ""), (NOODLES, "두레반에서 국수를 삶습니다."))
    names = by_text(overview.names)
    assert names["현우"].video == NOODLES
    assert names["달무리"].video == CAMP


def test_a_library_of_one_channel_tells_its_words_by_their_windows(tmp_path: Path, analyzer: Analyzer) -> None:
    only = {one: minutes for one, minutes in SPEECH.items() if one != TALK}
    with closing(filled(tmp_path / "one.db", analyzer, only)) as library:
        words = [word.text for word in channel_overview(library, CAMP.channel_id, analyzer).words]
    assert "텐트" in words[:3]


def test_what_is_not_there_is_empty(library: Library, analyzer: Analyzer) -> None:
    gone = video_overview(library, video("gone0000000"), analyzer)
    assert (gone.summary, gone.sections, gone.words, gone.names, gone.peaks) == ("", (), (), (), ())
    nobody = channel_overview(library, "UCnobody", analyzer)
    assert (nobody.name, nobody.videos, nobody.words, nobody.names) == ("UCnobody", (), (), ())


def test_peaks_are_parts_above_their_neighbours_and_never_the_beginning() -> None:
    def parts(*values: float) -> list[Heat]:
        return [Heat(at * 1_000, (at + 1) * 1_000, value) for at, value in enumerate(values)]

    def starts(*values: float) -> list[int]:
        return [part.start_ms for part in highest_parts(parts(*values))]

    assert starts() == starts(1.0) == starts(1.0, 0.5) == starts(0.0, 0.0, 0.0) == []
    assert starts(1.0, 0.2, 0.6, 0.6, 0.1, 0.9) == [2_000, 5_000]
    assert starts(0, 0.1, 0, 0.4, 0, 0.2, 0, 0.3, 0) == [3_000, 5_000, 7_000]


STUDY = video("study000000", "공부하는 법 - 이준표, 장민석", channel="학교")
CODE = video("code0000000", "코드 읽기", channel="학교")
LESSONS = {
    STUDY: [
        ["훨씬 빨리 가져와요", "민석이 가져왔어요", "46.14 점이고 1시간 걸려요"],
        ["책을 가져오고 훨씬 모르는 것", "민석이 책을 몰라요", "46.14 점 1시간"],
    ],
    CODE: [
        ["코드를 읽어요", "엔터프라이즈 코드예요", "책이 좋아요"],
        ["코드가 책보다 길어요", "엔터프라이즈급 함수", "함수를 봐요"],
        ["엔터를 눌러요", "함수와 코드", "엔터프라이즈 서버"],
    ],
}


@pytest.fixture
def lessons(tmp_path: Path, analyzer: Analyzer) -> Iterator[Library]:
    with closing(filled(tmp_path / "lessons.db", analyzer, LESSONS)) as opened:
        yield opened


def test_sections_have_dictionary_forms_and_neither_adverbs_nor_numbers(lessons: Library, analyzer: Analyzer) -> None:
    [section] = video_overview(lessons, STUDY, analyzer).sections
    assert "책" not in section.words, "one letter"
    assert {"가져오다", "모르다"} <= set(section.words)
    assert not {"가져오", "모르", "훨씬", "46.14", "1시간"} & set(section.words)
    assert not {"훨씬", "46.14", "1시간"} & set(by_text(video_overview(lessons, STUDY, analyzer).words))


def test_names_are_whole(lessons: Library, analyzer: Analyzer) -> None:
    names = by_text(channel_overview(lessons, STUDY.channel_id, analyzer).names)
    assert not {"민석", "엔터"} & names.keys()
    assert (names["장민석"].video, names["장민석"].windows) == (STUDY, 2)


def test_the_words_of_a_channel_jump_into_several_videos(tmp_path: Path, analyzer: Analyzer) -> None:
    words = ("김치", "국수", "만두", "김밥")
    minutes = [[f"{word}를 먹어요" for word in words]] * 2
    videos = {video(f"meal{at:07}", f"밥 {at}", channel="부엌"): minutes for at in range(4)}
    with closing(filled(tmp_path / "meals.db", analyzer, videos)) as library:
        told = channel_overview(library, next(iter(videos)).channel_id, analyzer).words
    assert {word.text for word in told} >= set(words)
    assert {word.video for word in told} == set(videos)


def test_verbs_counters_and_measures_tell_nothing(tmp_path: Path, analyzer: Analyzer) -> None:
    speech = {
        NOODLES: [
            ["닭 두 마리를 가져가 삶아요", "냄비는 16cm 냄비예요"],
            ["꽃게 세 마리 가져가 봐요", "냄비 16cm 맞아요"],
        ],
        CAMP: [["텐트를 쳐요", "바람이 불어요"]],
    }
    with closing(filled(tmp_path / "three.db", analyzer, speech)) as library:
        overview = video_overview(library, NOODLES, analyzer)
    told = {word.text for word in overview.words} | {word for section in overview.sections for word in section.words}
    assert "냄비" in told
    assert not told & {"마리", "가져가", "16cm"}
