"""How much a track says, and which of two tracks is the better one."""

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from subtitle_rag.base.domain.values import Cue, MeasuredTrack, TrackSelection
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.speech import Speech, is_enough, measure_speech, outweighs, selection_notes

MINUTE = 60_000


def cues(*texts: str, every_ms: int = 2_500, first_ms: int = 0) -> list[Cue]:
    starts = range(first_ms, first_ms + every_ms * len(texts), every_ms)
    return [Cue(start, start + every_ms, text) for start, text in zip(starts, texts, strict=True)]


def talk(minutes: float, *, every_ms: int = 2_500) -> list[Cue]:
    """Korean speech, a different line of 12 syllables each time."""
    count = round(minutes * MINUTE / every_ms)
    digits = str.maketrans("0123456789", "영일이삼사오육칠팔구")
    return cues(*(f"국수를 삶는 이야기 {number:04d}".translate(digits) for number in range(count)), every_ms=every_ms)


def measured(lines: list[Cue], language: str = "ko") -> Speech:
    return measure_speech(lines, language)


def preferred(manual: list[Cue], automatic: list[Cue], minutes: float) -> str:
    """Which of the two a video of so many minutes gets."""
    first, second = measured(manual), measured(automatic)
    return "manual" if is_enough(first, round(minutes * MINUTE)) or not outweighs(second, first) else "automatic"


SONG = [
    f"♪ {line} ♪"
    for line in ("멸치 국물이 끓는 밤에", "너를 생각하며 면을 삶네", "우리 둘이 먹던 그 국수", "아직도 그 맛이 난다")
]

KINDS = {
    "all of it": (talk(10), talk(10), 10, "manual"),
    "one line at 10:00": (cues("여기서 소금을 넣어요", first_ms=600_000), talk(20), 20, "automatic"),
    "a greeting": (cues("안녕하세요", "느린 부엌입니다", "오늘도 국수예요"), talk(12), 12, "automatic"),
    "credits": (cues("자막 제공: 느린 부엌"), talk(3), 3, "automatic"),
    "a credit all the time": (cues(*["자막 제공: 느린 부엌"] * 240), talk(10), 10, "automatic"),
    "notes": (cues(*["[음악]", "♪", "♪♪ ♪", "[박수] >>"] * 20), talk(10), 10, "automatic"),
    "signs of each minute": (
        cues(*(f"{n}일째 아침 {'가나다라마바사'[n]}동" for n in range(7)), every_ms=MINUTE),
        talk(7),
        7,
        "automatic",
    ),
    "the first third": (talk(4), talk(12), 12, "automatic"),
    "the first two thirds": (talk(8), talk(12), 12, "manual"),
    "every second line": (talk(10)[::2], talk(10), 10, "manual"),
    "a short with a title": (cues("오늘의 간식"), talk(0.5), 0.5, "automatic"),
    "a short of few words": (cues("오늘의 간식", every_ms=15_000), cues("네"), 0.5, "manual"),
    "a song heard as music": (cues(*SONG * 6, every_ms=7_000), cues(*["[음악]"] * 40), 3, "manual"),
    "a song heard as noise": (
        cues(*SONG * 6, every_ms=7_000),
        cues("아", "어 우", "사랑해", every_ms=40_000),
        3,
        "manual",
    ),
    "a silent film told in writing": (talk(20)[::24], cues("아", "네 네", "하나", every_ms=90_000), 20, "manual"),
    "a quiet day, heard as well": (talk(20)[::6], talk(20)[::6], 20, "manual"),
}


@pytest.mark.parametrize(("manual", "automatic", "minutes", "taken"), KINDS.values(), ids=KINDS)
def test_the_track_is_chosen_by_what_it_says(
    manual: list[Cue], automatic: list[Cue], minutes: float, taken: str
) -> None:
    assert preferred(manual, automatic, minutes) == taken


def test_a_track_that_says_enough_needs_no_other() -> None:
    assert is_enough(measured(talk(10)), 10 * MINUTE)
    assert is_enough(measured(talk(0.5)), MINUTE // 2)


def test_without_the_length_of_the_video_no_track_is_known_to_say_enough() -> None:
    assert not is_enough(measured(talk(10)), None)


def test_english_letters_count_as_long_as_their_syllables() -> None:
    minute = "and now we boil the noodles for about four minutes until they are soft"
    english = measured(cues(*(f"{minute} {'abcdefghij'[n]}" for n in range(10)), every_ms=6_000), "en")
    assert 180 < english.syllables < 320  # 150 words


ENGLISH = [f"so today we are going to boil {thing}" for thing in ("noodles", "eggs", "rice", "soup")]


def test_english_under_the_label_of_korean_is_told_and_counts_for_nothing() -> None:
    speech = measured(cues(*ENGLISH), "ko")
    assert (speech.mislabelled, speech.syllables, speech.stretches) == (True, 0, 0)
    assert not is_enough(Speech(10**6, 10**6, mislabelled=True), MINUTE)
    assert not measured(cues(*ENGLISH), "en").mislabelled


@pytest.mark.parametrize("language", ["ko", "ko-KR", "KO", "ja", "zh-Hans", "ru", "th"])
def test_each_language_has_its_letters(language: str) -> None:
    assert measured(cues(*ENGLISH), language).mislabelled


@pytest.mark.parametrize("language", ["de", "xx", "", "und"])
def test_of_languages_whose_letters_are_not_known_nothing_is_said(language: str) -> None:
    assert not measured(cues(*ENGLISH), language).mislabelled


@pytest.mark.parametrize(
    "lines",
    [
        ["Python의 GIL과 asyncio의 event loop를 봅시다", "FastAPI와 Django는 이렇게 다릅니다"],
        ["넷플릭스", "OK"],
        [*ENGLISH, "여러분 이 문장을 따라 해 보세요 오늘 우리는 국수를 삶겠습니다 잘하셨어요"],
    ],
)
def test_korean_with_english_names_and_examples_is_korean(lines: list[str]) -> None:
    assert not measured(cues(*lines), "ko").mislabelled


def selection(*tracks: MeasuredTrack, taken: int = 0, flag: str = "", withheld: bool = False) -> TrackSelection:
    return TrackSelection(tracks, taken, flag, withheld)


MANUAL, HEARD = MeasuredTrack("ko", "manual", 12), MeasuredTrack("ko", "asr", 4_211)


def test_the_reason_is_told_in_a_sentence() -> None:
    assert selection_notes(selection(MANUAL, HEARD, taken=1)) == [
        "The automatic captions (ko, 4,211 syllables) were taken: "
        "they say more than the manual captions (ko, 12 syllables)."
    ]
    assert selection_notes(selection(MANUAL, MeasuredTrack("ko", "asr", failure="no_cues"))) == [
        "The manual captions (ko, 12 syllables) say little, and the automatic captions (ko, unreadable) say no more."
    ]
    assert "withholds" in selection_notes(selection(MANUAL, withheld=True))[0]
    assert len(selection_notes(selection(MANUAL, HEARD, taken=1, flag="dub"))) == 2
    assert selection_notes(selection(HEARD)) == []


DATA = Path(os.environ.get("SUBTITLE_RAG_DATA") or Path(__file__).parents[3] / "shared" / "data")

Thinning = Callable[[list[Cue]], list[Cue]]


def until(share: float) -> Thinning:
    return lambda lines: [cue for cue in lines if cue.start_ms < share * lines[-1].end_ms]


REAL: dict[str, tuple[Thinning, bool]] = {
    "all lines": (lambda lines: lines, True),
    "one line of three": (lambda lines: lines[::3], True),
    "the first 60 %": (until(0.6), True),
    "one line of five": (lambda lines: lines[::5], False),
    "the first 45 %": (until(0.45), False),
    "one line in the middle": (lambda lines: list(islice(lines, len(lines) // 2, len(lines) // 2 + 1)), False),
}


@pytest.mark.campaign(part="flows")
@pytest.mark.parametrize(("thinned", "is_kept"), REAL.values(), ids=REAL)
def test_of_real_speech_a_condensed_track_is_kept_and_a_small_part_is_not(thinned: Thinning, is_kept: bool) -> None:
    """The figures of the thresholds: a manual track that has these lines, and an automatic one that has all."""
    files = [*sorted(DATA.glob("fashion_asr/*.vtt")), *sorted(DATA.glob("pyconkr_2019/*.srt"))]
    if not files:
        pytest.skip(f"no real data in {DATA}; set SUBTITLE_RAG_DATA to measure with them")
    for file in files:
        lines = parse_captions(file.read_bytes(), file.suffix[1:])
        all_of_it, some = measured(lines), measured(thinned(lines))
        duration_ms = max(cue.end_ms for cue in lines)
        assert is_enough(all_of_it, duration_ms), file.name
        assert (is_enough(some, duration_ms) or not outweighs(all_of_it, some)) == is_kept, file.name
