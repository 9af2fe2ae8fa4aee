"""Output of speech recognizers (Whisper and its relatives): segments with start and end, in JSON or a table."""

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.base.i18n import _
from subtitle_rag.captions.cue_blocks import (
    MAX_CHARACTERS,
    MAX_CUES,
    CueBlock,
    bounded_ms,
    cues_of_blocks,
    too_much,
    words_line,
)
from subtitle_rag.captions.cue_speakers import name_speakers

_LISTS = ("segments", "chunks", "transcription")
"""Keys of the segment list: OpenAI, faster-whisper and whisperX; Hugging Face; whisper.cpp."""
_CHARACTERS_A_SECOND = 0.1
"""Minimum characters of speech per second; below it the times must be milliseconds."""

_BEGINS = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*[\[{]")
_HAS_LIST = re.compile(rb'"(?:segments|chunks|transcription)"\s*:\s*\[\s*\{')
_HAS_TIMES = re.compile(rb'"(?:start|timestamp|offsets|tStartMs)"\s*:')
_MAY_GO_ON = re.compile(rb'\s*\{\s*"(?:text|task|language|duration|model|systeminfo)"')
_IS_LIST = re.compile(rb'\s*\[\s*\{\s*"(?:text|start|id)"')
_IS_SPEECH = re.compile(rb'"(?:transcripts?|utterances)"\s*:')


class _Segment(NamedTuple):
    start: float
    end: float
    text: str
    speaker: str
    words: tuple[tuple[float, str], ...]


def may_be_segments(head: bytes) -> bool | None:
    """Whether a JSON file begins like captions; None if only the rest can tell."""
    if not _BEGINS.match(head):
        return False
    if _HAS_TIMES.search(head) and (_HAS_LIST.search(head) or _IS_LIST.match(head) or b'"tStartMs"' in head):
        return True
    return None if _MAY_GO_ON.match(head) else False


def is_speech(head: bytes) -> bool:
    """Whether a JSON file begins like a transcript of any kind, with or without times."""
    return bool(_BEGINS.match(head)) and bool(_IS_SPEECH.search(head) or _MAY_GO_ON.match(head))


def segment_cues(data: object) -> list[Cue] | None:
    """Return the cues of a JSON transcript; None for other JSON.

    Raises:
        TooMuchTextError: there are more cues than in any video.
    """
    values = next((data[key] for key in _LISTS if key in data), None) if isinstance(data, dict) else data
    if not isinstance(values, list):
        return None
    segments = [segment for value in values if isinstance(value, dict) and (segment := _segment(value))]
    if not segments:
        return None
    if len(segments) > MAX_CUES:
        raise too_much(_("more than {n:,} cues"), MAX_CUES)
    if sum(len(segment.text) for segment in segments) > MAX_CHARACTERS:
        raise too_much(_("more than {n:,} characters of text"), MAX_CHARACTERS)
    scale = _ms_a_unit([number for each in segments for number in (each.start, each.end)], segments)
    cues = (_cue(segment, scale) for segment in segments)
    return name_speakers(sorted((cue for cue in cues if cue.text), key=lambda cue: cue.start_ms))


def table_cues(text: str, language: str) -> list[Cue] | None:  # noqa: ARG001 - as all readers
    """Return the cues of Whisper's tab-separated table (start, end, text); None if no line is one.

    Raises:
        TooMuchTextError: there are more cues than in any video.
    """
    rows = [line.split("\t", 2) for line in text.split("\n")]
    values = [row for row in rows if len(row) == 3 and None not in (_number(row[0]), _number(row[1]))]
    if not values:
        return None
    scale = 1000 if any("." in row[0] or "." in row[1] for row in values) else 1
    return cues_of_blocks(CueBlock(_ms(float(row[0]), scale), _ms(float(row[1]), scale), [row[2]]) for row in values)


def _segment(value: dict[str, Any]) -> _Segment | None:
    text = value.get("text", value.get("transcript"))
    times = _times(value)
    if not isinstance(text, str) or times is None:
        return None
    speaker = value.get("speaker")
    name = speaker.get("name") if isinstance(speaker, dict) else speaker
    return _Segment(*times, text, name if isinstance(name, str) else "", _words(value.get("words"), text))


def _times(value: dict[str, Any]) -> tuple[float, float] | None:
    """Return a segment's start and end in the file's unit; whisper.cpp has its own keys."""
    if isinstance(offsets := value.get("offsets"), dict):
        start, end = _number(offsets.get("from")), _number(offsets.get("to"))
    elif isinstance(stamp := value.get("timestamp"), list) and len(stamp) == 2:
        start, end = _number(stamp[0]), _number(stamp[1])
    else:
        start, end, length = (_number(value.get(key)) for key in ("start", "end", "duration"))
        if not value.keys() & {"end", "duration"}:
            return None
        end = end if end is not None or start is None or length is None else start + length
    return None if start is None else (start, start if end is None else end)


def _words(values: object, text: str) -> tuple[tuple[float, str], ...]:
    """Return the words of a segment with their starts, if they make up its whole text."""
    if not isinstance(values, list):
        return ()
    words = [
        (_number(each.get("start")), each.get("word", each.get("text"))) for each in values if isinstance(each, dict)
    ]
    timed = tuple((start, word) for start, word in words if start is not None and isinstance(word, str))
    joined = "".join("".join(word for _start, word in timed).split())
    if joined != "".join(text.split()):
        return ()
    is_parted = any(word[:1].isspace() for _start, word in timed)
    return timed if is_parted else tuple((start, f" {word}") for start, word in timed)


def _number(value: object) -> float | None:
    if isinstance(value, str) and re.fullmatch(r"\d{1,12}(?:\.\d{1,12})?", value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _ms_a_unit(times: Sequence[float], segments: Sequence[_Segment]) -> int:
    """Return the milliseconds per time unit: 1000, unless whole-number times would leave hardly any speech a second."""
    if not all(time.is_integer() for time in times):
        return 1000
    length = sum(max(0.0, segment.end - segment.start) for segment in segments)
    return 1 if sum(len(segment.text) for segment in segments) < _CHARACTERS_A_SECOND * length else 1000


def _ms(time: float, scale: int) -> int:
    return bounded_ms(round(min(time, 1e12) * scale))


def _cue(segment: _Segment, scale: int) -> Cue:
    start = _ms(segment.start, scale)
    pieces = [(max(start, _ms(at, scale)), word) for at, word in segment.words] or [(start, segment.text)]
    line = words_line(pieces, timed=bool(segment.words))
    end = max(start, _ms(segment.end, scale), *line.starts)
    return Cue(start, end, line.text, line.starts if segment.words else (), segment.speaker)
