"""Confirmation before something is stopped, removed or deleted."""

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.dialogs.confirmations import Confirmation
from subtitle_rag.tui.shared.dialogs.dialog import Dialog, framed
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.jobs.job_lines import job_line


class ConfirmScreen(Dialog[None]):
    """Enter presses the focused button: at first the harmless one."""

    AUTO_FOCUS = "#keep"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,right", "app.focus_next", show=False),
    ]

    def __init__(self, confirmation: Confirmation, act: Callable[[], object], *, stops_job: bool = False) -> None:
        """`act` is called after a yes. `stops_job` shows the running job above the question."""
        super().__init__()
        self._confirmation = confirmation
        self._act = act
        self.stops_job = stops_job

    def compose(self) -> ComposeResult:
        with framed(VerticalScroll(id="confirm", can_focus=False), self._confirmation.title):
            if self.stops_job:
                yield Static(id="running", markup=False)
            yield Static(self._confirmation.text, markup=False)
            with Horizontal(id="confirm-buttons"):
                yield Button(Content(self._confirmation.confirm), variant="warning", id="yes", compact=True)
                yield Button(Content(self._confirmation.keep), id="keep", compact=True)

    def on_mount(self) -> None:
        if self.stops_job:
            self.watch(self.app, "job", self._show_job)

    def _show_job(self, job: Job | None) -> None:
        self.query_one("#running", Static).update(Content(clean(job_line(job)) if job else ""))

    @on(Button.Pressed, "#yes")
    def _confirmed(self) -> None:
        self.dismiss()
        self._act()

    @on(Button.Pressed, "#keep")
    def action_back(self) -> None:
        self.dismiss()
