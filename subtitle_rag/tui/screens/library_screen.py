"""The library: what is in it, and the one field through which captions come in. Empty, it is where the app begins."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from subtitle_rag import doctor
from subtitle_rag.captions.addresses import Source, parse
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.i18n import _, n_
from subtitle_rag.library import overview
from subtitle_rag.retrieval.query import QUOTES
from subtitle_rag.tui import messages
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state import query_filters, source_field
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.job_request import JobRequest, sample_request
from subtitle_rag.tui.state.removal import RemovalTarget
from subtitle_rag.tui.text import failure_reasons, job_lines, library_text
from subtitle_rag.tui.text.content import MUTED, paragraphs
from subtitle_rag.tui.widgets import onboarding
from subtitle_rag.tui.widgets.channel_table import ChannelTable, name
from subtitle_rag.tui.widgets.footer import KeyBar
from subtitle_rag.tui.widgets.progress_bars import StageRows
from subtitle_rag.tui.widgets.row_table import RowTable
from subtitle_rag.tui.widgets.status_bars import RemovalBar, StageBar
from subtitle_rag.tui.widgets.text_field import TextField
from subtitle_rag.tui.widgets.video_table import VideoTable

if TYPE_CHECKING:
    from subtitle_rag.doctor import Check
    from subtitle_rag.library.overview import ChannelState
    from subtitle_rag.library.rows import Counts, VideoState
    from subtitle_rag.tui.context import AppContext
    from subtitle_rag.tui.state.job import Job

TITLE = 200
"""Characters of a title that a filter may hold; longer ones are named by their ids."""
ROW_ACTIONS = ("retry", "open", "failures", "sync_channel", "pause", "remove", "settings")
"""Actions that depend on the row under the cursor, or on what is under way."""
EMPTY_KEYS = frozenset({"library.switch"})
FULL_KEYS = frozenset({"library.sample"})
"""Ids of keys that the footer leaves out while the library is empty, and while it is not."""
FIELD_KEYS = FULL_KEYS | EMPTY_KEYS | {"library.stop", "library.background", "library.sync"}
"""Ids of keys that work in the tables too, where the footer has no room for them."""


class LibraryScreen(BaseScreen):
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012 - Textual declares it so
    AUTO_FOCUS = "#path"
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "library.index",
        "library.list",
        "library.sample",
        "library.switch",
        "library.back",
        "library.close",
        "library.bring-back",
        "channel.sync",
        "video.retry",
        "video.open",
        "library.failures",
        "library.pause",
        "library.remove",
        "channel.settings",
    )

    counts: var["Counts | None"] = var(None, init=False)

    path = getters.query_one("#path", TextField)
    check = getters.query_one("#check", Static)
    failures = getters.query_one("#failures", Static)

    def __init__(self, context: "AppContext", counts: "Counts | None", typed: str = "") -> None:
        super().__init__(context)
        self._videos: list[VideoState] = []
        self._channels: list[ChannelState] = []
        self._failures_only = self._fetches = False
        self._available: tuple[bool | None, ...] = ()
        """Which row actions can be done."""
        self.set_reactive(LibraryScreen.counts, counts)
        self._typed = typed
        self._began_empty = counts is not None and counts.videos == 0
        self._listed: str | None = None
        """The list that the video's link in the field names as well."""

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="library", can_focus=False):
            yield Static(id="title", markup=False)
            yield Static(id="intro", markup=False)
            yield TextField(_("https://www.youtube.com/@channel, or a folder of captions"), id="path")
            yield Static(id="check", markup=False)
            yield StageRows()
            yield StageBar("offer")
            yield StageBar("update")
            yield RemovalBar()
            yield Static(id="failures", markup=False)
            yield from self.tables()
            yield onboarding.Onboarding(self.context.settings, self._probe, show_times=self.context.show_times)
        yield KeyBar()

    def on_mount(self) -> None:
        self.watch(self.app, "job", self._job_changed)
        for stage in ("offer", "update"):
            self.watch(self.app, stage, self.query_one(f"#{stage}", StageBar).show)
        for stage in ("contexts", "vectors"):
            self.watch(self.app, stage, self.refresh_row_actions, init=False)
        self._draw()
        self.list_videos()
        self.path.value = self._typed

    def _probe(self, name: str) -> "Check":
        return doctor.probe(name, self.context.runtime)

    # --- what is in it ---

    def watch_counts(self) -> None:
        if self.is_mounted:
            self._draw()
            self.list_videos()

    def _draw(self) -> None:
        self.set_class(self.counts is None or self.counts.videos == 0, "-empty")
        self.query_one("#title", Static).update(self._title())
        self.query_one("#intro", Static).update(onboarding.intro())
        if self.counts is not None and self.counts.videos == 0:
            self.query_one(onboarding.Onboarding).begin()

    def _title(self) -> Content:
        counts = self.counts
        if counts is None or counts.videos == 0:
            return Content.styled(_("Nothing to search yet"), "bold")
        sizes = _("Channels {channels} · Videos {videos} · Windows {windows}").format(
            channels=counts.channels, videos=f"{counts.videos:,}", windows=f"{counts.windows:,}"
        )
        if counts.due:
            sizes += " · " + _("Waiting {n}").format(n=f"{counts.due:,}")
        title = Content.styled(_("Library"), "bold") + Content(f"   {sizes}")
        if not self.context.show_times:  # nor places, which differ from run to run too
            return title
        return title + Content.styled(f"   {clean(str(self.context.settings.paths.data))}", MUTED)

    # --- what is typed ---

    @on(TextField.AddressPasted)
    def _address_pasted(self, message: TextField.AddressPasted) -> None:
        self.path.value = message.address
        self.path.cursor_position = len(message.address)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted while the table has the focus."""
        self.path.value = ""
        self.path.put(event.text)

    @on(Input.Changed, "#path")
    def _path_changed(self) -> None:
        self.check.update("")
        self._set_listed(None)
        self._look(self.path.value)

    @work(thread=True, group="look", exclusive=True, exit_on_error=False)
    def _look(self, typed: str) -> None:
        worker = get_current_worker()
        found = source_field.look(typed, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.post_message(messages.FieldChecked(typed, found))

    @on(messages.FieldChecked)
    def _field_checked(self, message: messages.FieldChecked) -> None:
        if message.typed == self.path.value:
            self.check.update(Content(clean(library_text.field_line(message.check))))
            source = message.check.source
            self._set_listed(source.playlist if source else None)

    def _set_listed(self, listed: str | None) -> None:
        if listed != self._listed:
            self._listed = listed
            self.refresh_bindings()

    def action_take(self, whole_list: bool = False) -> None:
        self.after_typing(lambda: self._take(self.path.value, whole_list))

    @work(thread=True, group="take", exclusive=True, exit_on_error=False)
    def _take(self, typed: str, whole_list: bool) -> None:
        self.post_message(messages.FieldTaken(typed, source_field.read(typed), whole_list))

    @on(messages.FieldTaken)
    def _field_taken(self, message: messages.FieldTaken) -> None:
        check, source = message.check, message.check.source
        if check.kind == "nothing":
            self.check.update(Content(_("Type or paste an address or the path of a folder first.")))
        elif check.refusal:
            self._tell(check.refusal)
        elif check.kind == "missing":
            self._tell(UsageError("unsupported_source", source=message.typed))
        else:
            if source and source.playlist and message.whole_list:
                source = Source("playlist", source.playlist)
            self.failures.update("")
            self.context.jobs.start(JobRequest(check.paths, source))
            if message.typed == self.path.value:
                self.path.value = ""

    def action_sample(self) -> None:
        self.failures.update("")
        self.context.jobs.start(sample_request())

    def action_switch(self) -> None:
        if not self.switch_table():
            self.path.focus()

    def action_back(self) -> None:
        if self.path.has_focus:
            self.dismiss()
        elif not self.switch_table(back=True):
            self.path.focus()

    # --- the job ---

    def _job_changed(self, job: "Job | None") -> None:
        self.job_told(job)
        if job is not None:
            self.failures.update(paragraphs(library_text.shortfalls(job)))

    def first_windows(self) -> None:
        """Searching works from now on: an app that began without captions goes there, unless somebody types here."""
        if self._began_empty and self.is_current and not self.path.value:
            self.dismiss()

    def job_ended(self, job: "Job", error: AppError | None) -> None:
        self._job_changed(job)
        if error is not None:
            self._tell(error)
        elif not job.failures and not job.stopped:
            self.check.update(Content(f"✓ {job_lines.outcome(job)}"))

    def _tell(self, error: AppError) -> None:
        self.failures.update(paragraphs(library_text.failure(error)))

    # --- the tables ---

    channels = getters.query_one(ChannelTable)
    table = getters.query_one(VideoTable)

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

    def list_videos(self) -> None:
        """Read anew what the library holds."""
        self.run_in_thread(self._read_videos, lambda listed: listed, self._listing_failed, group="list", exclusive=True)

    def _read_videos(self) -> messages.VideosListed:
        library = self.context.runtime.library
        return messages.VideosListed(library.videos(), overview.channel_states(library.database))

    def _listing_failed(self, error: AppError) -> None:
        """Tell the app, which closes this screen."""
        self.app.post_message(messages.LibraryFailed(error))

    @on(messages.VideosListed)
    def _videos_listed(self, message: messages.VideosListed) -> None:
        self._videos, self._channels = self.context.removals.visible_rows(message)
        self._show_channels()
        self._narrow()

    def job_told(self, job: "Job | None") -> None:
        """The job has come further."""
        if self._fetches != _fetching(job):
            self._show_channels()
        self.refresh_row_actions()

    def _show_channels(self) -> None:
        self._fetches = _fetching(self.context.app.job)
        states = self._channels
        if not self.context.show_times:  # they differ from run to run
            states = [replace(state, listed_at=None) for state in states]
        self.channels.show(states, running=self._fetches)

    @on(RowTable.CursorMoved, "#channels")
    def _channel_highlighted(self) -> None:
        self._narrow()

    @on(RowTable.CursorMoved, "#videos")
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
        self.refresh_row_actions()

    def refresh_row_actions(self) -> None:
        """The footer is drawn anew only where a key came or went: every repaint can make it flicker."""
        available = (*(self.check_action(action, ()) for action in ROW_ACTIONS), self._going)
        if available != self._available:
            self._available = available
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
        if action == "take":  # elsewhere Enter chooses a row
            return bool(self._listed) if parameters == (True,) else self.path.has_focus
        if action == "remove":
            return self._target is not None
        if action == "settings":
            return self._channel_to_set is not None
        if action not in ROW_ACTIONS:
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
        request = JobRequest((Path(video.source),)) if video.source else JobRequest(source=parse(video.url or ""))
        if self.context.jobs.start(request):
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

    @property
    def _target(self) -> RemovalTarget | None:
        """What is under the cursor of the table that has the focus."""
        if video := self.chosen_video:
            return RemovalTarget(video.video.title, video=video.video.id)
        channel = self.chosen_channel if self.channels.has_focus else None
        return RemovalTarget(name(channel), "", channel.channel_id, channel.sources) if channel else None

    def action_remove(self) -> None:
        if target := self._target:
            self.context.removals.remove(target)

    @property
    def _channel_to_set(self) -> "ChannelState | None":
        """The channel or playlist under the cursor, or that of the video there."""
        if video := self.chosen_video:
            id = video.video.channel_id
            return next((state for state in self._channels if state.channel_id == id), None)
        return self.chosen_channel if self.channels.has_focus else None

    def action_settings(self) -> None:
        if channel := self._channel_to_set:
            from subtitle_rag.tui.screens.channel_screen import ChannelScreen

            self.app.push_screen(ChannelScreen(self.context, replace(channel, name=name(channel))))


def _fetching(job: "Job | None") -> bool:
    return job is not None and job.fetches and not job.ended


def in_video(video_id: str, title: str) -> str:
    """The filter that leaves only this video; by its title where no quotation mark stands in it."""
    plain = len(title) <= TITLE and any(c.isalnum() for c in title) and not any(c in title for c in QUOTES)
    return query_filters.filter_text(query_filters.Chip("video", clean(title) if plain else video_id))
