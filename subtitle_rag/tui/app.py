"""The app: opens the library behind the first paint, and has every key and command that works everywhere.

The doors (SQLite, the index's process, Kiwi) are used by worker threads alone. Workers post the messages of
`messages`; the handlers, here and in the screens, change what is seen. Opening is serialised, for `Runtime` builds
each door where it is first asked for.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.worker import get_current_worker

from subtitle_rag import i18n
from subtitle_rag.i18n import N_
from subtitle_rag.retrieval.query import parse
from subtitle_rag.tui import commands, messages
from subtitle_rag.tui.channel_app import ChannelApp
from subtitle_rag.tui.jump_app import JumpApp
from subtitle_rag.tui.screens.search_screen import SearchScreen
from subtitle_rag.tui.state import job_request, model_offer
from subtitle_rag.tui.state.extractor_update import find_update
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from textual.screen import Screen

    from subtitle_rag.errors import AppError
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.garbage import Garbage

WARM_UP = "장면"


class SubtitleApp(ChannelApp, JumpApp):
    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "subtitle-rag"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", N_("Help"), priority=True, id="app.help"),
        Binding("f4", "library", N_("Library"), priority=True, id="app.library"),
        Binding("f6", "checks", N_("Checks"), show=False, priority=True, id="app.checks"),
        Binding("ctrl+q", "leave", N_("Quit"), priority=True, id="app.quit"),
        Binding("ctrl+p", "command_palette", N_("Commands"), show=False, priority=True, id="app.commands"),
    ]

    def __init__(self, runtime: "Runtime", *, show_times: bool = True) -> None:
        """The app on an open or yet unopened `runtime`, which stays the caller's to close.

        `show_times=False` leaves out what differs from run to run, for pictures.
        """
        i18n.activate(runtime.settings.language)
        super().__init__(runtime)
        self.show_times = show_times
        self.ready = False
        """Searching is possible."""
        self.garbage: Garbage | None = None
        """Who minds it; Python, where nobody does."""
        self.trouble: AppError | None = None
        """What is told at the start."""
        self.search_screen = SearchScreen()

    def get_default_screen(self) -> "Screen[None]":
        return self.search_screen

    def on_mount(self) -> None:
        self.call_after_refresh(self._open)
        if self.trouble:
            self.tell(self.trouble)

    # --- the library ---

    def reopen(self) -> None:
        """Try again to open what could not be opened."""
        self._open()

    @work(thread=True, group="open", exclusive=True, exit_on_error=False)
    def _open(self) -> None:
        try:
            with self.doors:
                self.post_message(self._counted())
                self.post_message(messages.ErrandsLeft(job_request.restore_unfinished(self.runtime.library)))
                # the first search reads the analyzer's model and the vocabulary, for about a second
                next(self.runtime.searcher.stages(parse(WARM_UP), limit=1))
            self.post_message(messages.SearchReady())
        except Exception as error:  # whatever a door throws, the app stays up
            self.post_message(messages.LibraryFailed(to_app_error(error, self.settings.paths)))

    def _counted(self) -> messages.LibraryOpened:
        library = self.runtime.library
        followed = len(library.sources.followed())
        found = model_offer.find_download(self.runtime), find_update(self.runtime)
        return messages.LibraryOpened(self.counted(library), followed, *found)

    @work(thread=True, group="count", exclusive=True, exit_on_error=False)
    def look_up(self) -> None:
        worker = get_current_worker()
        try:
            counted = self._counted()
            if not worker.is_cancelled:  # else a later look is under way, and must not be overtaken
                self.post_message(counted)
        except Exception as error:  # whatever a door throws, the app stays up
            self.post_message(messages.LibraryFailed(to_app_error(error, self.settings.paths)))

    @on(messages.LibraryOpened)
    def _library_opened(self, message: messages.LibraryOpened) -> None:
        if not self.search_screen.query("#counter"):  # the app is ending
            return
        self._followed = message.followed
        self.models_looked_up(message.offer)
        self.update_looked_up(message.update)
        self.search_screen.library_opened(message.counts)
        self.show_keys()
        if library := self.library_screen():
            library.counts = message.counts
        elif message.counts.videos == 0 and self.job is None and self.screen is self.search_screen:
            self.action_library()

    @on(messages.SearchReady)
    def _search_ready(self) -> None:
        if self.garbage:
            self.garbage.keep()
        self.ready = True
        self.search_screen.search_ready()
        self.begin_all()

    def tidy(self) -> None:
        """A key was answered, and nobody waits for a moment."""
        if self.garbage:
            self.garbage.collect(self)

    @on(messages.LibraryFailed)
    def _library_failed(self, message: messages.LibraryFailed) -> None:
        if library := self.library_screen():
            library.dismiss()
        self.search_screen.library_failed(message.error)

    # --- the background ---

    @property
    def offer_seen(self) -> bool:
        return self.search_screen.idle if self.screen is self.search_screen else self.screen is self.library_screen()

    def search_again(self) -> None:
        self.search_screen.search_again()

    # --- keys and commands ---

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Help and library do not open over themselves: their own screens bind the same keys to close."""
        if action == "help":
            return not self.screen.is_modal
        if action == "checks":
            return not self.screen.is_modal and not self.screen.query("#all-checks")
        if action == "library":
            return self.screen is self.search_screen
        return super().check_action(action, parameters)

    def action_help(self) -> None:
        from subtitle_rag.tui.screens.help_screen import HelpScreen

        self.push_screen(HelpScreen(self.screen))

    def action_checks(self) -> None:
        from subtitle_rag.tui.screens.checks_screen import ChecksScreen

        self.push_screen(ChecksScreen())

    def action_library(self) -> None:
        self.open_library()

    def open_library(self, typed: str = "") -> None:
        """Show the library, with this in its field."""
        from subtitle_rag.tui.screens.library_screen import LibraryScreen

        if self.screen is self.search_screen:  # it may be called from anywhere
            self.push_screen(LibraryScreen(self.search_screen.counts, typed))
            self.look_again()

    def action_command_palette(self) -> None:
        commands.open_palette(self)

    def search_themes(self) -> None:
        commands.open_themes(self)

    def get_system_commands(self, screen: "Screen[object]") -> Iterable[SystemCommand]:
        yield from commands.entries(self, screen)
