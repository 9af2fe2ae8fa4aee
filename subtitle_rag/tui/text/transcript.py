"""A scene's lines on the screen, alone or between the lines around it."""

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.content import Content

from subtitle_rag.domain import clock
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.scene_surroundings import Spoken, Surroundings
from subtitle_rag.tui.text.content import MUTED, TIME_CELLS, best_line, hanging, marked

if TYPE_CHECKING:
    from subtitle_rag.retrieval.scenes import Scene


def scene_lines(scene: "Scene", width: int) -> tuple[list[Content], int]:
    """The scene line by line, wrapped to `width` cells under its times, and the row of the matched line."""
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
        said = marked(scene.text, scene.highlights, line.offset, end, style)
        rows += hanging(f"{sign}{clock(line.start_ms).rjust(TIME_CELLS - 1)}", said, width, style)
    rows += hanging("", Content.styled(clean(scene.overlap_after), "dim"), width)
    return rows, matched


def transcript_rows(scene: "Scene", known: Surroundings, width: int, height: int) -> tuple[list[Content], int]:
    """The scene's lines between those around it, about `height` rows of them on either side, and the matched row.

    Before the video's lines are read, the matched line has its place already, under room for what is said before it.
    """
    above, below = _around(scene, known.spoken or ())
    own = replace(scene, overlap_before="", overlap_after="") if above or below else scene
    rows, matched = scene_lines(own, width)
    before = _said(above[-height:], width) if height > 0 else []
    after = _said(below[:height], width)
    if known.spoken is None:
        before = [Content("")] * max(0, height // 3 - matched)
    return [*before, *rows, *after], matched + len(before)


def _around(scene: "Scene", spoken: Spoken) -> tuple[Spoken, Spoken]:
    """The video's lines before and after those of the scene."""
    if not scene.lines:
        return (), ()
    first, last = scene.lines[0].start_ms, scene.lines[-1].start_ms
    above = bisect_left(spoken, first, key=lambda line: line[0])
    return spoken[:above], spoken[bisect_right(spoken, last, key=lambda line: line[0]) :]


def _said(lines: Spoken, width: int) -> list[Content]:
    rows: list[Content] = []
    for start, said in lines:
        head = f" {clock(start).rjust(TIME_CELLS - 1)}"
        rows += hanging(head, Content.styled(clean(said), MUTED), width)
    return rows
