"""The filters of the query as chips under it, as many as there is room for."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from subtitle_rag.tui.state import query_filters
from subtitle_rag.tui.state.query_filters import Chip
from subtitle_rag.tui.text.content import MUTED

LABEL_CELLS = 32
"""Of a chip; a longer name is cut off."""
STYLE = "$foreground on $panel-lighten-1"
CROSS = " ✕ "


class FilterBar(Widget):
    """A row that is there as long as there are filters. A click on a chip takes its filter away."""

    @dataclass
    class FilterRemoved(Message):
        chip: Chip

    class More(Message):
        """Somebody wants to see the filters that there is no room for."""

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
        drawn = [content for _end, content, _chip in self._placed()]
        return Content(" ").join(drawn)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for end, content, chip in self._placed():
            if offset and end - content.cell_length <= offset.x < end:
                self.post_message(self.FilterRemoved(chip) if chip else self.More())

    def _placed(self) -> list[tuple[int, Content, Chip | None]]:
        """What is drawn, each with the cell that it ends before; without a chip it stands for the rest of them."""
        room = self.content_size.width
        widths = [drawn.cell_length for drawn in (drawn_as(chip, room) for chip in self._chips)]
        count = fitting(widths, room)
        parts: list[tuple[Content, Chip | None]] = [(drawn_as(chip, room), chip) for chip in self._chips[:count]]
        if left := len(self._chips) - count:
            parts.append((Content.styled(f"+{left}", MUTED), None))
        placed, end = [], 0
        for content, chip in parts:
            end += content.cell_length
            placed.append((end, content, chip))
            end += 1
        return placed


def drawn_as(chip: Chip, room: int = LABEL_CELLS) -> Content:
    """A chip in no more cells than there is room for."""
    cells = max(1, min(LABEL_CELLS, room - len(CROSS) - 1))
    return Content.styled(f" {query_filters.label(chip)}", STYLE).truncate(cells + 1, ellipsis=True) + Content.styled(
        CROSS, STYLE
    )


def fitting(widths: Sequence[int], room: int) -> int:
    """How many of chips this wide fit, with a cell between them and the number of those that do not at the end."""
    used = 0
    for count, width in enumerate(widths):
        used += width + (1 if count else 0)
        left = len(widths) - count - 1
        if used + (len(f" +{left}") if left else 0) > room:
            return count
    return len(widths)
