"""The library: what is in it, and the one field through which captions come in. Empty, it is where the app begins."""

from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import var
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from subtitle_rag import doctor
from subtitle_rag.captions.sources import Source
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.tui import messages
from subtitle_rag.tui.screens.editable_tables import EditableTables
from subtitle_rag.tui.state import source_field
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.job_request import JobRequest, sample_request
from subtitle_rag.tui.text import job_lines, library_text
from subtitle_rag.tui.text.content import MUTED, paragraphs
from subtitle_rag.tui.widgets import onboarding
from subtitle_rag.tui.widgets.footer import KeyBar
from subtitle_rag.tui.widgets.progress_bars import StageRows
from subtitle_rag.tui.widgets.status_bars import RemovalBar, StageBar
from subtitle_rag.tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from subtitle_rag.doctor import Check
    from subtitle_rag.library.rows import Counts
    from subtitle_rag.tui.context import AppContext
    from subtitle_rag.tui.state.job import Job


class LibraryScreen(EditableTables):
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012 - Textual declares it so
    AUTO_FOCUS = "#path"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", N_("Bring in"), priority=True, id="library.index"),
        Binding("ctrl+l", "take(True)", N_("Whole list"), priority=True, id="library.list"),
        Binding("ctrl+d", "sample", N_("Sample"), priority=True, id="library.sample"),
        Binding("tab", "switch", N_("Field/table"), priority=True, id="library.switch"),
        Binding("escape", "back", N_("Search"), priority=True, id="library.back"),
        Binding("f4", "dismiss", N_("Search"), show=False, priority=True, id="library.close"),
    ]

    counts: var["Counts | None"] = var(None, init=False)

    path = getters.query_one("#path", TextField)
    check = getters.query_one("#check", Static)
    failures = getters.query_one("#failures", Static)

    def __init__(self, context: "AppContext", counts: "Counts | None", typed: str = "") -> None:
        super().__init__(context)
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
            self.watch(self.app, stage, self.show_deeds, init=False)
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
            self.check.update(Content(clean(library_text.checked(message.check))))
            source = message.check.source
            self._set_listed(source.playlist if source else None)

    def _set_listed(self, listed: str | None) -> None:
        if listed != self._listed:
            self._listed = listed
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "take":  # elsewhere Enter chooses a row
            return bool(self._listed) if parameters == (True,) else self.path.has_focus
        return super().check_action(action, parameters)

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
