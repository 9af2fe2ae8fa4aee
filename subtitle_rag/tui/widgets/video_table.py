"""The videos of the library as a table with a stable position while a job adds rows.

Its columns fill the terminal: users look for the state in the last one.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from subtitle_rag.i18n import _
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.text import failure_reasons
from subtitle_rag.tui.widgets.row_table import RowTable

if TYPE_CHECKING:
    from subtitle_rag.library import VideoState

SHORT_STATE = 26
"""Cells of the state without failures, whose reasons are long."""
NARROW = 90
"""Cells below which the channel is narrower, and dates and windows are hidden."""


class VideoTable(RowTable["VideoState"]):
    BINDINGS: ClassVar[list[BindingType]] = bindings("video.find", "video.back")
    RIGHT: ClassVar[frozenset[str]] = frozenset({"windows"})

    def __init__(self) -> None:
        super().__init__("videos")
        self._same_channel = False
        self._has_failures = True

    def show(self, values: "Iterable[VideoState]", *, same_channel: bool) -> None:
        """Show these, in this order; videos of one channel leave its name out."""
        states = list(values)
        has_failures = any(state.failure for state in states)
        if (same_channel, has_failures) != (self._same_channel, self._has_failures):
            self._same_channel, self._has_failures = same_channel, has_failures
            self._columns = self.widths(self.size.width)
        self.fill(states)

    def key_of(self, value: "VideoState") -> str:
        return value.video.id

    def labels(self) -> Mapping[str, str]:
        return {
            "title": _("Video"),
            "channel": _("Channel"),
            "date": _("Date"),
            "windows": _("Windows"),
            "state": _("State"),
        }

    def widths(self, width: int) -> dict[str, int]:
        narrow = width < NARROW
        fixed = {"channel": 10, "state": 38} if narrow else {"channel": 16, "date": 10, "windows": 7, "state": 44}
        if self._same_channel:
            fixed = {column: cells for column, cells in fixed.items() if column != "channel"} | {"state": 44}
        if not self._has_failures:
            fixed["state"] = SHORT_STATE
        title = width - sum(fixed.values()) - 2 * self.cell_padding * (len(fixed) + 1) - 2  # the scrollbar
        return {"title": max(12, title), **fixed}

    def cells(self, value: "VideoState") -> Mapping[str, str]:
        video = value.video
        return {
            "title": video.title,
            "channel": video.channel,
            "date": video.published.isoformat() if video.published else "",
            "windows": f"{value.windows:,}" if value.windows else "",
            "state": video_state_text(value),
        }


def video_state_text(state: "VideoState") -> str:
    """Return the state of a video, with reason and retry after a failure."""
    if state.due:
        return _("… waiting")
    if state.failure:
        reason = f"{failure_reasons.sign(state.failure)} {failure_reasons.words(state.failure, state.details)}"
        retry = failure_reasons.retry_text(state.retry_at)
        return f"{reason} · {retry}" if retry else reason
    if state.searchable < state.windows:
        return _("… {done} of {all} searchable").format(done=state.searchable, all=state.windows)
    return _("✓ searchable")
