"""Captions in JSON: YouTube's json3 (events with a time per word), or segments of a speech recognizer."""

import json
import math
from typing import Any

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.base.i18n import _
from subtitle_rag.captions.cue_blocks import (
    MAX_CHARACTERS,
    MAX_CUES,
    UnusableTextError,
    bounded_ms,
    end_at_next,
    too_much,
    words_line,
)
from subtitle_rag.captions.cue_speakers import name_speakers
from subtitle_rag.captions.json_segments import segment_cues

MAX_OBJECTS, MAX_VALUES = 600_000, 2_000_000
"""Maximum number of brackets and commas in one track's JSON; 12 hours of timed words have 180,000 and 550,000."""


def json_cues(text: str, language: str) -> list[Cue]:  # noqa: ARG001 - as all readers
    """Return the cues of YouTube's json3, or of a transcript.

    Raises:
        UnusableTextError: it is some other JSON.
        TooMuchTextError: it is larger than any video's.
    """
    data = _load(text)
    events = _events(data)
    if events is None:
        cues = segment_cues(data)
        if cues is None:
            raise UnusableTextError(_("its JSON has neither YouTube's events nor segments with times"))
        return cues
    # most events with aAppend only add a line break; those without segs set up the window
    captions = [(event, segs) for event in events if (segs := _segs(event))]
    if len(captions) > MAX_CUES:
        raise too_much(_("more than {n:,} cues"), MAX_CUES)
    if sum(len(seg["utf8"]) for _event, segs in captions for seg in segs) > MAX_CHARACTERS:
        raise too_much(_("more than {n:,} characters of text"), MAX_CHARACTERS)
    timed = any("tOffsetMs" in seg for _event, segs in captions for seg in segs)
    return name_speakers(end_at_next(cue for event, segs in captions if (cue := _json3_cue(event, segs, timed))))


def _load(text: str) -> object:
    """Parse JSON no larger than captions. Raises like `json_cues`."""
    if text.count("{") + text.count("[") > MAX_OBJECTS or text.count(",") > MAX_VALUES:
        raise too_much(_("more than {n:,} values"), MAX_OBJECTS)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise UnusableTextError(_("its JSON is damaged or cut off")) from None


def _events(data: object) -> list[dict[str, Any]] | None:
    """Return the events of a track, with or without captions; None for other JSON."""
    values = data.get("events") if isinstance(data, dict) else None
    events = [event for event in values if isinstance(event, dict)] if isinstance(values, list) else None
    return None if events and not any("tStartMs" in event for event in events) else events


def _segs(event: dict[str, Any]) -> list[dict[str, Any]]:
    segs = event.get("segs")
    if not isinstance(segs, list):
        return []
    return [seg for seg in segs if isinstance(seg, dict) and isinstance(seg.get("utf8"), str)]


def _json3_cue(event: dict[str, Any], segs: list[dict[str, Any]], timed: bool) -> Cue | None:
    start = _number_ms(event.get("tStartMs"))
    line = words_line(((bounded_ms(start + _number_ms(seg.get("tOffsetMs"))), seg["utf8"]) for seg in segs), timed)
    if not line.text:
        return None
    end = bounded_ms(start + _number_ms(event.get("dDurationMs")))
    return Cue(line.starts[0], max(end, line.starts[-1]), line.text, line.starts if timed else ())


def _number_ms(value: object) -> int:
    """Return a field's milliseconds; 0 if missing or invalid."""
    if isinstance(value, float):  # an int of 309 digits is finite, but too large for a float
        value = int(value) if math.isfinite(value) else 0
    return bounded_ms(value) if isinstance(value, int) else 0
