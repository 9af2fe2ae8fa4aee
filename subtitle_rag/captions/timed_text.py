"""WebVTT, SubRip and SubViewer: text below timing lines.

Well-formed WebVTT is read by webvtt-py in its strict mode, everything else by the block reader below. The library
silently drops the text of damaged blocks (trimmed one-space lines, commas before milliseconds, missing blank lines),
and its readers of SRT and SBV refuse a file for its first line. One reader that only looks for timing lines serves all
three formats and loses nothing readable.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import zip_longest
from typing import NamedTuple

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions.clock_lines import LONGEST, Clocks, frame_length, read_clocks
from subtitle_rag.captions.cue_blocks import LONGEST_MS, MAX_CUES, CueBlock, bounded_ms, clock_ms, cues_of_blocks
from subtitle_rag.captions.timed_lines import transcript_cues

LIBRARY_LIMIT = 3_000_000
"""Longest text for webvtt-py, in characters; see `docs/dev/formats.md`."""

_COLON = r"[ \t]*[:：][ \t]*"
_FRACTION = r"[ \t]*[.,:：，．。][ \t]*(\d{1,30})(?:[.,]\d{1,30})?"
_LOOSE = rf"(-?)(?:(\d{{1,20}}){_COLON})?(\d{{1,3}}){_COLON}(\d{{1,2}})(?:{_FRACTION})?"
"""A time from a careless tool: with spaces, full-width signs or too many digits."""
_ARROW_LINE = re.compile(
    rf"^[ \t]*(?:\[[ \t]*|\d{{1,7}}[ \t]+(?=\d))?{_LOOSE}[ \t]*(?:[-–—−－][ \t]*){{1,3}}(?:>|＞|&gt;)"
    rf"[ \t]*(?:{_LOOSE})?(?:[ \t]*\])?([^\n]*)$",
    re.MULTILINE,
)
_PLAIN_LINE = re.compile(
    r"(\d\d):([0-5]\d):([0-5]\d)[.,](\d{3}) --> (\d\d):([0-5]\d):([0-5]\d)[.,](\d{3})"
    r"(?: (?:align|position|line|size):[^\s>]+)*",
    re.ASCII,
)
"""A timing line as most files have it: read without the steps for the others."""
_FULL = r"\d{1,3}:\d{1,2}:\d{1,2}(?:[.,]\d{1,9})?"
_CUT_RANGE = re.compile(
    rf"^([ \t]*{_FULL})[ \t]*(?:(-{{1,3}}>)[ \t]*\n|\n[ \t]*(-{{1,3}}>))[ \t]*({_FULL})(?=[ \t]*$)", re.MULTILINE
)
"""A timing line broken before or after its arrow."""
_MAY_BE_TIMES = re.compile(r"\d.*[:;：；∶.．'h-].*\d|-[ -]*>")
_WORD_TIME = "><c>"
"""After the time of a word within a line of YouTube's."""
_DASHES = re.compile(r"(?:[-–—−－][ \t]*){2}(?:>|＞|&gt;)")
_SETTING = re.compile(r"\s*\b(?:align|position|line|size|vertical|region|[XY][12]|[A-Z]):\S+", re.IGNORECASE)
"""Settings of WebVTT and old players after the times; anything else there is text."""
_GOES_ON = re.compile(r"[:;.,'\dOol]")
"""Characters after a time that continue it: `00:00:O4,000`."""
MAX_INDEX = 7
"""Most digits of a cue number."""
_INDEX = re.compile(rf"[#\[(]?(\d{{1,{MAX_INDEX}}})[.)\]:]?")
_CUT_TAG = re.compile(r"<(?:\d\d?:[\d:.]*|\d\d|/?c?)\Z")


class _Mark(NamedTuple):
    """A timing line. `start_ms` is None if unreadable; `number` is the cue number above it."""

    at: int
    times: Clocks
    number: int | None


def webvtt_cues(text: str, language: str) -> list[Cue] | None:  # noqa: ARG001 - as all readers
    """Return the cues of a WebVTT file, even without its header; None without times and header."""
    text = _CUT_TAG.sub("", text.rstrip("\n"))
    is_small = len(text) <= LIBRARY_LIMIT and text.count("-->") <= MAX_CUES
    if text.startswith("WEBVTT") and is_small and not _has_odd_times(text):
        blocks = _library_blocks(text)
        if blocks is not None:
            return cues_of_blocks(blocks)
    return _tolerant_cues(text, is_vtt=True)


def subrip_cues(text: str, language: str) -> list[Cue] | None:  # noqa: ARG001 - as all readers
    """Return the cues of a SubRip or SubViewer file; None without times."""
    return _tolerant_cues(text, is_vtt=False)


def has_arrow_times(text: str) -> bool:
    """Whether a text has timing lines of WebVTT or SubRip."""
    return bool(_ARROW_LINE.search(text))


def unread_times(text: str) -> int:
    """Count the cues with text but unreadable times."""
    lines = _whole_lines(text)
    marks = _marks(lines, is_vtt=text.startswith("WEBVTT"))
    return sum(
        mark.times.start_ms is None and any(map(str.strip, _lines_of(lines, mark, after)))
        for mark, after in zip_longest(marks, marks[1:])
    )


def _tolerant_cues(text: str, *, is_vtt: bool) -> list[Cue] | None:
    lines = _whole_lines(text)
    if marks := _marks(lines, is_vtt=is_vtt):
        return cues_of_blocks(_tolerant_blocks(lines, marks, is_vtt=is_vtt))
    return [] if text.startswith("WEBVTT") else transcript_cues(text, "")


def _has_odd_times(text: str) -> bool:
    """Whether some times are not valid WebVTT: the library would lose the text below them."""
    lines = text.split("\n")
    times = (lines[mark.at] for mark in _marks(lines, is_vtt=True))
    return any("-->" not in line or not _ARROW_LINE.match(line) for line in times)


# --- timing lines ---


def _whole_lines(text: str) -> list[str]:
    """Return the lines of a text, with broken timing lines joined."""
    return _CUT_RANGE.sub(r"\1 --> \4", text).split("\n")


def _marks(lines: list[str], *, is_vtt: bool) -> list[_Mark]:
    """Return the timing lines, and cue numbers that have lost theirs."""
    frame_ms = cache(partial(frame_length, lines))
    marks: list[_Mark] = []
    has_payload = False
    times: Clocks | None
    for at, line in enumerate(lines):
        if plain := _PLAIN_LINE.fullmatch(line):
            index, times = _index_above(lines, at), _plain_times(plain)
        elif line and (_WORD_TIME not in line or "->" in line) and (len(line) > LONGEST or _MAY_BE_TIMES.search(line)):
            index = _index_above(lines, at)
            is_first = index is not None or at == 0 or (has_payload and not lines[at - 1].strip())
            times = _times(line, is_first=is_first, frame_ms=frame_ms)
        else:
            has_payload = has_payload or bool(line.strip())
            continue
        if times is None:
            has_payload = True
            continue
        if marks and not is_vtt:
            marks += _marks_without_times(lines, marks[-1], at, index)
        marks.append(_Mark(at, times, index))
        has_payload = False
        if len(marks) > MAX_CUES:
            return marks
    return marks + (_marks_without_times(lines, marks[-1], len(lines), None) if marks and not is_vtt else [])


def _plain_times(match: re.Match[str]) -> Clocks:
    hours, minutes, seconds, ms, end_hours, end_minutes, end_seconds, end_ms = map(int, match.groups())
    start = ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
    return Clocks(start, ((end_hours * 60 + end_minutes) * 60 + end_seconds) * 1000 + end_ms)


def _times(line: str, *, is_first: bool, frame_ms: Callable[[], float]) -> Clocks | None:
    match = _ARROW_LINE.match(line)
    if match is None or _GOES_ON.match(match[11]):
        loose = read_clocks(line, is_first=is_first, frame_ms=frame_ms)
        if match is None or loose:
            return loose
    times = match.groups("")
    beside = _SETTING.sub("", times[10]).strip()
    has_dashes = bool(_DASHES.search(line))
    is_short = not times[1] and not times[4]  # `3:15 -> 4:00` may be speech
    if beside and is_short and not (has_dashes and times[7]) and not is_first:
        return None
    if times[7]:
        return Clocks(clock_ms(*times[:5]), clock_ms(*times[5:10]), beside)
    if is_short and not is_first:
        return None
    return Clocks(None if is_short else clock_ms(*times[:5]), None, beside)


def _index_above(lines: list[str], at: int) -> int | None:
    """Return the cue number above a timing line, with or without blank lines between."""
    if at and lines[at - 1].isdecimal() and len(lines[at - 1]) <= MAX_INDEX:
        return int(lines[at - 1])
    above = at - 1
    while above >= 0 and not lines[above].strip():
        above -= 1
    if above < 0 or not (match := _INDEX.fullmatch(lines[above].strip())):
        return None
    is_alone = above == 0 or not lines[above - 1].strip()
    return int(match[1]) if is_alone or above == at - 1 else None


def _marks_without_times(lines: list[str], last: _Mark, until: int, index: int | None) -> list[_Mark]:
    """Return the cues with only a number, if it continues the previous number and leads to the next."""
    marks: list[_Mark] = []
    if last.number is None or index == last.number + 1:
        return marks
    number = last.number + 1
    for at in range(last.at + 2, until - 1):
        line = lines[at].strip()
        if (
            len(line) <= MAX_INDEX
            and line.isdecimal()
            and int(line) == number
            and not lines[at - 1].strip()
            and lines[at + 1]
        ):
            marks.append(_Mark(at, Clocks(None, None), number))
            number += 1
    return marks if until == len(lines) or index == number else []


# --- cues ---


def _library_blocks(text: str) -> list[CueBlock] | None:
    """Return the blocks that webvtt-py reads; None if it refuses the file or would lose text."""
    import webvtt
    from webvtt.errors import MalformedCaptionError, MalformedFileError

    try:
        captions = webvtt.WebVTT.from_string(text, strict=True).captions
    except (MalformedFileError, MalformedCaptionError):
        return None
    if not all(caption.lines for caption in captions):
        return None
    # it cuts its seconds to whole numbers; the milliseconds are exact
    return [
        CueBlock(bounded_ms(c.start_time.in_milliseconds()), bounded_ms(c.end_time.in_milliseconds()), c.lines)
        for c in captions
    ]


def _tolerant_blocks(lines: list[str], marks: list[_Mark], *, is_vtt: bool) -> Iterator[CueBlock]:
    """Yield a block for the lines after each timing line, without identifiers, comments and styles.

    A cue with unreadable times begins where the previous one ends.
    """
    done = 0
    for mark, after in zip_longest(marks, marks[1:]):
        rest = _lines_of(lines, mark, after)
        start, end, beside = mark.times
        following = after.times.start_ms if after else None
        if start is None:
            start = min([done, *(ms for ms in (end, following) if ms is not None)])
        if end is None:
            end = min(start + LONGEST_MS, following) if following and following > start else start
        payload = _vtt_payload(rest) if is_vtt else [line for line in rest if line]
        yield CueBlock(start, end, [beside, *payload] if beside else payload)
        done = max(start, end)


def _lines_of(lines: list[str], mark: _Mark, after: _Mark | None) -> list[str]:
    """Return the lines below a timing line, without the next cue's identifier.

    An identifier is a number, or a line alone between a blank line and the next timing line.
    """
    rest = lines[mark.at + 1 : after.at if after else len(lines)]
    if after is None or lines[after.at].strip().isdecimal():
        return _without_numbers(rest, mark.number, None if after is None else after.number)
    if rest:
        follows = mark.number is not None and after.number == mark.number + 1
        is_number = rest[-1].strip().isdecimal() or (follows and _INDEX.fullmatch(rest[-1].strip()))
        if is_number or (len(rest) > 1 and rest[-1] and not rest[-2]):
            rest.pop()
    return _without_numbers(rest, mark.number, after.number)


def _without_numbers(rest: list[str], first: int | None, last: int | None) -> list[str]:
    """Return a cue's lines without cue numbers left alone at their end.

    At the end of a file these continue from the last cue's number.
    """
    kept, numbers = len(rest), list[int]()
    while first is not None:
        text = next((at for at in range(kept, 1, -1) if rest[at - 1].strip()), 0)
        match = _INDEX.fullmatch(rest[text - 1].strip()) if text and not rest[text - 2].strip() else None
        if match is None or (last is not None and not first < int(match[1]) <= last):
            break
        numbers.append(int(match[1]))
        kept = text - 1
    is_end = last is None and numbers[::-1] != [*range((first or 0) + 1, (first or 0) + 1 + len(numbers))]
    return rest if is_end else rest[:kept]


def _vtt_payload(lines: list[str]) -> list[str]:
    """Return the first paragraph: WebVTT ends a cue at an empty line, before comments and styles.

    If a tool trimmed the one-space line above a rolling line, an empty string keeps its place.
    """
    first = next((i for i, line in enumerate(lines) if line), len(lines))
    last = next((i for i in range(first, len(lines)) if not lines[i]), len(lines))
    payload = lines[first:last]
    if not first:
        return payload
    return [] if not payload or re.match(r"(?:NOTE|STYLE|REGION|WEBVTT)\b", payload[0]) else ["", *payload]
