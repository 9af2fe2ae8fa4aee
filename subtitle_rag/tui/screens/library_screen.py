"""The library: its contents, the commands on their rows, and the one field through which captions come in.

An empty library opens here.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import var
from textual.widgets import Input, Static

from subtitle_rag.captions import suffix_list
from subtitle_rag.channel_choices import kept_choice
from subtitle_rag.domain import SILENT, UNFETCHABLE, AppError, UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.library import channel_states
from subtitle_rag.requests import JobRequest
from subtitle_rag.tui import messages
from subtitle_rag.tui.keys import bindings, closed_by
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state import (
    ExtractorUpdate,
    ListeningProgress,
    ModelDownload,
    VideoMoment,
    clean,
    in_video,
    rows_without,
)
from subtitle_rag.tui.text import (
    MUTED,
    choice_line,
    failure_rows,
    field_line,
    heading,
    is_silent,
    job_outcome,
    paragraphs,
    sample_refusal,
    shortfalls,
    videos_left_out,
)
from subtitle_rag.tui.widgets import (
    ChannelTable,
    KeyBar,
    LibraryTables,
    LineBar,
    Onboarding,
    RowTable,
    SourceInput,
    StageBar,
    StageRows,
    VideoTable,
    after_typing,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from subtitle_rag.channel_choices import ChannelChoice
    from subtitle_rag.library import ChannelState, Counts, VideoState
    from subtitle_rag.pipeline import ListeningOffer
    from subtitle_rag.tui.controllers import AppContext
    from subtitle_rag.tui.state import Job, LibraryRow


ROW_COMMANDS = ("video.listen", "video.retry", "video.open", "channel.sync", "library.pause", "library.remove")
"""Ids of the commands of `RowActions`."""


class RowActions:
    """Retries, opens, fetches or removes the row under the cursor, and pauses all work."""

    def __init__(self, context: "AppContext") -> None:
        self._context = context

    def can_run(self, command: str, row: "LibraryRow") -> bool:
        """Return whether a command of `ROW_COMMANDS` can be run on the row."""
        video, channel = row.video, row.channel
        match command:
            case "video.listen":
                return is_silent(video) if video else bool(channel and SILENT.intersection(channel.failures))
            case "video.retry":
                is_askable = bool(video and (video.video.url or video.video.source))
                return bool(is_askable and video and video.failure not in (None, *UNFETCHABLE) and not video.due)
            case "video.open":
                return bool(video and video.video.url)
            case "channel.sync":
                return bool(channel and channel.urls)
            case "library.remove":
                return row.removal_target is not None
        return self.is_working or self._context.background.can_toggle or self._is_stopped

    def run(self, command: str, row: "LibraryRow") -> None:
        video, channel = row.video, row.channel
        if command == "library.pause":
            self._pause_or_resume()
        elif command == "video.listen" and (video or channel):
            self.offer_listening(video.video.id if video else channel.name if channel else "")
        elif command == "video.retry" and video:
            source, url = video.video.source, video.video.url or ""
            request = JobRequest((Path(source),)) if source else JobRequest.of_address(url)
            if self._context.jobs.start(request):
                title = clean(video.video.title)
                self._context.app.notify(_("Requested again: {title}").format(title=title), markup=False)
        elif command == "video.open" and video:
            self._context.playback.open_video(video.video.id, video.video.title)
        elif command == "channel.sync" and channel:
            for url in channel.urls:
                self._context.jobs.start(JobRequest.of_address(url))
        elif command == "library.remove" and (target := row.removal_target):
            self._context.removals.remove(target)

    def offer_listening(self, name: str, otherwise: "Callable[[], object] | None" = None) -> None:
        """Ask whether to listen to what this names, once it is known what that takes.

        `otherwise` is called where all of it has captions.
        """
        from subtitle_rag import pipeline

        def take(offer: "ListeningOffer") -> None:
            if offer.plan.videos or otherwise is None:
                self._context.app.post_message(messages.ListeningOffered(offer))
            else:
                otherwise()

        self._context.app.run_in_thread(
            lambda: pipeline.offer_listening(self._context.runtime, [name]),
            messages.ActionFailed,
            take=take,
            group="listening",
        )

    @property
    def is_working(self) -> bool:
        """Whether a job or the background runs, which can be paused."""
        return self._context.jobs.busy or self._context.background.is_active

    @property
    def _is_stopped(self) -> bool:
        job = self._context.app.job
        return job is not None and job.stopped

    def _pause_or_resume(self) -> None:
        """Stop the job and pause the background; or resume both."""
        context = self._context
        if self.is_working:
            context.jobs.stop()
            if context.background.is_active:
                context.toggle_background()
            return
        if self._is_stopped:
            context.jobs.sync()
        if context.background.can_toggle:
            context.toggle_background()


EMPTY_HIDDEN = frozenset({"screen.switch"})
FULL_HIDDEN = frozenset({"library.sample"})
"""Ids of commands that the footer leaves out while the library is empty, and while it is not."""
TABLES_HIDDEN = FULL_HIDDEN | EMPTY_HIDDEN | {"library.stop", "library.background", "library.sync"}
"""Ids of commands that work in the tables too, but have no room in the footer there."""


ROWS_BESIDE_CHANNELS = 16
"""Rows of a short screen for all else, some videos included."""


class LibraryScreen(BaseScreen):
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012 - Textual declares it so
    OWN_KEYS = frozenset({"app.marks"})
    FOOTER_HIDDEN = frozenset({"app.ask", "app.transcript"})
    AUTO_FOCUS = "#path"
    SHOWS_VIDEOS = True
    BINDINGS = bindings(
        "library.index library.list library.choose screen.switch screen.back",
        "channel.sync video.listen video.retry video.open library.failures library.pause library.remove",
        "channel.settings",
    ) + closed_by("app.library")
    FOOTER: ClassVar = {"screen.switch": N_("Field/table"), "screen.back": N_("Search")}
    MEANINGS: ClassVar = {"screen.switch": N_("field ⇄ table"), "screen.back": N_("table → field → search")}

    counts: var["Counts | None"] = var(None, init=False)

    path = getters.query_one("#path", SourceInput)
    check = getters.query_one("#check", Static)
    failures = getters.query_one("#failures", Static)

    def __init__(
        self,
        context: "AppContext",
        counts: "Counts | None",
        address: str,
        *,
        begin_query: "Callable[[str], object]",
    ) -> None:
        """`begin_query` puts the beginning of a query into the field of the search."""
        super().__init__(context)
        self._begin_query = begin_query
        self.tables = LibraryTables(show_times=context.show_times)
        self.row_actions = RowActions(context)
        self._footer_state: tuple[bool | None, ...] = ()
        self.set_reactive(LibraryScreen.counts, counts)
        self._address = address
        self._opened_empty = counts is not None and counts.videos == 0
        self._refused = False
        """The line of failures says why the field's text was not taken."""
        self._names_lists = False
        """An address of a video in the field names a list, too."""

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="library", can_focus=False):
            yield Static(id="title", markup=False)
            yield Static(id="intro", markup=False)
            yield SourceInput(_("https://www.youtube.com/@channel, or a folder of captions"), id="path")
            yield Static(id="check", markup=False)
            yield StageRows()
            yield StageBar(ListeningProgress)
            yield StageBar(ModelDownload)
            yield StageBar(ExtractorUpdate)
            yield LineBar("other-run", "other_run_line")
            yield LineBar("removal", "removal_line")
            yield Static(id="failures", markup=False)
            yield from self.tables.widgets()
            yield Onboarding(self.context.settings, self.context.probe, show_times=self.context.show_times)
        yield KeyBar()

    def on_mount(self) -> None:
        self.watch(self.app, "job", self._job_changed)
        self.watch(self.app, "stages", self._refresh_keys, init=False)
        self._draw()
        self.list_videos()
        self.path.value = self._address

    # --- contents ---

    def watch_counts(self) -> None:
        if self.is_mounted:
            self._draw()
            self.list_videos()

    def _draw(self) -> None:
        empty = self.counts is not None and self.counts.videos == 0
        self.set_class(empty, "-empty")
        self.set_class(self.counts is None, "-opening")
        data_path = str(self.context.settings.paths.data) if self.context.show_times else ""
        self.query_one("#title", Static).update(_title(self.counts, data_path))
        self.query_one("#intro", Static).update(Onboarding.intro())
        if empty:
            self.query_one(Onboarding).begin()

    def list_videos(self) -> None:
        """Read the rows of the tables again."""
        self.run_in_thread(self._read_videos, self._fail, take=self._show_rows, group="list", exclusive=True)
        self.run_in_thread(
            lambda: kept_choice(self.context.runtime.library),
            self._fail,
            take=self._show_choice,
            group="choice",
            exclusive=True,
        )

    def _show_choice(self, choices: "list[ChannelChoice]") -> None:
        """Tell how many channels wait of the list that was left before all were chosen."""
        waiting = sum(not choice.is_followed for choice in choices)
        if waiting and not self.path.value:
            self.check.update(Content(choice_line(waiting)))

    def _read_videos(self) -> "tuple[list[VideoState], list[ChannelState]]":
        library = self.context.runtime.library
        return library.videos(), channel_states(library.database)

    def _fail(self, error: AppError) -> None:
        """Report to the app, which closes this screen."""
        self.app.post_message(messages.LibraryFailed(error))

    def _show_rows(self, rows: "tuple[list[VideoState], list[ChannelState]]") -> None:
        videos, channels = rows_without(self.context.removals.removals, *rows)
        self.tables.fill(videos, channels, fetches=_fetches(self.context.app.job))
        self._tables_changed()

    # --- the field ---

    def on_paste(self, event: events.Paste) -> None:
        """Take a paste into a table as one into the field."""
        self.path.focus()
        self.path.value = ""
        self.path.take_paste(event.text)

    @on(Input.Changed, "#path")
    def _path_changed(self) -> None:
        self.check.update("")
        self._set_names_lists(False)
        if self._refused:
            self._refused = False
            job = self.context.app.job
            self.failures.update(paragraphs(shortfalls(job)) if job else "")

    @on(messages.FieldChecked)
    def _field_checked(self, message: messages.FieldChecked) -> None:
        if message.typed == self.path.value:
            line = field_line(message.check, is_sample=self.context.settings.is_sample)
            self.check.update(Content(clean(line)))
            self._set_names_lists(message.check.names_lists)

    def _set_names_lists(self, names_lists: bool) -> None:
        if names_lists != self._names_lists:
            self._names_lists = names_lists
            self.refresh_bindings()

    def action_choose(self) -> None:
        """Go on with the list of channels that was left."""
        self._open_choice(None)

    def _open_choice(self, path: Path | None) -> None:
        """Open the channels of a list, or those of the list that was left."""
        from subtitle_rag.tui.screens.choice_screen import ChoiceScreen

        self.app.push_screen(ChoiceScreen(self.context, path, done=self.list_videos))

    def action_take(self, whole_list: bool = False) -> None:
        after_typing(self, lambda: self.path.submit(self.path.value, whole_list))

    @on(messages.FieldTaken)
    def _field_taken(self, message: messages.FieldTaken) -> None:
        check = message.check
        if check.kind == "nothing":
            self.check.update(Content(_("Type or paste an address or the path of a folder first.")))
        elif check.refusal and check.refusal.code == "page_to_hear" and not self.context.settings.is_sample:
            self.row_actions.offer_listening(message.typed)
        elif check.refusal:
            self._refuse(check.refusal)
        elif self.context.settings.is_sample:
            self._refuse(sample_refusal())
        elif check.kind == "missing":
            self._refuse(UsageError("unsupported_source", source=message.typed, formats=suffix_list()))
        elif check.kind == "list":
            self._open_choice(check.paths[0])
            self.path.value = ""
        elif check.films and not check.files and not check.more:
            self.row_actions.offer_listening(message.typed, lambda: self._start(message))
        else:
            self._start(message)

    def _start(self, message: messages.FieldTaken) -> None:
        """Index what the field names."""
        check = message.check
        self.failures.update("")
        requests = [JobRequest(sources=(source,)) for source in check.sources] or [JobRequest(check.paths)]
        for request in requests:
            self.context.jobs.start(request)
        if message.typed == self.path.value:
            self.path.value = ""

    def _refuse(self, error: AppError) -> None:
        """Say why the field's text is not taken, until the text changes."""
        self._show_error(error)
        self._refused = True

    # --- the job ---

    def _job_changed(self, job: "Job | None") -> None:
        if self.tables.fetches != _fetches(job):
            self.tables.show_channels(fetches=_fetches(job))
        self._refresh_keys()
        if job is not None:
            self.failures.update(paragraphs(shortfalls(job)))

    def first_windows(self) -> None:
        """Return to the search, which works from now on, if the app opened here and the field is empty."""
        if self._opened_empty and self.is_current and not self.path.value:
            self.dismiss()

    def job_ended(self, job: "Job", error: AppError | None) -> None:
        self._job_changed(job)
        self.list_videos()  # reasons and times can change where no count does
        if error is not None and job.reason is None:
            self._show_error(error)
        elif not job.failures and not job.stopped:
            self.check.update(Content(f"✓ {job_outcome(job)}"))

    def _show_error(self, error: AppError) -> None:
        self.failures.update(paragraphs(failure_rows(error)))

    # --- the tables ---

    @on(RowTable.CursorMoved, "#channels")
    def _channel_changed(self) -> None:
        self.tables.narrow()
        self._tables_changed()

    @on(RowTable.CursorMoved, "#videos")
    @on(events.DescendantFocus)
    def _row_changed(self) -> None:
        self.tables.show_detail()
        self._refresh_keys()

    def _tables_changed(self) -> None:
        self.set_class(self.tables.has_details, "-detailed")
        self._arrange_tables(self.size.height)
        self._refresh_keys()

    @on(events.Resize)
    def _resized(self, event: events.Resize) -> None:
        self._arrange_tables(event.size.height)

    def _arrange_tables(self, height: int) -> None:
        """Show both tables on a short screen that has room for them."""
        has_room = self.tables.channels.row_count <= height - ROWS_BESIDE_CHANNELS
        self.set_class(has_room and not self._has_no_rows, "-both")

    @on(RowTable.Selected, "#channels")
    def _channel_selected(self) -> None:
        if self.tables.videos.row_count:
            self._focus_table(self.tables.videos)

    def _focus_table(self, table: ChannelTable | VideoTable) -> None:
        visible = table.display
        if not visible:
            self.set_focus(None)  # else Textual gives it to the field when the other table goes, and scrolls up there
        self.set_class(table is self.tables.videos, "-videos")
        if visible:
            table.focus()
        else:
            self.call_after_refresh(table.focus)

    @on(RowTable.Selected, "#videos")
    def _video_selected(self) -> None:
        """Search in the video alone: only the words are still to be typed."""
        state = self.tables.videos.value
        if state is not None:
            self._begin_query(f"{in_video(state.video.id, state.video.title)} ")
            self.dismiss()

    @property
    def chosen_moment(self) -> VideoMoment | None:
        state = self.tables.row.video
        return VideoMoment(state.video) if state else None

    @property
    def chosen_channel(self) -> str | None:
        channel = self.tables.row.channel
        return channel.channel_id if channel else None

    # --- keys ---

    def action_switch(self) -> None:
        self._leave_field_or_table(back=False)

    def action_back(self) -> None:
        if self.path.has_focus:
            self.dismiss()
        else:
            self._leave_field_or_table(back=True)

    @property
    def _has_no_rows(self) -> bool:
        return self.has_class("-empty") or self.has_class("-opening")

    def _leave_field_or_table(self, *, back: bool) -> None:
        table = None if self._has_no_rows else self.tables.neighbour(back=back)
        if table is None:
            self.path.focus()
        else:
            self._focus_table(table)

    def _refresh_keys(self) -> None:
        """Redraw the footer only if a key came or went: every repaint can make it flicker."""
        enabled = (self.check_action("run", (command,)) for command in ROW_COMMANDS)
        views = (self.check_action(action, ()) for action in ("failures", "settings"))
        state = (*enabled, *views, self.row_actions.is_working)
        if state != self._footer_state:
            self._footer_state = state
            self.refresh_bindings()

    def _translate(self, binding: Binding) -> Binding:
        translation = super()._translate(binding)
        in_tables = self.tables.has_focus
        if binding.id == "library.pause" and not self.row_actions.is_working:
            return replace(translation, description=_("Resume"))
        if binding.id == "screen.back" and in_tables:
            return replace(translation, description=_("Back"))
        hidden = TABLES_HIDDEN if in_tables else EMPTY_HIDDEN if self._has_no_rows else FULL_HIDDEN
        return replace(translation, show=False) if binding.id in hidden else translation

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "take":  # in a table, Enter chooses a row
                return self._names_lists if parameters == (True,) else self.path.has_focus
            case "run":
                in_tables = self.tables.has_focus  # letters are typed into the field
                return in_tables and self.row_actions.can_run(str(parameters[0]), self.tables.row)
            case "failures":
                return self.tables.has_focus and self.tables.has_failures
            case "settings":
                return self.tables.channel_of_row is not None
        return super().allows(action, parameters)

    def action_run(self, command: str) -> None:
        self.row_actions.run(command, self.tables.row)

    def action_failures(self) -> None:
        self.tables.toggle_failures()
        self._tables_changed()
        if self.tables.failures_only and self.tables.videos.row_count:
            self._focus_table(self.tables.videos)

    def action_settings(self) -> None:
        from subtitle_rag.tui.screens.channel_screen import ChannelScreen

        channel = self.tables.channel_of_row
        if channel and self.context.settings.is_sample:
            self.context.app.tell(sample_refusal())
        elif channel:
            self.app.push_screen(ChannelScreen(self.context, channel))


def _fetches(job: "Job | None") -> bool:
    return job is not None and job.fetches and not job.ended


def _title(counts: "Counts | None", data_path: str) -> Content:
    """Return the library's size, and its folder unless that is empty."""
    if counts is None:
        return heading(_("Library"), _("Opening the library…"))
    if counts.videos == 0:
        return heading(_("Nothing to search yet"))
    sizes = _("Channels {channels} · Videos {videos} · Windows {windows}").format(
        channels=counts.channels, videos=f"{counts.videos:,}", windows=f"{counts.windows:,}"
    )
    sizes = " · ".join([sizes, *videos_left_out(counts)])
    title = heading(_("Library"), sizes)
    return title + Content.styled(f"   {clean(data_path)}", MUTED) if data_path else title
