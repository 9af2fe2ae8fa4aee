"""Chapters' borders are where windows are cut by preference, and nowhere at the cost of a rule."""

from itertools import accumulate, pairwise, product

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.values import Cue, Window
from subtitle_rag.captions.windows import LONGEST_MS, MAX_CHARS, MAX_CUES, SHORTEST_MS, cut_windows
from tests.support.cues import captions, cue, divisions, lines_of, speech, words_of

BORDERS = st.lists(st.integers(-10_000, 500_000), max_size=20)


def starts(made: list[Window]) -> list[int]:
    return [window.start_ms for window in made]


def sparse(count: int = 15) -> list[Cue]:
    """Cues of twelve seconds: without borders they are cut at every minute."""
    return speech(12 * count, every=12)


def test_a_video_without_chapters_is_divided_as_ever() -> None:
    assert starts(cut_windows("v", sparse())) == [0, 60_000, 120_000]


@pytest.mark.parametrize("border", [39, 45, 51, 54, 66, 72, 78, 81])
def test_a_window_begins_where_a_chapter_does(border: int) -> None:
    cues = speech(180)
    assert border * 1_000 not in starts(cut_windows("v", cues))
    made = cut_windows("v", cues, [border * 1_000])
    assert border * 1_000 in starts(made)
    assert all(SHORTEST_MS <= w.end_ms - w.start_ms <= LONGEST_MS for w in made)


def test_a_border_is_worth_no_window_far_from_the_target() -> None:
    cues = speech(180)
    assert cut_windows("v", cues, [24_000]) == cut_windows("v", cues)


@pytest.mark.parametrize(
    ("border", "cut"),
    [(48_000, 48_000), (43_000, 48_000), (45_500, 48_000), (53_000, 48_000), (67_000, 72_000), (77_000, 72_000)],
)
def test_a_border_near_a_cue_cuts_before_that_cue(border: int, cut: int) -> None:
    assert starts(cut_windows("v", sparse(), [border]))[1] == cut


@pytest.mark.parametrize("border", [42_000, 42_999, 53_001, 66_000, 78_000])
def test_a_border_more_than_five_seconds_from_every_cue_changes_nothing(border: int) -> None:
    assert cut_windows("v", sparse(), [border]) == cut_windows("v", sparse())


def test_of_two_cues_the_one_nearest_to_the_border_begins_the_chapter() -> None:
    assert starts(cut_windows("v", speech(180), [46_600]))[1] == 48_000
    assert starts(cut_windows("v", speech(180), [46_400]))[1] == 45_000


@pytest.mark.parametrize("borders", [[], [0], [-5_000], [1_000], [0, 200_000], [10**12], [185_001]])
def test_borders_at_the_beginning_and_beyond_the_end_change_nothing(borders: list[int]) -> None:
    assert cut_windows("v", speech(180), borders) == cut_windows("v", speech(180))


def test_captions_that_begin_late_are_not_cut_before_their_first_cue() -> None:
    cues = speech(60, start=100)
    assert cut_windows("v", cues, [0, 96_000, 100_000]) == cut_windows("v", cues)
    assert cut_windows("v", [], [0, 60_000]) == []
    assert len(cut_windows("v", [cue(0, 5)], [0, 2_000, 5_000])) == 1


@pytest.mark.parametrize("every", [1, 3, 10])
def test_dense_borders_make_no_short_windows(every: int) -> None:
    cues = speech(1_800)
    made = cut_windows("v", cues, [every * 1_000 * n for n in range(1_800 // every)])
    assert all(45_000 <= w.end_ms - w.start_ms <= 75_000 for w in made)
    assert words_of([w.text for w in made]) == words_of([c.text for c in cues])


def test_a_chapter_too_short_for_a_window_goes_with_a_neighbour() -> None:
    made = cut_windows("v", speech(120), [54_000, 66_000])
    assert all(w.end_ms - w.start_ms >= SHORTEST_MS for w in made)
    assert len({54_000, 66_000} & set(starts(made))) == 1


def test_a_chapter_longer_than_a_window_is_divided() -> None:
    made = cut_windows("v", speech(300), [0, 51_000, 249_000])
    assert {51_000, 249_000} <= set(starts(made))
    assert all(40_000 <= w.end_ms - w.start_ms <= LONGEST_MS for w in made)


def test_a_chapters_border_goes_before_a_pause_and_a_sentences_end() -> None:
    cues = [*speech(54, text="그렇게 먹었어요."), *speech(126, start=60)]
    assert starts(cut_windows("v", cues))[1] == 60_000
    assert starts(cut_windows("v", cues, [69_000]))[1] == 69_000


def test_borders_may_come_in_any_order_and_twice() -> None:
    borders = [45_000, 111_000, 174_000]
    made = cut_windows("v", speech(240), borders)
    assert starts(made) == [0, *borders]
    assert cut_windows("v", speech(240), [*borders[::-1], 45_200, 45_000]) == made


def test_a_cut_at_a_border_leaves_the_overlap_to_the_neighbours() -> None:
    cues = [cue(n * 3, n * 3 + 3, f"말{n}") for n in range(60)]
    _first, second, *_rest = cut_windows("v", cues, [45_000])
    assert second.text.startswith("말15 말16")
    assert second.overlap_before == "말11 말12 말13 말14"


@given(captions(), BORDERS)
def test_every_word_is_in_exactly_one_window_wherever_chapters_begin(cues: list[Cue], borders: list[int]) -> None:
    made = cut_windows("v", cues, borders)
    assert words_of([w.text for w in made]) == words_of([c.text for c in cues])
    lines = [text for window in made for text in lines_of(window)]
    for one in cues:
        if one.end_ms - one.start_ms <= LONGEST_MS and len(one.text) <= MAX_CHARS:
            assert one.text in lines


@given(captions(), BORDERS)
def test_the_limits_are_held_wherever_chapters_begin(cues: list[Cue], borders: list[int]) -> None:
    made = cut_windows("v", cues, borders)
    assert [w.ordinal for w in made] == list(range(len(made)))
    assert starts(made) == sorted(starts(made))
    assert len({w.id for w in made}) == len(made)
    for window in made:
        assert 0 <= window.end_ms - window.start_ms <= LONGEST_MS
        assert len(window.text) <= MAX_CHARS or len(window.lines) == 1
        assert len(window.lines) <= MAX_CUES


@given(captions(), BORDERS)
def test_the_order_of_the_borders_does_not_matter(cues: list[Cue], borders: list[int]) -> None:
    assert cut_windows("v", cues, sorted(borders)) == cut_windows("v", cues, borders)


@given(captions())
def test_borders_that_no_cue_is_near_change_nothing(cues: list[Cue]) -> None:
    assert cut_windows("v", cues, [-6_000, 10**9]) == cut_windows("v", cues, ()) == cut_windows("v", cues)


GAPS = st.tuples(st.sampled_from([0, 3, 20, 40, 95]), st.sampled_from([1, 8, 15, 29, 60]))


@given(st.lists(st.tuples(GAPS, st.booleans()), max_size=5))
def test_chapters_make_no_more_short_windows_than_there_must_be(parts: list[tuple[tuple[int, int], bool]]) -> None:
    ends = list(accumulate(gap + length for (gap, length), _border in parts))
    cues = [cue(end - length, end) for end, ((_gap, length), _border) in zip(ends, parts, strict=True)]
    borders = [one.start_ms for one, (_part, border) in zip(cues, parts, strict=True) if border]
    ways = [divisions(cues, cut) for cut in product((True, False), repeat=max(0, len(cues) - 1))]
    allowed = [spans for spans in ways if all(end - start <= LONGEST_MS for start, end in spans)]
    fewest = min(sum(end - start < SHORTEST_MS for start, end in spans) for spans in allowed)
    assert sum(w.end_ms - w.start_ms < SHORTEST_MS for w in cut_windows("v", cues, borders)) == fewest


@given(st.integers(3, 60), st.lists(st.integers(0, 600_000), max_size=40))
def test_steady_speech_is_never_cut_short(every: int, borders: list[int]) -> None:
    """Cues of up to a minute leave room for a cut within every window's limits."""
    made = cut_windows("v", speech(600, every=every), borders)
    assert all(w.end_ms - w.start_ms >= min(SHORTEST_MS, every * 1_000) for w in made)
    for before, after in pairwise(made):
        assert before.end_ms == after.start_ms
