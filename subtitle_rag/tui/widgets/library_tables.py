"""The two tables of the library: channels, and the videos of the channel under the cursor."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from subtitle_rag.domain import EXPECTED
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.state import LibraryRow
from subtitle_rag.tui.text import MUTED, library_text, paragraphs
from subtitle_rag.tui.widgets.channel_table import ChannelTable, name
from subtitle_rag.tui.widgets.video_table import VideoTable

if TYPE_CHECKING:
    from subtitle_rag.library import ChannelState, VideoState


class LibraryTables:
    """Four widgets that lie side by side in the library's page, whose height they share."""

    def __init__(self, *, show_times: bool) -> None:
        """`show_times=False` leaves out times, which differ from run to run."""
        self.channels = ChannelTable()
        self.videos = VideoTable()
        self._heading = Static(id="heading", markup=False)
        self._detail = Static(id="detail", markup=False)
        self._show_times = show_times
        self._video_states: list[VideoState] = []
        self.channel_states: list[ChannelState] = []
        self.fetches = False
        """Captions are being fetched."""
        self.failures_only = False

    def widgets(self) -> Iterator[Widget]:
        yield from (self.channels, self._heading, self.videos, self._detail)

    # --- rows ---

    def fill(self, videos: "list[VideoState]", channels: "list[ChannelState]", *, fetches: bool) -> None:
        self._video_states, self.channel_states = videos, channels
        self.show_channels(fetches=fetches)
        self.narrow()

    def show_channels(self, *, fetches: bool) -> None:
        self.fetches = fetches
        states = self.channel_states
        if not self._show_times:
            states = [replace(state, listed_at=None) for state in states]
        self.channels.show(states, running=fetches)

    @property
    def has_failures(self) -> bool:
        return any(state.failure for state in self._video_states)

    def toggle_failures(self) -> None:
        """Show only the videos that failed, the alarms first; or all again."""
        self.failures_only = not self.failures_only
        self.narrow()

    def narrow(self) -> None:
        """Show the videos of the channel under the cursor."""
        self.failures_only = self.failures_only and self.has_failures
        channel = self.channels.channel
        states = [state for state in self._video_states if channel is None or _belongs(state, channel)]
        if self.failures_only:
            states = [state for state in states if state.failure]
            states.sort(key=lambda state: state.failure in EXPECTED)
        self.videos.show(states, same_channel=channel is not None and channel.kind == "channel")
        self._heading.update(self._title(len(states)))
        self.show_detail()

    def _title(self, videos: int) -> Content:
        channel = self.channels.channel
        title = name(channel) if channel else _("All videos")
        if self.failures_only:
            size = n_("only what failed: {n} video", "only what failed: {n} videos", videos)
        else:
            size = n_("{n} video", "{n} videos", videos)
        return Content.styled(title, "bold") + Content.styled(f"   {size.format(n=f'{videos:,}')}", MUTED)

    def show_detail(self) -> None:
        """Show why the video under the cursor has no captions."""
        video = self.row.video
        failed = video is not None and video.failure and not video.due
        self._detail.update(paragraphs(library_text.failed_video(video) if video and failed else []))

    # --- the cursor ---

    @property
    def has_focus(self) -> bool:
        return self.channels.has_focus or self.videos.has_focus

    @property
    def row(self) -> LibraryRow:
        """The row under the cursor of the table that has the focus."""
        if self.videos.has_focus:
            return LibraryRow(video=self.videos.value)
        channel = self.channels.channel if self.channels.has_focus else None
        return LibraryRow(channel=replace(channel, name=name(channel)) if channel else None)

    @property
    def channel_of_row(self) -> "ChannelState | None":
        """The channel or playlist under the cursor, or the channel of the video there."""
        row = self.row
        if row.video is None:
            return row.channel
        id = row.video.video.channel_id
        channel = next((state for state in self.channel_states if state.channel_id == id), None)
        return replace(channel, name=name(channel)) if channel else None

    def neighbour(self, *, back: bool) -> "ChannelTable | VideoTable | None":
        """Return the next table for the focus, or with `back` the one before. None after the last one."""
        if back:
            table: ChannelTable | VideoTable | None = self.channels if self.videos.has_focus else None
        elif self.has_focus:
            table = self.videos if self.channels.has_focus else None
        else:
            table = self.channels
        return table if table is not None and table.row_count else None


def _belongs(state: "VideoState", channel: "ChannelState") -> bool:
    if channel.kind == "playlist":
        return state.video.id in channel.listed
    return state.video.channel_id == channel.channel_id
