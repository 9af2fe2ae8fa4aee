"""Bases of dialogs: modal screens that return a result, or None. Many have a list."""

from typing import ClassVar, TypeVar

from textual import getters
from textual.binding import BindingType
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget
from textual.widgets import OptionList

from subtitle_rag.tui.keys.commands import BACK, DOWN, ENTER, UP

WidgetT = TypeVar("WidgetT", bound=Widget)


def framed(box: WidgetT, title: str, keys: str = "") -> WidgetT:
    """Write a dialog's title and keys into the frame of its box, and return the box."""
    box.border_title, box.border_subtitle = Content(title).markup, Content(keys).markup
    return box


class Dialog(ModalScreen[ScreenResultType]):
    BINDINGS: ClassVar[list[BindingType]] = [BACK]

    def check_consume_key(self, key: str, character: str | None) -> bool:  # noqa: ARG002 - Textual calls it so
        """Keep letters from the app's commands: a key for the dialog must not close it."""
        return character is not None and character.isprintable()

    def action_back(self) -> None:
        """Close with the harmless answer."""
        self.dismiss(None)


class ListDialog(Dialog[ScreenResultType]):
    """A dialog with a list that keys move through."""

    BINDINGS: ClassVar[list[BindingType]] = [ENTER, DOWN, UP]

    rows = getters.query_one(OptionList)

    def action_move(self, rows: int) -> None:
        self.rows.highlighted = (self.rows.highlighted or 0) + rows
