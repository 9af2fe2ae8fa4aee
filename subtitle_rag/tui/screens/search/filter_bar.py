"""The query's filters as chips below it, as many as fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from subtitle_rag.tui.shared.content import MUTED
from subtitle_rag.tui.shared.query_filters import Chip, filter_label

LABEL_CELLS = 32
"""Most cells of a chip."""
STYLE = "$foreground on $panel-lighten-1"
CROSS = " ✕ "


class FilterBar(Widget):
    """A row of chips, hidden without filters. A click on a chip removes its filter."""

    @dataclass
    class FilterRemoved(Message):
        chip: Chip

    class More(Message):
        """The user wants to see the hidden filters."""

    def __init__(self) -> None:
        super().__init__(id="filters")
        self.display = False
        self._chips: tuple[Chip, ...] = ()

    def show(self, chips: tuple[Chip, ...]) -> None:
        if chips != self._chips:
            self._chips = chips
            self.display = bool(chips)
            self.refresh()

    def render(self) -> Content:
        chips = [content for _end, content, _chip in self._layout_chips()]
        return Content(" ").join(chips)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for end, content, chip in self._layout_chips():
            if offset and end - content.cell_length <= offset.x < end:
                self.post_message(self.FilterRemoved(chip) if chip else self.More())

    def _layout_chips(self) -> list[tuple[int, Content, Chip | None]]:
        """Return (end cell, content, chip); the number of hidden ones has no chip."""
        room = self.content_size.width
        parts: list[tuple[Content, Chip | None]] = [(draw_chip(chip, room), chip) for chip in self._chips]
        count = count_fitting([content.cell_length for content, _chip in parts], room)
        if hidden := len(parts) - count:
            parts[count:] = [(Content.styled(f"+{hidden}", MUTED), None)]
        ends = accumulate(content.cell_length + 1 for content, _chip in parts)
        return [(end - 1, content, chip) for end, (content, chip) in zip(ends, parts, strict=True)]


def draw_chip(chip: Chip, room: int = LABEL_CELLS) -> Content:
    """Draw a chip in at most `room` cells."""
    cells = max(1, min(LABEL_CELLS, room - len(CROSS) - 1))
    return Content.styled(f" {filter_label(chip)}", STYLE).truncate(cells + 1, ellipsis=True) + Content.styled(
        CROSS, STYLE
    )


def count_fitting(widths: Sequence[int], room: int) -> int:
    """Count the leading chips that fit, with gaps of one cell and the number of hidden ones at the end."""
    used = 0
    for count, width in enumerate(widths):
        used += width + (1 if count else 0)
        hidden = len(widths) - count - 1
        if used + (len(f" +{hidden}") if hidden else 0) > room:
            return count
    return len(widths)
