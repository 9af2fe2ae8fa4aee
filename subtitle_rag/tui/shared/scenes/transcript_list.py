"""Lines of speech with a cursor, fast enough for twelve-hour videos: a line is drawn when it becomes visible."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar

from rich._wrap import divide_line  # `Content.wrap` of Textual 8.2.8 breaks lines with it too
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from subtitle_rag.tui.shared.rows.row_view import RowView, draw_row
from subtitle_rag.tui.shared.scenes.transcript_lines import HEAD_CELLS, TranscriptLines

CURSOR = "transcript--cursor"
MOST_COUNTS = 50_000
"""Lines with cached row counts."""


class TranscriptList(RowView):
    """The lines of a scene or of a video. Its screen plays and copies the line under the cursor."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {CURSOR}
    DEFAULT_CSS = """
    TranscriptList {
        overflow-x: hidden;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        & > .transcript--cursor { background: $block-cursor-background; }
    }
    """

    class DoubleClicked(Message):
        """A line was double-clicked; the cursor is there."""

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self._content = TranscriptLines()
        self._counts: dict[tuple[str, int], int] = {}
        """Rows of a text at a width in cells. Kept between queries, while the hidden list has no width."""
        self._starts: list[int] = [0]
        """The first row of each line, and of the end."""
        self._rows: dict[int, Sequence[Content]] = {}
        self._hold = False
        self._laid_out_size = self.size
        self._moved = False

    # --- lines ---

    def put(self, content: TranscriptLines, *, at: int | None = None, hold: bool = False) -> None:
        """Show these lines, with the cursor on the line `at`, or else on the matched one, a third below the top.

        With `hold`, blank rows replace lines above that are still to arrive.
        """
        self._content, self._hold, self._moved = content, hold, False
        self.set_reactive(TranscriptList.cursor, self._nearest(content.matched if at is None else at))
        self._lay_out()

    def mark(self, content: TranscriptLines) -> None:
        """Draw the same lines with other marks."""
        self._content = content
        self._rows.clear()
        self.refresh()

    def _lay_out(self) -> None:
        self._rows.clear()
        if len(self._counts) > MOST_COUNTS:
            self._counts.clear()
        self._laid_out_size = self.size
        room = max(8, self.width - HEAD_CELLS)
        counts = [self._row_count(text, room) for _start, text in self._content.lines]
        lead = 0
        if self._hold and self.cursor is not None:
            lead = max(0, self.size.height // 3 - sum(counts[: self.cursor]))
        self._starts = list(accumulate(counts, initial=lead))
        self.virtual_size = Size(self.width, self._starts[-1])
        if self.cursor is None:
            self.scroll_to(y=0, animate=False, force=True, immediate=True)
        elif self._moved:
            self.scroll_to_cursor()
        else:
            third = max(0, self._starts[self.cursor] - self.size.height // 3)
            self.scroll_to(y=third, animate=False, force=True, immediate=True)
        self.refresh()

    def _row_count(self, text: str, room: int) -> int:
        if 2 * len(text) <= room:
            return 1
        if (text, room) not in self._counts:
            self._counts[text, room] = 1 + len(divide_line(text, room))
        return self._counts[text, room]

    def on_resize(self) -> None:
        if self.size != self._laid_out_size:
            self._lay_out()

    @property
    def row_count(self) -> int:
        return len(self._content.lines)

    def lines_of(self, row: int) -> tuple[int, int]:
        return self._starts[row], self._starts[row + 1]

    def row_of(self, line: int) -> int | None:
        return self._index(line) if self._starts[0] <= line < self._starts[-1] else None

    @property
    def line(self) -> tuple[int, str] | None:
        """The line under the cursor: start (ms) and text."""
        if self.cursor is None:
            return None
        start, text = self._content.lines[self.cursor]
        return None if start is None else (start, text)

    # --- the cursor ---

    def _nearest(self, at: int | None, step: int = 1) -> int | None:
        """Return the line at `at`, or the next one with a time in the direction of `step`."""
        lines = self._content.lines
        if at is None or not lines:
            return None
        at = max(0, min(len(lines) - 1, at))
        ahead = range(at, len(lines)) if step > 0 else range(at, -1, -1)
        behind = range(at, -1, -1) if step > 0 else range(at, len(lines))
        return next((index for indices in (ahead, behind) for index in indices if lines[index][0] is not None), None)

    def move(self, rows: int) -> None:
        if rows and self.row_count:
            self.go_to((self.cursor or 0) + rows, 1 if rows > 0 else -1)

    def go_to(self, at: int, step: int = 1) -> None:
        self._moved = True
        self.cursor = self._nearest(at, step)

    @property
    def page(self) -> int:
        top = self.scroll_offset.y
        return max(1, self._index(top + self.size.height - 1) - self._index(top))

    def on_focus(self) -> None:
        self._moved = True
        self.scroll_to_cursor()

    # --- keys and mouse ---

    def on_click(self, event: events.Click) -> None:
        if (row := self.row_under(event)) is not None:
            self.go_to(row)
            if event.chain == 2:
                self.post_message(self.DoubleClicked())
        if event.chain > 1:
            event.prevent_default()  # Textual would select all text

    # --- drawing ---

    def _index(self, row: int) -> int:
        return max(0, min(self.row_count - 1, bisect_right(self._starts, row) - 1))

    def _row(self, row: int) -> tuple[int, Content]:
        """Return the index of the line at a row, and the row's content."""
        index = self._index(row)
        if index not in self._rows:
            self._rows[index] = self._content.rows(index, self.width)
        rows, at = self._rows[index], row - self._starts[index]
        return index, rows[at] if at < len(rows) else Content()

    def render_line(self, y: int) -> Strip:
        row = y + self.scroll_offset.y
        style = self.get_visual_style()
        width = self.width
        if not width or not self._starts[0] <= row < self._starts[-1]:
            return Strip.blank(width, style.rich_style)
        index, content = self._row(row)
        if index == self.cursor:
            style = self.row_style(CURSOR)
        return draw_row(self, content, style, width, row)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self._starts[-1] - 1
        inside = range(max(first, self._starts[0]), min(last + 1, self._starts[-1]))
        text = "\n".join(self._row(row)[1].plain if row in inside else " " for row in range(last + 1))
        return selection.extract(text), "\n"

    @property
    def text(self) -> str:
        return "\n".join(row.plain for index in range(self.row_count) for row in self._content.rows(index, self.width))
