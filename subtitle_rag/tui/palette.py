"""The command palette in the user's language. Most of its entries are commands with keys too."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from textual.app import App, SystemCommand
from textual.command import CommandPalette, DiscoveryHit, Hits
from textual.screen import Screen
from textual.system_commands import SystemCommandsProvider

from subtitle_rag.i18n import _
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.keys.commands import COMMANDS, Command
from subtitle_rag.tui.state.offers import ModelDownload
from subtitle_rag.tui.state.query_filters import query_chips, without_filters
from subtitle_rag.tui.text.confirmations import recents_confirmation
from subtitle_rag.tui.text.model_lines import download_size


class OrderedCommands(SystemCommandsProvider):
    """Offers the commands in the app's order: Textual sorts them by name, and Quit comes first in Korean."""

    async def discover(self) -> Hits:
        for title, sentence, run, _is_offered in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(title, run, help=sentence)


def open_themes(app: App[object]) -> None:
    from textual.theme import ThemeProvider

    app.push_screen(CommandPalette(providers=[ThemeProvider], placeholder=_("Search for a theme")))


def entries(
    app: App[object],
    context: AppContext,
    screen: Screen[Any],
    switch_library: Callable[[], object],
) -> Iterator[SystemCommand]:
    """List the commands of `screen` and of the app. `switch_library` opens the sample or the user's own library."""
    from subtitle_rag.tui.screens.search_screen import SearchScreen

    if isinstance(screen, SearchScreen) and query_chips(query := screen.query_line.value):
        clear = partial(screen.page.rewrite, without_filters(query))
        yield SystemCommand(_("Find: clear filters"), _("Search everywhere again"), clear)
    nodes = (screen, *screen.query("SceneList"), app)
    quit = COMMANDS["app.quit"]
    for command in COMMANDS.values():
        if command is quit:
            continue
        node = next((node for node in nodes if command.title and keymap.can_run(node, command)), None)
        if node is not None:
            run = partial(app.run_action, command.binding.action, node)
            yield SystemCommand(_(command.title), _sentence(command), run)
    yield from _of_background(app, context)
    if context.settings.is_sample:
        yield SystemCommand(_("Open: your library"), _("Leave the sample"), switch_library)
    else:
        yield SystemCommand(_("Open: sample"), _("Nine invented videos, apart from your library"), switch_library)
    yield SystemCommand(_("View: theme"), _("Choose the colours"), partial(open_themes, app))
    if isinstance(screen, SearchScreen) and screen.page.recent.queries:
        forget = _("The start page no longer lists them")
        question = recents_confirmation(len(screen.page.recent.queries))
        ask = partial(app.push_screen, ConfirmScreen(question, screen.page.recent.forget))
        yield SystemCommand(_("Find: forget recent searches"), forget, ask)
    yield SystemCommand(_(quit.title), _sentence(quit), partial(app.run_action, quit.binding.action))


def _sentence(command: Command) -> str:
    sentence = _(command.sentence)
    return sentence[:1].upper() + sentence[1:]


def _of_background(app: App[object], context: AppContext) -> Iterator[SystemCommand]:
    """List the commands whose title depends on the work in the background."""
    if context.background.can_toggle:
        title = _("Background: pause") if context.background.is_active else _("Background: resume")
        sentence = _("Contexts, and vectors for search by meaning, are made while you search")
        yield SystemCommand(title, sentence, context.toggle_background)
    if context.background.can_ask_for_contexts:
        sentence = _("A local model describes each scene, so that search finds more.")
        yield SystemCommand(_("AI descriptions: begin"), sentence, context.background.ask_for_contexts)
    models = partial(app.run_action, COMMANDS["models.fetch"].binding.action)
    if context.models.is_running:
        yield SystemCommand(_("Models: stop"), _("Stop fetching; what has arrived is kept"), models)
    elif (offer := ModelDownload.among(context.app.stages)) and offer.fetchable:
        yield SystemCommand(_("Models: fetch"), download_size(offer), models)
