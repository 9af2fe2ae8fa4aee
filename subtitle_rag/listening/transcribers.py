"""Opens the transcriber of a name, and listens in a process of its own."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Timer
from typing import Any

from subtitle_rag.domain.errors import AppError
from subtitle_rag.domain.values import Cue, GapReason, HeardStretch
from subtitle_rag.installation.extras import LISTEN
from subtitle_rag.installation.package_installer import require_extra
from subtitle_rag.listening.listening_process import replies
from subtitle_rag.models.model_store import ModelStore, SpeechFiles

logger = logging.getLogger(__name__)

MEASURING_S = 10.0
"""Longest time in which the lengths of sounds are read before anybody is asked."""
GUARDS = 3
"""Version of the rules by which a text is heard: another one means other captions of the same sound."""


def open_transcriber(models: ModelStore, name: str | None = None) -> "Transcriber":
    """Return the transcriber of a name, by default that of the settings; nothing is loaded or fetched.

    `name` is one of the manifest's models, or a folder with a model for CTranslate2.

    Raises:
        UsageError: `unknown`, `model_kind`.
        AppError: `missing_extra`, `model_missing`, `model_damaged`.
    """
    require_extra(LISTEN)
    return Transcriber(models.speech_files(name or models.settings.speech))


def sound_length_ms(sound: Path) -> int:
    """Return the length of a film's or sound file's sound, by its container or else by its packets.

    Raises:
        AppError: `missing_extra`, and what `Transcriber.listen` raises for a file.
    """
    require_extra(LISTEN)
    for reply in replies({"do": "measure", "sound": str(sound)}, sound):
        return int(reply["length_ms"])
    raise AssertionError("a process without an error has replied")


def sound_lengths_ms(sounds: Sequence[Path]) -> dict[Path, int]:
    """Return the lengths of sounds, as far as they can be read within `MEASURING_S`."""
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
    except AppError:  # it is an estimate: the run itself reports what is wrong
        logger.info("not all sounds were measured", exc_info=True)
    finally:
        timer.cancel()
    return lengths


@dataclass(frozen=True, slots=True)
class Transcriber:
    """Turns speech into cues, by a Whisper model for CTranslate2 in a process of its own."""

    files: SpeechFiles

    @property
    def model(self) -> str:
        """Return the model with its version, as a track keeps it: `faster-whisper-small@536b0662`."""
        return self.files.id

    @property
    def settings(self) -> str:
        """Return what else the text depends on, as a track keeps it: another text means other captions."""
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
        """Yield the stretches of a film's or sound file's speech from `begin_ms` to its end.

        `language` is listened for unless a minute of speech is in another one; None takes that of the first minute.
        `names` are spellings that may come up, the likeliest first. Closing the iterator ends the work at once.

        Raises:
            AppError: `sound_unreadable`, `no_sound`, `protected`, `sound_unreadable`, `listening_ended`,
                `listening_memory`, `interrupted` once `stop` is set; the stretches before it are good.
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
    """Return a stretch from the JSON of the process."""
    return HeardStretch(
        values["begin_ms"],
        values["end_ms"],
        tuple(map(Cue.from_record, values["cues"])),
        GapReason(values["gap"]) if values["gap"] else None,
        values["language"],
    )
