"""A list of two-line rows."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.selection import Selection
from textual.strip import Strip

from subtitle_rag.tui.shared.messages import SceneMenuAsked
from subtitle_rag.tui.shared.rows.row_view import T, ValueRows, draw_row, draw_strip, select_lines

Row = tuple[Content, Content]
LINES = 2
"""Lines of a row."""
GAP = 2
"""Cells before the right part of a line."""
RIGHT_BUTTON = 3
HIGHLIGHTED, HOVERED = "rows--highlighted", "rows--hovered"


class RowList(ValueRows[T]):
    """Long lines end in an ellipsis; one row may be highlighted."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {HIGHLIGHTED, HOVERED}
    DEFAULT_CSS = """
    RowList {
        color: $foreground;
        overflow-x: hidden;
        & > .rows--hovered { background: $block-hover-background; }
        & > .rows--highlighted { background: $block-cursor-background; }
    }
    """
    hovered: reactive[int | None] = reactive(None, repaint=False)
    """The row under the mouse."""

    class Highlighted(Message):
        """The highlight has moved to another row."""

    class RowClicked(Message):
        """A row was clicked and highlighted."""

    class RowDoubleClicked(Message):
        """A row was double-clicked and highlighted."""

    def __init__(self, id: str) -> None:
        super().__init__(id)
        self._make_row: Callable[[T], Row] = lambda _value: (Content(), Content())
        self._cache: dict[str, Row] = {}

    # --- rows ---

    def put(self, values: Mapping[str, T], make: Callable[[T], Row]) -> None:
        """Show these values; `make` is called for a row when it becomes visible.

        Scroll position and highlight stay, as far as there are rows.
        """
        self.set_values(values)
        self._make_row = make
        self.redraw()

    def redraw(self) -> None:
        """Rebuild all rows after a change of width or contents."""
        self._cache = {}
        self.virtual_size = Size(self.width, self.line_count)
        self.cursor = self.cursor  # there may be fewer rows
        self.scroll_to(y=self.scroll_y, animate=False, force=True, immediate=True)
        self.refresh()

    def on_resize(self) -> None:
        self.redraw()

    @property
    def rows(self) -> Mapping[str, Row]:
        """All rows, uncut, in order."""
        return {key: self._row(key) for key in self._keys}

    def _row(self, key: str) -> Row:
        if key not in self._cache:
            self._cache[key] = self._make_row(self.values_by_key[key])
        return self._cache[key]

    # --- lines ---

    @property
    def line_count(self) -> int:
        return LINES * self.row_count

    def line_parts(self, line: int) -> Row:
        """Return the two parts of a line: the left one is cut if too long, the right one is aligned right."""
        return self._row(self._keys[line // LINES])[line % LINES], Content()

    def lines_of(self, row: int) -> tuple[int, int]:
        return LINES * row, LINES * (row + 1)

    def row_of(self, line: int) -> int | None:
        return line // LINES if 0 <= line < self.line_count else None

    @property
    def page(self) -> int:
        return max(1, self.size.height // LINES - 1)

    def watch_cursor(self, before: int | None, row: int | None) -> None:
        super().watch_cursor(before, row)
        if row is not None:
            self.post_message(self.Highlighted())

    def watch_hovered(self, before: int | None, row: int | None) -> None:
        self.refresh_rows(before, row)

    # --- the mouse ---

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.hovered = self.row_under(event)

    def on_leave(self) -> None:
        self.hovered = None

    def on_click(self, event: events.Click) -> None:
        if event.chain > 1:
            event.prevent_default()  # Textual would select all text
        if (at := self.row_under(event)) is not None and self.text_selection is None:
            self.cursor = at
            is_right = event.button == RIGHT_BUTTON
            double_or_single = self.RowDoubleClicked() if event.chain == 2 else self.RowClicked()
            self.post_message(SceneMenuAsked() if is_right else double_or_single)

    # --- drawing ---

    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        at, width = self.row_of(line), self.width
        name = "" if at is None else HIGHLIGHTED if at == self.cursor else HOVERED if at == self.hovered else ""
        style = self.row_style(name)
        if line >= self.line_count or not width:
            return Strip.blank(width, style.rich_style)
        left, right = self.line_parts(line)
        if not (beside := right.cell_length):
            return draw_row(self, left, style, width, line)
        row = draw_row(self, left, style, max(1, width - beside - GAP), line)
        end = draw_strip(self, Content(" " * GAP) + right, style, min(beside + GAP, width - 1))
        return Strip.join([row, end])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return select_lines(selection, self.line_count, lambda line: self.line_parts(line)[0].plain)
