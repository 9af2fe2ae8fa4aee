"""CTranslate2 Whisper models and Silero's voice detection: the only user of faster-whisper.

It runs only in its own process.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.listening.guards import Passage
from subtitle_rag.listening.sentences import HeardWord
from subtitle_rag.listening.voice import FRAME, PADDING_S, VoiceTrack

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_THREADS, MOST_THREADS = 2, 4
"""Limits of the thread count, which is otherwise half of the processors."""
BEAMS = 5
PENALTY, NO_REPEAT = 1.2, 6
"""Second attempt after a loop: penalty for repeated tokens, and length of token runs never repeated."""
MOST_NAMES = 200
"""Maximum number of characters of names in a prompt, since they reduce the tokens left for the text."""


def voice_probabilities(samples: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return the voice probability of each `FRAME` of samples."""
    import onnxruntime
    from faster_whisper.vad import get_vad_model

    onnxruntime.disable_telemetry_events()
    padded = np.pad(samples, (0, -len(samples) % FRAME))
    return np.asarray(get_vad_model()(padded), dtype=np.float32).reshape(-1)


class Whisper:
    """A model in memory, in 8 bits.

    Raises:
        AppError: `model_damaged`.
        MemoryError: it does not fit.
    """

    def __init__(self, folder: Path) -> None:
        from faster_whisper import WhisperModel

        count = min(MOST_THREADS, max(LEAST_THREADS, (os.cpu_count() or 1) // 2))
        try:
            self._model: Any = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=count)
        except Exception as error:  # tokenizers and CTranslate2 have no errors of their own
            if is_out_of_memory(error):
                raise MemoryError from error
            raise AppError("model_damaged", name=folder.name, reason=str(error)) from error

    def language(self, samples: "NDArray[np.float32]") -> tuple[str, float]:
        """Return the language of 30 s of speech, with its probability."""
        language, probability, _all = self._model.detect_language(samples)
        return str(language), float(probability)

    def hear(
        self,
        track: VoiceTrack,
        probabilities: "NDArray[np.float32]",
        begin_ms: int,
        language: str,
        names: Sequence[str],
        *,
        again: bool = False,
    ) -> tuple[Passage, ...]:
        """Return the transcribed passages, with times in the file.

        Args:
            track: the voices to transcribe.
            probabilities: voice probabilities of the sound's frames.
            begin_ms: start of the sound in the file.
            language: tag of the spoken language.
            names: spellings for the prompt.
            again: second attempt, with penalties for repetition.
        """
        segments, _info = self._model.transcribe(
            track.samples,
            language=language,
            beam_size=BEAMS,
            temperature=0.0,  # the same sound must give the same captions
            repetition_penalty=PENALTY if again else 1.0,
            no_repeat_ngram_size=NO_REPEAT if again else 0,
            compression_ratio_threshold=None,
            condition_on_previous_text=False,
            word_timestamps=True,
            hotwords=_joined(names) or None,
        )
        passages = []
        for segment in segments:
            if segment.seek * self._model.feature_extractor.time_per_frame >= track.seconds - PADDING_S:
                continue  # these 30 seconds begin after the last voice: nobody says this text
            words: list[HeardWord] = []
            for word in segment.words or ():
                begin, end = track.times(word.start, word.end)
                times = begin_ms + round(begin * 1000), begin_ms + round(end * 1000)
                for number, text in enumerate(word.word.split()):
                    is_glued = number == 0 and bool(words) and not word.word.startswith(" ")
                    words.append(HeardWord(*times, text, is_glued))
            if words:
                first, last = ((words[at].begin_ms - begin_ms) * 16 // FRAME for at in (0, -1))
                voice = float(np.mean(probabilities[first : last + 1])) if len(probabilities[first : last + 1]) else 0.0
                passages.append(Passage(tuple(words), segment.avg_logprob, segment.no_speech_prob, voice))
        return tuple(passages)


def is_out_of_memory(error: Exception) -> bool:
    """Whether CTranslate2 reports that memory has run out."""
    text = str(error).casefold()
    return isinstance(error, MemoryError) or "alloc" in text or "out of memory" in text


def _joined(names: Sequence[str]) -> str:
    """Return the first names, joined for the prompt."""
    text = ""
    for name in names:
        longer = f"{text}, {name}" if text else name
        if len(longer) > MOST_NAMES:
            break
        text = longer
    return text
