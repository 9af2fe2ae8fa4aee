"""The command palette in the user's language. Most of its entries have keys too."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.actions import parse
from textual.app import App, SystemCommand

from subtitle_rag.i18n import N_, _
from subtitle_rag.tui.keys import COMMANDS, declared_by
from subtitle_rag.tui.state import ModelDownload, query_chips, without_filters
from subtitle_rag.tui.text import download_size

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.screen import Screen

    from subtitle_rag.tui.controllers import AppContext

Titles = dict[str, tuple[str, str]]
"""Id of a command → title and sentence, in the order of the palette."""
SEARCH: Titles = {
    "scene.play-with": (N_("Find: choose player"), N_("Choose the player for this scene")),
    "scene.copy": (N_("Find: copy link"), N_("Copy the link to the chosen scene")),
    "search.preview": (N_("Find: preview"), N_("Show or hide the preview of the scene")),
    "search.explain": (N_("Find: explain"), N_("Why the chosen scene was found")),
    "search.refine": (N_("Find: refine"), N_("Have the reranker read 150 scenes and put the best first")),
    "search.filter": (N_("Find: filter"), N_("By channel, video, date or kind")),
}
MARKS: Titles = {
    "scene.mark": (N_("Find: mark"), N_("Mark the chosen scene; of a marked one, edit note and tag")),
    "scene.export": (N_("Find: export"), N_("The scene, the results or the marks, in ten formats")),
    "marks.play-all": (N_("Marks: play all"), N_("The listed scenes one after another, in mpv")),
    "marks.edit": (N_("Marks: note and tag"), N_("Of the chosen mark")),
    "marks.export": (N_("Marks: export"), N_("The listed scenes, or the chosen one, in ten formats")),
    "marks.copy-markdown": (N_("Marks: copy as Markdown"), N_("The scene with its video, context and links")),
    "marks.remove": (N_("Marks: remove"), N_("The chosen mark; the scene stays in the library")),
}
LIST: Titles = {
    "list.copy-markdown": (N_("Find: copy as Markdown"), N_("The chosen scene with its video, context and links")),
}
SCREENS: Titles = {
    "app.transcript": (N_("Open: transcript"), N_("The whole transcript of the chosen video, with search")),
    "app.overview": (N_("Open: overview"), N_("Summary, sections, telling words and names of the video or channel")),
    "app.marks": (N_("Open: marks"), N_("The marked scenes, with notes and tags")),
    "app.library": (N_("Open: library"), N_("Videos, and new captions")),
    "app.ask": (N_("Open: answers"), N_("Ask a question of the videos")),
}
ANSWERS: Titles = {
    "answer.copy-text": (N_("Ask: copy answer"), N_("The answer with the videos, times and links that it cites")),
    "answer.new": (N_("Ask: new question"), N_("About other scenes")),
    "answer.again": (N_("Ask: once more"), N_("With another seed, after an answer that repeats itself")),
    "answer.whole": (N_("Ask: of all captions"), N_("Instead of the best scenes, and back")),
    "answer.over": (
        N_("Ask: of each video or month"),
        N_("Then from all these answers; once more for months, and back"),
    ),
    "answer.history": (N_("Ask: earlier answers"), N_("Read them again, or delete them")),
}
ROWS: Titles = {
    "channel.sync": (N_("Channel: sync"), N_("Check this channel alone for new videos")),
    "video.retry": (N_("Video: retry"), N_("Try it again at once")),
    "video.open": (N_("Video: browser"), N_("Open its page")),
    "library.failures": (N_("Library: failures"), N_("Only the videos that failed, or all again")),
    "channel.settings": (N_("Channel: settings"), N_("Tabs, languages, names and the model of its contexts")),
    "library.remove": (N_("Library: remove"), N_("The chosen video or channel")),
}
JOBS: Titles = {
    "library.undo": (N_("Library: restore"), N_("What was removed last")),
    "library.sync": (N_("Library: sync"), N_("Check for new videos, or resume what was stopped")),
    "library.stop": (N_("Library: stop"), N_("Stop the job; what is done stays")),
}
CHECKS: Titles = {"app.checks": (N_("Open: checks"), N_("What is installed, what is missing, and how to fix it"))}
HELP: Titles = {"app.help": (N_("Open: help"), N_("Keys and how to write a query"))}
QUIT: Titles = {"app.quit": (N_("Quit"), N_("Leave the app"))}


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
    switch_library: Callable[[], object],
) -> Iterator[SystemCommand]:
    """List the commands of `screen` and of the app. `switch_library` opens the sample or the user's own library."""
    from subtitle_rag.tui.screens import SearchScreen

    yield from _commands(screen, SEARCH)
    yield from _commands(screen, MARKS)
    if isinstance(screen, SearchScreen):
        yield from _commands(screen.scenes, LIST)
        yield from _of_query(screen)
    yield from _commands(app, SCREENS)
    yield from _commands(screen, ANSWERS)
    yield from _commands(screen, ROWS)
    yield from _commands(app, JOBS)
    yield from _of_background(app, context)
    if context.settings.is_sample:
        yield SystemCommand(_("Open: your library"), _("Leave the sample"), switch_library)
    else:
        yield SystemCommand(_("Open: sample"), _("Nine invented videos, apart from your library"), switch_library)
    yield from _commands(app, CHECKS)
    yield from _commands(app, HELP, always=True)
    yield SystemCommand(_("View: theme"), _("Choose the colours"), partial(open_themes, app))
    yield from _commands(app, QUIT)


def _commands(node: "DOMNode", titles: Titles, *, always: bool = False) -> Iterator[SystemCommand]:
    """List the commands that `node` declares and, unless `always`, allows."""
    declared = declared_by(type(node))
    for id, (title, sentence) in titles.items():
        action = COMMANDS[id].action
        _namespace, name, parameters = parse(action)
        if id in declared and (always or node.check_action(name, parameters)):
            yield SystemCommand(_(title), _(sentence), partial(node.app.run_action, action, node))


def _of_query(screen: Any) -> Iterator[SystemCommand]:
    """List the commands without a key."""
    query = screen.query_line.value
    if query_chips(query):
        clear = partial(screen.rewrite, without_filters(query))
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
    elif (offer := ModelDownload.among(context.app.stages)) and offer.fetchable:
        yield SystemCommand(_("Models: fetch"), download_size(offer), models)
