"""The answers that are kept on this computer: to be read again, or deleted."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.messages import ActionFailed, AnswersListed
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.conversation import QuestionTurn, turn_of_answer
from subtitle_rag.tui.text import failure_reasons
from subtitle_rag.tui.text.content import MUTED
from subtitle_rag.tui.widgets.footer import KeyBar

if TYPE_CHECKING:
    from subtitle_rag.errors import AppError
    from subtitle_rag.library.answers import StoredAnswer
    from subtitle_rag.tui.context import AppContext

MOST = 200
WHEN_CELLS = 12
EXCERPT = 300
"""Characters of an answer that a row holds; more never fit."""


class HistoryScreen(BaseScreen):
    AUTO_FOCUS = "#kept"
    FOOTER_HIDDEN = frozenset({"library.sync", "library.background"})
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "history.open", "history.delete", "history.delete-all", "history.back", "history.down", "history.up"
    )

    rows = getters.query_one("#kept", OptionList)

    def __init__(self, context: "AppContext", open: Callable[[QuestionTurn], None]) -> None:
        """`open` is given the answer that is to be read."""
        super().__init__(context)
        self._open = open
        self._kept: dict[str, QuestionTurn] = {}
        self._doubted: str | None = None
        """What the key for deletion was pressed for once."""

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="history", can_focus=False):
            yield Static(id="history-title", markup=False)
            yield OptionList(id="kept", markup=False, compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self._say(Content(""))
        self._load()

    def _say(self, said: Content) -> None:
        title = Content.styled(_("Earlier answers"), "bold")
        self.query_one("#history-title", Static).update(title + Content("   ") + said)

    # --- what is kept ---

    def _load(self) -> None:
        self.run_in_thread(self._read, lambda listed: listed, self._reading_failed, group="kept", exclusive=True)

    def _forget(self, id: int | None) -> None:
        """Delete an answer, or all of them, and list the others."""

        def forget() -> AnswersListed:
            self.context.runtime.library.answers.forget(id)
            return self._read()

        self.run_in_thread(forget, lambda listed: listed, self._reading_failed, group="kept")

    def _read(self) -> AnswersListed:
        library = self.context.runtime.library
        kept = library.answers.latest(MOST)
        ids = {source.video for one in kept for source in one.sources}
        return AnswersListed(kept, {id: video for id in ids if (video := library.video(id))})

    def _reading_failed(self, error: "AppError") -> None:
        self.app.post_message(ActionFailed(error))

    @on(AnswersListed)
    def _listed(self, message: AnswersListed) -> None:
        at = self.rows.highlighted or 0
        self._kept = {str(one.id): turn_of_answer(one, message.videos) for one in message.kept}
        self.rows.clear_options()
        self.rows.add_options([Option(_row(one), id=str(one.id)) for one in message.kept])
        count = len(message.kept)
        self.rows.highlighted = min(at, count - 1) if count else None
        self._doubted = None
        said = n_("{n} answer is kept on this computer.", "{n} answers are kept on this computer.", count)
        self._say(Content(said.format(n=count) if count else _("No answers are kept.")))

    # --- keys ---

    @property
    def _current(self) -> str | None:
        option = self.rows.highlighted_option
        return option.id if option else None

    def action_open(self) -> None:
        if self._current is not None:
            turn = self._kept[self._current]
            self.dismiss()
            self._open(turn)

    @on(OptionList.OptionSelected)
    def _clicked(self) -> None:
        self.action_open()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        if self._doubted is not None:
            self._doubted = None
            self._say(Content(""))

    def action_move(self, rows: int) -> None:
        if self.rows.option_count:
            self.rows.highlighted = max(0, min(self.rows.option_count - 1, (self.rows.highlighted or 0) + rows))

    def action_delete(self) -> None:
        if self._current is None:
            return
        if self._doubted == self._current:
            self._forget(int(self._current))
        else:
            self._doubt(self._current, _("! Press again to delete this answer."))

    def action_delete_all(self) -> None:
        if not self._kept:
            return
        if self._doubted == "all":
            self._forget(None)
        else:
            count = len(self._kept)
            said = n_("! Press again to delete {n} answer.", "! Press again to delete all answers.", count)
            self._doubt("all", said.format(n=count))

    def _doubt(self, what: str, said: str) -> None:
        self._doubted = what
        self._say(Content.styled(said, "bold $text-warning"))


def _row(kept: "StoredAnswer") -> Content:
    """When, and what was asked; then how the answer begins."""
    return Content.assemble(
        failure_reasons.moment(kept.asked_at, time.time()).rjust(WHEN_CELLS - 2) + "  ",
        (clean(kept.question), "bold"),
        "\n" + " " * WHEN_CELLS,
        (clean(kept.text[:EXCERPT]), MUTED),
    )
