"""The library's two tables: channels and playlists, the videos of the chosen one, and what can be done about them.

On a low terminal only one of the two is seen: Enter goes into the videos of a channel, Esc comes back.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from subtitle_rag.captions.sources import parse
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.library import overview
from subtitle_rag.retrieval.query import QUOTES
from subtitle_rag.tui import messages
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state import query_filters
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.job_request import JobRequest
from subtitle_rag.tui.text import failure_reasons, library_text
from subtitle_rag.tui.text.content import MUTED, paragraphs
from subtitle_rag.tui.threads import to_app_error
from subtitle_rag.tui.widgets.channel_table import ChannelTable, name
from subtitle_rag.tui.widgets.row_table import RowTable
from subtitle_rag.tui.widgets.video_table import VideoTable

if TYPE_CHECKING:
    from subtitle_rag.library.overview import ChannelState
    from subtitle_rag.library.rows import VideoState
    from subtitle_rag.tui.context import AppContext
    from subtitle_rag.tui.state.job import Job

TITLE = 200
"""Characters of a title that a filter may hold; longer ones are named by their ids."""
DEEDS = ("retry", "open", "failures", "sync_channel", "pause")
"""Actions that depend on the row under the cursor, or on what is under way."""
EMPTY_KEYS = frozenset({"library.switch"})
FULL_KEYS = frozenset({"library.sample"})
"""Ids of keys that the footer leaves out while the library is empty, and while it is not."""
FIELD_KEYS = FULL_KEYS | EMPTY_KEYS | {"library.stop", "library.background", "library.sync"}
"""Ids of keys that work in the tables too, where the footer has no room for them."""


class LibraryTables(BaseScreen):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u,ㅕ", "sync_channel", N_("New videos"), tooltip=N_("New videos of it"), id="channel.sync"),
        Binding("r,ㄱ", "retry", N_("Retry"), id="video.retry"),
        Binding("v,ㅍ", "open", N_("Browser"), id="video.open"),
        Binding("f,ㄹ", "failures", N_("Failures"), id="library.failures"),
        Binding("space", "pause", N_("Pause"), id="library.pause"),
    ]

    channels = getters.query_one(ChannelTable)
    table = getters.query_one(VideoTable)

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self._videos: list[VideoState] = []
        self._channels: list[ChannelState] = []
        self._failures_only = self._fetches = False
        self._deeds: tuple[bool | None, ...] = ()

    def tables(self) -> Iterator[Widget]:
        yield ChannelTable()
        yield Static(id="heading", markup=False)
        yield VideoTable()
        yield Static(id="detail", markup=False)

    # --- what is chosen ---

    @property
    def chosen_channel(self) -> "ChannelState | None":
        """The channel or playlist whose videos are shown; None where those of all are."""
        return self.channels.channel

    @property
    def chosen_video(self) -> "VideoState | None":
        """The video under the cursor, while its table has the focus."""
        return self.table.value if self.table.has_focus else None

    # --- what is shown ---

    @work(thread=True, group="list", exclusive=True, exit_on_error=False)
    def list_videos(self) -> None:
        """Read anew what the library holds."""
        worker = get_current_worker()
        try:
            library = self.context.runtime.library
            listed = messages.VideosListed(library.videos(), overview.channel_states(library.database))
        except Exception as error:  # whatever a door throws, the app stays up
            self.app.post_message(messages.LibraryFailed(to_app_error(error, self.context.settings.paths)))
            return
        if not worker.is_cancelled:
            self.post_message(listed)

    @on(messages.VideosListed)
    def _videos_listed(self, message: messages.VideosListed) -> None:
        self._videos, self._channels = self.context.removals.visible_rows(message)
        self._show_channels()
        self._narrow()

    def job_told(self, job: "Job | None") -> None:
        """The job has come further."""
        if self._fetches != _fetching(job):
            self._show_channels()
        self.show_deeds()

    def _show_channels(self) -> None:
        self._fetches = _fetching(self.context.app.job)
        states = self._channels
        if not self.context.show_times:  # they differ from run to run
            states = [replace(state, listed_at=None) for state in states]
        self.channels.show(states, running=self._fetches)

    @on(RowTable.Highlighted, "#channels")
    def _channel_highlighted(self) -> None:
        self._narrow()

    @on(RowTable.Highlighted, "#videos")
    def _video_highlighted(self) -> None:
        self._show_detail()

    def on_descendant_focus(self) -> None:
        self._show_detail()

    def _narrow(self) -> None:
        """Show the videos of the chosen channel."""
        failed = [state for state in self._videos if state.failure]
        self._failures_only = self._failures_only and bool(failed)
        states = self._of_chosen(failed if self._failures_only else self._videos)
        if self._failures_only:
            states.sort(key=lambda state: state.failure in failure_reasons.EXPECTED)
        channel = self.chosen_channel
        self.table.show(states, same_channel=channel is not None and channel.kind == "channel")
        self.query_one("#heading", Static).update(self._heading(len(states)))
        self.set_class(bool(failed), "-failed")
        self._show_detail()

    def _of_chosen(self, states: "list[VideoState]") -> "list[VideoState]":
        channel = self.chosen_channel
        if channel is None:
            return list(states)
        if channel.kind == "playlist":
            return [state for state in states if state.video.id in channel.listed]
        return [state for state in states if state.video.channel_id == channel.channel_id]

    def _heading(self, videos: int) -> Content:
        channel = self.chosen_channel
        title = name(channel) if channel else _("All videos")
        if self._failures_only:
            counted = n_("only what failed: {n} video", "only what failed: {n} videos", videos)
        else:
            counted = n_("{n} video", "{n} videos", videos)
        return Content.styled(title, "bold") + Content.styled(f"   {counted.format(n=f'{videos:,}')}", MUTED)

    def _show_detail(self) -> None:
        chosen = self.chosen_video
        said = library_text.failed_video(chosen) if chosen and chosen.failure and not chosen.due else []
        self.query_one("#detail", Static).update(paragraphs(said))
        self.show_deeds()

    def show_deeds(self) -> None:
        """The footer is drawn anew only where a key came or went: every repaint can make it flicker."""
        deeds = (*(self.check_action(action, ()) for action in DEEDS), self._going)
        if deeds != self._deeds:
            self._deeds = deeds
            self.refresh_bindings()

    # --- from one to the other ---

    @on(RowTable.Selected, "#channels")
    def _channel_selected(self) -> None:
        if self.table.row_count:
            self._go_to(self.table)

    def _go_to(self, table: "ChannelTable | VideoTable") -> None:
        seen = table.display
        self.set_class(table is self.table, "-videos")
        if seen:
            table.focus()
        else:
            self.call_after_refresh(table.focus)

    def switch_table(self, *, back: bool = False) -> bool:
        """Give the focus to the next table, or to the one before; False where there is none."""
        after: ChannelTable | VideoTable | None = self.channels
        if back:
            after = self.channels if self.table.has_focus else None
        elif self.channels.has_focus or self.table.has_focus:
            after = self.table if self.channels.has_focus else None
        if after is None or not after.row_count or self.has_class("-empty"):
            return False
        self._go_to(after)
        return True

    # --- what can be done ---

    @property
    def _in_tables(self) -> bool:
        return self.channels.has_focus or self.table.has_focus

    @property
    def _going(self) -> bool:
        """Something is under way that can be paused."""
        return self.context.jobs.busy or self.context.background.is_active

    def _spoken(self, binding: Binding) -> Binding:
        spoken = super()._spoken(binding)
        if binding.id == "library.pause" and not self._going:
            return replace(spoken, description=_("Go on"))
        if binding.id == "library.back" and self._in_tables:
            return replace(spoken, description=_("Back"))
        aside = FIELD_KEYS if self._in_tables else EMPTY_KEYS if self.has_class("-empty") else FULL_KEYS
        return replace(spoken, show=False) if binding.id in aside else spoken

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action not in DEEDS:
            return super().check_action(action, parameters)
        if not self._in_tables:  # letters are typed into the field
            return False
        video, context = self.chosen_video, self.context
        match action:
            case "retry":
                return bool(video and video.failure and not video.due and (video.video.url or video.video.source))
            case "open":
                return bool(video and video.video.url)
            case "failures":
                return self._failures_only or any(state.failure for state in self._videos)
            case "sync_channel":
                channel = self.chosen_channel
                return self.channels.has_focus and bool(channel and channel.urls)
        return context.jobs.busy or context.background.can_toggle or bool(context.app.job and context.app.job.stopped)

    def action_failures(self) -> None:
        """Show only the videos that failed, the alarms first; or all again."""
        self._failures_only = not self._failures_only
        self._narrow()
        if self._failures_only and self.table.row_count:
            self._go_to(self.table)

    def action_sync_channel(self) -> None:
        """Look for what is new in the chosen channel or playlist alone."""
        channel = self.chosen_channel
        if channel:
            for url in channel.urls:
                self.context.jobs.start(JobRequest(source=parse(url)))

    def action_retry(self) -> None:
        """Ask again for the chosen video, whatever its time is."""
        state = self.chosen_video
        if state is None:
            return
        video = state.video
        errand = JobRequest((Path(video.source),)) if video.source else JobRequest(source=parse(video.url or ""))
        if self.context.jobs.start(errand):
            self.app.notify(_("Asked for again: {title}").format(title=clean(video.title)), markup=False)

    def action_pause(self) -> None:
        """Stop the job and pause the background; or go on with both."""
        context = self.context
        if self._going:
            context.jobs.stop()
            if context.background.is_active:
                context.toggle_background()
            return
        if context.app.job and context.app.job.stopped:
            context.jobs.sync()
        if context.background.can_toggle:
            context.toggle_background()

    def action_open(self) -> None:
        if self.chosen_video:
            self.context.playback.open_video(self.chosen_video.video.id, self.chosen_video.video.title)

    @on(RowTable.Selected, "#videos")
    def _video_selected(self) -> None:
        """Look for scenes in the chosen video alone: only the words are still to be typed."""
        state = self.table.value
        if state is None:
            return
        self.app.post_message(messages.VideoChosen(f"{in_video(state.video.id, state.video.title)} "))
        self.dismiss()


def _fetching(job: "Job | None") -> bool:
    return job is not None and job.fetches and not job.ended


def in_video(video_id: str, title: str) -> str:
    """The filter that leaves only this video; by its title where no quotation mark stands in it."""
    plain = len(title) <= TITLE and any(c.isalnum() for c in title) and not any(c in title for c in QUOTES)
    return query_filters.written(query_filters.Chip("video", clean(title) if plain else video_id))
