"""Panels of the library: channels and playlists, and the videos of the highlighted one."""

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal

from subtitle_rag.base.domain.errors import EXPECTED
from subtitle_rag.base.domain.values import tidy
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.library.overview import ChannelState
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.keys.commands import CLOSE, ENTER, OPEN, in_widget, worded
from subtitle_rag.tui.screens.library.library_text import failed_video, is_silent, listening_state
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED, Rows
from subtitle_rag.tui.shared.failure_reasons import age_text, failure_words
from subtitle_rag.tui.shared.fields.panel import label_panel
from subtitle_rag.tui.shared.jobs.removal import LibraryRow
from subtitle_rag.tui.shared.rows.row_table import RowParts, RowTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subtitle_rag.library.rows import VideoState


WITH_DATE, WITH_CHANNEL = 40, 66
"""Cells from which a video's row has room for these in addition to its title."""
WITH_COUNTS = 22
"""Cells from which a channel's row shows all its counts, not only the most important one."""
EVERYTHING = "*"
"""Key of the first row of channels."""


class ChannelTable(RowTable[ChannelState]):
    BINDINGS: ClassVar[list[BindingType]] = [
        in_widget(ENTER),
        in_widget(worded(OPEN, sentence=N_("to the videos of the channel"))),
    ]

    def __init__(self) -> None:
        super().__init__("channels", lambda state: state.key)

    def show(self, states: "Sequence[ChannelState]") -> None:
        """Show the channels in this order, after the row of all videos."""
        self.fill((everything(states), *states))

    def action_open(self) -> None:
        self.action_take()

    @property
    def channel(self) -> ChannelState | None:
        """The channel under the cursor; None on the row of all videos and in an empty table."""
        return self.value if self.value and self.cursor_key != EVERYTHING else None

    def parts(self, value: ChannelState) -> RowParts:
        alarms = sum(count for code, count in value.failures.items() if code not in EXPECTED)
        news = [f"! {alarms:,}" if alarms else "", f"+{value.due:,}" if value.due else ""]
        counts = [*filter(None, news), f"{value.videos:,}"]
        cells = counts if self.width >= WITH_COUNTS else counts[:1]
        return RowParts(channel_name(value), "  ".join(cells), is_alarm=bool(alarms))


def everything(states: "Sequence[ChannelState]") -> ChannelState:
    """Return the totals of all channels, with the videos of playlists."""
    channels = [state for state in states if state.kind == "channel"]
    failures = sum((Counter(state.failures) for state in channels), Counter[str]())
    sums = {field: sum(getattr(state, field) for state in channels) for field in ("videos", "windows", "due", "done")}
    return ChannelState(EVERYTHING, _("All videos"), "channel", failures=failures, **sums)


def channel_name(state: ChannelState) -> str:
    """Return the name, marked for a playlist."""
    template = _("Playlist: {name}") if state.kind == "playlist" else "{name}"
    return template.format(name=clean(state.name))


class VideoTable(RowTable["VideoState"]):
    BINDINGS: ClassVar[list[BindingType]] = [
        in_widget(ENTER),
        in_widget(worded(CLOSE, sentence=N_("back to the channels"))),
    ]

    def __init__(self) -> None:
        super().__init__("videos", lambda state: state.video.id)
        self.shows_channel = False
        """Whether the listed videos are from several channels."""

    async def action_close(self) -> None:
        await self.run_action("screen.back")

    def parts(self, value: "VideoState") -> RowParts:
        video = value.video
        if state := video_state_text(value):
            return RowParts(video.title, state, is_alarm=is_alarm(value))
        channel = video.channel if self.shows_channel and self.width >= WITH_CHANNEL else ""
        date = video.published.isoformat() if video.published and self.width >= WITH_DATE else ""
        return RowParts(video.title, " · ".join(filter(None, (channel, date))))


def video_state_text(state: "VideoState") -> str:
    """Return why a video is not searchable, and the key that helps; empty for a searchable one."""
    if state.due:
        return _("waiting")
    if listening := listening_state(state):
        return listening
    if state.failure:
        reason = failure_words(state.failure, state.details)
        if is_silent(state):
            return _("{reason} · {key} transcribes it").format(reason=reason, key=_letter("video.listen"))
        if state.video.url or state.video.source:
            return _("{reason} · {key} tries again").format(reason=reason, key=_letter("screen.retry"))
        return reason
    if state.searchable < state.windows:
        return _("indexing {done}/{all}").format(done=state.searchable, all=state.windows)
    return ""


def _letter(id: str) -> str:
    """Return the key of a command that works in a list."""
    names = keymap.keys(id)
    return keymap.key_text(next((name for name in names if len(name) == 1), names[0]))


def is_alarm(state: "VideoState") -> bool:
    """Whether a video failed for an unusual reason."""
    return state.failure is not None and state.failure not in EXPECTED and not state.due


class LibraryTables:
    """Both panels."""

    def __init__(self, *, show_times: bool) -> None:
        """`show_times=False` hides times, which differ from run to run."""
        self.channels = ChannelTable()
        self.videos = VideoTable()
        self.panels = Horizontal(self.channels, self.videos, id="tables")
        self._show_times = show_times
        self._video_states: list[VideoState] = []
        self._channel_states: list[ChannelState] = []
        self._words: list[str] = []
        """Words that listed titles or channel names must contain."""
        self._progress = ""
        self.failures_only = False

    def fill(self, videos: "list[VideoState]", channels: "list[ChannelState]") -> None:
        self._video_states, self._channel_states = videos, channels
        self._show_channels()
        self.narrow()

    @property
    def has_failures(self) -> bool:
        return any(state.failure for state in self._video_states)

    def toggle_failures(self) -> None:
        """Show only failed videos, alarms first, or all again."""
        self.failures_only = not self.failures_only
        self.narrow()

    def look_for(self, text: str) -> None:
        """List only videos with all words of `text` in the title or channel name; all without words."""
        words = tidy(text).casefold().split()
        if words != self._words:
            self._words = words
            self._show_channels()
            self.narrow()

    def _show_channels(self) -> None:
        """Show the channels of the listed videos."""
        videos = self._named()
        states = self._channel_states
        if self._words:
            states = [state for state in states if any(_belongs(video, state) for video in videos)]
        self.channels.show(states)

    def _named(self) -> "list[VideoState]":
        """Return the videos that match the typed words."""
        return [state for state in self._video_states if _has_words(state, self._words)]

    def narrow(self) -> None:
        """Show the videos of the channel under the cursor."""
        self.failures_only = self.failures_only and self.has_failures
        channel = self.channels.channel
        states = [state for state in self._named() if channel is None or _belongs(state, channel)]
        if self.failures_only:
            states = [state for state in states if state.failure]
            states.sort(key=lambda state: state.failure in EXPECTED)
        is_one = channel is not None and channel.kind == "channel"
        self.videos.shows_channel = not is_one and len({state.video.channel_id for state in self._video_states}) > 1
        self.videos.fill(states)
        self._label()

    def show_progress(self, progress: str) -> None:
        """Show the running work in the border of the videos."""
        self._progress = progress
        self._label()

    def _label(self) -> None:
        channel = self.channels.channel
        title = channel_name(channel) if channel else _("All videos")
        n = self.videos.row_count
        if self.failures_only:
            label = n_("{title} · {n} failed video", "{title} · {n} failed videos", n, title=title, n=f"{n:,}")
        else:
            label = n_("{title} · {n} video", "{title} · {n} videos", n, title=title, n=f"{n:,}")
        label_panel(self.videos, label, self._progress)
        listed_at = channel.listed_at if channel and self._show_times else None
        age = _("checked {age}").format(age=age_text(listed_at)) if listed_at else ""
        label_panel(self.channels, _("Channels · {n}").format(n=len(self._channel_states)), age)

    @property
    def details(self) -> Rows:
        """Why the video under the cursor has no captions, or details of its captions."""
        from subtitle_rag.captions.speech import selection_notes

        video = self.row.video
        rows = failed_video(video) if video and video.failure and not video.due else []
        if video and video.heard_by:
            rows = [*rows, (_("Transcribed on this machine by {model}.").format(model=clean(video.heard_by)), MUTED)]
        if video and video.selection:
            rows = [*rows, *((f"· {clean(note)}", MUTED) for note in selection_notes(video.selection))]
        return rows

    @property
    def has_focus(self) -> bool:
        return self.channels.has_focus or self.videos.has_focus

    @property
    def row(self) -> LibraryRow:
        """The row under the cursor in the focused table."""
        if self.videos.has_focus:
            return LibraryRow(video=self.videos.value)
        channel = self.channels.channel if self.channels.has_focus else None
        return LibraryRow(channel=replace(channel, name=channel_name(channel)) if channel else None)

    def neighbour(self, *, back: bool) -> "ChannelTable | VideoTable | None":
        """Return the next table for the focus, or the previous one with `back`; None beyond the ends."""
        tables = [table for table in (self.channels, self.videos) if table.row_count]
        at = next((at for at, table in enumerate(tables) if table.has_focus), len(tables) if back else -1)
        following = at - 1 if back else at + 1
        return tables[following] if 0 <= following < len(tables) else None


def _has_words(state: "VideoState", words: "Sequence[str]") -> bool:
    name = f"{state.video.title} {state.video.channel}".casefold()
    return all(word in name for word in words)


def _belongs(state: "VideoState", channel: "ChannelState") -> bool:
    if channel.kind == "playlist":
        return state.video.id in channel.listed
    return state.video.channel_id == channel.channel_id
