"""One channel's settings: tabs and languages to fetch, the model for its contexts, and its names."""

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Checkbox, Input, Select, Static, TextArea

from subtitle_rag.channel_settings import (
    ChannelChoices,
    ChannelForm,
    add_names,
    installed_models,
    propose_names,
    read_channel_form,
    save_channel_form,
)
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.tui.keys import bindings, key
from subtitle_rag.tui.messages import ActionFailed, ChannelChanged
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text import MUTED, heading, model_rows
from subtitle_rag.tui.widgets import KeyBar, TextField

if TYPE_CHECKING:
    from subtitle_rag.domain import AppError
    from subtitle_rag.library import ChannelState
    from subtitle_rag.tui.controllers import AppContext

TAB_NAMES = {"videos": N_("Videos"), "shorts": N_("Shorts"), "streams": N_("Live")}
"""Names of the domain's `TABS`, in their order."""


class Tick(Checkbox):
    """A box whose state is visible without colours."""

    @property
    def _button(self) -> Content:
        return Content(f"[{'x' if self.value else ' '}]")


def _setting(id: str, label: str, *fields: Widget) -> Horizontal:
    return Horizontal(Static(Content(label), classes="label", markup=False), *fields, classes="setting", id=id)


class ChannelScreen(BaseScreen):
    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (56, "-roomy")]  # noqa: RUF012 - Textual declares it so
    AUTO_FOCUS = ""
    FOOTER_HIDDEN = BaseScreen.FOOTER_HIDDEN | {"library.stop"}
    BINDINGS = bindings("settings.save screen.back")
    IS_FORM = True

    names = getters.query_one("#names", TextArea)
    model = getters.query_one("#model", Select)
    languages = getters.query_one("#languages", TextField)

    def __init__(self, context: "AppContext", channel: "ChannelState") -> None:
        super().__init__(context)
        self._channel = channel
        self._form: ChannelForm | None = None
        self._models: list[str] | None = None
        self._warned = False
        """Esc was pressed once with unsaved changes."""

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="settings", can_focus=False):
            yield Static(id="settings-title", markup=False)
            ticks = (Tick(Content(_(TAB_NAMES[tab])), id=f"tab-{tab}", compact=True) for tab in TAB_NAMES)
            # until the models are known
            models = Select[str]([("…", "…")], allow_blank=False, type_to_search=False, id="model", compact=True)
            yield _setting("tabs", _("Fetch"), *ticks)
            yield _setting("spoken", _("Captions in"), TextField("ko, en", id="languages"))
            yield _setting("writer", _("Contexts by"), models)
            yield Static(id="about-names", markup=False)
            yield TextArea(id="names", compact=True, highlight_cursor_line=False)
            with Horizontal(id="settings-buttons"):
                yield Button(Content(_("Save")), variant="primary", id="save", compact=True)
                yield Button(Content(_("Propose names")), id="propose", compact=True)
            yield Static(id="settings-said", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        channel = self._channel
        self.query_one("#settings").disabled = True
        self.names.cursor_blink = False  # as in `TextField`
        self.query_one("#settings-title", Static).update(heading(_("Settings"), clean(channel.name)))
        about = _("Names, one per line, for the model that writes contexts.")
        self.query_one("#about-names", Static).update(Content.styled(about, MUTED))
        self.run_in_thread(
            lambda: read_channel_form(self.context.runtime, channel.channel_id, channel.name, channel.sources),
            ActionFailed,
            take=self._show_form,
            group="settings",
        )

    def _say(self, text: str) -> None:
        self.query_one("#settings-said", Static).update(Content(clean(text)))

    def _translate(self, binding: Binding) -> Binding:
        translation = super()._translate(binding)
        closes = binding.key == "escape"  # the list of models too
        return replace(translation, description=_("Back")) if closes else translation

    # --- values ---

    def _show_form(self, form: ChannelForm) -> None:
        self._form = form
        self.query_one("#settings").disabled = False
        for tab in TAB_NAMES:
            self.query_one(f"#tab-{tab}", Checkbox).value = tab in form.choices.tabs
        self.languages.value = form.choices.language_text
        self.names.text = form.choices.name_text
        self.names.move_cursor(self.names.document.end)
        self.query_one("#tabs").display = form.has_tabs
        self.query_one("#spoken").display = bool(form.sources)
        for part in ("#writer", "#about-names", "#names", "#propose"):
            self.query_one(part).display = form.channel_id is not None
        self._list_models(form.choices.model)
        self.query_one("#save").display = bool(form.sources or form.channel_id)
        first = "#tab-videos" if form.has_tabs else "#languages" if form.sources else "#model"
        self.query_one(first).focus()
        self.run_in_thread(
            lambda: installed_models(self.context.runtime),
            lambda _error: None,
            take=self._models_read,
            group="settings",
        )

    def _models_read(self, names: list[str]) -> None:
        self._models = names
        if not self.model.expanded:
            model = self.model.value
            self._list_models(model if isinstance(model, str) else "")

    def _list_models(self, model: str) -> None:
        if self._form:
            rows = model_rows(self._form, self._models, self.context.settings.language)
            self.model.set_options([(Content(clean(label)), name) for label, name in rows])
            self.model.value = model

    @property
    def _choices(self) -> ChannelChoices:
        model = self.model.value
        return ChannelChoices.typed(
            (tab for tab in TAB_NAMES if self.query_one(f"#tab-{tab}", Checkbox).value),
            self.languages.value,
            self.names.text,
            model if isinstance(model, str) else "",
        )

    # --- keys ---

    @on(Button.Pressed, "#save")
    def action_save(self) -> None:
        form, choices = self._form, self._choices
        if form is None:
            return
        if form.has_tabs and not choices.tabs:
            self._say("! " + _("Choose at least one of the kinds of videos."))
        elif form.sources and not choices.languages:
            self._say("! " + _("Name a language of captions, for example: ko, en"))
        else:
            self.run_in_thread(
                lambda: ChannelChanged(form.name, save_channel_form(self.context.runtime.library, form, choices)),
                self._failed,
                take=self._saved,
                group="save",
                exclusive=True,
            )

    def _saved(self, changed: ChannelChanged) -> None:
        self.dismiss()
        self.app.post_message(changed)

    def _failed(self, error: "AppError") -> None:
        """Say why. Called in a worker."""
        self.call_later(self._say, f"! {error.message} {error.hint}")

    @on(Button.Pressed, "#propose")
    def _propose(self) -> None:
        channel_id = self._form and self._form.channel_id
        if channel_id:
            self._say(_("Reading its captions…"))
            self.run_in_thread(
                lambda: propose_names(self.context.runtime, channel_id),
                self._failed,
                take=self._add_names,
                group="propose",
                exclusive=True,
            )

    def _add_names(self, names: list[str]) -> None:
        text, count = add_names(self.names.text, names)
        if count:
            self.names.text = text
            sentence = n_(
                "{n} name proposed: delete it if it is not a name.",
                "{n} names proposed: delete those that are not names.",
                count,
            )
            self._say(sentence)
            self.names.focus()
        else:
            self._say(_("No further names were found."))

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Checkbox.Changed)
    @on(Select.Changed)
    def _changed(self) -> None:
        if self._warned:
            self._warned = False
            self._say("")

    def can_leave(self) -> bool:
        unchanged = self._form is None or self._choices == self._form.choices
        if not unchanged and not self._warned:
            self._warned = True
            self._say(_("! Not saved yet. Press {key} again to discard the changes.").format(key=key("screen.back")))
            return False
        return True

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "back" and self.model.expanded:  # the same key closes the list of models
            return False
        return super().allows(action, parameters)

    def action_back(self) -> None:
        if self.can_leave():
            self.dismiss()
