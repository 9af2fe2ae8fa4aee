"""The library screen: its tables, and the field to add captions. The app opens here if the library is empty."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.reactive import var
from textual.widgets import Static

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.keys.commands import BACK, DOWN, ENTER, FILTER, REMOVE, RETRY, SWITCH, command, worded
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.library.library_field import Beginning, FailureLines, LibraryField
from subtitle_rag.tui.screens.library.library_tables import ChannelTable, LibraryTables, VideoTable
from subtitle_rag.tui.screens.library.library_text import progress_briefs, stage_notices
from subtitle_rag.tui.screens.library.row_actions import ROW_ACTIONS, RowActions
from subtitle_rag.tui.shared import messages
from subtitle_rag.tui.shared.content import MUTED, paragraphs
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.fields.text_field import after_typing
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.jobs.job_lines import job_outcome
from subtitle_rag.tui.shared.query_filters import in_video
from subtitle_rag.tui.shared.rows.row_table import RowTable
from subtitle_rag.tui.shared.spoken_lines import VideoMoment

if TYPE_CHECKING:
    from subtitle_rag.library.overview import ChannelState
    from subtitle_rag.library.rows import Counts, VideoState


class LibraryScreen(BaseScreen):
    OPENED_BY = "open_library"
    FOOTER = "screen.enter app.overview library.sync list.remove library.stop screen.back app.help"
    FIELD_FOOTER = "screen.enter library.list library.stop library.sample screen.back app.commands app.help"
    AUTO_FOCUS = "#path"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (16, "-high")]  # noqa: RUF012 - Textual declares it so
    shows_videos = True
    BINDINGS: ClassVar[list[BindingType]] = [
        worded(ENTER, sentence=N_("in the field: fetch or read it; a channel: its videos; a video: search in it")),
        command(
            "library.list",
            "ctrl+l",
            "take(True)",
            N_("Whole list"),
            N_("take the whole list that the video's address names"),
            system=True,
        ),
        worded(SWITCH, sentence=N_("field ⇄ table")),
        worded(BACK, sentence=N_("table → field → search")),
        DOWN,
        command(
            "video.listen",
            "y",
            "listen",
            N_("Listen"),
            N_("make captions of what has none, by listening on this machine"),
        ),
        RETRY,
        command("video.open", "", "open_video", N_("Open in browser"), N_("open the video in the browser")),
        worded(FILTER, sentence=N_("only the videos that failed, or all again")),
        worded(REMOVE, sentence=N_("take the video or the channel out of the library, after a question")),
    ]

    counts: var["Counts | None"] = var(None, init=False)

    def __init__(
        self,
        context: AppContext,
        counts: "Counts | None",
        typed: Callable[[], str],
        *,
        begin_query: Callable[[str], object],
    ) -> None:
        """Open the library screen.

        Args:
            context: Runtime and controllers.
            counts: The library's size; None while it opens.
            typed: Returns the field's initial text; called when the field exists.
            begin_query: Puts the beginning of a query into the search field.
        """
        super().__init__(context)
        self._begin_query = begin_query
        self.tables = LibraryTables(show_times=context.show_times)
        self.row_actions = RowActions(context)
        self.failures = FailureLines()
        self.field = LibraryField(context, self.row_actions, self.failures)
        self._beginning = Beginning(context)
        self._detail = Static(id="detail", markup=False)
        self._detail.display = False
        self._footer_state: tuple[bool, ...] = ()
        self.set_reactive(LibraryScreen.counts, counts)
        self._typed = typed
        self._opened_empty = counts is not None and counts.videos == 0
        self._has_drawn = False

    def compose(self) -> ComposeResult:
        yield self.field
        yield self.failures
        yield self._beginning
        yield self.tables.panels
        yield self._detail
        yield KeyBar()

    def on_mount(self) -> None:
        self.watch(self.app, "job", self._job_changed)
        for value in ("other_run_line", "removal_line"):
            self.watch(self.app, value, self._show_progress, init=False)
        self.watch(self.app, "stages", self._stages_changed)
        self._has_drawn = True
        self._draw()
        self.list_videos()
        self.field.path.replace_value(self._typed())

    # --- contents ---

    def watch_counts(self) -> None:
        if self._has_drawn:  # `is_mounted` is set a moment after `on_mount`, and counts may come between
            self._draw()
            self.list_videos()

    def _draw(self) -> None:
        empty = self.counts is not None and self.counts.videos == 0
        self.set_class(empty, "-empty")
        self.set_class(self.counts is None, "-opening")
        if empty:
            self._beginning.begin()
            if self.tables.has_focus:  # hidden with their last row: letters would run commands
                self.field.path.focus()
        elif self.counts is None:
            self._beginning.update(Content.styled(_("Opening the library…"), MUTED))

    def list_videos(self) -> None:
        """Reread the rows of the tables."""
        self.run_in_thread(
            self._read_videos, messages.LibraryFailed, take=self._show_rows, group="list", exclusive=True
        )

    def _read_videos(self) -> "tuple[list[VideoState], list[ChannelState]]":
        from subtitle_rag.library.overview import channel_states

        library = self.context.runtime.library
        return library.videos(), channel_states(library.database)

    def _show_rows(self, rows: "tuple[list[VideoState], list[ChannelState]]") -> None:
        self.tables.fill(*rows)
        self._tables_changed()

    def take_address(self, address: str) -> None:
        """Replace the field's text by an address."""
        self.field.path.focus()
        self.field.path.replace_value(address)

    def action_take(self, whole_list: bool = False) -> None:
        after_typing(self, lambda: self.field.path.submit(self.field.path.value, whole_list))

    @on(messages.FieldChecked)
    def _field_checked(self, message: messages.FieldChecked) -> None:
        """List only the videos that match the words in the field."""
        if message.typed == self.field.path.value:
            is_query = self.field.is_query
            self.tables.look_for(message.typed if is_query else "")
            self._refresh_keys()
            if is_query and not self.tables.videos.row_count:
                none = _("No title or channel has these words; {key} searches for them")
                self.field.say(none.format(key=key("screen.enter")))

    @on(messages.FieldTaken)
    def _field_taken(self, message: messages.FieldTaken) -> None:
        if message.check.kind == "words":
            self._begin_query(message.typed)
            self.dismiss()

    # --- the job ---

    def _job_changed(self, job: Job | None) -> None:
        self._show_progress()
        self._refresh_keys()
        if job is not None:
            self.failures.show_job(job)

    def _stages_changed(self) -> None:
        self._show_progress()
        self._refresh_keys()
        self.failures.show_notices(stage_notices(self.context.app.stages))

    def _show_progress(self) -> None:
        app = self.context.app
        parts = [app.removal_line, app.other_run_line, *progress_briefs(app.job, app.stages)]
        progress = "  ".join(filter(None, parts))
        self.tables.show_progress(progress)
        if self._has_no_rows:  # the videos' border, which shows the progress otherwise, is hidden
            self._detail.update(progress)
            self._detail.display = bool(progress)

    def first_windows(self) -> None:
        """Go to the search, which now has something to find, if the app opened here and the field is empty."""
        if self._opened_empty and self.is_current and not self.field.path.value:
            self.dismiss()

    def job_ended(self, job: Job, error: AppError | None) -> None:
        self._job_changed(job)
        self.list_videos()  # reasons and times can change even if no count does
        if error is not None and job.reason is None:
            self.failures.show_error(error)
        elif not job.failures and not job.stopped:
            self.field.say(f"✓ {job_outcome(job)}")

    # --- the tables ---

    @on(RowTable.CursorMoved, "#channels")
    def _channel_changed(self) -> None:
        self.tables.narrow()
        self._tables_changed()

    @on(RowTable.CursorMoved, "#videos")
    @on(events.DescendantFocus)
    def _row_changed(self) -> None:
        self._show_details()
        self._refresh_keys()

    def _tables_changed(self) -> None:
        self._show_details()
        self._refresh_keys()

    def _show_details(self) -> None:
        rows = self.tables.details
        if not self._has_no_rows:
            self._detail.display = bool(rows)
            self._detail.update(paragraphs(rows))

    @on(RowTable.Selected, "#channels")
    def _channel_selected(self) -> None:
        if self.tables.videos.row_count:
            self._focus_table(self.tables.videos)

    def _focus_table(self, table: ChannelTable | VideoTable) -> None:
        table.focus()

    @on(RowTable.Selected, "#videos")
    def _video_selected(self) -> None:
        """Begin a query that is limited to the video."""
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

    def action_move(self, _rows: int) -> None:
        """Go from the field to the matching videos."""
        self._focus_table(self.tables.videos)

    def action_back(self) -> None:
        if self.field.path.has_focus:
            self.dismiss()
        else:
            self._leave_field_or_table(back=True)

    @property
    def _has_no_rows(self) -> bool:
        return self.has_class("-empty") or self.has_class("-opening")

    def _leave_field_or_table(self, *, back: bool) -> None:
        table = None if self._has_no_rows else self.tables.neighbour(back=back)
        if table is None:
            self.field.path.focus()
        else:
            self._focus_table(table)

    def _refresh_keys(self) -> None:
        """Redraw the footer only if its keys changed, to avoid flicker."""
        state = tuple(self.row_actions.can_run(action, self.tables.row) for action in ROW_ACTIONS)
        state += (self.tables.has_focus, self.tables.has_failures, self.field.names_lists, self.field.is_query)
        if state != self._footer_state:
            self._footer_state = state
            self.refresh_bindings()

    @property
    def footer_ids(self) -> list[str]:
        """The footer without the overview for rows that have none: all videos, and playlists."""
        has_overview = self.chosen_moment or self.chosen_channel
        return [id for id in super().footer_ids if id != "app.overview" or has_overview]

    def label(self, id: str) -> str:
        if id == "screen.enter":
            return self.field.act if self.in_field else _("Open")
        if id == "screen.back":
            return _("Search") if self.in_field and not self.field.is_query else _("Back")
        return super().label(id)

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        in_tables = self.tables.has_focus  # letters are typed into the field
        match action:
            case "move":  # the tables handle it themselves
                return self.field.path.has_focus and bool(self.tables.videos.row_count) and not self._has_no_rows
            case "take":  # in a table, Enter chooses a row
                return self.field.names_lists if parameters == (True,) else self.field.path.has_focus
            case "listen" | "again" | "open_video" | "remove":
                return in_tables and self.row_actions.can_run(action, self.tables.row)
            case "filter":
                return in_tables and self.tables.has_failures
        return super().allows(action, parameters)

    def action_listen(self) -> None:
        self.row_actions.run("listen", self.tables.row)

    def action_again(self) -> None:
        self.row_actions.run("again", self.tables.row)

    def action_open_video(self) -> None:
        self.row_actions.run("open_video", self.tables.row)

    def action_remove(self) -> None:
        self.row_actions.run("remove", self.tables.row)

    def action_filter(self) -> None:
        self.tables.toggle_failures()
        self._tables_changed()
        if self.tables.failures_only and self.tables.videos.row_count:
            self._focus_table(self.tables.videos)
