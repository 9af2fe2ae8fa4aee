"""The settings: values, origins, and changes to the config file."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.keys.commands import BACK, ENTER, REMOVE, RETRY, worded
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.settings.setting_dialog import SettingDialog
from subtitle_rag.tui.screens.settings.setting_rows import setting_note, setting_row, value_text
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.fields.panel import label_panel
from subtitle_rag.tui.shared.messages import ActionFailed
from subtitle_rag.tui.shared.rows.row_table import RowTable
from subtitle_rag.workflows.app_settings import (
    NAMES,
    AppSetting,
    change_app_setting,
    parse_setting,
    read_app_settings,
    setting_choices,
)

THEME = "tui.theme"
TYPED_TOO = ("llm.model", "models.encoder", "models.reranker")
"""Settings that also accept a typed value: a folder or another name."""


class SettingTable(RowTable[AppSetting]):
    def __init__(self) -> None:
        super().__init__("settings-rows", lambda setting: setting.key)

    def content(self, value: AppSetting, width: int) -> Content:
        return setting_row(value, width)


class SettingsScreen(BaseScreen):
    OPENED_BY = "open_settings"
    AUTO_FOCUS = "#settings-rows"
    FOOTER = "screen.enter screen.retry list.remove screen.back app.help"
    BINDINGS: ClassVar[list[BindingType]] = [
        worded(ENTER, N_("Change"), N_("change the setting")),
        worded(REMOVE, N_("Default"), N_("back to the default: the setting leaves the config file")),
        worded(RETRY, N_("Open again"), N_("close and reopen the app to apply all settings")),
        BACK,
    ]

    def __init__(self, context: AppContext, *, reopen: Callable[[], object]) -> None:
        """List the settings. `reopen` closes the app and opens it again."""
        super().__init__(context)
        self._reopen = reopen
        self.rows = SettingTable()

    def compose(self) -> ComposeResult:
        yield self.rows
        yield Static(id="settings-note", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        others = _("The others: {command}").format(command="subtitle-rag config edit")
        label_panel(self.rows, _("Settings · {n}").format(n=len(NAMES)), others)
        self._read()

    def _read(self) -> None:
        self.run_in_thread(
            lambda: read_app_settings(self.context.settings),
            ActionFailed,
            take=self._list,
            group="read",
            exclusive=True,
        )

    def _list(self, settings: list[AppSetting]) -> None:
        self.rows.fill(settings)
        self.refresh_bindings()
        self._show_note()

    @on(RowTable.CursorMoved)
    def _show_note(self) -> None:
        self._say(setting_note(setting) if (setting := self.rows.value) else "")

    def _say(self, text: str) -> None:
        self.query_one("#settings-note", Static).update(Content(text))

    # --- changes ---

    @on(RowTable.Selected)
    def action_take(self) -> None:
        """Toggle a switch, or ask for the value of any other setting."""
        setting = self.rows.value
        if setting is None or self._is_fixed(setting):
            return
        if setting.kind == "switch":
            self._change(setting, not setting.value)
        elif choices := self._known_choices(setting):
            self._ask(setting, choices)
        else:
            self.run_in_thread(
                lambda: setting_choices(self.context.runtime, setting.key),
                ActionFailed,
                take=lambda choices: self._ask(setting, choices),
                group="choices",
                exclusive=True,
            )

    def _is_fixed(self, setting: AppSetting) -> bool:
        """Return whether a change in the file would have no effect, and show why in a toast."""
        if setting.is_overridden:
            self.app.notify(setting_note(setting).splitlines()[-1], markup=False)
        return setting.is_overridden

    def _known_choices(self, setting: AppSetting) -> Sequence[str]:
        if setting.key == THEME:
            return ["", *sorted(self.app.available_themes)]
        return tuple(setting.rules.get("one_of", ()))

    def _ask(self, setting: AppSetting, choices: Sequence[str]) -> None:
        if self.app.screen is not self:
            return
        theme_before = self.app.theme

        def parsed(text: str) -> tuple[Any, str]:
            return parse_setting(setting, text, remote=self.context.settings.llm.remote)

        def take(text: str | None) -> None:
            value, mistake = (None, "") if text is None else parsed(text)
            if setting.key == THEME and text is None:
                self.app.theme = theme_before
            elif text is not None and not mistake and value != setting.value:
                self._change(setting, value)

        dialog = SettingDialog(
            setting,
            choices,
            mistake_in=lambda text: parsed(text)[1],
            preview=self._show_theme if setting.key == THEME else lambda _value: None,
            is_open=setting.key in TYPED_TOO,
        )
        self.app.push_screen(dialog, take)

    def _show_theme(self, name: str) -> None:
        if name in self.app.available_themes:
            self.app.theme = name

    def action_remove(self) -> None:
        setting = self.rows.value
        if setting and not self._is_fixed(setting) and setting.written is not None:
            self._change(setting, None)

    def _change(self, setting: AppSetting, value: Any) -> None:
        def take(settings: list[AppSetting]) -> None:
            self._list(settings)
            self._show_change(self.rows.values_by_key[setting.key])

        self.run_in_thread(
            lambda: change_app_setting(self.context.runtime, setting, value), self._failed, take=take, group="change"
        )

    def _show_change(self, setting: AppSetting) -> None:
        if setting.key == THEME:
            self._show_theme(setting.value)
        value = value_text(setting.key, setting.value)
        text = _("Saved: {name} – {value}.").format(name=setting.name, value=value)
        if not setting.is_live:
            text += " " + _("It is in force when the app opens again ({key}).").format(key=key("screen.retry"))
        self._say(clean(text))

    def _failed(self, error: AppError) -> None:
        """Reread the file and show the failure. Called in a worker."""
        self.call_later(self._read)
        self.call_later(
            self.app.notify, clean(error.hint), title=clean(error.message), severity="warning", markup=False
        )

    def action_again(self) -> None:
        self._reopen()
