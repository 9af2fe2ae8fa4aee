"""A video's timeline as the preview draws it: where it is replayed most, and where the query is met in it.

Everything is drawn by form, and colour only helps: `█` is the chosen scene, `┃` are places that the list leads to, `│`
are further ones. Every row is as wide as the timeline or narrower, and all have the same scale.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from subtitle_rag.domain import Heat, clock
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.state.scene_surroundings import Surroundings
from subtitle_rag.tui.text.content import MUTED

if TYPE_CHECKING:
    from subtitle_rag.retrieval.scenes import Scene


CHOSEN, LISTED, FOUND, BAR, CHAPTER = "█", "┃", "│", "─", "╵"
BLOCKS = "▁▂▃▄▅▆▇█"
ROWS = 4
"""With or without a curve: what stands below does not move when it comes."""
CELLS_A_CHAPTER = 4
"""Where chapters are denser than one in so many cells, their ticks tell nothing."""
_STYLES = {CHOSEN: "bold $text-accent", LISTED: "$text-accent"}


@dataclass(frozen=True, slots=True)
class Timeline:
    """One video; all times in ms."""

    duration_ms: int
    chosen: int | None = None
    """The scene that is shown."""
    listed: Sequence[int] = ()
    """Places that the list leads to."""
    found: Sequence[int] = ()
    """Places beside those."""
    heat: Sequence[Heat] = ()
    chapters: Sequence[int] = ()
    """Where they begin."""

    @property
    def places(self) -> list[int]:
        """All that is marked, each time once."""
        own = () if self.chosen is None else (self.chosen,)
        return sorted({*self.listed, *self.found, *own})

    @property
    def length_ms(self) -> int:
        """What the rows stand for: the video, and whatever lies beyond its end."""
        return max(1, self.duration_ms, *self.places)

    def cell(self, ms: int, width: int) -> int:
        """The cell of a time, from 0."""
        return max(0, min(width - 1, ms * width // self.length_ms))

    def at_ms(self, cell: int, width: int) -> int:
        """The time in the middle of a cell."""
        return max(0, min(self.length_ms, (2 * cell + 1) * self.length_ms // (2 * width)))


def scene_timeline(
    scene: "Scene", known: Surroundings, listed: "Sequence[Scene]", cited: Sequence[int] = ()
) -> Timeline:
    """The timeline of a scene's video; `listed` are the scenes of it that the list holds, `cited` further times.

    A video whose length nobody has told ends with its last window.
    """
    video = scene.video
    places = known.places or ()
    ends = [one.end_ms for one in (*listed, scene)] + [place.end_ms for place in places]
    beside = (
        place.at_ms for place in places if not any(one.start_ms <= place.at_ms < one.end_ms for one in (*listed, scene))
    )
    return Timeline(
        video.duration_ms or max(known.end_ms, *ends),
        scene.at_ms,
        sorted({*(one.at_ms for one in listed if one.id != scene.id), *cited}),
        list(beside),
        known.heat,
        [chapter.start_ms for chapter in video.chapters],
    )


def drawn(line: Timeline, width: int) -> Content:
    """`ROWS` rows, none wider than `width` cells; nothing where there is no width."""
    if width < 1:
        return Content("")
    curve = _curve(line, width)
    rows = [_legend(line, width), *([curve] if curve else []), _bar(line, width), _times(line, width)]
    return Content("\n").join([Content("")] * (ROWS - len(rows)) + rows)


def peak(heat: Sequence[Heat]) -> Heat | None:
    """The part that is replayed most, the first of equals."""
    return max(_sound(heat), key=lambda part: part.value, default=None)


def _sound(heat: Sequence[Heat]) -> list[Heat]:
    """The parts that can be drawn: others wrote the numbers."""
    return [part for part in heat if math.isfinite(part.value) and part.value > 0 and part.start_ms < part.end_ms]


def _legend(line: Timeline, width: int) -> Content:
    count = len(line.places)
    said = Content.styled(n_("{n} place in this video", "{n} places in this video", count).format(n=count), "bold")
    if top := peak(line.heat):
        label = _("most replayed {time}").format(time=clock(top.start_ms))
        whole = Content.assemble(said, (f" · {label}", MUTED))
        said = whole if whole.cell_length <= width else Content.styled(label, MUTED)
    return said.truncate(width, ellipsis=True)


def _curve(line: Timeline, width: int) -> Content | None:
    """The most of each cell; None where nobody knows any."""
    values = [0.0] * width
    for part in _sound(line.heat):
        for cell in range(line.cell(part.start_ms, width), line.cell(part.end_ms - 1, width) + 1):
            values[cell] = max(values[cell], min(1.0, part.value))
    if not any(values):
        return None
    return Content.styled("".join(BLOCKS[min(7, int(value * 8))] for value in values), MUTED)


def _bar(line: Timeline, width: int) -> Content:
    cells = [BAR] * width
    for glyph, times in ((FOUND, line.found), (LISTED, line.listed), (CHOSEN, [line.chosen])):
        for ms in times:
            if ms is not None:
                cells[line.cell(ms, width)] = glyph
    return Content.assemble(*((glyph, _STYLES.get(glyph, MUTED if glyph == BAR else "")) for glyph in cells))


def _times(line: Timeline, width: int) -> Content:
    """Beginning and end, the chosen time under its place where it fits between them, and ticks for the chapters."""
    cells = [" "] * width
    end = clock(line.length_ms)
    if len(end) <= width:
        _put(cells, end, width - len(end))
    _put(cells, clock(0), 0)
    if line.chosen is not None:
        time = clock(line.chosen)
        _put(cells, time, max(0, min(width - len(time), line.cell(line.chosen, width) - len(time) // 2)))
    if len(line.chapters) * CELLS_A_CHAPTER <= width:
        for ms in line.chapters:
            _put(cells, CHAPTER, line.cell(ms, width))
    return Content.styled("".join(cells), MUTED)


def _put(cells: list[str], said: str, at: int) -> None:
    """Write it where it touches nothing."""
    around = cells[max(0, at - 1) : at + len(said) + 1]
    if at + len(said) <= len(cells) and not "".join(around).strip():
        cells[at : at + len(said)] = said
