"""The recent questions with stored answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from subtitle_rag.base.i18n import _
from subtitle_rag.tui.keys.commands import ENTER, REMOVE, in_widget
from subtitle_rag.tui.shared.conversation import QuestionTurn
from subtitle_rag.tui.shared.fields.panel import label_panel


class RecentAnswers(OptionList):
    BINDINGS: ClassVar[list[BindingType]] = [in_widget(ENTER), in_widget(REMOVE)]

    @dataclass
    class Opened(Message):
        turn: QuestionTurn

    @dataclass
    class DeletionAsked(Message):
        id: int
        question: str

    def __init__(self) -> None:
        super().__init__(id="recent", classes="panel", markup=False, compact=True)
        self.display = False
        self._turns: dict[int, QuestionTurn] = {}

    def fill(self, answers: Mapping[int, tuple[Content, QuestionTurn]]) -> None:
        """Show these answers: rows and turns by id."""
        index = self.highlighted or 0
        self._turns = {id: turn for id, (_row, turn) in answers.items()}
        self.clear_options()
        self.add_options([Option(row, id=str(id)) for id, (row, _turn) in answers.items()])
        self.highlighted = index if answers else None
        label_panel(self, _("Last questions") + f" · {len(answers)}")

    def step(self, rows: int) -> None:
        """Move the highlight; from outside, focus the list first."""
        if self.screen.focused is self:
            self.highlighted = (self.highlighted or 0) + rows
        else:
            self.screen.set_focus(self)  # `focus` would act later; another key may follow at once

    @property
    def _current(self) -> int | None:
        option = self.highlighted_option
        return int(option.id) if option and option.id else None

    def action_take(self) -> None:
        if self._current is not None:
            self.post_message(self.Opened(self._turns[self._current]))

    def action_remove(self) -> None:
        if self._current is not None:
            self.post_message(self.DeletionAsked(self._current, self._turns[self._current].question))
