"""Opens the screens and dialogs above the search screen. Their modules are imported when they are first opened."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.command import CommandPalette
from textual.screen import Screen

from subtitle_rag.i18n import _
from subtitle_rag.requests import JobRequest
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.dialogs.help_screen import HelpScreen
from subtitle_rag.tui.dialogs.install_screen import InstallScreen
from subtitle_rag.tui.dialogs.player_screen import PlayerScreen
from subtitle_rag.tui.dialogs.scene_menu import SceneMenu
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.keys.commands import COMMANDS
from subtitle_rag.tui.messages import PlayersFound
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.search_screen import SearchScreen
from subtitle_rag.tui.state.offers import ModelDownload
from subtitle_rag.tui.state.removal import Removal
from subtitle_rag.tui.text.confirmations import (
    context_confirmation,
    leave_confirmation,
    listening_confirmation,
    removal_confirmation,
)
from subtitle_rag.tui.widgets.scene_list import SceneList
from subtitle_rag.tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from subtitle_rag.pipeline import ContextOffer, ListeningOffer
    from subtitle_rag.tui.screens.answer_screen import AnswerScreen
    from subtitle_rag.tui.screens.library_screen import LibraryScreen


SCENE_COMMANDS = (
    "scene.play",
    "scene.play-with",
    "scene.copy",
    "scene.copy-markdown",
    "scene.mark",
    "scene.export",
    "scene.copies",
    "app.transcript",
    "app.overview",
)
"""What the menu of a scene offers, where it can be done."""


@dataclass(frozen=True, slots=True)
class LibrarySwitch:
    """The app's last word when it is to open again: with the other one of sample and user's library, or the same."""

    address: str = ""
    """Unsent text of the library's field, which the user's library takes over."""
    is_same: bool = False
    """Whether the same library opens again, with the settings as they are then."""


class Navigation:
    """Owns the search screen and the answer screen, which keep their contents while others are open."""

    def __init__(self, app: App[object], context: AppContext, search: SearchScreen) -> None:
        self._app = app
        self._context = context
        self.search = search
        self.answers: AnswerScreen | None = None

    @property
    def _screen(self) -> Screen[Any]:
        """The screen on which a command is chosen: below the command palette, while that is open."""
        return next(screen for screen in reversed(self._app.screen_stack) if not isinstance(screen, CommandPalette))

    @property
    def _page(self) -> BaseScreen | None:
        """This screen, unless it is a dialog."""
        screen = self._screen
        return screen if isinstance(screen, BaseScreen) else None

    @property
    def in_search(self) -> bool:
        return self._app.screen is self.search

    @property
    def in_page(self) -> bool:
        """Whether the screen is no dialog."""
        return self._page is not None

    def can_open(self, command: str) -> bool:
        """Return whether the command's page can be opened from here: not from a dialog, nor from itself."""
        page = self._page
        return self.in_page and (page is None or command != page.OPENED_BY)

    def go_to_field(self) -> None:
        """Go to the field of the page, else to that of the search."""
        field = next((field for field in self._screen.query(TextField) if field.focusable), None)
        if field is None:
            self._return_to(self.search)
            field = self.search.query_line
        field.focus()

    def begin_search(self) -> TextField:
        """Go back to the search, with its field empty for a new query."""
        self._return_to(self.search)
        self.search.begin_query("")
        return self.search.query_line

    def _return_to(self, target: Screen[Any]) -> None:
        """Close all screens above `target`, dialogs with the harmless answer."""
        while (screen := self._app.screen) is not target:
            if screen is self.answers:
                self._context.context_pause.resume_contexts()
            self._app.pop_screen()

    # --- the library ---

    @property
    def library(self) -> "LibraryScreen | None":
        from subtitle_rag.tui.screens.library_screen import LibraryScreen

        return next((screen for screen in self._app.screen_stack if isinstance(screen, LibraryScreen)), None)

    @property
    def library_is_open(self) -> bool:
        """Whether it is known what the library holds, or why it cannot be used."""
        return self.search.page.counts is not None or self.search.page.error is not None

    def open_library(self, address: str = "", *, takes_query: bool = False) -> None:
        """Open the library above the search, with `address` in its field, or what was typed for the search before."""
        from subtitle_rag.tui.screens.library_screen import LibraryScreen

        if self.in_search:  # any other screen keeps its place
            begin_query = self.search.begin_query
            typed = self.search.take_query if takes_query and not address else lambda: address
            library = LibraryScreen(self._context, self.search.page.counts, typed, begin_query=begin_query)
            self._app.push_screen(library)
            self._context.background.retry_transient()

    @property
    def can_switch_library(self) -> bool:
        """Whether the key of the sample works: everywhere in the sample, else in the library and while it is empty."""
        if self._app.screen.is_modal:
            return False
        counts = self.search.page.counts
        is_empty = self.in_search and counts is not None and counts.videos == 0
        return self._context.settings.is_sample or is_empty or self._app.screen is self.library

    def switch_library(self) -> None:
        """Open the sample in the place of the user's library, or the other way round."""
        library = self.library
        self._leave(LibrarySwitch(library.field.path.value if library else ""))

    def show_library(self, address: str = "") -> None:
        """Open the library from anywhere, or go back to it, with `address` in its field."""
        library = self.library
        self._return_to(library or self.search)
        if library is None:
            self.open_library(address)
        elif address:
            library.take_address(address)

    @property
    def shows_offer(self) -> bool:
        """Whether the screen has a line for missing models."""
        return self.search.page.is_idle if self.in_search else self._app.screen is self.library

    def sync(self) -> None:
        """Open a library again that could not be opened; else ask for new videos: of the chosen channel, or of all."""
        library = self.library
        channel = library.tables.row.channel if library and self._app.screen is library else None
        if self.search.page.error:
            self.search.page.retry()
        elif channel and channel.urls:
            for url in channel.urls:
                self._context.jobs.start(JobRequest.of_address(url))
        else:
            self._context.jobs.sync()

    # --- answers ---

    async def ask(self) -> None:
        """Open the answers from anywhere; beside an answer, begin a new question."""
        if self.answers is not None and self._app.screen is self.answers:
            self.answers.page.begin_question()
        else:
            await self.open_answers()

    async def open_answers(self) -> None:
        """Open the answers from anywhere, with the search's query as the next question, or go back to them."""
        from subtitle_rag.tui.screens.answer_screen import AnswerScreen

        if self.answers is not None and self.answers in self._app.screen_stack:
            self._return_to(self.answers)
            return
        self._return_to(self.search)
        if self.answers is None:
            self.answers = AnswerScreen(self._context, self.search.page.counts)
            self._app.install_screen(self.answers, "answers")
        query = self.search.query_line.typed
        await self._app.push_screen(self.answers)
        self.answers.page.take(query)

    def query_changed(self) -> None:
        """Bring along the query as it is now, where it became the next question just before."""
        if self.answers is not None and self.answers in self._app.screen_stack:
            self.answers.page.take(self.search.query_line.typed)

    # --- transcripts ---

    @property
    def shows_videos(self) -> bool:
        """Whether a video can be chosen on the screen."""
        return self._page is not None and self._page.SHOWS_VIDEOS

    def open_transcript(self) -> None:
        """Open all lines of the video that is chosen on the screen."""
        from subtitle_rag.tui.screens.transcript_screen import TranscriptScreen

        moment = self._page.chosen_moment if self._page else None
        if moment is None:
            self._app.notify(_("No video is chosen yet."), markup=False)
        else:
            self._app.push_screen(TranscriptScreen(self._context, moment))

    # --- overviews ---

    def open_overview(self) -> None:
        """Open the overview of the channel or video that is chosen on the screen."""
        from subtitle_rag.tui.screens.library_screen import LibraryScreen
        from subtitle_rag.tui.screens.overview_screen import OverviewScreen

        page = self._page
        moment = page.chosen_moment if page else None
        channel = page.chosen_channel if isinstance(page, LibraryScreen) else None
        if subject := channel or (moment.video if moment else None):
            self._app.push_screen(OverviewScreen(self._context, subject))
        else:
            self._app.notify(_("No video is chosen yet."), markup=False)

    # --- marks and export ---

    def open_marks(self) -> None:
        from subtitle_rag.tui.screens.marks_screen import MarksScreen

        self._context.marks.read()
        self._app.push_screen(MarksScreen(self._context))

    def show_marks(self) -> None:
        """Redraw the marks on the screens that show them."""
        for screen in self._app.screen_stack:
            if isinstance(screen, BaseScreen) and screen.is_mounted:
                screen.show_marks()

    # --- help and checks ---

    def open_help(self) -> None:
        if page := self._page:
            self._app.push_screen(HelpScreen(page))

    def open_checks(self) -> None:
        from subtitle_rag.tui.screens.checks_screen import ChecksScreen

        self._app.push_screen(ChecksScreen(self._context))

    # --- settings ---

    def open_settings(self) -> None:
        from subtitle_rag.tui.screens.settings_screen import SettingsScreen

        self._app.push_screen(SettingsScreen(self._context, reopen=self._reopen))

    def _reopen(self) -> None:
        self._leave(LibrarySwitch(is_same=True))

    # --- dialogs ---

    def leave(self) -> None:
        """End the app. If that would stop a job, ask first; a second call then ends it."""
        self._leave(None)

    def _leave(self, switch: LibrarySwitch | None) -> None:
        jobs, screen = self._context.jobs, self._app.screen
        if not jobs.busy or (isinstance(screen, ConfirmScreen) and screen.stops_job):
            self._app.exit(switch)
        else:
            confirmation = leave_confirmation(len(jobs.queue.waiting))
            self._app.push_screen(ConfirmScreen(confirmation, partial(self._app.exit, switch), stops_job=True))

    def choose_player(self, message: PlayersFound) -> None:
        """Let the user choose the player of a scene, unless another dialog is open."""
        playback = self._context.playback

        def play(player: str | None) -> None:
            if player:
                playback.play(message.scene, player)

        if not self._app.screen.is_modal:
            self._app.push_screen(PlayerScreen(message, prefer=playback.prefer), play)

    def open_scene_menu(self) -> None:
        """Offer what can be done with the chosen scene of the screen."""
        screen = self._app.screen
        nodes = (screen, *screen.query(SceneList), self._app)
        offers = {id: node for id in SCENE_COMMANDS for node in reversed(nodes) if keymap.can_run(node, COMMANDS[id])}

        def run(id: str | None) -> None:
            if id:
                self._app.call_later(self._app.run_action, COMMANDS[id].binding.action, offers[id])

        if not screen.is_modal and offers:
            self._app.push_screen(SceneMenu(list(offers)), run)

    # --- what a model could add ---

    def toggle_background(self) -> None:
        """Pause or resume the background; without any, write the contexts that the screen offers, or ask whether to."""
        background = self._context.background
        if background.context_offer and self.in_search and self.search.page.is_idle:
            background.answer_context_offer(wanted=True)
        elif background.can_toggle or not background.can_ask_for_contexts:
            self._context.toggle_background()
        else:
            background.ask_for_contexts()

    def dismiss_offer(self) -> None:
        """Hide the offer on the screen for good."""
        if self._context.background.context_offer:
            self._context.background.answer_context_offer(wanted=False)
        else:
            self._context.models.dismiss()

    def confirm_contexts(self, offer: "ContextOffer") -> None:
        begin = partial(self._context.background.answer_context_offer, wanted=True)
        self._app.push_screen(ConfirmScreen(context_confirmation(offer), begin))

    def confirm_listening(self, offer: "ListeningOffer", begin: "Callable[[ListeningOffer], object]") -> None:
        self._app.push_screen(ConfirmScreen(listening_confirmation(offer), partial(begin, offer)))

    def confirm_removal(self, removal: Removal) -> None:
        remove = partial(self._context.removals.remove, removal)
        self._app.push_screen(ConfirmScreen(removal_confirmation(removal), remove))

    def download_models(self) -> None:
        """Download missing packages and models, or stop that; ask for the way before packages are installed."""
        models, offer = self._context.models, ModelDownload.among(self._context.app.stages)
        if offer is None or not models.needs_consent:
            models.toggle()
            return
        self._app.push_screen(InstallScreen(offer), lambda name: models.start(name) if name else None)
