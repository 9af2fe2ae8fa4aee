"""The one question before the app ends: whether a job that is running may be stopped for it."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.text import job_lines

if TYPE_CHECKING:
    from subtitle_rag.tui.state.job import Job


class LeaveScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = bindings("leave.quit", "leave.stay")

    def __init__(self, job: "Job | None", waiting: int) -> None:
        """`waiting` is how many jobs wait for this one."""
        super().__init__()
        self._job = job
        self._waiting = waiting

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="leave") as page:
            page.border_title = Content(_("Quit")).markup
            yield Static(id="running", markup=False)
            yield Static(self._told(), markup=False)

    def on_mount(self) -> None:
        self.watch(self.app, "job", self._show)

    def _show(self, job: "Job | None") -> None:
        self.query_one("#running", Static).update(Content(clean(job_lines.line(job)) if job else ""))

    def _told(self) -> Content:
        kept = _("What is done stays. The rest is kept, and the next start offers to go on with it.")
        waiting = n_("{n} job waits for it.", "{n} jobs wait for it.", self._waiting).format(n=self._waiting)
        keys = _("{quit} stops it and quits · {stay} lets it go on")
        rows = [
            Content.styled(_("A job is running."), "bold"),
            Content(" ".join([kept, *([waiting] if self._waiting else [])])),
            Content(""),
            Content.styled(keys.format(quit=key("leave.quit"), stay=key("leave.stay")), "bold"),
        ]
        return Content("\n").join(rows)
