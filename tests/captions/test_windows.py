"""Every rule of `windows` over any captions: what is said is kept once, times hold, limits hold."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given

from subtitle_rag.base.domain.values import Cue, Line
from subtitle_rag.captions import windows
from subtitle_rag.captions.windows import (
    LONGEST_MS,
    MAX_CHARS,
    MAX_CUES,
    OVERLAP_MS,
    SHORTEST_MS,
    cut_windows,
    earliest_begins,
    window_id,
)
from tests.support.cues import captions, cue, lines_of, speech


@given(captions())
def test_lines_are_where_cues_begin(cues: list[Cue]) -> None:
    for window in cut_windows("v", cues):
        assert window.lines[0] == Line(0, window.start_ms)
        assert [line.start_ms for line in window.lines] == sorted(line.start_ms for line in window.lines)
        assert " ".join(lines_of(window)) == window.text
        assert all(line == line.strip() != "" for line in lines_of(window))


@given(captions())
def test_ids_are_the_same_every_time_and_others_of_another_video(cues: list[Cue]) -> None:
    made = cut_windows("v", cues)
    assert cut_windows("v", cues) == made
    assert not {w.id for w in made} & {w.id for w in cut_windows("w", cues)}


@given(captions())
def test_no_short_window_could_have_joined_a_neighbour(cues: list[Cue]) -> None:
    for before, after in pairwise(cut_windows("v", cues)):
        if min(before.end_ms - before.start_ms, after.end_ms - after.start_ms) < SHORTEST_MS:
            joined = max(before.end_ms, after.end_ms) - before.start_ms
            fits = joined < LONGEST_MS and len(before.text) + len(after.text) + 1 <= MAX_CHARS
            assert not fits or len(before.lines) + len(after.lines) > MAX_CUES


@pytest.mark.campaign(part="flows")
@given(captions())
def test_the_order_of_the_cues_in_the_file_does_not_matter(cues: list[Cue]) -> None:
    distinct = list({c.start_ms: c for c in cues if c.end_ms - c.start_ms <= LONGEST_MS and len(c.text) < 100}.values())
    assert cut_windows("v", sorted(distinct, key=lambda c: -c.start_ms)) == cut_windows(
        "v", sorted(distinct, key=lambda c: c.start_ms)
    )


@given(captions())
def test_the_overlap_is_the_neighbouring_speech_and_never_the_windows_own(cues: list[Cue]) -> None:
    made = cut_windows("v", cues)
    lines = [(line.start_ms, text) for w in made for line, text in zip(w.lines, lines_of(w), strict=True)]
    ends = list(accumulate(len(w.lines) for w in made))
    for window, end in zip(made, ends, strict=True):
        begin = end - len(window.lines)
        before = [text for start, text in lines[:begin] if start >= window.start_ms - OVERLAP_MS]
        after = [text for start, text in lines[end:] if start < window.end_ms + OVERLAP_MS]
        assert " ".join(before).endswith(window.overlap_before)
        assert " ".join(after).startswith(window.overlap_after)
        for all_of_it, kept in ((before, window.overlap_before), (after, window.overlap_after)):
            assert len(kept) <= MAX_CHARS
            assert kept == " ".join(all_of_it) or len(" ".join(all_of_it)) > MAX_CHARS


def test_the_overlap_ends_before_a_cue_that_begins_where_its_time_is_over() -> None:
    within, beyond = (300_000 + OVERLAP_MS + late for late in (-1, 0))
    for start, said in ((within, "나중"), (beyond, "")):
        made = cut_windows("v", [Cue(240_000, 300_000, "먼저"), Cue(start, start + 60_000, "나중")])
        assert [w.overlap_after for w in made] == [said, ""]


def test_no_cues_make_no_windows() -> None:
    assert cut_windows("v", []) == []


def test_one_cue_makes_one_window() -> None:
    (window,) = cut_windows("v", [cue(5, 7.5, "안녕하세요")])
    assert (window.start_ms, window.end_ms, window.text) == (5_000, 7_500, "안녕하세요")
    assert (window.overlap_before, window.overlap_after, window.id) == ("", "", window_id("v", 5_000))


def test_steady_speech_is_cut_about_every_minute() -> None:
    made = cut_windows("v", speech(3600))
    assert 55 <= len(made) <= 65
    assert all(45_000 <= w.end_ms - w.start_ms <= 75_000 for w in made)


@pytest.mark.parametrize("rest", [1, 5, 19])
def test_no_short_remainder_is_left_at_the_end(rest: int) -> None:
    made = cut_windows("v", [*speech(180), cue(180, 180 + rest)])
    assert min(w.end_ms - w.start_ms for w in made) >= SHORTEST_MS


def test_a_lonely_line_between_long_silences_stands_alone() -> None:
    made = cut_windows("v", [*speech(60), cue(300, 304, "혼자"), *speech(60, start=600)])
    assert [w.text for w in made][1] == "혼자"
    assert len(made) == 3


def test_a_cut_is_made_at_the_long_pause_near_the_target() -> None:
    made = cut_windows("v", [*speech(54), *speech(54, start=60)])
    assert [(w.start_ms, w.end_ms) for w in made] == [(0, 54_000), (60_000, 114_000)]


def test_a_cut_is_made_at_the_end_of_a_sentence() -> None:
    parts = ["그래서 말인데", "제가 어제는", "시장에 가서", "꽃게를 샀어요"]
    cues = [cue(i * 3, i * 3 + 3, parts[i % 4]) for i in range(40)]
    assert all(w.text.endswith("샀어요") for w in cut_windows("v", cues))


def test_a_cut_is_made_before_a_new_speaker() -> None:
    cues = [cue(i * 3, i * 3 + 3, ">> 그런데" if i == 21 else "그리고") for i in range(40)]
    assert cut_windows("v", cues)[1].text.startswith(">> ")


def test_a_thousand_cues_at_the_same_time_keep_their_order_and_get_ids_of_their_own() -> None:
    cues = [Cue(0, 0, f"자막{i}") for i in range(1000)]
    made = cut_windows("v", cues)
    assert [text for w in made for text in lines_of(w)] == [c.text for c in cues]
    assert len({w.id for w in made}) == len(made) > 1
    assert {(w.start_ms, w.end_ms) for w in made} == {(0, 0)}
    assert [w.id for w in made[:2]] == [window_id("v", 0), window_id("v", 0, 1)]


def test_the_overlaps_of_a_thousand_cues_at_the_same_time_stay_short() -> None:
    made = cut_windows("v", [Cue(0, 0, "가나다라마바사") for _ in range(3000)])
    assert max(len(w.overlap_before) + len(w.overlap_after) for w in made) <= 2 * MAX_CHARS
    assert all(w.overlap_after for w in made[:-1])


def test_a_word_of_ten_minutes_is_a_window_of_the_greatest_length() -> None:
    made = cut_windows("v", [cue(0, 600, "음악"), *speech(60, start=10)])
    assert (made[0].start_ms, made[0].end_ms, made[0].text) == (0, LONGEST_MS, "음악")
    assert made[1].start_ms == 10_000


def test_three_hours_in_one_cue_are_divided_evenly_at_its_words() -> None:
    text = " ".join(f"낱말{i}" for i in range(9_000))
    made = cut_windows("v", [cue(0, 3 * 3600, text)])
    assert " ".join(w.text for w in made) == text
    assert all(SHORTEST_MS <= w.end_ms - w.start_ms <= LONGEST_MS for w in made)
    assert made[-1].end_ms == 3 * 3_600_000
    for a, b in pairwise(made):
        assert a.end_ms == b.start_ms


def test_three_hours_in_one_cue_with_word_times_begin_windows_exactly_at_words() -> None:
    starts = tuple(i * 1_200 + (i % 7) for i in range(9_000))
    text = " ".join(f"낱말{i}" for i in range(9_000))
    made = cut_windows("v", [Cue(0, 3 * 3_600_000, text, starts)])
    for window in made:
        for line, said in zip(window.lines, lines_of(window), strict=True):
            assert line.start_ms == starts[int(said.split()[0].removeprefix("낱말"))]
        assert SHORTEST_MS <= window.end_ms - window.start_ms <= LONGEST_MS


def test_words_after_a_silence_inside_a_long_cue_are_not_moved_before_it() -> None:
    starts = (*range(0, 10_000, 1_000), 170_000)
    (first, second) = cut_windows("v", [Cue(0, 180_000, "하나 " * 10 + "나중", starts)])
    assert (first.start_ms, first.end_ms) == (0, LONGEST_MS)
    assert (second.start_ms, second.end_ms, second.text) == (170_000, 180_000, "나중")


def test_parts_of_a_wordy_cue_hold_the_limit_however_its_words_are_spread() -> None:
    text = " ".join(["가" * 900] * 10 + ["나"] * 3_000)
    assert max(len(w.text) for w in cut_windows("v", [cue(0, 30, text)])) <= MAX_CHARS


def test_lines_spoken_during_a_long_cue_come_in_the_order_of_time() -> None:
    made = cut_windows("v", [cue(0, 200, "제목 " * 20 + "끝"), cue(10, 12, "첫 마디"), cue(150, 152, "둘째 마디")])
    starts = [line.start_ms for w in made for line in w.lines]
    assert starts == sorted(starts)


def test_several_spaces_in_a_cue_do_not_shift_its_word_times() -> None:
    made = cut_windows("v", [Cue(0, 200_000, "하나  둘   셋", (0, 60_000, 120_000))])
    assert [(line.start_ms, text) for w in made for line, text in zip(w.lines, lines_of(w), strict=True)] == [
        (0, "하나"),
        (60_000, "둘"),
        (120_000, "셋"),
    ]


def test_ids_depend_on_the_video_the_start_and_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    assert window_id("v", 0) == "bdeccab9-4447-543b-bdda-c09267e85bb0", "libraries hold it"
    ids = {window_id("v", 0), window_id("v", 0, 1), window_id("v", 1), window_id("w", 0)}
    monkeypatch.setattr(windows, "RULE", "another")
    assert len({*ids, window_id("v", 0)}) == 5


@pytest.mark.parametrize(("every", "most"), [(3_000, 32), (900, 102), (0, MAX_CUES)])
def test_the_work_grows_with_the_cues_alone(every: int, most: int) -> None:
    cues = [Cue(i * every, i * every + every, "네") for i in range(2_000)]
    weighed = [last - first + 1 for last, first in enumerate(earliest_begins(cues))]
    assert 1 < max(weighed) <= most
