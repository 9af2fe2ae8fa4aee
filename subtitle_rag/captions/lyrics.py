"""LRC lyrics: one or several times, then the line sung at them."""

import re

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions.cue_blocks import TIME, bounded_ms, clock_ms, cues_of_blocks, until_next

_STAMPS = re.compile(rf"[ \t]*((?:\[{TIME}\][ \t]*)+)(?P<spoken>[^\n]*)")
_STAMP = re.compile(rf"\[{TIME}\]")
_OFFSET = re.compile(r"^\[offset:\s*([+-]?\d{1,9})\s*\]", re.MULTILINE | re.IGNORECASE)


def lyrics_cues(text: str, language: str) -> list[Cue] | None:  # noqa: ARG001 - as all readers
    """Return the cues of a lyrics file, each until the next line, even an empty one. None without times.

    Raises:
        TooMuchTextError: there are more cues than in any video.
    """
    offset = int(match[1]) if (match := _OFFSET.search(text)) else 0
    lines = [
        (bounded_ms(clock_ms(*stamp.groups("")) - offset), 0, line["spoken"])
        for line in map(_STAMPS.match, text.split("\n"))
        if line
        for stamp in _STAMP.finditer(line[1])
    ]
    return cues_of_blocks(until_next(lines)) if lines else None
