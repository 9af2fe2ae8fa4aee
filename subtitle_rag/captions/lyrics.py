"""LRC: one or several times, then the line that is sung at them."""

import re
from collections.abc import Iterator

from subtitle_rag.captions.cue_blocks import TIME, bounded_ms, clock_ms, cues_of_blocks, until_next
from subtitle_rag.domain import CaptionError, Cue
from subtitle_rag.i18n import _

_STAMPS = re.compile(rf"[ \t]*((?:\[{TIME}\][ \t]*)+)([^\n]*)")
_STAMP = re.compile(rf"\[{TIME}\]")
_OFFSET = re.compile(r"^\[offset:\s*([+-]?\d{1,9})\s*\]", re.MULTILINE | re.IGNORECASE)


def lyrics_cues(text: str, path: str, language: str) -> list[Cue]:  # noqa: ARG001 - as all readers
    """Return the cues of a file of lyrics; each lasts until the next line, an empty one too.

    Raises:
        CaptionError: `not_captions`, `too_much_text`.
    """
    offset = int(match[1]) if (match := _OFFSET.search(text)) else 0
    lines = list(_lines(text, offset))
    if not lines:
        raise CaptionError("not_captions", path=path, reason=_("no line in it has caption times"))
    return cues_of_blocks(until_next(lines), path)


def _lines(text: str, offset: int) -> Iterator[tuple[int, int, str]]:
    for line in text.split("\n"):
        if match := _STAMPS.match(line):
            stamps, *_last_time, spoken = match.groups()
            for stamp in _STAMP.finditer(stamps):
                yield bounded_ms(clock_ms(*stamp.groups("")) - offset), 0, spoken
