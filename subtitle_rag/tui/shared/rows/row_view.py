"""Base of lists, tables and transcripts: rows with a cursor, drawn only while visible.

Textual's widgets are too slow to refill on every key press. `OptionList` wraps every row when it is added and again
when it is drawn: 25 ms per screenful. `DataTable` takes 0.7 s for 5,000 new rows and 25 ms to draw a screenful.
"""

import re
from collections.abc import Callable, Mapping
from typing import ClassVar, Generic, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from subtitle_rag.tui.keys.commands import DOWN, UP, in_widget

T = TypeVar("T")

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


class RowView(ScrollView, can_focus=True):
    """Rows of one or more lines. A subclass has their number and their lines, and draws a line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        in_widget(DOWN),
        in_widget(UP),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home,ctrl+home", "end(-1)", show=False),
        Binding("end,ctrl+end", "end(1)", show=False),
    ]

    cursor: reactive[int | None] = reactive(None, repaint=False)
    """The index of a row; None without rows, or in lists that start without a cursor."""

    @property
    def row_count(self) -> int:
        raise NotImplementedError

    def lines_of(self, row: int) -> tuple[int, int]:
        """Return the first line of a row, and the one after its last."""
        raise NotImplementedError

    def row_of(self, line: int) -> int | None:
        """Return the row of a line; None without one."""
        raise NotImplementedError

    @property
    def width(self) -> int:
        return self.scrollable_content_region.width

    @property
    def page(self) -> int:
        """Rows that a page key moves: the visible ones minus one."""
        raise NotImplementedError

    def on_focus(self) -> None:
        """Move the terminal's caret here; otherwise letters composed for a command would appear in the field."""
        self.app.cursor_position = self.region.offset

    # --- the cursor ---

    def validate_cursor(self, row: int | None) -> int | None:
        return None if row is None or not self.row_count else max(0, min(self.row_count - 1, row))

    def watch_cursor(self, before: int | None, row: int | None) -> None:
        self.refresh_rows(before, row)
        self.scroll_to_cursor()

    def move(self, rows: int) -> None:
        """Move the cursor within the ends."""
        if self.row_count:
            self.cursor = (self.cursor or 0) + rows

    def action_move(self, rows: int) -> None:
        self.move(rows)

    def action_page(self, pages: int) -> None:
        self.move(pages * self.page)

    def action_end(self, side: int) -> None:
        self.move(side * self.row_count)

    # --- lines ---

    def row_style(self, name: str = "") -> Style:
        """Return the style of a row by component name, with the `reverse` that Textual 8.2.8 omits."""
        if not name:
            return self.get_visual_style()
        style = self.get_visual_style(name)
        return style + Style(reverse=True) if self.get_component_styles(name).text_style.reverse else style

    def region_of(self, row: int) -> Region:
        first, end = self.lines_of(row)
        return Region(0, first, max(1, self.width), end - first)

    def refresh_rows(self, *rows: int | None) -> None:
        regions = (self.region_of(row) for row in rows if row is not None and row < self.row_count)
        self.refresh(*(region.translate(-self.scroll_offset) for region in regions))

    def scroll_to_cursor(self) -> None:
        if self.cursor is not None:
            self.scroll_to_region(self.region_of(self.cursor), animate=False, force=True, immediate=True)

    def line_under(self, event: events.MouseEvent) -> int:
        """Return the line under the mouse, whose position counts from the corner of the border."""
        return event.y - self.gutter.top + self.scroll_offset.y

    def row_under(self, event: events.MouseEvent) -> int | None:
        return self.row_of(self.line_under(event))


class ValueRows(RowView, Generic[T]):
    """Rows of values with a key each, in the order of the values."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.values_by_key: Mapping[str, T] = {}
        """The values in the order of the rows."""
        self._keys: list[str] = []

    def set_values(self, values: Mapping[str, T]) -> None:
        """Replace the values. The subclass draws them."""
        self.values_by_key, self._keys = values, list(values)

    @property
    def values(self) -> list[T]:
        return list(self.values_by_key.values())

    @property
    def row_count(self) -> int:
        return len(self._keys)

    @property
    def cursor_key(self) -> str:
        """The key of the row under the cursor; empty without a cursor."""
        return "" if self.cursor is None else self._keys[self.cursor]

    @property
    def value(self) -> T | None:
        """The value under the cursor."""
        return self.values_by_key.get(self.cursor_key)

    def index(self, key: str) -> int | None:
        return self._keys.index(key) if key in self.values_by_key else None


def mark_selection(view: RowView, content: Content, line: int) -> Content:
    """Return the content of a line with the part selected by the mouse in its style."""
    selection = view.text_selection
    span = selection.get_span(line) if selection else None
    if span is None:
        return content
    start, end = span
    style = view.screen.get_visual_style("screen--selection")
    return content.stylize(style, start, len(content.plain) if end == -1 else end)


def select_lines(selection: Selection, lines: int, text_of: Callable[[int], str]) -> tuple[str, str]:
    """Return the selected text of a view with this number of lines, and the text after it."""
    first = max(0, selection.start.y if selection.start else 0)
    last = min(lines - 1, selection.end.y if selection.end else lines - 1)
    text = "\n".join(text_of(line) if line >= first else "" for line in range(last + 1))
    return selection.extract(text), "\n"


def draw_row(view: RowView, content: Content, style: Style, width: int, line: int) -> Strip:
    """Draw one line of the view, with the offsets of its letters for the mouse.

    Args:
        view: The view.
        content: The content of the line.
        style: The style of the row.
        width: Cells of the line.
        line: The index of the line.

    Returns:
        The line, `width` cells wide.
    """
    return draw_strip(view, mark_selection(view, content, line), style, width).apply_offsets(0, line)


def draw_strip(widget: Widget, content: Content, style: Style, width: int) -> Strip:
    """Draw one row of `width` cells; a longer text ends in an ellipsis, placed before a number that does not fit."""
    end = "…" if content.cell_length > width else ""
    room = _room_before_number(content.plain, width - 1) if end else width
    blank = width - 1 - room if end else 0
    segments = []
    for text, part_style in content.render(style, "", widget.app.stylesheet.parse_style):
        if (cells := cell_len(text)) > room:
            text, cells = set_cell_size(text, room), room
        room -= cells
        segments.append(Segment(text, part_style.rich_style))
        if not room:
            break
    if end:
        last = segments.pop()
        segments.append(Segment(last.text + end, last.style))
        room = blank
    if room or not end:
        segments.append(Segment(" " * room, style.rich_style))
    return Strip(segments, width)


def _room_before_number(text: str, room: int) -> int:
    """Return how many of `room` cells to fill so that no number is cut: 10점 cut to 1… would be wrong."""
    for number in _NUMBER.finditer(text):
        start, end = number.span()
        if cell_len(text[: start + 1]) > room:
            break
        if start and cell_len(text[:end]) > room:
            return cell_len(text[:start])
    return room
