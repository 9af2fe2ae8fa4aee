"""A video's timeline in the preview: its replay curve, and the matches of the query.

Glyphs carry the meaning, colour only helps: `█` is the current scene, `┃` are scenes of the list, `│` are further
matches. All rows have the same scale, and none is wider than the timeline.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from subtitle_rag.base.domain.values import Heat, clock
from subtitle_rag.tui.shared.content import MUTED
from subtitle_rag.tui.shared.spoken_lines import Surroundings

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene


CURRENT, LISTED, FURTHER, BAR, CHAPTER = "█", "┃", "│", "─", "╵"
BLOCKS = "▁▂▃▄▅▆▇█"
ROWS = 3
"""With or without a curve, so that nothing below moves when it arrives."""
CELLS_A_CHAPTER = 4
"""Least cells per chapter; denser chapters get no ticks."""
_STYLES = {CURRENT: "bold $focus", LISTED: "$focus"}


@dataclass(frozen=True, slots=True)
class Timeline:
    """One video; all times in ms."""

    duration_ms: int
    current_ms: int | None = None
    """The time of the shown scene."""
    listed_ms: Sequence[int] = ()
    """Times of the list's scenes."""
    further_ms: Sequence[int] = ()
    """Times of further matches."""
    heat: Sequence[Heat] = ()
    chapters: Sequence[int] = ()
    """Start times."""

    @property
    def marks(self) -> list[int]:
        """All marked times, each once."""
        current = () if self.current_ms is None else (self.current_ms,)
        return sorted({*self.listed_ms, *self.further_ms, *current})

    @property
    def length_ms(self) -> int:
        """Length of the rows: the video, or the last mark beyond its end."""
        return max(1, self.duration_ms, *self.marks)

    def cell(self, ms: int, width: int) -> int:
        """Return the cell of a time, from 0."""
        return max(0, min(width - 1, ms * width // self.length_ms))

    def at_ms(self, cell: int, width: int) -> int:
        """Return the time in the middle of a cell."""
        return max(0, min(self.length_ms, (2 * cell + 1) * self.length_ms // (2 * width)))


def scene_timeline(scene: "Scene", surroundings: Surroundings, listed: "Sequence[Scene]") -> Timeline:
    """Return the timeline of a scene's video; `listed` are its scenes in the list.

    A video of unknown length ends with its last window.
    """
    video = scene.video
    matches = surroundings.matches or ()
    ends = [each.end_ms for each in (*listed, scene)] + [match.end_ms for match in matches]
    further = (
        match.at_ms
        for match in matches
        if not any(each.start_ms <= match.at_ms < each.end_ms for each in (*listed, scene))
    )
    return Timeline(
        video.duration_ms or max(surroundings.end_ms, *ends),
        scene.at_ms,
        sorted({each.at_ms for each in listed if each.id != scene.id}),
        list(further),
        surroundings.heat,
        [chapter.start_ms for chapter in video.chapters],
    )


def draw_timeline(line: Timeline, width: int) -> Content:
    """Return `ROWS` rows, none wider than `width` cells; nothing without width."""
    if width < 1:
        return Content("")
    curve = _curve(line, width)
    rows = [*([curve] if curve else []), _bar(line, width), _times(line, width)]
    return Content("\n").join([Content("")] * (ROWS - len(rows)) + rows)


def _sound(heat: Sequence[Heat]) -> list[Heat]:
    """Return the valid parts: the numbers come from outside."""
    return [part for part in heat if math.isfinite(part.value) and part.value > 0 and part.start_ms < part.end_ms]


def _curve(line: Timeline, width: int) -> Content | None:
    """Draw the maximum per cell; None without values."""
    values = [0.0] * width
    for part in _sound(line.heat):
        for cell in range(line.cell(part.start_ms, width), line.cell(part.end_ms - 1, width) + 1):
            values[cell] = max(values[cell], min(1.0, part.value))
    if not any(values):
        return None
    return Content.styled("".join(BLOCKS[min(7, int(value * 8))] for value in values), MUTED)


def _bar(line: Timeline, width: int) -> Content:
    cells = [BAR] * width
    for glyph, times in ((FURTHER, line.further_ms), (LISTED, line.listed_ms), (CURRENT, [line.current_ms])):
        for ms in times:
            if ms is not None:
                cells[line.cell(ms, width)] = glyph
    return Content.assemble(*((glyph, _STYLES.get(glyph, MUTED if glyph == BAR else "")) for glyph in cells))


def _times(line: Timeline, width: int) -> Content:
    """Draw start and end, the current time if it fits between them, and ticks for the chapters."""
    cells = [" "] * width
    end = clock(line.length_ms)
    if len(end) <= width:
        _put(cells, end, width - len(end))
    _put(cells, clock(0), 0)
    if line.current_ms is not None:
        time = clock(line.current_ms)
        _put(cells, time, max(0, min(width - len(time), line.cell(line.current_ms, width) - len(time) // 2)))
    if len(line.chapters) * CELLS_A_CHAPTER <= width:
        for ms in line.chapters:
            _put(cells, CHAPTER, line.cell(ms, width))
    return Content.styled("".join(cells), MUTED)


def _put(cells: list[str], text: str, at: int) -> None:
    """Write `text` unless it touches other text."""
    around = cells[max(0, at - 1) : at + len(text) + 1]
    if at + len(text) <= len(cells) and not "".join(around).strip():
        cells[at : at + len(text)] = text
