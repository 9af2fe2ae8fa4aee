"""Entries of the command palette, in the user's language."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hits
from textual.dom import DOMNode
from textual.screen import Screen
from textual.system_commands import SystemCommandsProvider
from textual.widgets.option_list import Option

from subtitle_rag.base.i18n import N_, _
from subtitle_rag.tui.keys.commands import PLAY, PLAY_WITH
from subtitle_rag.tui.keys.keymap import acts_of
from subtitle_rag.tui.navigation import PagesApp
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.dialogs.confirmations import recents_confirmation
from subtitle_rag.tui.shared.progress.model_lines import download_size
from subtitle_rag.tui.shared.progress.offers import ModelDownload
from subtitle_rag.tui.shared.query_filters import query_chips, without_filters

PLACES = {
    "app": N_("Go to"),
    "scene": N_("Scene"),
    "search": N_("Find"),
    "answer": N_("Ask"),
    "library": N_("Library"),
    "video": N_("Video"),
    "marks": N_("Marks"),
    "checks": N_("Checks"),
    "screen": N_("Here"),
    "list": N_("Here"),
}
"""Prefixes of command titles, by the first part of the command's id."""


class OrderedCommands(SystemCommandsProvider):
    """Lists commands in the app's order. Textual sorts by name, which puts Quit first in Korean."""

    async def discover(self) -> Hits:
        for title, sentence, run, _is_offered in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(title, run, help=sentence)


class Palette(CommandPalette):
    """The palette, with its sentence for no matches in the user's language. Textual's is English."""

    def _start_no_matches_countdown(self, search_value: str) -> None:
        self._stop_no_matches_countdown()

        def show() -> None:
            if search_value:
                none = Option(_("No command has these words."), disabled=True, id=self._NO_MATCHES)
                self.query_one(CommandList).add_option(none)
            self._list_visible = bool(search_value)

        self._no_matches_timer = self.set_timer(self._NO_MATCHES_COUNTDOWN, show)


def open_themes(app: App[object]) -> None:
    from textual.theme import ThemeProvider

    app.push_screen(Palette(providers=[ThemeProvider], placeholder=_("Search for a theme")))


def entries(app: PagesApp, screen: Screen[Any]) -> Iterator[SystemCommand]:
    """Yield the commands of `screen`, then those of the app, Quit last."""
    from subtitle_rag.tui.screens.search.search_screen import SearchScreen

    context = app.context
    if isinstance(screen, SearchScreen) and query_chips(query := screen.query_line.value):
        clear = partial(screen.page.rewrite, without_filters(query))
        yield SystemCommand(_("Find: clear filters"), _("Search everywhere again"), clear)
    acts = acts_of(screen)
    quit = acts.pop("app.quit", None)
    for id, (node, binding) in acts.items():
        if id == PLAY_WITH.id:  # the key that plays a scene also searches in a field, so it is no entry itself
            yield _entry(app, PLAY, "scene('play')", node)
        if not binding.system:
            yield _entry(app, binding, binding.action, node)
    yield from _of_background(app)
    if context.settings.is_sample:
        yield SystemCommand(_("Open: your library"), _("Leave the sample"), app.action_switch_library)
    else:
        yield SystemCommand(
            _("Open: sample"), _("Nine invented videos, apart from your library"), app.action_switch_library
        )
    yield SystemCommand(_("View: theme"), _("Choose the colours"), partial(open_themes, app))
    if isinstance(screen, SearchScreen) and screen.page.recent.queries:
        forget = _("The start page no longer lists them")
        question = recents_confirmation(len(screen.page.recent.queries))
        ask = partial(app.push_screen, ConfirmScreen(question, screen.page.recent.forget))
        yield SystemCommand(_("Find: forget recent searches"), forget, ask)
    if quit:
        node, binding = quit
        yield SystemCommand(_(binding.description), _sentence(binding), partial(app.run_action, binding.action))


def _entry(app: PagesApp, binding: Binding, action: str, node: DOMNode) -> SystemCommand:
    place = PLACES[(binding.id or "").split(".")[0]]
    title = f"{_(place)}: {_(binding.description)}"
    return SystemCommand(title, _sentence(binding), partial(app.run_action, action, node))


def _sentence(binding: Binding) -> str:
    sentence = _(binding.tooltip)
    return sentence[:1].upper() + sentence[1:]


def _of_background(app: PagesApp) -> Iterator[SystemCommand]:
    """Yield the commands whose titles depend on the background work."""
    context = app.context
    if context.background.can_toggle:
        title = _("Background: pause") if context.background.is_active else _("Background: resume")
        sentence = _("Contexts, and vectors for search by meaning, are made while you search")
        yield SystemCommand(title, sentence, context.toggle_background)
    if context.background.can_ask_for_contexts:
        sentence = _("A local model describes each scene, so that search finds more.")
        yield SystemCommand(_("AI descriptions: begin"), sentence, context.background.ask_for_contexts)
    if context.models.is_running:
        yield SystemCommand(_("Models: stop"), _("Stop fetching; what has arrived is kept"), app.action_download_models)
    elif (offer := ModelDownload.among(app.stages)) and offer.fetchable:
        yield SystemCommand(_("Models: fetch"), download_size(offer), app.action_download_models)
