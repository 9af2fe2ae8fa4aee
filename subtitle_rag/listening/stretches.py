"""A file's sound → stretches: cut at silence, transcribed and judged."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from subtitle_rag.base.domain.values import Cue, GapReason, HeardStretch, SpeechGap
from subtitle_rag.base.i18n import _
from subtitle_rag.listening.guards import Passage, doubtful, echoes, silent_speech, without_stock_phrases
from subtitle_rag.listening.sentences import HeardWord, cues_of_words
from subtitle_rag.listening.sound_file import LONGEST_MS, RATE, SoundFile
from subtitle_rag.listening.voice import LEAST_S, MOST_S, VoiceTrack, best_cut, to_level, voice_spans
from subtitle_rag.listening.whisper import Whisper, voice_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

LANGUAGE_S = 60
"""Seconds of speech in another language before switching to it."""
SURE = 0.9
"""Minimum probability of a language: below it, noise and odd voices pass for any language."""
PIECE_S = 30
"""Seconds of sound for detecting a language."""
LOST_MS = 5_000
"""A file ending this long before its stated length is damaged."""


@dataclass(slots=True)
class SpokenLanguage:
    """Language to transcribe; changes after a minute in another."""

    current: str | None
    seconds: dict[str, float] = field(default_factory=dict)
    """Seconds of speech by language since the last change."""

    @property
    def tag(self) -> str:
        """The language's tag; Korean until one is known."""
        return self.current or "ko"

    @property
    def is_settled(self) -> bool:
        return sum(self.seconds.values()) >= LANGUAGE_S

    def take(self, language: str, probability: float, seconds: float) -> None:
        """Count some seconds of speech in a language."""
        if probability >= SURE:
            self.seconds[language] = self.seconds.get(language, 0.0) + seconds
        if not self.seconds:
            return
        likeliest = max(self.seconds, key=self.seconds.__getitem__)
        if self.current is None or (likeliest != self.current and self.seconds[likeliest] >= LANGUAGE_S):
            logger.info("the speech is in %s", likeliest)
            self.current = likeliest


@dataclass(slots=True)
class SoundListener:
    """Transcribes a file from `begin_ms` to its end. `thinking` is called before a model starts to work."""

    sound: SoundFile
    model: Whisper
    names: Sequence[str]
    language: SpokenLanguage
    thinking: Callable[[], None]

    def stretches(self, begin_ms: int) -> Iterator[HeardStretch]:
        """Yield the stretches in order."""
        length_ms = min(round(self.sound.stated_length_ms()), LONGEST_MS)
        pieces = self.sound.samples(begin_ms)
        buffer = np.zeros(0, np.float32)
        at, missing, is_end = begin_ms, 0, False
        while not is_end or len(buffer):
            parts = [buffer]
            size = len(buffer)
            while size < MOST_S * RATE and not is_end:
                piece = next(pieces, None)
                if piece is None:
                    is_end = True
                else:
                    parts.append(piece)
                    size += len(piece)
            buffer = np.concatenate(parts)
            if not len(buffer):
                break
            probabilities = voice_probabilities(to_level(buffer[: MOST_S * RATE], ()))
            cut = len(buffer)
            if len(buffer) > MOST_S * RATE or not is_end:
                cut = best_cut(probabilities, LEAST_S * RATE, MOST_S * RATE)
            cut_ms = max(1, cut * 1000 // RATE)
            cut = len(buffer) if cut >= len(buffer) else cut_ms * RATE // 1000
            lost, missing = self.sound.missing - missing, self.sound.missing
            if lost > cut // 2:
                yield HeardStretch(at, at + cut_ms, (), GapReason.UNREADABLE, self.language.tag)
            else:
                yield from self._transcribe(buffer[:cut], probabilities[: cut // 512 + 1], at, at + cut_ms)
            at += cut_ms
            buffer = buffer[cut:]
        if at == 0 and length_ms <= LOST_MS:
            raise self.sound.unreadable(_("it is no film or sound, or it is damaged"))
        if length_ms - at > LOST_MS:
            yield HeardStretch(at, length_ms, (), GapReason.UNREADABLE, self.language.tag)

    def _transcribe(
        self, samples: "NDArray[np.float32]", probabilities: "NDArray[np.float32]", begin_ms: int, end_ms: int
    ) -> Iterator[HeardStretch]:
        spans = voice_spans(probabilities, len(samples))
        if not spans:
            yield HeardStretch(begin_ms, end_ms, (), None, self.language.tag)
            return
        self.thinking()
        track = VoiceTrack(to_level(samples, spans), spans)
        if not self.language.is_settled:
            self._tell_language(track)
        language = self.language.tag
        passages, gaps = self._attempt(track, probabilities, begin_ms, language, self.names, again=False)
        if gaps:
            logger.info("a stretch is heard again: %s", {str(gap.reason) for gap in gaps})
            retried, new_gaps = self._attempt(track, probabilities, begin_ms, language, (), again=True)
            # the penalty can cost correct words, and names are misspelled without the prompt
            if retried and _length(new_gaps) < _length(gaps) and _letters(retried) * 2 >= _letters(passages, gaps):
                passages, gaps = retried, new_gaps
        words = [word for passage in passages for word in passage.words]
        voices = [(begin_ms + span.begin * 1000 // RATE, begin_ms + span.end * 1000 // RATE) for span in spans]
        gaps = (*gaps, *silent_speech(words, voices))
        yield from divided(begin_ms, end_ms, words, gaps, language)

    def _attempt(
        self,
        track: VoiceTrack,
        probabilities: "NDArray[np.float32]",
        begin_ms: int,
        language: str,
        names: Sequence[str],
        *,
        again: bool,
    ) -> tuple[tuple[Passage, ...], tuple[SpeechGap, ...]]:
        """Return the passages and gaps of one attempt; arguments as for `Whisper.hear`."""
        heard = self.model.hear(track, probabilities, begin_ms, language, names, again=again)
        passages = without_stock_phrases(heard)
        return passages, (*doubtful(passages), *echoes(passages, names))

    def _tell_language(self, track: VoiceTrack) -> None:
        size = PIECE_S * RATE
        for begin in range(0, len(track.samples), size):
            piece = track.samples[begin : begin + size]
            if begin == 0 or len(piece) >= size // 3:
                self.language.take(*self.model.language(piece), len(piece) / RATE)


def divided(
    begin_ms: int, end_ms: int, words: Sequence[HeardWord], gaps: Sequence[SpeechGap], language: str
) -> Iterator[HeardStretch]:
    """Yield a stretch, divided at its gaps: each gap is a stretch without cues, and the parts between are kept.

    Args:
        begin_ms: start of the stretch.
        end_ms: end of the stretch.
        words: the words in it.
        gaps: its unreliable parts, in order.
        language: tag of the language.
    """
    at = begin_ms
    for gap in joined(gaps):
        begin, end = max(gap.start_ms, at), min(max(gap.end_ms, gap.start_ms + 1), end_ms)
        if end <= begin:
            continue
        if begin > at:
            yield HeardStretch(at, begin, _cues(words, at, begin), None, language)
        yield HeardStretch(begin, end, (), GapReason(gap.reason), language)
        at = end
    if at < end_ms:
        yield HeardStretch(at, end_ms, _cues(words, at, end_ms), None, language)


def joined(gaps: Sequence[SpeechGap]) -> list[SpeechGap]:
    """Return gaps in order, adjacent ones joined with the reason of the first."""
    result: list[SpeechGap] = []
    for gap in sorted(gaps, key=lambda each: each.start_ms):
        if result and gap.start_ms <= result[-1].end_ms:
            last = result[-1]
            result[-1] = SpeechGap(last.start_ms, max(last.end_ms, gap.end_ms), last.reason)
        else:
            result.append(gap)
    return result


def _cues(words: Sequence[HeardWord], begin_ms: int, end_ms: int) -> tuple[Cue, ...]:
    within = [word for word in words if begin_ms <= (word.begin_ms + word.end_ms) // 2 < end_ms]
    return cues_of_words(
        [replace(word, begin_ms=max(word.begin_ms, begin_ms), end_ms=min(word.end_ms, end_ms)) for word in within]
    )


def _letters(passages: Sequence[Passage], gaps: Sequence[SpeechGap] = ()) -> int:
    """Count the letters outside gaps."""
    words = (word for passage in passages for word in passage.words)
    return sum(len(word.text) for word in words if not any(gap.start_ms <= word.begin_ms < gap.end_ms for gap in gaps))


def _length(gaps: Sequence[SpeechGap]) -> int:
    return sum(gap.end_ms - gap.start_ms for gap in joined(gaps))
