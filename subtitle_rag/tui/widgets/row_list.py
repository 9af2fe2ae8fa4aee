"""A list of rows of two lines, quick enough to draw between two keys.

`OptionList` wraps every row when it comes and once more when it is drawn: 25 ms for a screenful, at each syllable.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from subtitle_rag.tui.keys import declared_by, keymap, widget_bindings

Row = tuple[Content, Content]
LINES = 2
"""Lines of a row."""
HIGHLIGHTED, HOVERED = "rows--highlighted", "rows--hovered"


class RowList(ScrollView, can_focus=True):
    """Rows by id. Long lines end in an ellipsis; one row may be highlighted."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {HIGHLIGHTED, HOVERED}
    DEFAULT_CSS = """
    RowList {
        color: $foreground;
        overflow-x: hidden;
        & > .rows--hovered { background: $block-hover-background; }
        & > .rows--highlighted {
            color: $foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus { background-tint: $foreground 5%; }
        &:focus > .rows--highlighted {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
    }
    """
    BINDINGS = widget_bindings("list.down list.up list.page-down list.page-up list.first list.last")

    highlighted: reactive[int | None] = reactive(None, repaint=False)
    """From 0."""
    hovered: reactive[int | None] = reactive(None, repaint=False)
    """The row under the mouse."""

    class Highlighted(Message):
        """The highlight has moved to another row."""

    class RowClicked(Message):
        """A row was clicked; the highlight is there."""

    class RowDoubleClicked(Message):
        """A row was clicked twice; the highlight is there."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._ids: list[str] = []
        self._make_row: Callable[[str], Row] = lambda _id: (Content(), Content())
        self._cache: dict[str, Row] = {}

    # --- rows ---

    def put(self, ids: list[str], make: Callable[[str], Row]) -> None:
        """Show these rows; `make` is called for a row when it is first seen. Scroll position and highlight stay, as far
        as there are rows."""
        self._ids, self._make_row = ids, make
        self.redraw()

    def redraw(self) -> None:
        """Make the same rows anew: their width or their contents have changed."""
        self._cache = {}
        self.virtual_size = Size(self.width, LINES * len(self._ids))
        self.highlighted = self.highlighted  # there may be fewer rows
        self.scroll_to(y=self.scroll_y, animate=False, force=True, immediate=True)
        self.refresh()

    def on_resize(self) -> None:
        self.redraw()

    @property
    def row_count(self) -> int:
        return len(self._ids)

    @property
    def rows(self) -> Mapping[str, Row]:
        """All rows, uncut, in order."""
        return {id: self._row(id) for id in self._ids}

    @property
    def highlighted_id(self) -> str | None:
        return None if self.highlighted is None else self._ids[self.highlighted]

    def index(self, id: str) -> int | None:
        return self._ids.index(id) if id in self._ids else None

    def _row(self, id: str) -> Row:
        if id not in self._cache:
            self._cache[id] = self._make_row(id)
        return self._cache[id]

    # --- the highlight ---

    def validate_highlighted(self, at: int | None) -> int | None:
        return None if at is None or not self._ids else max(0, min(len(self._ids) - 1, at))

    def watch_highlighted(self, before: int | None, at: int | None) -> None:
        self._refresh_rows(before, at)
        if at is not None:
            self.scroll_to_highlight()
            self.post_message(self.Highlighted())

    def watch_hovered(self, before: int | None, at: int | None) -> None:
        self._refresh_rows(before, at)

    def _region(self, at: int) -> Region:
        return Region(0, LINES * at, self.width, LINES)

    def _refresh_rows(self, *rows: int | None) -> None:
        self.refresh(*(self._region(at).translate(-self.scroll_offset) for at in rows if at is not None))

    def scroll_to_highlight(self) -> None:
        if self.highlighted is not None:
            self.scroll_to_region(self._region(self.highlighted), animate=False, force=True, immediate=True)

    def move(self, rows: int) -> None:
        """Move the highlight, without running over the ends."""
        if self._ids:
            self.highlighted = (self.highlighted or 0) + rows

    action_move = move

    def action_page(self, pages: int) -> None:
        self.move(pages * self.page)

    def action_end(self, side: int) -> None:
        self.move(side * len(self._ids))

    @property
    def width(self) -> int:
        return self.scrollable_content_region.width

    @property
    def page(self) -> int:
        """Rows that fit, less one."""
        return max(1, self.size.height // LINES - 1)

    # --- the mouse ---

    def _under(self, event: events.MouseEvent) -> int | None:
        at = (event.y + self.scroll_offset.y) // LINES
        return at if at < len(self._ids) else None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.hovered = self._under(event)

    def on_leave(self) -> None:
        self.hovered = None

    def on_click(self, event: events.Click) -> None:
        if (at := self._under(event)) is not None:
            self.highlighted = at
            self.post_message(self.RowDoubleClicked() if event.chain == 2 else self.RowClicked())

    # --- drawing ---

    def render_line(self, y: int) -> Strip:
        at, line = divmod(y + self.scroll_offset.y, LINES)
        name = HIGHLIGHTED if at == self.highlighted else HOVERED if at == self.hovered else None
        style = self.get_visual_style(name) if name else self.get_visual_style()
        if at >= len(self._ids) or not self.width:
            return Strip.blank(self.width, style.rich_style)
        return draw_strip(self, self._row(self._ids[at])[line], style, self.width)


@dataclass
class CharacterTyped(Message):
    """A character without a command was typed in a list: it is for the field of its screen."""

    character: str


def forward_character(rows: Widget, event: events.Key) -> None:
    """Post `CharacterTyped` for a character that is no command's."""
    bound = {key for binding in declared_by(type(rows)) for key in keymap.keys(binding.id or "")}
    if event.is_printable and event.character and event.key not in bound:
        event.stop()
        event.prevent_default()
        rows.post_message(CharacterTyped(event.character))


def draw_strip(widget: Widget, content: Content, style: Style, width: int) -> Strip:
    """Draw one row of `width` cells; a longer text ends in an ellipsis."""
    end = "…" if content.cell_length > width else ""
    room = width - len(end)
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
    else:
        segments.append(Segment(" " * room, style.rich_style))
    return Strip(segments, width)
