"""Selection of a video's track among the fetched ones, by amount of speech."""

import logging
from dataclasses import dataclass, field, replace

from subtitle_rag.base.domain.errors import CaptionError, FetchError
from subtitle_rag.base.domain.values import MeasuredTrack, Track, TrackSelection
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.speech import Speech, is_enough, measure_speech, outweighs
from subtitle_rag.youtube.tracks import TrackChoice

logger = logging.getLogger(__name__)

NO_CUES = "no_cues"
"""Code of a track that was fetched whole but has no cues."""


@dataclass(frozen=True, slots=True)
class SelectedTrack:
    """A track to store, with the `refusal` of a better one that may come later."""

    track: Track
    refusal: FetchError | None = None


@dataclass(slots=True)
class TrackSelecting:
    """The tracks of a video so far, from any player client, in order of preference.

    The first track with enough speech ends the search.
    """

    duration_ms: int | None = None
    """The video's duration."""
    _measured: dict[tuple[str, str], MeasuredTrack] = field(default_factory=dict)
    """Measurements by kind and key: another client's answer replaces a failure."""
    _best: Track | None = None
    _speech: Speech = field(default_factory=Speech)
    _taken: tuple[str, str] | None = None
    _silent: Track | None = None
    """A track without cues."""
    _refusal: FetchError | None = None

    def needs(self, choice: TrackChoice) -> bool:
        """Whether to request this next track. A translation is only for videos without any other track."""
        measured = self._measured.get((choice.kind, choice.key))
        if measured and measured.failure in ("", NO_CUES):
            return False
        if self._best is None:
            return True
        return not is_enough(self._speech, self.duration_ms) and (
            choice.flag != "translated" or not self._speech.syllables
        )

    def add(self, choice: TrackChoice, track: Track, title: str) -> None:
        """Measure a track, and take it if it outweighs the current one."""
        track_key = choice.kind, choice.key
        try:
            speech = measure_speech(parse_captions(track.raw, track.format), track.language)
        except CaptionError as error:
            if error.code == NO_CUES:
                self._measured[track_key] = MeasuredTrack(track.language, track.kind, failure=NO_CUES)
                self._silent = self._silent or track
            else:
                reason = error.details.get("reason") or error.message.rstrip(".")
                self.add_refusal(choice, FetchError("caption_damaged", title=title, reason=reason))
            return
        self._measured[track_key] = MeasuredTrack(track.language, track.kind, speech.syllables)
        if self._best is None or outweighs(speech, self._speech):
            flag = "mislabelled" if speech.mislabelled else track.flag
            self._best, self._speech, self._taken = replace(track, flag=flag), speech, track_key

    def add_refusal(self, choice: TrackChoice, error: FetchError) -> None:
        """Record a track that failed but may come later."""
        logger.info("a track did not come: %s", error.code)
        self._measured[choice.kind, choice.key] = MeasuredTrack(choice.language, choice.kind, failure=error.code)
        self._refusal = error

    def selected(self, title: str, *, withheld: bool) -> SelectedTrack:
        """Return the best track. Raises the last refusal if no track can be read."""
        failures = [track.failure for track in self._measured.values()]
        refusal = self._refusal if self._refusal and self._refusal.code in failures else None
        is_sparse = self._best is None or not is_enough(self._speech, self.duration_ms)
        withheld = withheld and is_sparse and not any(kind == "asr" for kind, _key in self._measured)
        if withheld and refusal is None:
            refusal = FetchError("captions_withheld", title=title)
        if self._best is None or self._taken is None:
            if self._silent is None or withheld or failures[-1] not in ("", NO_CUES):
                raise refusal or FetchError("no_captions", title=title, languages="")
            return SelectedTrack(self._silent)
        taken_at = list(self._measured).index(self._taken)
        selection = TrackSelection(tuple(self._measured.values()), taken_at, self._best.flag, withheld)
        track = replace(self._best, selection=selection if selection.reason or selection.flag else None)
        return SelectedTrack(track, refusal if is_sparse else None)
