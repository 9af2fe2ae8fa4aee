"""Selection of a video's track among those that have come, by what they say."""

import logging
import time
from dataclasses import dataclass, field, replace

from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.refusals import WEEK
from subtitle_rag.captions.speech import Speech, is_enough, measure_speech, outweighs
from subtitle_rag.captions.tracks import TrackChoice
from subtitle_rag.domain import CaptionError, FetchError, MeasuredTrack, Track, TrackSelection

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SelectedTrack:
    """A track to store; with a `refusal` of the better one that may come later."""

    track: Track
    refusal: FetchError | None = None


@dataclass(slots=True)
class TrackSelecting:
    """The tracks so far, in the order of preference. It ends with one that says enough."""

    duration_ms: int | None
    """Of the video."""
    _measured: list[MeasuredTrack] = field(default_factory=list)
    _best: Track | None = None
    _speech: Speech = field(default_factory=Speech)
    _taken: int = 0
    _unreadable: Track | None = None
    _refusal: FetchError | None = None

    def is_settled(self, choice: TrackChoice) -> bool:
        """Return whether this next track need not be asked for. A translation only stands in for nothing."""
        if self._best is None:
            return False
        return is_enough(self._speech, self.duration_ms) or (choice.flag == "translated" and self._speech.syllables > 0)

    def add(self, track: Track) -> None:
        """Measure a track, and take it if it outweighs what there is."""
        try:
            speech = measure_speech(parse_captions(track.raw, track.format), track.language)
        except CaptionError as error:
            logger.info("a track has no cues that can be read: %s", error.code)
            self._measured.append(MeasuredTrack(track.language, track.kind, failure=error.code))
            self._unreadable = self._unreadable or track
            return
        self._measured.append(MeasuredTrack(track.language, track.kind, speech.syllables))
        if self._best is None or outweighs(speech, self._speech):
            flag = "mislabelled" if speech.mislabelled else track.flag
            self._best, self._speech, self._taken = replace(track, flag=flag), speech, len(self._measured) - 1

    def add_refusal(self, choice: TrackChoice, error: FetchError) -> None:
        """Note a track that did not come. One that was refused after another had come may come later."""
        self._measured.append(MeasuredTrack(choice.language, choice.kind, failure=error.code))
        self._refusal = error

    def selected(self, title: str, *, withheld: bool) -> SelectedTrack:
        """Return the best track. Raises the refusal, if none has come that can be read."""
        refusal = self._refusal
        if self._best is None:
            if self._unreadable is None or (refusal and self._measured[-1].failure == refusal.code):
                raise refusal or FetchError("no_captions", title=title, languages="")
            return SelectedTrack(self._unreadable)
        is_sparse = not is_enough(self._speech, self.duration_ms)
        withheld = withheld and is_sparse and len(self._measured) == 1
        if withheld:
            refusal = FetchError("caption_blocked", title=title, retry_at=int(time.time()) + WEEK)
        selection = TrackSelection(tuple(self._measured), self._taken, self._best.flag, withheld)
        track = replace(self._best, selection=selection if selection.reason or selection.flag else None)
        return SelectedTrack(track, refusal if is_sparse else None)
