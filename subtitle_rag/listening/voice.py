"""Times and level of speech, and the best places to cut, from voice detection's probabilities."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from subtitle_rag.listening.sound_file import RATE

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAME = 512
"""Samples per voice probability."""
VOICE, QUIET = 0.5, 0.35
"""Probabilities at which a voice begins, and below which it ends."""
LEAST_VOICE_S = 0.1
PAUSE_S = 1.0
"""Longest pause that the model gets to hear."""
PADDING_S = 0.2
"""Padding around a voice, and silence at the end, without which the last syllable is lost."""
LEAST_S, MOST_S = 60, 90
"""Seconds between two cuts."""
LEVEL_DB = -18.0
"""Target RMS of voices: quiet recordings are the most common cause of loops."""
MOST_GAIN_DB = 50.0
SILENCE_DB = -75.0
"""Level below which there is nothing to amplify."""


@dataclass(frozen=True, slots=True)
class Span:
    """Samples with a voice, from `begin` to before `end`."""

    begin: int
    end: int


def voice_spans(probabilities: "NDArray[np.float32]", length: int) -> tuple[Span, ...]:
    """Return padded spans of voices, joining those less than `PAUSE_S` apart."""
    voiced: list[list[int]] = []
    begin: int | None = None
    for at, probability in enumerate(probabilities):
        if begin is None and probability >= VOICE:
            begin = at
        elif begin is not None and probability < QUIET:
            voiced.append([begin * FRAME, at * FRAME])
            begin = None
    if begin is not None:
        voiced.append([begin * FRAME, length])
    spans: list[list[int]] = []
    for start, end in voiced:
        if spans and start - spans[-1][1] < PAUSE_S * RATE:
            spans[-1][1] = end
        else:
            spans.append([start, end])
    padding = round(PADDING_S * RATE)
    return tuple(
        Span(max(0, start - padding), min(length, end + padding))
        for start, end in spans
        if end - start >= LEAST_VOICE_S * RATE
    )


def best_cut(probabilities: "NDArray[np.float32]", least: int, most: int) -> int:
    """Return a sample from `least` to `most`: the middle of the longest silence, or where a voice is least likely."""
    first, last = least // FRAME, min(most // FRAME, len(probabilities))
    quiet = probabilities[first:last] < QUIET
    longest, run = (0, 0), 0
    for at, is_quiet in enumerate(quiet):
        run = run + 1 if is_quiet else 0
        longest = max(longest, (run, at - run // 2))
    if longest[0] >= 5:  # 0.16 s: shorter ones are inside words
        return (first + longest[1]) * FRAME
    smooth = np.convolve(probabilities[first:last], np.ones(5) / 5, mode="valid")
    return (first + 2 + int(smooth.argmin())) * FRAME


def to_level(samples: "NDArray[np.float32]", spans: Sequence[Span]) -> "NDArray[np.float32]":
    """Bring a sound's voices to `LEVEL_DB`."""
    voices = np.concatenate([samples[span.begin : span.end] for span in spans]) if spans else samples
    rms = float(np.sqrt(np.mean(np.square(voices, dtype=np.float64)))) if len(voices) else 0.0
    level = 20 * np.log10(max(rms, 1e-9))
    if level < SILENCE_DB:
        return samples
    gain = 10 ** (min(LEVEL_DB - level, MOST_GAIN_DB) / 20)
    louder: NDArray[np.float32] = np.clip(samples * gain, -1.0, 1.0).astype(np.float32)
    return louder


class VoiceTrack:
    """A sound's voices without the pauses, with the original position of each second."""

    def __init__(self, samples: "NDArray[np.float32]", spans: Sequence[Span]) -> None:
        self.spans = spans
        silence = np.zeros(round(PADDING_S * RATE), np.float32)
        self.samples = np.concatenate([*(samples[span.begin : span.end] for span in spans), silence])
        self._ends = list(np.cumsum([span.end - span.begin for span in spans]))

    @property
    def seconds(self) -> float:
        """Return the duration of speech."""
        return int(self._ends[-1]) / RATE if self._ends else 0.0

    def times(self, begin_s: float, end_s: float) -> tuple[float, float]:
        """Return the seconds in the sound of a word inside one span."""
        at = min(bisect_right(self._ends, (begin_s + end_s) / 2 * RATE), len(self._ends) - 1)
        span = self.spans[at]
        shift = span.begin - (int(self._ends[at - 1]) if at else 0)
        first, last = span.begin / RATE, span.end / RATE
        begin, end = begin_s + shift / RATE, end_s + shift / RATE
        return min(max(begin, first), last), min(max(end, first), last)
