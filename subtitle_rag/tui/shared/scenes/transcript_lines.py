"""Lines of speech on screen: a scene, alone or with the lines around it, or a whole video."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING

from textual.content import Content

from subtitle_rag.base.domain.values import clock
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED, TIME_CELLS, hanging, marked
from subtitle_rag.tui.shared.spoken_lines import Span, SpokenLines, Surroundings

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene

HEAD_CELLS = TIME_CELLS + 2
"""Cells of the time before a line."""

_Row = tuple[int | None, str, int | None]
"""Start (ms), text, and the index of the line within a scene."""


@dataclass(frozen=True, slots=True)
class TranscriptLines:
    """Lines to draw, possibly thousands: each is drawn when it becomes visible."""

    lines: Sequence[tuple[int | None, str]] = ()
    """Start (ms) and text. Words of a neighbouring window have no start."""
    words: Callable[[int], Content] = lambda _index: Content()
    """Return the words of a line, with their marks."""
    matched: int | None = None
    """Index of the line with the sign."""

    def rows(self, index: int, width: int) -> Sequence[Content]:
        """Return a line's rows, wrapped to `width` cells next to its time."""
        start, _text = self.lines[index]
        sign, style = ("▶", "bold") if index == self.matched else (" ", "")
        head = "" if start is None else f"{sign}{clock(start).rjust(TIME_CELLS - 1)}"
        return hanging(head, self.words(index), width, style)


def scene_lines(scene: "Scene", surroundings: Surroundings) -> TranscriptLines:
    """Return the lines of a scene with those around it; without them, with the words of the neighbouring windows."""
    above, below = _around(scene, surroundings.lines or ())
    first = last = ""
    if not (above or below):
        first, last = clean(scene.overlap_before).strip(), clean(scene.overlap_after).strip()
    ends = [line.offset for line in scene.lines[1:]] + [len(scene.text)]
    spans = [(line.offset, end) for line, end in zip(scene.lines, ends, strict=False)]
    starts = (line.start_ms for line in scene.lines)
    speech = [(start_ms, clean(scene.text[begin:end])) for start_ms, (begin, end) in zip(starts, spans, strict=True)]
    speakers = [clean(f"{line.speaker}: ") if line.speaker else "" for line in scene.lines]
    scene_rows: list[_Row] = [(start_ms, text, number) for number, (start_ms, text) in enumerate(speech)]
    before, after, gaps = ([(*line, None) for line in lines] for lines in (above, below, surroundings.gaps))
    rows: list[_Row] = list(merge([*before, *scene_rows, *after], gaps, key=lambda row: row[0] or 0))
    rows = [*([(None, first, None)] if first else []), *rows, *([(None, last, None)] if last else [])]
    matched = next((at for at, row in enumerate(rows) if row[2] == scene.best_line), None)

    def words(index: int) -> Content:
        _start_ms, text, number = rows[index]
        if number is None:
            return Content.styled(text, MUTED)
        style = "bold" if index == matched else ""
        line = marked(scene.text, scene.highlights, *spans[number], style, scene.related)
        return Content.assemble((speakers[number], style or MUTED), line) if speakers[number] else line

    return TranscriptLines([row[:2] for row in rows], words, matched)


def video_lines(
    lines: SpokenLines, marks: Mapping[int, Sequence[Span]], matched: int | None, gaps: Collection[int] = ()
) -> TranscriptLines:
    """Return the lines of a whole video, with a search's marks by line; `gaps` are not speech."""

    def words(index: int) -> Content:
        text, style = lines[index][1], "bold" if index == matched else MUTED if index in gaps else ""
        return marked(text, marks.get(index, ()), 0, len(text), style)

    return TranscriptLines(lines, words, matched)


def _around(scene: "Scene", lines: SpokenLines) -> tuple[SpokenLines, SpokenLines]:
    """Return the video's lines before and after the scene."""
    if not scene.lines:
        return (), ()
    first, last = scene.lines[0].start_ms, scene.lines[-1].start_ms
    above = bisect_left(lines, first, key=lambda line: line[0])
    return lines[:above], lines[bisect_right(lines, last, key=lambda line: line[0]) :]
