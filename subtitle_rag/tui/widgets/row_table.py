"""A table of thousands of rows with a stable position while rows come, change and leave."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size, Spacing
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from subtitle_rag.i18n import _
from subtitle_rag.tui.state import clean
from subtitle_rag.tui.widgets.row_view import T, ValueRows

LONGEST = 300
"""Longest text of a cell, in characters; more never fit."""

PADDING = 1
"""Cells on either side of a column."""
LEAST_FIRST = 12
"""Least width of the first column."""
LEAST_LAST = 24
"""Least width of a long last column, as long as another one can leave for it."""


@dataclass(frozen=True)
class Column(Generic[T]):
    title: str
    """A message id."""
    text: Callable[[T], str]
    """Returns the text of a value, which may come from outside."""
    is_number: bool = False
    """Aligned to the right."""


class RowTable(ValueRows[T]):
    """Rows of values with a key, under a line of titles. The cursor is on a whole row.

    The first column has the room that the others leave. In little room the last one is cut, and those between leave.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row--titles", "row--plain", "row--cursor"}
    DEFAULT_CSS = """
    RowTable {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        & > .row--titles { color: $text-muted; }
        & > .row--cursor { background: $block-cursor-background; }
    }
    """

    class CursorMoved(Message):
        """The cursor has moved to another row, or there are no rows any more."""

        def __init__(self, table: "RowTable[Any]") -> None:
            super().__init__()
            self.table = table

        @property
        def control(self) -> "RowTable[Any]":
            return self.table

    class Selected(CursorMoved):
        """The row under the cursor was chosen with Enter or a click."""

    def __init__(self, id: str, columns: Mapping[str, Column[T]], key: Callable[[T], str]) -> None:
        """`key` returns the unique key of a value, stable over changes of its contents."""
        super().__init__(id)
        self.columns = columns
        self._key = key
        self._widths: dict[str, int] = {}
        """The visible columns, in order, with their widths."""

    # --- columns ---

    def fixed_widths(self, width: int) -> dict[str, int]:
        """Return the widths of all visible columns but the first, for a table of `width` cells."""
        raise NotImplementedError

    def update_widths(self) -> None:
        fixed = self.fixed_widths(self.size.width)
        *between, last = fixed
        least = min(LEAST_LAST, fixed[last])
        while between and fixed[last] - self._lacking(fixed) < least:
            del fixed[between.pop()]
        fixed[last] = max(1, fixed[last] - self._lacking(fixed))
        self._widths = {next(iter(self.columns)): max(LEAST_FIRST, self._rest(fixed)), **fixed}

    def _lacking(self, fixed: Mapping[str, int]) -> int:
        """Return the cells by which these columns are too wide."""
        return max(0, LEAST_FIRST - self._rest(fixed))

    def _rest(self, fixed: Mapping[str, int]) -> int:
        """Return the cells that these columns leave to the first one."""
        return self.size.width - sum(fixed.values()) - 2 * PADDING * (len(fixed) + 1) - 2  # the scrollbar

    # --- rows ---

    def fill(self, values: Iterable[T]) -> None:
        """Show these values, in this order. The cursor stays on its row, or at its index if that row has left."""
        before = self.cursor_key
        self.set_values({self._key(value): value for value in values})
        self.virtual_size = Size(self.size.width, len(self._keys) + 1)
        row = self._keys.index(before) if before in self.values_by_key else self.cursor or 0
        if row != self.cursor:
            self.go_to(row)
        else:
            self.cursor = row  # which may be beyond the end
            if self.cursor_key != before:
                self.post_message(self.CursorMoved(self))
        self.refresh()

    # --- the cursor ---

    def lines_of(self, row: int) -> tuple[int, int]:
        return row + 1, row + 2  # below the titles

    def row_of(self, line: int) -> int | None:
        return line - 1 if 0 < line <= len(self._keys) else None

    def row_under(self, event: events.MouseEvent) -> int | None:
        return super().row_under(event) if event.y > self.gutter.top else None  # the titles do not scroll

    @property
    def page(self) -> int:
        return max(1, self.size.height - 2)

    def watch_cursor(self, before: int | None, row: int | None) -> None:
        self.refresh_rows(before, row)
        self.post_message(self.CursorMoved(self))

    def move(self, rows: int) -> None:
        self.go_to((self.cursor or 0) + rows)

    def go_to(self, row: int) -> None:
        """Put the cursor on a row, and scroll to it."""
        self.cursor = row
        self.scroll_to_cursor()
        self.call_after_refresh(self._into_view)

    def scroll_to_cursor(self) -> None:
        region = Region(0, (self.cursor or 0) + 1, self.size.width, 1)
        self.scroll_to_region(region, spacing=Spacing(1, 0, 0, 0), animate=False, force=True)

    def _into_view(self) -> None:
        """Scroll a page longer than the screen to the cursor."""
        if self.has_focus and isinstance(self.parent, Widget):
            line = self.virtual_region.y + (self.cursor or 0) + 1 - self.scroll_offset.y
            self.parent.scroll_to_region(Region(0, line, 1, 1), animate=False)

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
        self.update_widths()
        self.virtual_size = Size(self.size.width, len(self._keys) + 1)
        self.refresh()
        self.call_after_refresh(self.move, 0)

    def render_line(self, y: int) -> Strip:
        at = y - 1 + self.scroll_offset.y
        if y == 0:
            return self._line("row--titles", lambda column: _(column.title))
        if at >= len(self._keys):
            return Strip.blank(self.size.width, self.rich_style)
        value = self.values_by_key[self._keys[at]]
        name = "row--cursor" if at == self.cursor else "row--plain"
        return self._line(name, lambda column: column.text(value))

    def _line(self, name: str, text_of: Callable[[Column[T]], str]) -> Strip:
        """Draw the texts of the visible columns in the style `name`."""
        style, padding = self.get_component_rich_style(name), " " * PADDING
        columns = ((self.columns[name], width) for name, width in self._widths.items())
        cells = (_fitted(clean(text_of(column)[:LONGEST]), width, column.is_number) for column, width in columns)
        line = "".join(padding + cell + padding for cell in cells)
        return Strip([Segment(line, style)]).adjust_cell_length(self.size.width, style)


def _fitted(text: str, width: int, is_number: bool) -> str:
    """Return the text in the width of its column."""
    blank = " " * (width - cell_len(text))
    if cell_len(text) > width:
        return set_cell_size(text, width - 1) + "…"
    return blank + text if is_number else text + blank
