"""Timed words → cues: sentences short enough to read, with times in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from subtitle_rag.base.domain.values import Cue

LONGEST_MS = 7_000
MOST_CHARACTERS = 60
PAUSE_MS = 700
"""Minimum pause that ends a cue; windows are cut at such places."""
CLAUSE_CHARACTERS = 30
"""Length from which a comma also ends a cue."""
LEAST_MS = 200
_ENDS = (".", "?", "!", "…", "。", "？", "！")
_COMMAS = (",", "、", "，")


@dataclass(frozen=True, slots=True)
class HeardWord:
    """A word without spaces, with its times in the file."""

    begin_ms: int
    end_ms: int
    text: str
    is_glued: bool = False
    """Whether it follows without a space, as in languages without spaces."""


def cues_of_words(words: Sequence[HeardWord]) -> tuple[Cue, ...]:
    """Return the sentences of ordered words."""
    lines = list(_lines(monotone(words)))
    cues = []
    for number, line in enumerate(lines):
        begin, end = line[0].begin_ms, max(line[-1].end_ms, line[0].begin_ms + LEAST_MS)
        if number + 1 < len(lines):
            end = min(end, max(lines[number + 1][0].begin_ms, begin + 1))
        starts = tuple(min(word.begin_ms, end) for at, word in enumerate(line) if at == 0 or not word.is_glued)
        cues.append(Cue(begin, end, text_of_words(line), starts))
    return tuple(cues)


def text_of_words(words: Sequence[HeardWord]) -> str:
    """Return the words as one line."""
    return "".join(word.text if word.is_glued else f" {word.text}" for word in words).strip()


def monotone(words: Sequence[HeardWord]) -> list[HeardWord]:
    """Return the words with non-decreasing times: alignment may be off by hundredths of a second."""
    result: list[HeardWord] = []
    latest = 0
    for word in words:
        begin = max(word.begin_ms, latest)
        end = max(word.end_ms, begin)
        result.append(replace(word, begin_ms=begin, end_ms=end))
        latest = begin
    return result


def _lines(words: Sequence[HeardWord]) -> Iterator[list[HeardWord]]:
    line: list[HeardWord] = []
    for number, word in enumerate(words):
        line.append(word)
        characters = sum(len(each.text) + 1 for each in line)
        following = words[number + 1] if number + 1 < len(words) else None
        if (
            following is None
            or word.text.endswith(_ENDS)
            or following.begin_ms - word.end_ms >= PAUSE_MS
            or following.end_ms - line[0].begin_ms > LONGEST_MS
            or characters + len(following.text) > MOST_CHARACTERS
            or (word.text.endswith(_COMMAS) and characters >= CLAUSE_CHARACTERS)
        ):
            yield line
            line = []
