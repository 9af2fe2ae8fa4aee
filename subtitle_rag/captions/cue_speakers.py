"""Speaker names in front of the text of cues, as in Zoom and CLOVA Note."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from subtitle_rag.base.domain.values import Cue

MOST = 0.5
"""Minimum share of cues with a name in front for names to be the style of the file."""
OFTEN = 3
"""Minimum number of cues for each of two names in a file below that share: `질문: …` occurs once."""

_NAMED = re.compile(r"(?:[-–>]{1,2}\s*)?([^\s:：\[\]<>\"'“”…,.!?/\\\d-][^:：\[\]<>\"“”…,!?/\\]{0,29}?) ?[:：] +(\S.*)")


def name_speakers(cues: list[Cue]) -> list[Cue]:
    """Return the cues with the names in front of their text as speakers, unless the file names speakers otherwise."""
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
    """Return the speakers among the words in front of a text."""
    counts = Counter(candidates)
    if len(candidates) >= MOST * cues and len(counts) <= max(2, len(candidates) / 2):
        return set(counts)
    often = {name for name, count in counts.items() if count >= OFTEN}
    return often if len(often) > 1 else set()
