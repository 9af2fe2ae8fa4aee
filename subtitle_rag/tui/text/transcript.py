"""A scene's lines on the screen, alone or between the lines around it."""

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.content import Content

from subtitle_rag.domain import clock
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.scene_surroundings import SpokenLines, Surroundings
from subtitle_rag.tui.text.content import MUTED, TIME_CELLS, best_line, hanging, marked

if TYPE_CHECKING:
    from subtitle_rag.retrieval.scenes import Scene


def scene_lines(scene: "Scene", width: int) -> tuple[list[Content], int]:
    """Return the scene line by line, wrapped to `width` cells beside its times, and the row of the matched line."""
    best = best_line(scene)
    ends = [line.offset for line in scene.lines[1:]] + [len(scene.text)]
    rows: list[Content] = []
    matched = 0
    rows += hanging("", Content.styled(clean(scene.overlap_before), "dim"), width)
    for index, (line, end) in enumerate(zip(scene.lines, ends, strict=False)):
        if index == best:
            matched = len(rows)
        sign = "▶" if index == best else " "
        style = "bold" if index == best else ""
        words = marked(scene.text, scene.highlights, line.offset, end, style, scene.related)
        rows += hanging(f"{sign}{clock(line.start_ms).rjust(TIME_CELLS - 1)}", words, width, style)
    rows += hanging("", Content.styled(clean(scene.overlap_after), "dim"), width)
    return rows, matched


def transcript_rows(scene: "Scene", surroundings: Surroundings, width: int, height: int) -> tuple[list[Content], int]:
    """Return the scene's lines between those around it, about `height` rows on either side, and the matched row.

    Until the video's lines are read, blank rows hold the room above the matched line.
    """
    above, below = _around(scene, surroundings.lines or ())
    inner = replace(scene, overlap_before="", overlap_after="") if above or below else scene
    rows, matched = scene_lines(inner, width)
    before = _line_rows(above[-height:], width) if height > 0 else []
    after = _line_rows(below[:height], width)
    if surroundings.lines is None:
        before = [Content("")] * max(0, height // 3 - matched)
    return [*before, *rows, *after], matched + len(before)


def _around(scene: "Scene", lines: SpokenLines) -> tuple[SpokenLines, SpokenLines]:
    """Return the video's lines before and after those of the scene."""
    if not scene.lines:
        return (), ()
    first, last = scene.lines[0].start_ms, scene.lines[-1].start_ms
    above = bisect_left(lines, first, key=lambda line: line[0])
    return lines[:above], lines[bisect_right(lines, last, key=lambda line: line[0]) :]


def _line_rows(lines: SpokenLines, width: int) -> list[Content]:
    rows: list[Content] = []
    for start, words in lines:
        head = f" {clock(start).rjust(TIME_CELLS - 1)}"
        rows += hanging(head, Content.styled(clean(words), MUTED), width)
    return rows
