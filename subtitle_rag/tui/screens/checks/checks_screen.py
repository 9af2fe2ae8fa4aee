"""The screen with all of `doctor`'s checks."""

from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll

from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.tui.keys.commands import BACK, RETRY, command
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.checks.check_list import CheckList, ProbeEnded
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.fields.panel import label_panel
from subtitle_rag.workflows import checks as doctor

NETWORK = "network"


class ChecksScreen(BaseScreen):
    OPENED_BY = "open_checks"
    AUTO_FOCUS = "#all-checks"
    FOOTER = "screen.retry screen.back app.help"
    BINDINGS: ClassVar[list[BindingType]] = [
        RETRY,
        command("checks.network", "", "network", N_("Ask YouTube, too"), N_("ask YouTube whether it answers")),
        BACK,
    ]

    checks = getters.query_one(CheckList)

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="all-checks", classes="panel"):
            names = (name for name in doctor.PROBES if name in doctor.OFFLINE)
            yield CheckList(names, self.context.probe)
        yield KeyBar()

    def on_mount(self) -> None:
        self.action_again()

    def action_again(self) -> None:
        self.checks.start([name for name in self.checks.names if name != NETWORK])
        self._show_title()

    def action_network(self) -> None:
        """Run the check that uses the network."""
        self.checks.start([NETWORK])
        self._show_title()
        self.call_after_refresh(self.query_one("#all-checks").scroll_end, animate=False)  # the row is mounted by then

    @on(ProbeEnded)
    def _probe_ended(self) -> None:
        self._show_title()

    def _show_title(self) -> None:
        label_panel(self.query_one("#all-checks"), f"{_('Checks')} · {self._summary()}")

    def _summary(self) -> str:
        if self.checks.busy:
            return _("{done} of {all} done …").format(done=len(self.checks.results), all=len(self.checks.names))
        count = sum(check.severity != "ok" for check in self.checks.results.values())
        text = n_("{n} thing to fix, or to leave as it is", "{n} things to fix, or to leave as they are", count)
        return text if count else _("all is well")
