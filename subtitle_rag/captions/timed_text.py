"""WebVTT, SubRip and SubViewer as YouTube writes it: text below lines with times.

A well-formed WebVTT file is read by webvtt-py in its strict mode, everything else by the block reader below. The
library drops the text of damaged blocks in silence (one-space lines trimmed away, commas before the milliseconds,
missing blank lines), and its readers of SRT and SBV refuse a file for its first line. One reader that only looks for
the lines with times serves all three formats and loses nothing that can still be read.
"""

import re
from collections.abc import Iterator
from itertools import chain

from subtitle_rag.captions.cue_blocks import MAX_CUES, TIME, CueBlock, bounded_ms, clock_ms, cues_of_blocks
from subtitle_rag.domain import Cue

LIBRARY_LIMIT = 3_000_000
"""Characters up to which webvtt-py reads: it takes five times the block reader's time, and 10 bytes of memory for
each character. Tracks of real videos stay far below."""

_COLON = r"[ \t]*[:：][ \t]*"
_FRACTION = r"[ \t]*[.,:：，．。][ \t]*(\d{1,30})(?:[.,]\d{1,30})?"
_LOOSE = rf"(-?)(?:(\d{{1,20}}){_COLON})?(\d{{1,3}}){_COLON}(\d{{1,2}})(?:{_FRACTION})?"
"""A time as machine translators and careless tools leave it: with spaces, full-width signs, too many digits."""
_ARROW = r"(?:(?:[-–—−－][ \t]*){1,3}(?:>|＞|&gt;)|[→⟶➔⇒]|=>)"
_ARROW_LINE = re.compile(
    rf"^[ \t]*(?:\[[ \t]*|\d{{1,7}}[ \t]+(?=\d))?{_LOOSE}[ \t]*{_ARROW}[ \t]*(?:{_LOOSE})?(?:[ \t]*\])?([^\n]*)$",
    re.MULTILINE,
)
_SETTING = re.compile(r"\s*\b(?:align|position|line|size|vertical|region|[XY][12]|[A-Z]):\S+", re.IGNORECASE)
"""What WebVTT and old players have after the times; anything else there is text."""
_SBV_LINE = re.compile(rf"^[ \t]*{TIME},{TIME}[ \t]*$", re.MULTILINE)
_CUT_TAG = re.compile(r"<(?:\d\d?:[\d:.]*|\d\d|/?c?)\Z")


def webvtt_cues(text: str, language: str) -> list[Cue] | None:  # noqa: ARG001 - as all readers
    """Return the cues of a WebVTT file, also of one without its first line; None without times and that line."""
    text = _CUT_TAG.sub("", text.rstrip("\n"))
    if text.startswith("WEBVTT") and len(text) <= LIBRARY_LIMIT and text.count("-->") <= MAX_CUES:
        blocks = _library_blocks(text)
        if blocks is not None:
            return cues_of_blocks(blocks)
    return _tolerant_cues(text, is_vtt=True)


def subrip_cues(text: str, language: str) -> list[Cue] | None:  # noqa: ARG001 - as all readers
    """Return the cues of a SubRip or SubViewer file; None without times."""
    return _tolerant_cues(text, is_vtt=False)


def has_arrow_times(text: str) -> bool:
    """Whether a text has lines of times as WebVTT and SubRip write them."""
    return bool(_ARROW_LINE.search(text))


def _tolerant_cues(text: str, *, is_vtt: bool) -> list[Cue] | None:
    for pattern in (_ARROW_LINE, _SBV_LINE):
        if pattern.search(text):
            return cues_of_blocks(_tolerant_blocks(text, pattern, is_vtt and pattern is _ARROW_LINE))
    return [] if text.startswith("WEBVTT") else None


def _library_blocks(text: str) -> list[CueBlock] | None:
    """Return the blocks that webvtt-py reads; None for a file that it refuses or would read with losses."""
    import webvtt
    from webvtt.errors import MalformedCaptionError, MalformedFileError

    try:
        captions = webvtt.WebVTT.from_string(text, strict=True).captions
    except (MalformedFileError, MalformedCaptionError):
        return None
    if not all(caption.lines for caption in captions):
        return None
    # its seconds are whole numbers, cut off; the milliseconds are exact
    return [
        CueBlock(bounded_ms(c.start_time.in_milliseconds()), bounded_ms(c.end_time.in_milliseconds()), c.lines)
        for c in captions
    ]


def _tolerant_blocks(text: str, pattern: re.Pattern[str], is_vtt: bool) -> Iterator[CueBlock]:
    """Yield a block of the lines between two lines with times, without identifiers, comments and styles."""
    mark: re.Match[str] | None = None
    for following in chain(pattern.finditer(text), [None]):
        if mark:
            lines = text[mark.end() : following.start() if following else len(text)].split("\n")[1:]
            if following:
                _drop_identifier(lines)
            times = mark.groups("")
            start = clock_ms(*times[:5])
            end = clock_ms(*times[5:10]) if times[7] else start
            payload = _vtt_payload(lines) if is_vtt else [line for line in lines if line]
            beside = _SETTING.sub("", "".join(times[10:])).strip()
            yield CueBlock(start, end, [beside, *payload] if beside else payload)
        mark = following


def _drop_identifier(lines: list[str]) -> None:
    """Drop the next cue's identifier: a number, or what stands alone after a blank line, right above its times."""
    lines.pop()  # the empty rest in front of the next line with times
    if lines and (lines[-1].strip().isdecimal() or (len(lines) > 1 and not lines[-2])):
        lines.pop()


def _vtt_payload(lines: list[str]) -> list[str]:
    """Return the first paragraph: WebVTT ends a cue at an empty line, and comments and styles follow as paragraphs.

    Where a tool trimmed the one-space line above a rolling line, that line's place is kept as an empty string.
    """
    first = next((i for i, line in enumerate(lines) if line), len(lines))
    last = next((i for i in range(first, len(lines)) if not lines[i]), len(lines))
    payload = lines[first:last]
    if not first:
        return payload
    return [] if not payload or re.match(r"(?:NOTE|STYLE|REGION|WEBVTT)\b", payload[0]) else ["", *payload]
