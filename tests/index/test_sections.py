"""Sections of a video: chapters, or parts by topic."""

from collections.abc import Sequence
from dataclasses import replace

from subtitle_rag.base.domain.values import Chapter, Line, Morphemes, Video, Window
from subtitle_rag.index.sections import Section, split_sections

VIDEO = Video("v", "title", "c", "channel", duration_ms=900_000)
SOUP, ENGINE = ("국물", "소금", "냄비", "라면"), ("엔진", "바퀴", "기름", "운전")


def made(topics: Sequence[tuple[str, ...]]) -> tuple[list[Window], dict[str, Morphemes]]:
    windows = [
        Window(f"w{at}", "v", at, at * 60_000, (at + 1) * 60_000, " ".join(topic), (Line(0, at * 60_000),))
        for at, topic in enumerate(topics)
    ]
    analyses = {
        window.id: Morphemes((*topic, f"낱말{at}"), (), ())
        for at, (window, topic) in enumerate(zip(windows, topics, strict=True))
    }
    return windows, analyses


def ids(part: Section) -> tuple[str, ...]:
    return part.window_ids


def test_a_change_of_words_begins_a_section() -> None:
    windows, analyses = made([SOUP] * 7 + [ENGINE] * 6)
    first, second = split_sections(VIDEO, windows, analyses)
    assert (first.start_ms, first.end_ms, second.start_ms, second.end_ms) == (0, 420_000, 420_000, 900_000)
    assert ids(first) + ids(second) == tuple(window.id for window in windows)
    assert set(first.words[:4]) == set(SOUP)
    assert set(second.words[:4]) == set(ENGINE)
    assert first.title == second.title == ""


def test_one_topic_is_one_section() -> None:
    for count in (1, 2, 9):
        windows, analyses = made([SOUP] * count)
        assert [len(part.window_ids) for part in split_sections(VIDEO, windows, analyses)] == [count]


def test_windows_without_words_are_in_a_section() -> None:
    windows, _analyses = made([SOUP] * 4)
    [part] = split_sections(VIDEO, windows, {})
    assert ids(part) == ("w0", "w1", "w2", "w3")
    assert part.words == ()
    assert split_sections(VIDEO, [], {}) == []


def test_chapters_are_the_sections() -> None:
    windows, analyses = made([SOUP] * 5)
    video = replace(VIDEO, chapters=(Chapter(62_000, "둘째"), Chapter(63_000, "짧은 장"), Chapter(181_000, "끝")))
    parts = split_sections(video, windows, analyses)
    assert [(part.start_ms, part.title, ids(part)) for part in parts] == [
        (0, "", ("w0",)),
        (62_000, "둘째", ()),
        (63_000, "짧은 장", ("w1", "w2")),
        (181_000, "끝", ("w3", "w4")),
    ]


def test_a_chapter_behind_the_end_has_no_negative_length() -> None:
    windows, analyses = made([SOUP] * 2)
    video = replace(VIDEO, duration_ms=None, chapters=(Chapter(0, "하나"), Chapter(500_000, "둘")))
    assert [(part.start_ms, part.end_ms) for part in split_sections(video, windows, analyses)] == [
        (0, 500_000),
        (500_000, 500_000),
    ]


def test_a_single_chapter_is_cut_by_topic() -> None:
    windows, analyses = made([SOUP] * 7 + [ENGINE] * 6)
    assert len(split_sections(replace(VIDEO, chapters=(Chapter(0, "전체"),)), windows, analyses)) == 2
