"""The history of answers, kept on this computer."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from subtitle_rag.i18n import _, n_
from subtitle_rag.tui import dialogs
from subtitle_rag.tui.keys import bindings, closed_by
from subtitle_rag.tui.messages import ActionFailed
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state import QuestionTurn, turn_of_answer
from subtitle_rag.tui.text import deletion_confirmation, heading, history_row
from subtitle_rag.tui.widgets import KeyBar

if TYPE_CHECKING:
    from subtitle_rag.tui.controllers import AppContext

MAX_ROWS = 200


class HistoryScreen(BaseScreen):
    AUTO_FOCUS = "#kept"
    BINDINGS = bindings("history.open history.delete history.delete-all screen.back list.down list.up") + closed_by(
        "app.history"
    )

    rows = getters.query_one("#kept", OptionList)

    def __init__(self, context: "AppContext", open: Callable[[QuestionTurn], None]) -> None:
        """`open` shows the answer under the highlight."""
        super().__init__(context)
        self._open = open
        self._turns: dict[str, QuestionTurn] = {}

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="history", can_focus=False):
            yield Static(id="history-title", markup=False)
            yield OptionList(id="kept", markup=False, compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self._show_title("")
        self.run_in_thread(self._read, ActionFailed, take=self._list, group="kept", exclusive=True)

    def _show_title(self, note: str) -> None:
        self.query_one("#history-title", Static).update(heading(_("Earlier answers"), note))

    def _delete(self, id: int | None) -> None:
        """Delete an answer, or all of them, and list the rest."""

        def delete() -> dict[str, tuple[Content, QuestionTurn]]:
            self.context.runtime.library.answers.forget(id)
            return self._read()

        self.run_in_thread(delete, ActionFailed, take=self._list, group="kept")

    def _read(self) -> dict[str, tuple[Content, QuestionTurn]]:
        """Return row and turn of each answer, the newest first, by its id."""
        library = self.context.runtime.library
        answers = library.answers.latest(MAX_ROWS)
        videos = library.videos_by_id(*{source.video for answer in answers for source in answer.sources})
        return {str(answer.id): (history_row(answer), turn_of_answer(answer, videos)) for answer in answers}

    def _list(self, answers: dict[str, tuple[Content, QuestionTurn]]) -> None:
        index = self.rows.highlighted or 0
        self._turns = {id: turn for id, (_row, turn) in answers.items()}
        self.rows.clear_options()
        self.rows.add_options([Option(row, id=id) for id, (row, _turn) in answers.items()])
        count = len(answers)
        self.rows.highlighted = index
        size = n_("{n} answer is kept on this computer.", "{n} answers are kept on this computer.", count)
        self._show_title(size if count else _("There are no saved answers."))
        self.refresh_bindings()

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("open", "delete", "delete_all") and not self._turns:
            return False
        return super().allows(action, parameters)

    @property
    def _current(self) -> str | None:
        option = self.rows.highlighted_option
        return option.id if option else None

    @on(OptionList.OptionSelected)
    def action_open(self) -> None:
        if self._current is not None:
            turn = self._turns[self._current]
            self.dismiss()
            self._open(turn)

    def action_move(self, rows: int) -> None:
        self.rows.highlighted = (self.rows.highlighted or 0) + rows

    def action_delete(self) -> None:
        if self._current is not None:
            self._confirm_deletion([self._turns[self._current].question], int(self._current))

    def action_delete_all(self) -> None:
        if self._turns:
            self._confirm_deletion([turn.question for turn in self._turns.values()], None)

    def _confirm_deletion(self, questions: list[str], id: int | None) -> None:
        """Ask, then delete the answer with the id, or all of them."""
        self.app.push_screen(dialogs.ConfirmScreen(deletion_confirmation(questions), partial(self._delete, id)))
