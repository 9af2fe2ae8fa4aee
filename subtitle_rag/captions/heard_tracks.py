"""Captions transcribed on this machine, as a track: YouTube's json3, with an event for each gap.

A gap's event has no words, so readers of json3 skip it.
"""

import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise

from subtitle_rag.base.domain.values import Cue, SpeechGap, Track

GAP = "gap"
"""Key of a gap's event; its value is the reason."""


def heard_track(cues: Iterable[Cue], gaps: Iterable[SpeechGap], language: str, model: str, settings: str) -> Track:
    """Return cues and gaps as a track of kind `local`.

    Args:
        cues: the transcribed cues.
        gaps: the stretches without a transcription.
        language: language tag of the cues.
        model: name of the speech model.
        settings: the settings of the transcription.
    """
    events: list[tuple[int, dict[str, object]]] = [
        *((cue.start_ms, _event(cue.start_ms, cue.end_ms, "segs", _segs(cue))) for cue in cues),
        *((gap.start_ms, _event(gap.start_ms, gap.end_ms, GAP, gap.reason)) for gap in gaps),
    ]
    in_order = [event for _start, event in sorted(events, key=lambda event: event[0])]
    values = {"heard_by": model, "heard_with": settings, "events": in_order}
    raw = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    digest = hashlib.sha256(raw).hexdigest()
    return Track(language, "local", "json3", raw, digest, int(time.time()), model=model, settings=settings)


def _event(start_ms: int, end_ms: int, key: str, value: object) -> dict[str, object]:
    return {"tStartMs": start_ms, "dDurationMs": end_ms - start_ms, key: value}


def _segs(cue: Cue) -> list[dict[str, object]]:
    words = cue.text.split()
    if len(words) != len(cue.word_starts):
        return [{"utf8": cue.text}]
    offsets = (start - cue.start_ms for start in cue.word_starts)
    return [
        {"utf8": f" {word}" if number else word, "tOffsetMs": max(0, offset)}
        for number, (word, offset) in enumerate(zip(words, offsets, strict=True))
    ]


def read_gaps(track: Track) -> list[SpeechGap]:
    """Return the gaps of a transcribed track, adjacent ones with the same reason joined; none for other tracks."""
    if track.kind != "local":
        return []
    return join_gaps(
        [
            SpeechGap(event["tStartMs"], event["tStartMs"] + event["dDurationMs"], event[GAP])
            for event in json.loads(track.raw)["events"]
            if GAP in event
        ]
    )


def join_gaps(gaps: Sequence[SpeechGap]) -> list[SpeechGap]:
    """Return gaps in order, adjacent ones with the same reason joined."""
    joined: list[SpeechGap] = list(gaps[:1])
    for before, gap in pairwise(gaps):
        if gap.reason == before.reason and gap.start_ms <= before.end_ms:
            joined[-1] = SpeechGap(joined[-1].start_ms, gap.end_ms, gap.reason)
        else:
            joined.append(gap)
    return joined
