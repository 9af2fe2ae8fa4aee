"""The command palette in the user's language. Its entries only call actions that have keys too, or a theme."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand
from textual.command import CommandPalette

from subtitle_rag.i18n import _
from subtitle_rag.tui import offer
from subtitle_rag.tui.errands import Errand

if TYPE_CHECKING:
    from textual.screen import Screen

    from subtitle_rag.tui.app import SubtitleApp


def open_palette(app: "SubtitleApp") -> None:
    if not CommandPalette.is_open(app):
        app.push_screen(CommandPalette(placeholder=_("Search for a command")))


def open_themes(app: "SubtitleApp") -> None:
    from textual.theme import ThemeProvider

    app.push_screen(CommandPalette(providers=[ThemeProvider], placeholder=_("Search for a theme")))


def entries(app: "SubtitleApp", screen: "Screen[Any]") -> Iterator[SystemCommand]:
    """What can be done from `screen`."""
    from subtitle_rag.tui.answer_screen import AnswerScreen

    if screen is app.search_screen:
        copy = app.search_screen.action_copy_link
        yield SystemCommand(_("Find: copy link"), _("Copy the link to the chosen scene"), copy)
        yield SystemCommand(_("Open: library"), _("Videos, and new captions"), app.action_library)
        if app.check_action("ask", ()):
            yield SystemCommand(_("Open: answers"), _("Ask a question of the videos"), app.action_ask)
    if isinstance(screen, AnswerScreen):
        yield SystemCommand(_("Ask: new question"), _("About other scenes"), screen.action_anew)
        yield SystemCommand(_("Ask: earlier answers"), _("Read them again, or delete them"), screen.action_history)
    if app.check_action("sync", ()):
        yield SystemCommand(
            _("Library: sync"), _("Look for new videos, or go on with what was stopped"), app.action_sync
        )
    if app.check_action("stop", ()):
        yield SystemCommand(_("Library: stop"), _("Stop the job; what is done stays"), app.action_stop)
    if app.background_told:
        title = _("Background: pause") if app.background_wanted else _("Background: go on")
        told = _("Contexts, and vectors for search by meaning, are made while you search")
        yield SystemCommand(title, told, app.action_background)
    if app.fetching:
        yield SystemCommand(_("Models: stop"), _("Stop fetching; what has arrived is kept"), app.action_models)
    elif app.offer and app.offer.fetchable:
        yield SystemCommand(_("Models: fetch"), offer.size(app.offer), app.action_models)
    yield SystemCommand(_("Open: sample"), _("Index the sample captions"), lambda: load_sample(app))
    yield SystemCommand(_("Open: help"), _("Keys and how to write a query"), app.action_help)
    yield SystemCommand(_("View: theme"), _("Choose the colours"), app.search_themes)
    yield SystemCommand(_("Quit"), _("Leave the app"), app.action_leave)


def load_sample(app: "SubtitleApp") -> None:
    """Index the captions that come with the program."""
    app.start(Errand((Path(str(files("subtitle_rag") / "sample")),)))
