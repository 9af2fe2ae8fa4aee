"""A list of thousands of one-line rows with a stable position while rows come, change and leave."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED
from subtitle_rag.tui.shared.rows.row_view import T, ValueRows, draw_row

LONGEST = 300
"""Most characters of a part; more never fits."""
GAP = 2
"""Least cells between the parts of a row."""
RIGHT_SHARE = 0.4
"""Share of the row for its right part when the left part fills the rest."""
SHORT_RIGHT = 12
"""Cells of a right part that is never cut, such as a date."""


class RowParts(NamedTuple):
    """The texts of a row, possibly outside text."""

    left: str
    right: str = ""
    """Secondary text, aligned right."""
    is_alarm: bool = False
    """Whether the right part is a warning."""


class RowTable(ValueRows[T]):
    """Rows of values with keys. The cursor covers a whole row.

    The left part of a row uses all the space left by its own right part.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row--cursor"}
    DEFAULT_CSS = """
    RowTable {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        & > .row--cursor { background: $block-cursor-background; }
    }
    """

    class CursorMoved(Message):
        """The cursor has moved to another row, or the rows are gone."""

        def __init__(self, table: "RowTable[Any]") -> None:
            super().__init__()
            self.table = table

        @property
        def control(self) -> "RowTable[Any]":
            return self.table

    class Selected(CursorMoved):
        """The row under the cursor was chosen with Enter or a click."""

    def __init__(self, id: str, key: Callable[[T], str]) -> None:
        """`key` returns the unique key of a value, stable when its contents change."""
        super().__init__(id)
        self.add_class("panel")
        self._key = key

    def parts(self, value: T) -> RowParts:
        """Return the texts of a row."""
        raise NotImplementedError

    def content(self, value: T, width: int) -> Content:
        """Return a row in `width` cells."""
        return row_content(self.parts(value), width)

    # --- rows ---

    def fill(self, values: Iterable[T]) -> None:
        """Show these values in this order. The cursor stays on its row, or at its index if that row is gone."""
        before = self.cursor_key
        self.set_values({self._key(value): value for value in values})
        self._set_size()
        row = self._keys.index(before) if before in self.values_by_key else self.cursor or 0
        if row != self.cursor:
            self.cursor = row
        else:
            self.cursor = row  # possibly beyond the end
            if self.cursor_key != before:
                self.post_message(self.CursorMoved(self))
        self.refresh()

    def _set_size(self) -> None:
        self.virtual_size = Size(self.width, len(self._keys))

    # --- the cursor ---

    def lines_of(self, row: int) -> tuple[int, int]:
        return row, row + 1

    def row_of(self, line: int) -> int | None:
        return line if 0 <= line < len(self._keys) else None

    @property
    def page(self) -> int:
        return max(1, self.scrollable_content_region.height - 1)

    def watch_cursor(self, before: int | None, row: int | None) -> None:
        super().watch_cursor(before, row)
        self.post_message(self.CursorMoved(self))

    def action_take(self) -> None:
        if self.cursor_key:
            self.post_message(self.Selected(self))

    def on_click(self, event: events.Click) -> None:
        row = self.row_under(event)
        if row is not None and row == self.cursor:
            self.action_take()
        elif row is not None:
            self.cursor = row

    # --- drawing ---

    def on_resize(self) -> None:
        self._set_size()
        self.refresh()
        self.call_after_refresh(self.scroll_to_cursor)

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        style = self.row_style("row--cursor" if at == self.cursor else "")
        width = self.width
        if at >= len(self._keys) or not width:
            return Strip.blank(width, style.rich_style)
        return draw_row(self, self.content(self.values_by_key[self._keys[at]], width), style, width, at)


def row_content(parts: RowParts, width: int) -> Content:
    """Return a row in `width` cells; an ellipsis ends what does not fit."""
    left, right = (clean(text[:LONGEST]) for text in (parts.left, parts.right))
    gap = GAP if right else 0
    room = width - gap
    right = shorten(right, max(int(RIGHT_SHARE * room), SHORT_RIGHT, room - cell_len(left)))
    left_cells = max(0, room - cell_len(right))
    fill = " " * gap
    style = "$alert" if parts.is_alarm else MUTED
    return Content.assemble(set_cell_size(shorten(left, left_cells), left_cells), fill, (right, style))


def shorten(text: str, cells: int) -> str:
    """Return a text in at most `cells` cells, with an ellipsis if cut."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1).rstrip() + "…" if cells > 0 else ""
