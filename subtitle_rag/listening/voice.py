"""Where somebody speaks, how loud, and where a sound may be cut; of the probabilities that voice detection gives."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from subtitle_rag.listening.sound_file import RATE

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAME = 512
"""Samples for which there is one probability of a voice."""
VOICE, QUIET = 0.5, 0.35
"""A voice begins at this probability, and ends below that one."""
LEAST_VOICE_S = 0.1
PAUSE_S = 1.0
"""A longer pause is left out of what a model hears."""
PADDING_S = 0.2
"""Kept around a voice, and added as silence in the end: the last syllable is lost otherwise."""
LEAST_S, MOST_S = 60, 90
"""Seconds between two cuts."""
LEVEL_DB = -18.0
"""RMS that voices are brought to: quiet recordings are the most frequent cause of loops."""
MOST_GAIN_DB = 50.0
SILENCE_DB = -75.0
"""Below it there is nothing to amplify."""


@dataclass(frozen=True, slots=True)
class Span:
    """Samples with a voice, from `begin` to before `end`."""

    begin: int
    end: int


def voice_spans(probabilities: "NDArray[np.float32]", length: int) -> tuple[Span, ...]:
    """Return the spans of voices with their padding, those apart by a pause of less than `PAUSE_S` as one."""
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
    """Return a sample between these two, in the middle of the longest silence, or else where a voice is unlikely."""
    first, last = least // FRAME, min(most // FRAME, len(probabilities))
    quiet = probabilities[first:last] < QUIET
    longest, run = (0, 0), 0
    for at, is_quiet in enumerate(quiet):
        run = run + 1 if is_quiet else 0
        longest = max(longest, (run, at - run // 2))
    if longest[0] >= 5:  # 0.16 s: shorter ones lie within words
        return (first + longest[1]) * FRAME
    smooth = np.convolve(probabilities[first:last], np.ones(5) / 5, mode="valid")
    return (first + 2 + int(smooth.argmin())) * FRAME


def to_level(samples: "NDArray[np.float32]", spans: Sequence[Span]) -> "NDArray[np.float32]":
    """Bring the voices of a sound to `LEVEL_DB`."""
    voices = np.concatenate([samples[span.begin : span.end] for span in spans]) if spans else samples
    rms = float(np.sqrt(np.mean(np.square(voices, dtype=np.float64)))) if len(voices) else 0.0
    level = 20 * np.log10(max(rms, 1e-9))
    if level < SILENCE_DB:
        return samples
    gain = 10 ** (min(LEVEL_DB - level, MOST_GAIN_DB) / 20)
    louder: NDArray[np.float32] = np.clip(samples * gain, -1.0, 1.0).astype(np.float32)
    return louder


class VoiceTrack:
    """The voices of a sound without the pauses, and where each of its seconds lies in the sound."""

    def __init__(self, samples: "NDArray[np.float32]", spans: Sequence[Span]) -> None:
        self.spans = spans
        silence = np.zeros(round(PADDING_S * RATE), np.float32)
        self.samples = np.concatenate([*(samples[span.begin : span.end] for span in spans), silence])
        self._ends = list(np.cumsum([span.end - span.begin for span in spans]))

    @property
    def seconds(self) -> float:
        """Return how long somebody speaks."""
        return int(self._ends[-1]) / RATE if self._ends else 0.0

    def times(self, begin_s: float, end_s: float) -> tuple[float, float]:
        """Return the seconds in the sound of a word, all of which lies within one span."""
        at = min(bisect_right(self._ends, (begin_s + end_s) / 2 * RATE), len(self._ends) - 1)
        span = self.spans[at]
        shift = span.begin - (int(self._ends[at - 1]) if at else 0)
        first, last = span.begin / RATE, span.end / RATE
        begin, end = begin_s + shift / RATE, end_s + shift / RATE
        return min(max(begin, first), last), min(max(end, first), last)
