"""What Whisper is known to invent, as it came from its users."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import subtitle_rag
from subtitle_rag.base.domain.values import GapReason, SpeechGap
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.listening.guards import (
    MOST_RATIO,
    Passage,
    compression,
    doubtful,
    echoes,
    silent_speech,
    without_stock_phrases,
)
from subtitle_rag.listening.sentences import HeardWord
from subtitle_rag.listening.stretches import SoundListener, SpokenLanguage, divided, joined
from tests.support.cases import cases

SAMPLE = Path(subtitle_rag.__file__).parent / "sample"


def passage(
    text: str,
    *,
    logprob: float = -0.3,
    silence: float = 0.01,
    voice: float = 0.9,
    begin_ms: int = 0,
    each_ms: int = 400,
) -> Passage:
    words = tuple(
        HeardWord(begin_ms + at * each_ms, begin_ms + (at + 1) * each_ms, word) for at, word in enumerate(text.split())
    )
    return Passage(words, logprob, silence, voice)


LOOPS = {
    "thanks": "그래서 저는 " + "감사합니다. " * 20,
    "laughter": "웃음소리 " * 30,
    "sentence": "그런데 이게 정말 맛있어요 " * 8,
    "letters": "아" * 60,
    "letters apart": "아 " * 60,
    "marks between": "네, 네. 네! 네? " * 12,
    "one word": "소문, " + "소문," * 40,
    "one number": "20" + ",000" * 40,
}


@cases("text", LOOPS.values())
def test_a_loop_is_a_gap(text: str) -> None:
    (gap, *_more) = joined(doubtful([passage(text)]))
    assert gap.reason == GapReason.LOOP
    assert gap.end_ms == len(text.split()) * 400


def test_the_words_of_a_loop_at_one_moment_are_not_shown_behind_its_gap() -> None:
    words = [*passage("소문 " * 3).words, *passage("소문 " * 30, begin_ms=1_200, each_ms=0).words]
    gaps = doubtful([Passage(tuple(words), -0.3, 0.01, 0.9)])
    stretches = list(divided(0, 10_000, words, gaps, "ko"))
    assert [each.gap for each in stretches] == [GapReason.LOOP, None]
    assert [cue for each in stretches for cue in each.cues] == []


def test_what_was_said_before_a_loop_stays() -> None:
    (gap,) = joined(doubtful([passage("오늘은 시장에 왔습니다"), passage("감사합니다. " * 20, begin_ms=1200)]))
    assert gap.start_ms == 1200


@cases(
    "text", ["빨리 빨리 빨리 빨리 빨리", "하하하하하하하하", "네 네 네 네 네 알겠습니다", "아니 아니 아니 그게 아니라"]
)
def test_people_repeat_themselves(text: str) -> None:
    assert doubtful([passage(text)]) == ()


def test_few_words_over_and_over_are_a_gap_however_they_are_bent() -> None:
    (gap,) = doubtful([passage("레시피 레시피 레시코 레시피 레시피 레시코 레시피 김치찌개 레시피 레시피")])
    assert gap.reason == GapReason.LOOP


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLE.glob("*.vtt")))
def test_the_captions_of_the_sample_pass(name: str) -> None:
    cues = parse_captions((SAMPLE / name).read_bytes(), "vtt")
    words = [HeardWord(cue.start_ms, cue.end_ms, word) for cue in cues for word in cue.text.split()]
    for begin in range(0, len(words), 60):
        part = Passage(tuple(words[begin : begin + 60]), -0.3, 0.01, 0.9)
        assert compression(part.text) < MOST_RATIO
        assert doubtful([part]) == ()


STOCK = [
    "시청해주셔서 감사합니다.",
    "시청해 주셔서 감사합니다. 구독과 좋아요 부탁드립니다!",
    "구독과 좋아요, 알림 설정까지 부탁드립니다",
    "다음 영상에서 만나요",
    "한글자막 by 한효정",
    "MBC 뉴스 이덕영입니다.",
    "이 시각 세계였습니다.",
    "감사합니다.",
    "Thank you for watching!",
]


@cases("text", STOCK)
def test_a_stock_phrase_over_silence_is_dropped(text: str) -> None:
    over_silence = [passage(text, voice=0.2), passage(text, silence=0.8), passage(text, logprob=-1.0)]
    assert without_stock_phrases(over_silence) == ()


@cases("text", STOCK)
def test_a_stock_phrase_that_is_said_stays(text: str) -> None:
    assert without_stock_phrases([passage(text)]) == (passage(text),)


@cases(
    "text",
    [
        "감사합니다 하고 나왔는데 국밥집이 보였어요",
        "구독자가 만 명이 됐습니다",
        "자막을 켜고 보세요 여러분 정말로 다릅니다",
    ],
)
def test_a_sentence_with_such_words_stays_also_in_doubt(text: str) -> None:
    assert without_stock_phrases([passage(text, voice=0.1)]) == (passage(text, voice=0.1),)


def test_a_text_that_the_model_doubts_is_a_gap() -> None:
    (gap,) = doubtful([passage("푸른 모래가 컴퓨터를 마십니다", logprob=-1.6)])
    assert gap.reason == GapReason.INVENTED


def test_nobody_speaks_as_fast() -> None:
    (gap,) = doubtful([passage("오늘은 부산에서 돼지국밥을 먹어 보겠습니다 국물이 진하고", each_ms=50)])
    assert gap.reason == GapReason.INVENTED


def test_hardly_a_word_in_much_speech_is_a_gap() -> None:
    words = list(passage("네 그래요 맞아요").words)
    (gap,) = silent_speech(words, [(0, 30_000), (32_000, 60_000)])
    assert gap == SpeechGap(0, 60_000, GapReason.TOO_FEW_WORDS)


def test_half_a_minute_without_a_word_is_a_gap() -> None:
    words = [*passage("가 " * 60, each_ms=300).words, *passage("나 " * 60, begin_ms=50_000, each_ms=300).words]
    (gap,) = silent_speech(words, [(0, 68_000)])
    assert gap == SpeechGap(18_000, 50_000, GapReason.TOO_FEW_WORDS)


@pytest.mark.parametrize("voices", [[], [(0, 15_000)]], ids=["nobody", "little"])
def test_little_speech_is_not_judged(voices: list[tuple[int, int]]) -> None:
    assert silent_speech([], voices) == ()


def test_a_pause_between_words_is_no_gap() -> None:
    words = [*passage("가 " * 60, each_ms=300).words, *passage("나 " * 60, begin_ms=60_000, each_ms=300).words]
    assert silent_speech(words, [(0, 18_000), (60_000, 78_000)]) == ()


NAMES = ("다온", "느린 부엌", "날씨와 바람")


@cases(
    ("text", "echo"),
    [
        ("느린 부엌, 날씨와 바람 느린 부엌, 날씨와 바람", True),
        ("날씨와 바람.", False),
        ("다온 님이 느린 부엌에서", False),
        ("", False),
        ("느린 부어크 느린 부엌 바람 느린 부엌", True),
        ("느린 부엌에서 날씨와 상관없이 바람을 맞으며 국을 끓여요", False),
        ("다온 다운", True),
        ("다온아", False),
    ],
)
def test_names_that_the_model_was_told_are_no_speech_by_themselves(text: str, echo: bool) -> None:
    assert bool(echoes([passage(text)], NAMES)) == echo


@cases(
    ("text", "echo"),
    [("다운", True), ("느린 부어크", True), ("오늘은 다온이 국을 끓여요", False), ("", False)],
)
def test_a_single_name_over_silence_is_no_speech(text: str, echo: bool) -> None:
    assert bool(echoes([passage(text, silence=0.8)], NAMES)) == echo


def test_what_was_heard_as_names_is_heard_again_without_them() -> None:
    told: list[tuple[str, ...]] = []

    class Echoing:
        def language(self, _samples: Any) -> tuple[str, float]:
            return "ko", 1.0

        def hear(self, *values: Any, again: bool) -> tuple[Passage, ...]:
            told.append(tuple(values[-1]))
            return (passage("오늘은 국수를 삶습니다" if again else "다온, 느린 부엌, 다온"),)

    model: Any = Echoing()
    sound: Any = None
    listener = SoundListener(sound, model, NAMES, SpokenLanguage("ko"), lambda: None)
    (stretch,) = listener._transcribe(np.ones(5 * 16_000, np.float32), np.ones(157, np.float32), 0, 5_000)
    assert [cue.text for cue in stretch.cues] == ["오늘은 국수를 삶습니다"]
    assert told == [NAMES, ()]


def test_a_gap_divides_a_stretch() -> None:
    words = [*passage("처음 말입니다.").words, *passage("되풀이 " * 3, begin_ms=10_000).words]
    words += passage("끝 말입니다.", begin_ms=20_000).words
    stretches = list(divided(0, 30_000, words, [SpeechGap(10_000, 15_000, GapReason.LOOP)], "ko"))
    assert [(each.begin_ms, each.end_ms, each.gap) for each in stretches] == [
        (0, 10_000, None),
        (10_000, 15_000, GapReason.LOOP),
        (15_000, 30_000, None),
    ]
    assert [cue.text for each in stretches for cue in each.cues] == ["처음 말입니다.", "끝 말입니다."]


def test_gaps_that_touch_are_one() -> None:
    gaps = [SpeechGap(5, 9, GapReason.INVENTED), SpeechGap(0, 6, GapReason.LOOP), SpeechGap(20, 30, GapReason.LOOP)]
    assert joined(gaps) == [SpeechGap(0, 9, GapReason.LOOP), SpeechGap(20, 30, GapReason.LOOP)]


def test_a_minute_of_another_language_changes_it() -> None:
    language = SpokenLanguage("ko")
    language.take("en", 0.98, 30)
    assert language.current == "ko"
    language.take("en", 0.98, 30)
    assert language.current == "en"


@pytest.mark.parametrize("heard", [("en", 0.6, 90), ("en", 0.99, 50)], ids=["unsure", "short"])
def test_less_leaves_it(heard: tuple[str, float, float]) -> None:
    language = SpokenLanguage("ko")
    language.take(*heard)
    assert language.current == "ko"


def test_a_language_that_is_not_given_is_the_first_one_heard() -> None:
    language = SpokenLanguage(None)
    language.take("ja", 0.97, 30)
    assert language.current == "ja"
