"""The channels of a list, to choose from before anything of them is fetched.

What is chosen and counted is kept in the library when the screen closes, so that the choice can be gone on with.
"""

import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from subtitle_rag import channel_choices
from subtitle_rag.captions import read_address_list
from subtitle_rag.i18n import _, n_
from subtitle_rag.requests import JobRequest
from subtitle_rag.tui.keys import bindings, key
from subtitle_rag.tui.messages import ActionFailed, ChannelsCounted
from subtitle_rag.tui.screens.base_screen import FieldScreen
from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text import MUTED, failure_words, heading
from subtitle_rag.tui.threads import AppThread, to_app_error
from subtitle_rag.tui.widgets import KeyBar, Row, RowList, TextField

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subtitle_rag.captions import Source
    from subtitle_rag.channel_choices import ChannelChoice
    from subtitle_rag.domain import AppError
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.controllers import AppContext


class CountThread(AppThread):
    """Asks YouTube how many videos each channel has, until it is stopped."""

    def __init__(self, runtime: "Runtime", screen: "ChoiceScreen", choices: "Sequence[ChannelChoice]") -> None:
        super().__init__("counting", runtime, screen.post_message)
        self._choices = choices
        self.stop = threading.Event()

    def run(self) -> None:
        library, settings = self._runtime.library, self._runtime.settings.youtube
        try:
            for counted in channel_choices.count_videos(library, settings, self._choices, self.stop):
                self._post(ChannelsCounted(counted))
        except Exception as error:  # whatever a door throws, the app stays up
            self._post(ActionFailed(to_app_error(error)))
        self._post(ChannelsCounted(None))


class ChoiceScreen(FieldScreen):
    AUTO_FOCUS = "#choice-rows"
    BINDINGS = bindings(
        "choice.take choice.toggle choice.all choice.count list.query screen.switch screen.back",
        "list.down list.up list.page-down list.page-up",
    )

    text_field = getters.query_one("#choice-query", TextField)

    def __init__(self, context: "AppContext", path: Path | None) -> None:
        """`path` is the file of the list; None goes on with the one that was left."""
        super().__init__(context)
        self._path = path
        self.rows: RowList[ChannelChoice] = RowList("choice-rows")
        self._choices: dict[str, ChannelChoice] = {}
        self._others = 0
        self._counting: CountThread | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="choice-title", markup=False)
        yield TextField(_("Search among the channels"), id="choice-query")
        yield self.rows
        yield KeyBar()

    def on_mount(self) -> None:
        self.run_in_thread(self._read, self._fail, take=self._take_list, group="choice")

    def _read(self) -> "tuple[list[ChannelChoice], int]":
        library = self.context.runtime.library
        if self._path is None:
            return channel_choices.kept_choice(library), 0
        address_list = read_address_list(self._path)
        return channel_choices.begin_choice(library, address_list), address_list.others

    def _take_list(self, reading: "tuple[list[ChannelChoice], int]") -> None:
        choices, self._others = reading
        self._choices = {choice.url: choice for choice in choices}
        self._show()

    def _fail(self, error: "AppError") -> None:
        self.app.post_message(ActionFailed(error))
        self.dismiss()

    # --- what is shown ---

    @on(Input.Changed, "#choice-query")
    def _show(self) -> None:
        text = self.text_field.value
        choices = {url: choice for url, choice in self._choices.items() if choice.has(text)}
        with self.rows.prevent(RowList.Highlighted):
            self.rows.put(choices, self._row)
            self.rows.cursor = (self.rows.cursor or 0) if choices else None
        self._show_title()

    def _show_title(self) -> None:
        choices = [choice for choice in self._choices.values() if choice.is_chosen]
        parts = [n_("{n} channel", "{n} channels", len(self._choices)), _("{n} chosen").format(n=len(choices))]
        if estimate := channel_choices.estimate(choices, self.context.settings.youtube):
            unknown = sum(choice.videos is None for choice in choices)
            more = n_("{n} not counted", "{n} not counted", unknown)
            parts.append(f"{estimate} ({more})" if unknown else estimate)
        if self._others:
            parts.append(n_("{n} other address left out", "{n} other addresses left out", self._others))
        if self._counting:
            parts.append(_("counting…"))
        self.query_one("#choice-title", Static).update(heading(_("Choose channels"), " · ".join(parts)))
        self.refresh_bindings()

    def _row(self, choice: "ChannelChoice") -> Row:
        sign = "[✓] " if choice.is_chosen else "[ ] "
        note = _("followed already") if choice.is_followed else ""
        name = Content(sign) + Content.styled(clean(choice.label), "bold" if choice.is_chosen else "")
        first = name + Content.styled(f"   {note}", MUTED) if note else name
        return first, Content.styled(f"    {self._count_text(choice)} · {clean(choice.url)}", MUTED)

    def _count_text(self, choice: "ChannelChoice") -> str:
        if choice.failure:
            return _("could not be counted")
        if choice.videos is None:
            return _("videos unknown")
        return channel_choices.estimate([choice], self.context.settings.youtube)

    # --- the choice ---

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("take", "choose_row", "toggle_all") and not self._choices:
            return False
        if action == "choose_row" and self.text_field.has_focus:  # a space is typed
            return False
        if action == "count":
            return any(choice.videos is None for choice in self._choices.values())
        return super().allows(action, parameters)

    def action_choose_row(self) -> None:
        if choice := self.rows.value:
            self._put([replace(choice, is_chosen=not choice.is_chosen)])
            self.rows.move(1)

    def action_toggle_all(self) -> None:
        """Choose all that are listed and not followed, or none of them."""
        listed = self.rows.values
        free = [choice for choice in listed if not choice.is_followed]
        is_chosen = not all(choice.is_chosen for choice in free)
        self._put([replace(choice, is_chosen=is_chosen) for choice in (free if is_chosen else listed)])

    def _put(self, changed: "Sequence[ChannelChoice]") -> None:
        self._choices |= {choice.url: choice for choice in changed}
        self._show()

    @on(RowList.RowDoubleClicked)
    def _row_double_clicked(self) -> None:
        self.action_choose_row()

    def action_take(self) -> None:
        """Fetch what is chosen."""
        choices = list(self._choices.values())
        if not any(choice.is_chosen for choice in choices):
            sentence = _("Nothing is chosen yet: {key} chooses the row.").format(key=key("choice.toggle"))
            self.context.app.notify(sentence, markup=False)
            return
        library = self.context.runtime.library
        self.run_in_thread(
            lambda: channel_choices.take_choice(library, choices), self._fail, take=self._fetch, group="choice"
        )

    def _fetch(self, sources: "Sequence[Source]") -> None:
        for source in sources:
            self.context.jobs.start(JobRequest(sources=(source,)))
        self.dismiss()

    # --- counts ---

    def action_count(self) -> None:
        """Ask YouTube for the numbers of videos: of what is chosen, else of all that are listed; or stop that."""
        if self._counting:
            self._counting.stop.set()
            return
        listed = self.rows.values
        choices = [choice for choice in listed if choice.is_chosen]
        self._counting = CountThread(self.context.runtime, self, choices or listed)
        self._counting.start()
        self._show_title()

    @on(ChannelsCounted)
    def _counted(self, message: ChannelsCounted) -> None:
        if message.counted is None:
            self._counting = None
        else:
            counted = channel_choices.with_count(self._choices.values(), message.counted)
            self._put([choice for choice in counted if choice.url == message.counted.url])
            if message.counted.is_last:
                self.context.app.notify(failure_words(message.counted.failure, {}), markup=False, severity="warning")
        self._show_title()

    # --- keys ---

    def action_switch(self) -> None:
        (self.rows if self.text_field.has_focus else self.text_field).focus()

    def action_move(self, rows: int) -> None:
        self.rows.move(rows)

    def action_page(self, pages: int) -> None:
        self.rows.move(pages * self.rows.page)

    def action_back(self) -> None:
        """Leave the field, else keep the choice as it is and close."""
        if self.text_field.has_focus:
            self.text_field.value = ""
            self.rows.focus()
            return
        if not self._choices:  # not read yet: an empty choice would end the one that is kept
            self.dismiss()
            return
        library, choices = self.context.runtime.library, list(self._choices.values())
        self.run_in_thread(
            lambda: channel_choices.keep_choice(library, choices),
            self._fail,
            take=lambda _kept: self.dismiss(),
            group="choice",
        )

    def on_unmount(self) -> None:
        if self._counting:
            self._counting.stop.set()
