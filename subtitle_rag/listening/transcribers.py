"""Transcribers by name, each working in its own process."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Timer
from typing import Any

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Cue, GapReason, HeardStretch
from subtitle_rag.base.installation.extras import LISTEN
from subtitle_rag.base.installation.package_installer import require_extra
from subtitle_rag.listening.listening_process import replies
from subtitle_rag.models.model_store import ModelStore, SpeechFiles

logger = logging.getLogger(__name__)

MEASURING_S = 10.0
"""Longest time to measure sounds before a question to the user."""
GUARDS = 3
"""Version of the transcription rules: a new one means new captions for the same sound."""


def open_transcriber(models: ModelStore, name: str | None = None) -> "Transcriber":
    """Return the transcriber `name`, by default the one in the settings, without loading or downloading anything.

    `name` is a model of the manifest, or a folder with a CTranslate2 model.

    Raises:
        UsageError: `unknown`, `model_kind`.
        AppError: `missing_extra`, `model_missing`, `model_damaged`.
    """
    require_extra(LISTEN)
    return Transcriber(models.speech_files(name or models.settings.speech))


def sound_length_ms(sound: Path) -> int:
    """Return the length of a film's or sound file's sound, by its container or its packets.

    Raises:
        AppError: `missing_extra`, and the file errors of `Transcriber.listen`.
    """
    require_extra(LISTEN)
    for reply in replies({"do": "measure", "sound": str(sound)}, sound):
        return int(reply["length_ms"])
    raise AssertionError("a process without an error has replied")


def sound_lengths_ms(sounds: Sequence[Path]) -> dict[Path, int]:
    """Return the lengths of sounds, as many as can be measured within `MEASURING_S`."""
    lengths: dict[Path, int] = {}
    if not sounds:
        return lengths
    stop = Event()
    timer = Timer(MEASURING_S, stop.set)
    timer.daemon = True
    timer.start()
    try:
        require_extra(LISTEN)
        for reply in replies({"do": "measure all", "sounds": [str(sound) for sound in sounds]}, sounds[0], stop):
            lengths[Path(reply["sound"])] = int(reply["length_ms"])
    except AppError:  # only an estimate; the run itself reports the error
        logger.info("not all sounds were measured", exc_info=True)
    finally:
        timer.cancel()
    return lengths


@dataclass(frozen=True, slots=True)
class Transcriber:
    """Speech to cues, by a CTranslate2 Whisper model in its own process."""

    files: SpeechFiles

    @property
    def model(self) -> str:
        """Return the model with its version, as stored with a track: `faster-whisper-small@536b0662`."""
        return self.files.id

    @property
    def settings(self) -> str:
        """Return everything else that affects the text, as stored with a track."""
        return f"int8, rules {GUARDS}"

    def listen(
        self,
        sound: Path,
        *,
        begin_ms: int = 0,
        language: str | None = "ko",
        names: Sequence[str] = (),
        stop: Event | None = None,
    ) -> Iterator[HeardStretch]:
        """Yield the transcribed stretches of a film or sound file from `begin_ms` to its end.

        Closing the iterator ends the work at once.

        Args:
            sound: the film or sound file.
            begin_ms: where to start.
            language: the spoken language, replaced after a minute in another; None: the language of the first minute.
            names: spellings that may occur, the likeliest first.
            stop: ends the work once set.

        Raises:
            AppError: `sound_unreadable`, `no_sound`, `protected`, `listening_ended`, `listening_memory`, `interrupted`
                once `stop` is set; the stretches before it are good.
        """
        order = {
            "do": "listen",
            "sound": str(sound),
            "model": str(self.files.path),
            "begin_ms": begin_ms,
            "language": language,
            "names": list(names),
        }
        for reply in replies(order, sound, stop, self.files.name):
            yield to_stretch(reply)


def to_stretch(values: dict[str, Any]) -> HeardStretch:
    """Return a stretch from the process's JSON."""
    return HeardStretch(
        values["begin_ms"],
        values["end_ms"],
        tuple(map(Cue.from_record, values["cues"])),
        GapReason(values["gap"]) if values["gap"] else None,
        values["language"],
    )
