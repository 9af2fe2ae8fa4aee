"""The videos of the library as a table that stays where it is while a job adds to it.

Filling a table anew takes seconds for a large library and takes the cursor away, so only what differs is changed; its
columns are as wide as the terminal lets them be, for the state at the end is what somebody looks for.
"""

from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.widgets import DataTable

from subtitle_rag.i18n import _
from subtitle_rag.tui import reasons
from subtitle_rag.tui.text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subtitle_rag.library.rows import VideoState

NARROW = 90
"""Cells below which the channel gets less, and dates and windows nothing."""
LONGEST = 300
"""Characters of a title that a row holds; more never fit."""


class _Title(Text):
    """A cell that knows its video: a table sorts by its cells."""

    video = ""


class VideoTable(DataTable[Text]):
    def __init__(self) -> None:
        super().__init__(id="videos", cursor_type="row", zebra_stripes=True)
        self._states: dict[str, VideoState] = {}
        self._columns: dict[str, int] = {}

    def fill(self, states: "Sequence[VideoState]") -> None:
        """Show these videos, in this order. The cursor stays on its video."""
        before, self._states = self._states, {state.video.id: state for state in states}
        if not self._columns:
            return
        chosen = self.chosen
        if not before.keys() <= self._states.keys():
            self.clear()
            before = {}
        for video_id, state in self._states.items():
            if before.get(video_id) == state:
                continue
            if video_id in before:
                for column, cell in self._cells(state).items():
                    self.update_cell(video_id, column, cell)
            else:
                self.add_row(*self._cells(state).values(), key=video_id)
        if list(before) != list(self._states)[: len(before)]:
            place = {video_id: at for at, video_id in enumerate(self._states)}
            self.sort("title", key=lambda title: place[title.video])
        if chosen in self._states and chosen != self.chosen:
            self.move_cursor(row=self.get_row_index(chosen), animate=False)

    @property
    def chosen(self) -> str:
        """The video under the cursor; empty where there is none."""
        if not self.is_valid_coordinate(self.cursor_coordinate):
            return ""
        return str(self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value)

    def on_resize(self, event: events.Resize) -> None:
        wanted = self._widths(event.size.width)
        if wanted == self._columns:
            return
        chosen, states, self._states = self.chosen, list(self._states.values()), {}
        self._columns = wanted
        self.clear(columns=True)
        labels = {"title": _("Video"), "channel": _("Channel"), "date": _("Date"), "windows": _("Windows")}
        for column, width in wanted.items():
            label = Text(labels.get(column) or _("State"), justify="right" if column == "windows" else "left")
            self.add_column(label, width=width, key=column)
        self.fill(states)
        if chosen in self._states:
            self.move_cursor(row=self.get_row_index(chosen), animate=False)

    def _widths(self, width: int) -> dict[str, int]:
        narrow = width < NARROW
        fixed = {"channel": 10, "state": 38} if narrow else {"channel": 16, "date": 10, "windows": 7, "state": 38}
        title = width - sum(fixed.values()) - 2 * self.cell_padding * (len(fixed) + 1) - 2  # the scrollbar
        return {"title": max(12, title), **fixed}

    def _cells(self, state: "VideoState") -> dict[str, Text]:
        video = state.video
        title = _Title(clean(video.title)[:LONGEST])
        title.video = video.id
        cells: dict[str, Text] = {
            "title": title,
            "channel": Text(clean(video.channel)[:LONGEST]),
            "date": Text(video.published.isoformat() if video.published else ""),
            "windows": Text(f"{state.windows:,}" if state.windows else "", justify="right"),
            "state": Text(clean(told(state))),
        }
        for cell in cells.values():
            cell.no_wrap, cell.overflow = True, "ellipsis"
        return {column: cells[column] for column in self._columns}


def told(state: "VideoState") -> str:
    """How far a video has come."""
    if state.due:
        return _("… waiting")
    if state.failure:
        why = f"{reasons.sign(state.failure)} {reasons.words(state.failure, state.details)}"
        again = reasons.again(state.retry_at)
        return f"{why} · {again}" if again else why
    if state.searchable < state.windows:
        return _("… {done} of {all} searchable").format(done=state.searchable, all=state.windows)
    return _("✓ searchable")
