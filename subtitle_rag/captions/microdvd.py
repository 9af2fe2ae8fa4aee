"""MicroDVD: a line's first and last frame, then its text; the first line has the frame rate."""

import re
from collections.abc import Iterator

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.base.i18n import _
from subtitle_rag.captions.cue_blocks import CueBlock, UnusableTextError, bounded_ms, cues_of_blocks

_LINE = re.compile(r"^[ \t]*\{(\d{1,9})\}\{(\d{0,9})\}([^\n]*)", re.MULTILINE)
_RATE = re.compile(r"\s*(\d{1,3}(?:[.,]\d{1,6})?)\s*")
_STYLE = re.compile(r"\{[A-Za-z]:[^{}]*\}|(?<=\|)/|^/")


def microdvd_cues(text: str, language: str) -> list[Cue] | None:  # noqa: ARG001 - as all readers
    """Return the cues of a MicroDVD file; None if no line is one.

    Raises:
        UnusableTextError: the file has no frame rate, and any would be a guess.
        TooMuchTextError: there are more cues than in any video.
    """
    first = _LINE.search(text)
    if first is None:
        return None
    rate = _rate(first)
    if rate is None:
        reason = _("its lines count frames, and neither its first line ({example}) nor a film beside it tells the rate")
        raise UnusableTextError(reason.format(example="{1}{1}23.976"))
    return cues_of_blocks(_blocks(text[first.end() :], rate))


def lacks_rate(text: str) -> bool:
    """Whether a text is MicroDVD without a frame rate."""
    first = _LINE.search(text)
    return first is not None and _rate(first) is None


def _rate(first: re.Match[str]) -> float | None:
    """Return the frame rate if the first line's text is one, else None."""
    match = _RATE.fullmatch(first[3])
    rate = float(match[1].replace(",", ".")) if match else 0.0
    return rate if 1 <= rate <= 300 else None


def _blocks(text: str, rate: float) -> Iterator[CueBlock]:
    for match in _LINE.finditer(text):
        start, end = (bounded_ms(round(int(frame or match[1]) * 1000 / rate)) for frame in match.group(1, 2))
        yield CueBlock(start, end, _STYLE.sub("", match[3]).split("|"))
