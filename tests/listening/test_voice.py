"""Voices, pauses, cuts and loudness, by the real voice detection on sound that is made."""

from itertools import pairwise

import numpy as np
import pytest

from subtitle_rag.listening.sound_file import RATE
from subtitle_rag.listening.voice import (
    FRAME,
    LEAST_S,
    LEVEL_DB,
    MOST_S,
    PADDING_S,
    Span,
    VoiceTrack,
    best_cut,
    to_level,
    voice_spans,
)
from subtitle_rag.listening.whisper import voice_probabilities
from tests.support.made_sound import Sound, music, noise, silence, voice


def decibels(samples: Sound) -> float:
    return float(20 * np.log10(np.sqrt(np.mean(np.square(samples)))))


def spans(sound: Sound) -> tuple[Span, ...]:
    return voice_spans(voice_probabilities(to_level(sound, ())), len(sound))


def test_a_voice_is_told_from_silence() -> None:
    sound = np.concatenate([silence(5), voice(6), silence(5), voice(4), silence(3)])
    found = [(round(span.begin / RATE), round(span.end / RATE)) for span in spans(sound)]
    assert found == [(5, 11), (16, 20)]


@pytest.mark.parametrize("sound", [silence(10), noise(10), music(10), noise(10, level=1e-4)], ids=range(4))
def test_what_is_no_voice_has_none(sound: Sound) -> None:
    assert spans(sound) == ()


def test_a_quiet_voice_is_found() -> None:
    assert sum(span.end - span.begin for span in spans(voice(10, level=0.0005))) > 8 * RATE


@pytest.mark.parametrize("level", [0.0005, 0.02, 0.5])
def test_voices_are_brought_to_one_level_and_pauses_do_not_count(level: float) -> None:
    sound = np.concatenate([silence(20), np.clip(voice(5, level=level), -1, 1)])
    span = Span(20 * RATE, 25 * RATE)
    assert decibels(to_level(sound, [span])[span.begin : span.end]) == pytest.approx(LEVEL_DB, abs=1)


def test_silence_is_not_amplified() -> None:
    hiss = noise(2, level=1e-5)
    assert to_level(hiss, ()) is hiss


def test_a_cut_lies_in_the_longest_silence() -> None:
    sound = np.concatenate([voice(65), silence(0.5), voice(9.5), silence(2), voice(15)])
    cut = best_cut(voice_probabilities(sound), LEAST_S * RATE, MOST_S * RATE)
    assert 75.2 < cut / RATE < 76.9


def test_speech_without_a_pause_is_cut_where_a_voice_is_least_likely() -> None:
    probabilities = np.full(MOST_S * RATE // FRAME, 0.9, np.float32)
    probabilities[2500:2503] = 0.4
    cut = best_cut(probabilities, LEAST_S * RATE, MOST_S * RATE)
    assert 2498 * FRAME <= cut <= 2505 * FRAME


def test_the_last_syllable_has_room_behind_it() -> None:
    sound = voice(3)
    track = VoiceTrack(sound, [Span(0, len(sound))])
    assert len(track.samples) == len(sound) + round(PADDING_S * RATE)
    assert not track.samples[len(sound) :].any()


def test_times_of_words_are_those_in_the_sound() -> None:
    track = VoiceTrack(silence(30), [Span(2 * RATE, 5 * RATE), Span(20 * RATE, 24 * RATE)])
    assert track.seconds == 7
    assert track.times(0.5, 1.0) == (2.5, 3.0)
    assert track.times(3.5, 4.0) == (20.5, 21.0)
    assert track.times(2.8, 3.1) == (4.8, 5.0)  # a word stays within its span
    assert track.times(6.9, 9.0) == (23.9, 24.0)
    times = [track.times(at / 10, at / 10 + 0.1) for at in range(75)]
    assert all(one <= other for one, other in pairwise(times))
