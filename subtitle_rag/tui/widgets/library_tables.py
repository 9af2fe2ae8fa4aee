"""The tables of the library: channels and playlists, and the videos of the one under the cursor."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from subtitle_rag.captions import selection_notes
from subtitle_rag.domain import EXPECTED, tidy
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.library import ChannelState
from subtitle_rag.tui.keys import widget_bindings
from subtitle_rag.tui.state import LibraryRow, clean
from subtitle_rag.tui.text import (
    MUTED,
    age_text,
    failed_video,
    failure_sign,
    failure_words,
    heading,
    listening_state,
    paragraphs,
    retry_text,
)
from subtitle_rag.tui.widgets.row_table import Column, RowTable

if TYPE_CHECKING:
    from subtitle_rag.library import VideoState


EVERYTHING = "*"
"""The key of the first row of channels."""
NARROW = 90
"""Cells below which the tables have fewer columns."""
SHORT_STATE = 26
"""Cells of a video's state without failures, whose reasons are long."""


class ChannelTable(RowTable[tuple[ChannelState, str]]):
    """Rows of (channel, text of its state): the text changes with clock and job too."""

    BINDINGS = widget_bindings("screen.enter scene.open")

    def __init__(self) -> None:
        super().__init__("channels", CHANNEL_COLUMNS, lambda row: row[0].key)

    def show(self, states: "Sequence[ChannelState]", *, running: bool = False) -> None:
        """Show these, in this order, after the row of all videos. `running`: captions are being fetched."""
        before = self.row_count
        self.fill((state, state_text(state, running=running)) for state in (everything(states), *states))
        self.update_widths()
        if self.row_count != before:
            self.refresh(layout=True)  # it is as high as it has rows

    def action_open(self) -> None:
        self.action_take()

    @property
    def channel(self) -> ChannelState | None:
        """The channel under the cursor; None on the row of all videos and in an empty table."""
        return self.value[0] if self.value and self.cursor_key != EVERYTHING else None

    def fixed_widths(self, width: int) -> dict[str, int]:
        most = {"tracks": 22, "state": 34} if width >= NARROW else {"state": 32}
        return {"videos": 7, "windows": 9, **{name: self._needed(name, cells) for name, cells in most.items()}}

    def _needed(self, name: str, most: int) -> int:
        """Return the cells that the texts of a column need, at most `most`; a job's counts seldom change them."""
        column = self.columns[name]
        texts = (_(column.title), *map(column.text, self.values))
        return min(most, -(-max(map(cell_len, texts)) // 4) * 4)


CHANNEL_COLUMNS: dict[str, Column[tuple[ChannelState, str]]] = {
    "name": Column(N_("Channel / playlist"), lambda row: channel_name(row[0])),
    "videos": Column(N_("Videos"), lambda row: f"{row[0].videos:,}", is_number=True),
    "windows": Column(N_("Windows"), lambda row: window_count(row[0].windows), is_number=True),
    "tracks": Column(N_("Captions"), lambda row: track_counts(row[0])),
    "state": Column(N_("State"), lambda row: row[1]),
}


def window_count(windows: int) -> str:
    return f"{windows:,}" if windows else ""


def everything(states: "Sequence[ChannelState]") -> ChannelState:
    """Return the sums of all channels; these include the videos of playlists."""
    channels = [state for state in states if state.kind == "channel"]
    tracks = sum((Counter(state.tracks) for state in channels), Counter[str]())
    failures = sum((Counter(state.failures) for state in channels), Counter[str]())
    sums = {field: sum(getattr(state, field) for state in channels) for field in ("videos", "windows", "due", "done")}
    return ChannelState(EVERYTHING, _("All videos"), "channel", tracks=tracks, failures=failures, **sums)


def channel_name(state: ChannelState) -> str:
    """Return the name, marked if it is a playlist's."""
    template = _("Playlist: {name}") if state.kind == "playlist" else "{name}"
    return template.format(name=clean(state.name))


def track_counts(state: ChannelState) -> str:
    """Count videos by kind of captions."""
    words = {"asr": _("automatic {n}"), "manual": _("manual {n}"), "file": _("files {n}"), "local": _("heard here {n}")}
    return " · ".join(
        template.format(n=f"{state.tracks[kind]:,}") for kind, template in words.items() if kind in state.tracks
    )


def state_text(state: ChannelState, *, running: bool, now: float | None = None) -> str:
    """Return progress, failures, or the age of the list; `running`: captions are being fetched."""
    alarms = sum(count for code, count in state.failures.items() if code not in EXPECTED)
    parts = []
    if state.due:
        template = _("… fetching {done}/{all}") if running else _("… stopped at {done}/{all}")
        parts.append(template.format(done=f"{state.done:,}", all=f"{state.done + state.due:,}"))
    if alarms:
        parts.append(_("! failed {n}").format(n=f"{alarms:,}"))
    if not parts:
        parts.append(f"✓ {age_text(state.listed_at, now)}" if state.listed_at else "✓")
    return " · ".join(parts)


class VideoTable(RowTable["VideoState"]):
    """Its columns fill the terminal: users look for the state in the last one."""

    BINDINGS = widget_bindings("screen.enter scene.close")

    def __init__(self) -> None:
        super().__init__("videos", VIDEO_COLUMNS, lambda state: state.video.id)
        self._same_channel = False
        self._has_failures = True

    async def action_close(self) -> None:
        await self.run_action("screen.back")

    def show(self, states: "Sequence[VideoState]", *, same_channel: bool) -> None:
        """Show these, in this order; videos of one channel leave its name out."""
        has_failures = any(state.failure for state in states)
        if (same_channel, has_failures) != (self._same_channel, self._has_failures):
            self._same_channel, self._has_failures = same_channel, has_failures
            self.update_widths()
        self.fill(states)

    def fixed_widths(self, width: int) -> dict[str, int]:
        narrow = width < NARROW
        fixed = {"channel": 10, "state": 38} if narrow else {"channel": 16, "date": 10, "windows": 7, "state": 44}
        if self._same_channel:
            fixed = {column: cells for column, cells in fixed.items() if column != "channel"} | {"state": 44}
        if not self._has_failures:
            fixed["state"] = SHORT_STATE
        return fixed


VIDEO_COLUMNS: dict[str, Column["VideoState"]] = {
    "title": Column(N_("Video"), lambda state: state.video.title),
    "channel": Column(N_("Channel"), lambda state: state.video.channel),
    "date": Column(N_("Date"), lambda state: state.video.published.isoformat() if state.video.published else ""),
    "windows": Column(N_("Windows"), lambda state: window_count(state.windows), is_number=True),
    "state": Column(N_("State"), lambda state: video_state_text(state)),
}


def video_state_text(state: "VideoState") -> str:
    """Return the state of a video, with reason and retry after a failure."""
    if state.due:
        return _("… waiting")
    if listening := listening_state(state):
        return listening
    if state.failure:
        reason = f"{failure_sign(state.failure)} {failure_words(state.failure, state.details)}"
        retry = retry_text(state.retry_at)
        return f"{reason} · {retry}" if retry else reason
    if state.searchable < state.windows:
        return _("… {done} of {all} searchable").format(done=state.searchable, all=state.windows)
    return _("✓ searchable")


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
        self._words: list[str] = []
        """Only what has all of these in its title or its channel's name is listed."""

    def widgets(self) -> Iterator[Widget]:
        yield from (self.channels, self._heading, self.videos, self._detail)

    def fill(self, videos: "list[VideoState]", channels: "list[ChannelState]", *, fetches: bool) -> None:
        self._video_states, self.channel_states = videos, channels
        self.show_channels(fetches=fetches)
        self.narrow()

    def show_channels(self, *, fetches: bool) -> None:
        self.fetches = fetches
        states = self.channel_states
        if self._words:
            named = self._named()
            states = [state for state in states if any(_belongs(video, state) for video in named)]
        if not self._show_times:
            states = [replace(state, listed_at=None) for state in states]
        self.channels.show(states, running=fetches)

    @property
    def has_failures(self) -> bool:
        return any(state.failure for state in self._video_states)

    @property
    def has_details(self) -> bool:
        return any(state.failure or state.selection for state in self._video_states)

    def look_for(self, text: str) -> None:
        """List only what has all words of `text` in its title or its channel's name; without any, everything."""
        words = tidy(text).casefold().split()
        if words != self._words:
            self._words = words
            self.show_channels(fetches=self.fetches)
            self.narrow()

    def _named(self) -> "list[VideoState]":
        """Return the videos that the typed words name."""
        return [state for state in self._video_states if _has_words(state, self._words)]

    def toggle_failures(self) -> None:
        """Show only the videos that failed, the alarms first; or all again."""
        self.failures_only = not self.failures_only
        self.narrow()

    def narrow(self) -> None:
        """Show the videos of the channel under the cursor."""
        self.failures_only = self.failures_only and self.has_failures
        channel = self.channels.channel
        states = [state for state in self._named() if channel is None or _belongs(state, channel)]
        if self.failures_only:
            states = [state for state in states if state.failure]
            states.sort(key=lambda state: state.failure in EXPECTED)
        self.videos.show(states, same_channel=channel is not None and channel.kind == "channel")
        self._heading.update(self._title(len(states)))
        self.show_detail()

    def _title(self, videos: int) -> Content:
        channel = self.channels.channel
        title = channel_name(channel) if channel else _("All videos")
        n = f"{videos:,}"
        if self.failures_only:
            size = n_("only what failed: {n} video", "only what failed: {n} videos", videos, n=n)
        else:
            size = n_("{n} video", "{n} videos", videos, n=n)
        return heading(title, size, MUTED)

    def show_detail(self) -> None:
        """Show why the video under the cursor has no captions, or those that it has."""
        video = self.row.video
        rows = failed_video(video) if video and video.failure and not video.due else []
        if video and video.heard_by:
            rows = [*rows, (_("Transcribed on this machine by {model}.").format(model=clean(video.heard_by)), MUTED)]
        if video and video.selection:
            rows = [*rows, *((f"· {clean(note)}", MUTED) for note in selection_notes(video.selection))]
        self._detail.update(paragraphs(rows))

    @property
    def has_focus(self) -> bool:
        return self.channels.has_focus or self.videos.has_focus

    @property
    def row(self) -> LibraryRow:
        """The row under the cursor of the table that has the focus."""
        if self.videos.has_focus:
            return LibraryRow(video=self.videos.value)
        channel = self.channels.channel if self.channels.has_focus else None
        return LibraryRow(channel=replace(channel, name=channel_name(channel)) if channel else None)

    def neighbour(self, *, back: bool) -> "ChannelTable | VideoTable | None":
        """Return the next table for the focus, or with `back` the one before. None after the last one."""
        at = 2 if self.videos.has_focus else 1 if self.channels.has_focus else 0
        table = (None, self.channels, self.videos, None)[at - 1 if back else at + 1]
        return table if table is not None and table.row_count else None


def _has_words(state: "VideoState", words: "Sequence[str]") -> bool:
    name = f"{state.video.title} {state.video.channel}".casefold()
    return all(word in name for word in words)


def _belongs(state: "VideoState", channel: "ChannelState") -> bool:
    if channel.kind == "playlist":
        return state.video.id in channel.listed
    return state.video.channel_id == channel.channel_id
