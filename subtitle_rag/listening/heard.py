"""What a transcriber is, and what it gives."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from subtitle_rag.domain import GapReason as GapReason, HeardStretch as HeardStretch
from subtitle_rag.i18n import N_

GAP_SENTENCES: Mapping[GapReason, str] = MappingProxyType(
    {
        GapReason.LOOP: N_("The model repeated itself here."),
        GapReason.TOO_FEW_WORDS: N_("The model understood hardly a word here."),
        GapReason.INVENTED: N_("The model wrote here what nobody says."),
        GapReason.UNREADABLE: N_("The file is damaged here."),
    }
)
"""What is shown of a gap, as message ids."""


@runtime_checkable
class Transcriber(Protocol):
    """Turns the speech of a local file into cues.

    Other distributions add one by an entry point of `plugins.TRANSCRIBERS`; it loads its model when it listens.
    """

    @property
    def model(self) -> str:
        """Return the model with its version, as a track keeps it: `faster-whisper-small@536b0662`."""

    @property
    def settings(self) -> str:
        """Return what else the text depends on, as a track keeps it: another text means other captions."""

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
            AppError: `sound_unreadable`, `no_sound`, `sound_protected`, `sound_elsewhere`, `listening_ended`,
                `listening_memory`, `interrupted` once `stop` is set; the stretches before it are good.
        """
