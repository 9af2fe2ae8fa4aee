"""The library: what is in it, and the one field through which captions come in. Empty, it is where the app begins."""

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import var
from textual.widgets import DataTable, Footer, Input, Static
from textual.worker import get_current_worker

from subtitle_rag.errors import AppError
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.tui import commands, jobs, messages, paths
from subtitle_rag.tui.failures import told
from subtitle_rag.tui.text import MUTED, clean
from subtitle_rag.tui.widgets import JobBar, Line, Page, paragraphs

if TYPE_CHECKING:
    from subtitle_rag.events import VideoFailed
    from subtitle_rag.library.rows import Counts, VideoState
    from subtitle_rag.tui.app import SubtitleApp
    from subtitle_rag.tui.jobs import Job

FAILURES = 8
"""Failures that are told one by one."""


class LibraryScreen(Page):
    app: "SubtitleApp"

    AUTO_FOCUS = "#path"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "index", N_("Index"), priority=True, id="library.index"),
        Binding("ctrl+d", "sample", N_("Sample"), priority=True, id="library.sample"),
        Binding("tab", "switch", N_("Field/table"), priority=True, show=False, id="library.switch"),
        Binding("escape", "back", N_("Search"), priority=True, id="library.back"),
        Binding("f2", "dismiss", N_("Search"), show=False, priority=True, id="library.close"),
    ]

    counts: var["Counts | None"] = var(None, init=False)

    path = getters.query_one("#path", Line)
    check = getters.query_one("#check", Static)
    failures = getters.query_one("#failures", Static)
    table: getters.query_one[DataTable[Text]] = getters.query_one("#videos", DataTable)

    def __init__(self, counts: "Counts | None") -> None:
        super().__init__()
        self.set_reactive(LibraryScreen.counts, counts)
        self._began_empty = counts is not None and counts.videos == 0

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="library", can_focus=False):
            yield Static(id="title", markup=False)
            yield Static(id="intro", markup=False)
            yield Line(_("folder or file, for example ~/Downloads"), id="path")
            yield Static(id="check", markup=False)
            yield JobBar()
            yield Static(id="failures", markup=False)
            yield DataTable(id="videos", cursor_type="row", zebra_stripes=True)
            yield Static(id="sample", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.table.add_columns(_("Video"), _("Channel"), _("Date"), _("Windows"), _("State"))
        self.watch(self.app, "job", self._job_changed)
        self._draw()
        self._list_videos()

    # --- what is in it ---

    def watch_counts(self) -> None:
        if self.is_mounted:
            self._draw()
            self._list_videos()

    def _draw(self) -> None:
        counts = self.counts
        empty = counts is None or counts.videos == 0
        self.set_class(empty, "-empty")
        if counts is None or empty:
            self.query_one("#title", Static).update(Content.styled(_("Nothing to search yet"), "bold"))
        else:
            sizes = _("Channels {channels} · Videos {videos} · Windows {windows}").format(
                channels=counts.channels, videos=counts.videos, windows=f"{counts.windows:,}"
            )
            title = Content.styled(_("Library"), "bold") + Content(f"   {sizes}   ")
            place = Content.styled(clean(str(self.app.settings.paths.data)), MUTED)
            self.query_one("#title", Static).update(title + place)
        self.query_one("#intro", Static).update(
            paragraphs(
                (
                    _("Name a folder of caption files (.vtt, .srt, .sbv, .json3)."),
                    _("They are indexed on this computer, and nothing leaves it."),
                )
            )
        )
        self.query_one("#sample", Static).update(
            Content(_("Just looking? ctrl+d loads nine sample videos in a few seconds."))
        )

    @work(thread=True, group="list", exclusive=True, exit_on_error=False)
    def _list_videos(self) -> None:
        worker = get_current_worker()
        try:
            videos = self.app.runtime.library.videos()
        except Exception as error:  # whatever a door throws, the app stays up
            self.app.post_message(messages.LibraryFailed(told(error, self.app.settings.paths)))
            return
        if not worker.is_cancelled:
            self.post_message(messages.VideosListed(videos))

    @on(messages.VideosListed)
    def _videos_listed(self, message: messages.VideosListed) -> None:
        self.table.clear()
        for state in message.videos:
            self.table.add_row(*_cells(state))

    # --- what is typed ---

    @on(Input.Changed, "#path")
    def _path_changed(self) -> None:
        self.check.update("")
        self._look(self.path.value)

    @work(thread=True, group="look", exclusive=True, exit_on_error=False)
    def _look(self, typed: str) -> None:
        worker = get_current_worker()
        try:
            found = paths.look(typed, lambda: worker.is_cancelled)
        except (OSError, ValueError):  # a name that the system cannot even ask for
            found = paths.Check("missing")
        if not worker.is_cancelled:
            self.post_message(messages.PathChecked(typed, found))

    @on(messages.PathChecked)
    def _path_checked(self, message: messages.PathChecked) -> None:
        if message.typed == self.path.value:
            self.check.update(Content(_said(message.check)))

    def action_index(self) -> None:
        typed = self.path.value
        if paths.is_address(typed):
            self.check.update(Content(_said(paths.Check("address"))))
        elif sources := paths.typed_paths(typed):
            self.failures.update("")
            self.app.index(sources)
            self.path.value = ""
        else:
            self.check.update(Content(_("Type or paste the path of a folder first.")))

    def action_sample(self) -> None:
        self.failures.update("")
        commands.load_sample(self.app)

    def action_switch(self) -> None:
        if self.path.has_focus and self.table.display and self.table.row_count:
            self.table.focus()
        else:
            self.path.focus()

    def action_back(self) -> None:
        if self.path.has_focus:
            self.dismiss()
        else:
            self.path.focus()

    # --- the job ---

    def _job_changed(self, job: "Job | None") -> None:
        self.query_one(JobBar).show(job)
        if job is not None:
            self.failures.update(_told(job.failures))

    def first_windows(self) -> None:
        """Searching works from now on: an app that began without captions goes there."""
        if self._began_empty and self.is_current:
            self.dismiss()

    def job_ended(self, job: "Job", error: AppError | None) -> None:
        self._job_changed(job)
        if error is not None:
            rows: list[str | tuple[str, str]] = [(f"! {clean(error.message)}", "bold"), f"  {clean(error.hint)}"]
            self.failures.update(paragraphs(rows))
        elif not job.failures:
            self.check.update(Content(f"✓ {jobs.outcome(job)}"))


def _said(check: paths.Check) -> str:
    match check.kind:
        case "nothing":
            return ""
        case "address":
            return _("! Addresses come in a later version. A folder of caption files works today.")
        case "missing":
            return _("… nothing there yet")
    if check.more:
        return _("✓ more than {n} caption files so far; Enter indexes them").format(n=check.files)
    if not check.files:
        return _("! no caption files there (.vtt, .srt, .sbv or .json3)")
    found = n_("✓ {n} caption file; Enter indexes it", "✓ {n} caption files; Enter indexes them", check.files)
    return found.format(n=check.files)


def _told(failures: tuple["VideoFailed", ...]) -> Content:
    rows: list[str | tuple[str, str]] = []
    for failure in failures[-FAILURES:]:
        error = AppError(failure.code, **failure.details)
        rows.append((f"! {clean(failure.title)}", "bold"))
        rows.append(f"  {clean(error.message)} {clean(error.hint)}")
    if len(failures) > FAILURES:
        rows.append((_("… and {n} before them").format(n=len(failures) - FAILURES), MUTED))
    return paragraphs(rows)


def _cells(state: "VideoState") -> list[Text]:
    video = state.video
    if state.failure:
        told = f"! {AppError(state.failure, **state.details).message}"
    elif state.searchable < state.windows:
        told = _("… {done} of {all} searchable").format(done=state.searchable, all=state.windows)
    else:
        told = _("✓ searchable")
    published = video.published.isoformat() if video.published else ""
    title, channel = Text(clean(video.title)), Text(clean(video.channel))
    title.truncate(48, overflow="ellipsis")
    channel.truncate(20, overflow="ellipsis")
    return [title, channel, Text(published), Text(f"{state.windows:,}", justify="right"), Text(clean(told))]
