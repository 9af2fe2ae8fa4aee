"""The value of a setting: a choice, a typed text, or either."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from subtitle_rag.base.i18n import _
from subtitle_rag.tui.keys.commands import DOWN, ENTER, UP
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.screens.settings.setting_rows import value_text
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED
from subtitle_rag.tui.shared.dialogs.dialog import Dialog, framed
from subtitle_rag.tui.shared.fields.text_field import TextField, after_typing

if TYPE_CHECKING:
    from subtitle_rag.workflows.app_settings import AppSetting

MAX_ROWS = 10
"""Visible choices."""


class SettingDialog(Dialog[str]):
    """Returns the value as typed text."""

    BINDINGS: ClassVar[list[BindingType]] = [ENTER, DOWN, UP]

    choices = getters.query_one("#setting-choices", OptionList)
    text = getters.query_one("#setting-text", TextField)

    def __init__(
        self,
        setting: "AppSetting",
        choices: Sequence[str],
        *,
        mistake_in: Callable[[str], str],
        preview: Callable[[str], object] = lambda _value: None,
        is_open: bool = False,
    ) -> None:
        """Ask for a value.

        Args:
            setting: The setting.
            choices: Known values.
            mistake_in: Returns what is wrong with a typed text.
            preview: Shows a highlighted choice.
            is_open: Whether another value may be typed.
        """
        super().__init__()
        self._setting = setting
        self._choices = choices
        self._mistake_in = mistake_in
        self._preview = preview
        self._is_open = is_open or not choices

    def compose(self) -> ComposeResult:
        keys = _("{take} saves · {close} leaves it as it is")
        keys = keys.format(take=key("screen.enter"), close=key("screen.back"))
        with framed(VerticalScroll(id="setting", can_focus=False), self._setting.name, keys):
            yield Static(Content.styled(self._setting.about, MUTED), markup=False)
            if self._choices:
                rows = OptionList(*map(self._row, self._choices), id="setting-choices", markup=False, compact=True)
                rows.styles.max_height = MAX_ROWS
                yield rows
            if self._is_open:
                yield TextField(_("another one, typed here") if self._choices else "", id="setting-text")
                yield Static(id="setting-mistake", markup=False)

    def on_mount(self) -> None:
        typed = self._setting.typed
        if self._choices:
            self.choices.highlighted = self._choices.index(typed) if typed in self._choices else 0
            self.choices.focus()
        if self._is_open and typed not in self._choices:
            self.text.replace_value(typed)
            self.text.focus()

    def _row(self, value: str) -> Content:
        setting = self._setting
        text = value == "True" if setting.kind == "switch" else value
        is_default = text == setting.default
        return Content.assemble(
            f" {value_text(setting.key, text)}", (f"   {_('default')}" if is_default else "", MUTED)
        )

    @property
    def _is_typing(self) -> bool:
        return self._is_open and bool(self.text.has_focus)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._preview(self._choices[event.option_index])

    @on(Input.Changed)
    def _changed(self) -> None:
        self._say(self._mistake_in(self.text.value) if self.text.value or not self._choices else "")

    def _say(self, mistake: str) -> None:
        self.query_one("#setting-mistake", Static).update(Content(f"! {clean(mistake)}" if mistake else ""))

    @on(OptionList.OptionSelected)
    def action_take(self) -> None:
        after_typing(self, self._take)

    def _take(self) -> None:
        if not self._is_typing:
            if (at := self.choices.highlighted) is not None:
                self.dismiss(self._choices[at])
        elif mistake := self._mistake_in(self.text.value):
            self._say(mistake)
        else:
            self.dismiss(self.text.value)

    def action_move(self, rows: int) -> None:
        """Move through the choices, and from the last one into the field."""
        if not self._choices:
            return
        last = len(self._choices) - 1
        at = self.choices.highlighted or 0
        if self._is_typing:
            if rows < 0:
                self.choices.focus()
        elif self._is_open and rows > 0 and at == last:
            self.text.focus()
        else:
            self.choices.highlighted = max(0, min(last, at + rows))
