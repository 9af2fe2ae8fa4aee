"""The command palette in the user's language. Its entries only call actions that have keys too, or a theme."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand

from subtitle_rag.i18n import _
from subtitle_rag.tui.state.job_request import sample_request
from subtitle_rag.tui.text import model_lines

if TYPE_CHECKING:
    from textual.screen import Screen

    from subtitle_rag.tui.app import SubtitleApp
    from subtitle_rag.tui.screens.library_screen import LibraryScreen
    from subtitle_rag.tui.screens.search_screen import SearchScreen


def open_palette(app: "SubtitleApp") -> None:
    from textual.command import CommandPalette

    if not CommandPalette.is_open(app):
        app.push_screen(CommandPalette(placeholder=_("Search for a command")))


def open_themes(app: "SubtitleApp") -> None:
    from textual.command import CommandPalette
    from textual.theme import ThemeProvider

    app.push_screen(CommandPalette(providers=[ThemeProvider], placeholder=_("Search for a theme")))


def entries(app: "SubtitleApp", screen: "Screen[Any]") -> Iterator[SystemCommand]:
    """What can be done from `screen`."""
    from subtitle_rag.tui.screens.answer_screen import AnswerScreen
    from subtitle_rag.tui.screens.library_screen import LibraryScreen

    if screen is app.search_screen:
        yield from _search(app, app.search_screen)
    if isinstance(screen, AnswerScreen):
        yield SystemCommand(_("Ask: new question"), _("About other scenes"), screen.action_anew)
        yield SystemCommand(_("Ask: earlier answers"), _("Read them again, or delete them"), screen.action_history)
    if isinstance(screen, LibraryScreen):
        yield from _rows(screen)
    yield from _work(app)
    yield SystemCommand(_("Open: sample"), _("Index the sample captions"), lambda: app.jobs.start(sample_request()))
    if app.check_action("checks", ()):
        told = _("What is there, what is missing, and what mends it")
        yield SystemCommand(_("Open: checks"), told, app.action_checks)
    yield SystemCommand(_("Open: help"), _("Keys and how to write a query"), app.action_help)
    yield SystemCommand(_("View: theme"), _("Choose the colours"), app.search_themes)
    yield SystemCommand(_("Quit"), _("Leave the app"), app.action_leave)


def _search(app: "SubtitleApp", screen: "SearchScreen") -> Iterator[SystemCommand]:
    """What can be done with the query and the chosen scene, and where the search leads."""
    choose = _("Choose what plays the chosen scene")
    yield SystemCommand(_("Find: choose player"), choose, screen.action_choose_player)
    yield SystemCommand(_("Find: copy link"), _("Copy the link to the chosen scene"), screen.action_copy_link)
    yield SystemCommand(_("Find: explain"), _("Why the chosen scene was found"), screen.action_explain)
    yield SystemCommand(_("Find: filter"), _("By channel, video, date or kind"), screen.action_filter)
    if screen.filtered:
        yield SystemCommand(_("Find: clear filters"), _("Search everywhere again"), screen.clear_filters)
    if screen.recent.queries:
        forget = _("The calm page no longer lists them")
        yield SystemCommand(_("Find: forget recent searches"), forget, screen.recent.forget)
    yield SystemCommand(_("Open: library"), _("Videos, and new captions"), app.action_library)
    if app.check_action("ask", ()):
        yield SystemCommand(_("Open: answers"), _("Ask a question of the videos"), app.action_ask)


def _work(app: "SubtitleApp") -> Iterator[SystemCommand]:
    """The job, what is made in the background, and the models."""
    if app.check_action("undo_removal", ()):
        yield SystemCommand(_("Library: bring back"), _("What was removed last"), app.action_undo_removal)
    if app.check_action("sync", ()):
        told = _("Look for new videos, or go on with what was stopped")
        yield SystemCommand(_("Library: sync"), told, app.action_sync)
    if app.check_action("stop", ()):
        yield SystemCommand(_("Library: stop"), _("Stop the job; what is done stays"), app.action_stop)
    if app.background.can_toggle:
        title = _("Background: pause") if app.background.is_active else _("Background: go on")
        told = _("Contexts, and vectors for search by meaning, are made while you search")
        yield SystemCommand(title, told, app.action_background)
    if app.models.is_running:
        yield SystemCommand(_("Models: stop"), _("Stop fetching; what has arrived is kept"), app.action_models)
    elif app.offer and app.offer.fetchable:
        yield SystemCommand(_("Models: fetch"), model_lines.size(app.offer), app.action_models)


def _rows(screen: "LibraryScreen") -> Iterator[SystemCommand]:
    """What can be done with the row under the cursor, and with those that failed."""
    told = (
        ("sync_channel", _("Channel: sync"), _("Look for new videos of it alone")),
        ("retry", _("Video: retry"), _("Ask for it again at once")),
        ("open", _("Video: browser"), _("Open its page")),
        ("failures", _("Library: failures"), _("Only the videos that failed, or all again")),
        ("settings", _("Channel: settings"), _("Tabs, languages, names and the model of its contexts")),
        ("remove", _("Library: remove"), _("The chosen video or channel")),
    )
    for action, title, meaning in told:
        if screen.check_action(action, ()):
            yield SystemCommand(title, meaning, getattr(screen, f"action_{action}"))
