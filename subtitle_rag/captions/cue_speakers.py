"""Who speaks: names that are in front of the text of cues, as Zoom and CLOVA Note write them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from subtitle_rag.domain.values import Cue

MOST = 0.5
"""Share of cues with a name in front that shows it to be the manner of the file."""
OFTEN = 3
"""Cues in which each of two names must be at least where fewer have one: `질문: …` is said once."""

_NAMED = re.compile(r"(?:[-–>]{1,2}\s*)?([^\s:：\[\]<>\"'“”…,.!?/\\\d-][^:：\[\]<>\"“”…,!?/\\]{0,29}?) ?[:：] +(\S.*)")


def name_speakers(cues: list[Cue]) -> list[Cue]:
    """Return the cues with the names in front of their text as speakers, unless the file names them otherwise."""
    if any(cue.speaker for cue in cues):
        return cues
    matches = [_NAMED.fullmatch(cue.text) if ":" in cue.text or "：" in cue.text else None for cue in cues]
    names = _names([match[1] for match in matches if match and len(match[1].split()) <= 3], len(cues))
    result = list(cues)
    for at, match in enumerate(matches):
        if match and match[1] in names:
            dropped = len(cues[at].text.split()) - len(match[2].split())
            starts = cues[at].word_starts[dropped:]
            result[at] = replace(cues[at], text=match[2], speaker=match[1], word_starts=starts)
    return result


def _names(candidates: Sequence[str], cues: int) -> set[str]:
    """Return the ones that are speakers of those that are in front of a text."""
    counts = Counter(candidates)
    if len(candidates) >= MOST * cues and len(counts) <= max(2, len(candidates) / 2):
        return set(counts)
    often = {name for name, count in counts.items() if count >= OFTEN}
    return often if len(often) > 1 else set()
