"""The command palette in the user's language. Most of its entries have keys too."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.actions import parse
from textual.app import App, SystemCommand

from subtitle_rag.i18n import _
from subtitle_rag.tui.commands import COMMANDS
from subtitle_rag.tui.keymap import declared_by
from subtitle_rag.tui.state import query_filters
from subtitle_rag.tui.text import model_lines

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.screen import Screen

    from subtitle_rag.tui.context import AppContext

SEARCH = ("scene.play-with", "scene.copy", "search.preview", "search.explain", "search.refine", "search.filter")
MARKS = (
    "scene.mark",
    "scene.export",
    "marks.play-all",
    "marks.edit",
    "marks.export",
    "marks.copy-markdown",
    "marks.remove",
)
SCREENS = ("app.transcript", "app.overview", "app.marks", "app.library", "app.ask")
ANSWERS = ("answer.copy-text", "answer.new", "answer.history")
ROWS = ("channel.sync", "video.retry", "video.open", "library.failures", "channel.settings", "library.remove")
JOBS = ("library.undo", "library.sync", "library.stop")
"""Ids of commands, in the order of the palette."""


def open_palette(app: App[object]) -> None:
    from textual.command import CommandPalette

    if not CommandPalette.is_open(app):
        app.push_screen(CommandPalette(placeholder=_("Search for a command")))


def open_themes(app: App[object]) -> None:
    from textual.command import CommandPalette
    from textual.theme import ThemeProvider

    app.push_screen(CommandPalette(providers=[ThemeProvider], placeholder=_("Search for a theme")))


def entries(
    app: App[object],
    context: "AppContext",
    screen: "Screen[Any]",
    *,
    switch_library: Callable[[], object],
    themes: Callable[[], None],
) -> Iterator[SystemCommand]:
    """List the commands of `screen` and of the app.

    `switch_library` opens the sample or the user's own library, `themes` the list of themes.
    """
    from subtitle_rag.tui.screens import SearchScreen

    yield from _commands(screen, SEARCH)
    yield from _commands(screen, MARKS)
    if isinstance(screen, SearchScreen):
        yield from _commands(screen.scenes, ("list.copy-markdown",))
        yield from _of_query(screen)
    yield from _commands(app, SCREENS)
    for ids in (ANSWERS, ROWS):
        yield from _commands(screen, ids)
    yield from _commands(app, JOBS)
    yield from _of_background(app, context)
    if context.settings.is_sample:
        yield SystemCommand(_("Open: your library"), _("Leave the sample"), switch_library)
    else:
        yield SystemCommand(_("Open: sample"), _("Nine invented videos, apart from your library"), switch_library)
    yield from _commands(app, ("app.checks",))
    yield _entry(app, "app.help")
    yield SystemCommand(_("View: theme"), _("Choose the colours"), themes)
    yield from _commands(app, ("app.quit",))


def _commands(node: "DOMNode", ids: tuple[str, ...]) -> Iterator[SystemCommand]:
    """List the commands among `ids` that `node` declares and allows."""
    declared = declared_by(type(node))
    for id in ids:
        _namespace, action, parameters = parse(COMMANDS[id].action)
        if id in declared and node.check_action(action, parameters):
            yield _entry(node, id)


def _entry(node: "DOMNode", id: str) -> SystemCommand:
    command = COMMANDS[id]
    assert command.palette
    title, sentence = command.palette
    return SystemCommand(_(title), _(sentence), partial(node.app.run_action, command.action, node))


def _of_query(screen: Any) -> Iterator[SystemCommand]:
    """List the commands without a key."""
    query = screen.query_line.value
    if query_filters.of(query):
        clear = partial(screen.rewrite, query_filters.cleared(query))
        yield SystemCommand(_("Find: clear filters"), _("Search everywhere again"), clear)
    if screen.recent.queries:
        forget = _("The start page no longer lists them")
        yield SystemCommand(_("Find: forget recent searches"), forget, screen.recent.forget)


def _of_background(app: App[object], context: "AppContext") -> Iterator[SystemCommand]:
    """List the commands whose title depends on the work in the background."""
    if context.background.can_toggle:
        title = _("Background: pause") if context.background.is_active else _("Background: resume")
        sentence = _("Contexts, and vectors for search by meaning, are made while you search")
        yield SystemCommand(title, sentence, context.toggle_background)
    models = partial(app.run_action, COMMANDS["models.fetch"].action)
    if context.models.is_running:
        yield SystemCommand(_("Models: stop"), _("Stop fetching; what has arrived is kept"), models)
    elif (offer := context.app.offer) and offer.fetchable:
        yield SystemCommand(_("Models: fetch"), model_lines.size(offer), models)
