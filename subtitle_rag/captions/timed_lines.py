"""Plain text with times: YouTube's transcript panel, CLOVA Note, Zoom's saved captions, Teams."""

import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import pairwise

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions.clock_lines import frame_length, read_clocks
from subtitle_rag.captions.cue_blocks import TIME, clock_ms, cues_of_blocks, until_next

_HOUR_MS = 3_600_000
_MARK = rf"[\[(（]?{TIME}[\])）]?"
_TIME_FIRST = re.compile(rf"{_MARK}(?:[ \t]*[-–—:|][ \t]+|[ \t]+|\Z)(.*)")
_SPEAKER_FIRST = re.compile(
    rf"[\[(]?([^\s\d\[\]():：][^\[\]():：]{{0,40}}?)[\])]?[ \t]+{_MARK}[ \t]*(?:[:：][ \t]*(.*))?"
)
_FULL = r"\d{1,2}[:;]\d\d[:;]\d\d(?:[.,:;]\d{1,3})?"
_SHORT = r"\d{1,3}:\d\d(?:[.,]\d{1,3})?"
_DASH = r"[ \t]*[-–—~|][ \t]*"
_TIMES_FIRST = re.compile(
    rf"(?:\d{{1,7}}[ \t]+)?[\[(（]?(?:({_FULL})(?:{_DASH}|[ \t]+)({_FULL})|({_SHORT}){_DASH}({_SHORT}))[\])）]?"
    r"(?:[ \t]*[-–—:|][ \t]+|[ \t]+)(\S.*)"
)
"""A number, start, end and text on one line, as in Premiere, Encore and Subtivals."""
_SPOKEN_TIME = re.compile(
    r"(?:\d+ ?시간)? ?(?:\d+ ?분)? ?(?:\d+ ?초)?|(?:\d+ hours?)?,? ?(?:\d+ minutes?)?,? ?(?:\d+ seconds?)?",
    re.IGNORECASE,
)
"""The time in words for screen readers, below the panel's figures."""

_SPEAKER = re.compile(r"(?:speaker|화자|참석자|발화자) ?\d{1,3}|unknown(?: speaker)?", re.IGNORECASE)
"""Premiere's placeholder for unnamed speakers, below the times."""

LEAST_LINES = 2
"""Minimum number of timed lines of a transcript."""


def transcript_cues(text: str, language: str) -> list[Cue] | None:  # noqa: ARG001 - as all readers
    """Return the cues of a text with times, each until the next one; None for other text.

    Times of day count from the first.

    Raises:
        TooMuchTextError: there are more cues than in any video.
    """
    lines = list(_lines(text))
    if not _is_told_in_order(lines):
        return None
    first = lines[0][0] if lines[0][0] >= _HOUR_MS else 0
    return cues_of_blocks(until_next([(start - first, max(0, end - first), line) for start, end, line in lines]))


def is_transcript(text: str) -> bool:
    """Whether a text, or its beginning, has times with lines after them."""
    return _is_told_in_order(list(_lines(text)))


def _is_told_in_order(lines: list[tuple[int, int, str]]) -> bool:
    rising = sum(before[0] <= after[0] for before, after in pairwise(lines))
    return len(lines) >= LEAST_LINES and rising >= 0.9 * (len(lines) - 1) and any(line for *_times, line in lines)


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end or 0, text) of each line with one or two times and the lines below, without headings."""
    start, end, texts = -1, 0, list[str]()
    voice = ""
    lines = [line.strip() for line in text.split("\n")]
    frame_ms = cache(partial(frame_length, lines))
    for line in lines:
        clocks, speech = read_clocks(line, is_first=True, frame_ms=frame_ms) if ":" in line or ";" in line else None, ""
        if clocks is None and (parts := _TIMES_FIRST.fullmatch(line)):
            first, last, short_first, short_last, speech = parts.groups("")
            times = f"{first or short_first} - {last or short_last}"
            clocks = read_clocks(times, is_first=True, frame_ms=frame_ms)
        if clocks and clocks.start_ms is not None and clocks.end_ms is not None and not clocks.beside:
            if start >= 0:
                yield start, end, voice + " ".join(texts) if texts else ""
            start, end, voice, texts = clocks.start_ms, clocks.end_ms, "", [speech] if speech else []
            continue
        if end and not texts and not voice and _SPEAKER.fullmatch(line):
            voice = f"<v {line}>"
            continue
        time_first, speaker_first = _TIME_FIRST.fullmatch(line), None
        if not time_first:
            speaker_first = _SPEAKER_FIRST.fullmatch(line)
        match = time_first or speaker_first
        if match is None:
            if line and start >= 0 and not (not texts and _SPOKEN_TIME.fullmatch(line)):
                texts.append(line)
            continue
        if start >= 0:
            yield start, end, voice + " ".join(texts) if texts else ""
        name, *clock, rest = match.groups("") if speaker_first else ("", *match.groups(""))
        start, end, voice = clock_ms(*clock), 0, f"<v {name.strip()}>" if name else ""
        texts = [rest] if rest else []
    if start >= 0:
        yield start, end, voice + " ".join(texts) if texts else ""
