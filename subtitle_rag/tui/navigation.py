"""The app's keys, and the screens and dialogs that they open.

Modules of screens are imported when a screen is first opened.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.binding import BindingType
from textual.command import CommandPalette
from textual.screen import Screen

from subtitle_rag.base.i18n import N_, _
from subtitle_rag.tui.controllers.app_port import AppPort
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.keys.commands import HELP, command
from subtitle_rag.tui.keys.keymap import acts_of
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.dialogs.help_screen import HelpScreen
from subtitle_rag.tui.screens.dialogs.install_screen import InstallScreen
from subtitle_rag.tui.screens.dialogs.player_screen import PlayerScreen
from subtitle_rag.tui.screens.dialogs.scene_menu import SceneMenu
from subtitle_rag.tui.screens.search.search_screen import SearchScreen
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.dialogs.confirmations import (
    context_confirmation,
    leave_confirmation,
    listening_confirmation,
    removal_confirmation,
)
from subtitle_rag.tui.shared.fields.text_field import TextField
from subtitle_rag.tui.shared.jobs.removal import Removal
from subtitle_rag.tui.shared.messages import PlayersFound
from subtitle_rag.tui.shared.progress.offers import ModelDownload
from subtitle_rag.tui.shared.progress.stage_lines import toggled_line
from subtitle_rag.workflows.requests import JobRequest

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen
    from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
    from subtitle_rag.workflows.pipeline import ContextOffer, ListeningOffer


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
"""Commands in a scene's menu, as far as they are possible."""


@dataclass(frozen=True, slots=True)
class LibrarySwitch:
    """Result of an app that is to be reopened, by default on the sample instead of the user's library or vice versa."""

    address: str = ""
    """Unsent text of the library's field, to be kept when the user's library opens."""
    is_same: bool = False
    """Whether to reopen the same library instead, with reread settings."""


class PagesApp(AppPort):
    """An app whose keys open pages. Search and answers keep their content while other pages are open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        command(
            "app.transcript",
            "t",
            "open_transcript",
            N_("Transcript"),
            N_("the whole transcript of the video, with search"),
        ),
        command(
            "app.overview",
            "o",
            "open_overview",
            N_("Overview"),
            N_("what the video or channel is about: summary, chapters, key terms, names"),
        ),
        command(
            "app.ask",
            "a",
            "ask",
            N_("Ask"),
            N_("ask a question of the videos; beside an answer, a new one about other scenes"),
        ),
        command(
            "library.sync",
            "u,ctrl+r",
            "sync",
            N_("New videos"),
            N_("check the chosen channel or all for new videos, and resume what was stopped"),
        ),
        command("library.stop", "x,ctrl+s", "stop_job", N_("Stop"), N_("stop the job; what is done stays")),
        command(
            "library.background",
            "ctrl+t",
            "toggle_background",
            N_("Pause/go on"),
            N_("pause or resume background work"),
            system=True,
        ),
        command(
            "models.fetch",
            "ctrl+g",
            "download_models",
            N_("Fetch models"),
            N_("install and fetch what search by meaning needs, or stop that"),
            system=True,
        ),
        command(
            "models.dismiss", "ctrl+x", "dismiss_offer", N_("Hide"), N_("hide the offer of these models"), system=True
        ),
        command(
            "library.sample",
            "ctrl+d",
            "switch_library",
            N_("Sample"),
            N_("open the sample library from the library, or your own from the sample"),
            system=True,
        ),
        command("app.library", "l,ctrl+l", "open_library", N_("Library"), N_("library: videos, new captions")),
        command("app.marks", "m", "open_marks", N_("Marks"), N_("marked scenes, with notes and tags")),
        command("app.settings", "comma", "open_settings", N_("Settings"), N_("the settings")),
        command(
            "app.checks", "", "open_checks", N_("Checks"), N_("what is installed, what is missing, and how to fix it")
        ),
        command(
            "app.search", "slash", "go_to_field", N_("Search"), N_("to the field of this page, else to the search")
        ),
        command("app.commands", "ctrl+p", "command_palette", N_("Commands"), N_("all commands, themes"), system=True),
        HELP,
        command("app.quit", "ctrl+q", "leave", N_("Quit"), N_("quit")),
    ]

    def __init__(self, runtime: "Runtime", *, show_times: bool) -> None:
        super().__init__(runtime)
        self.context = AppContext(self, runtime, show_times=show_times)
        self.search_screen = SearchScreen(self.context)
        self.answers: AnswerScreen | None = None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether one of the app's keys works now."""
        context = self.context
        is_usable = self.search_screen.page.error is None
        match action:
            case "open_help" | "go_to_field":
                return self.in_page
            case "open_library" | "open_checks" | "open_settings":
                return self._can_open(action)
            case "open_marks":
                return self._can_open(action) and is_usable
            case "open_transcript" | "open_overview":
                return self._can_open(action) and self.page is not None and self.page.shows_videos
            case "ask":
                return self.in_page and is_usable
            case "sync":
                return context.jobs.can_sync if is_usable else self.in_search
            case "stop_job":
                return context.jobs.busy
            case "toggle_background":
                return context.background.can_toggle or context.background.can_ask_for_contexts
            case "switch_library":
                return self.can_switch_library
            case "download_models":
                return context.models.is_running or (context.models.can_start and self.shows_offer)
            case "dismiss_offer":
                is_offered = context.background.context_offer is not None or context.models.can_dismiss
                return self.shows_offer and is_offered
        return super().check_action(action, parameters)

    @property
    def _base_screen(self) -> Screen[Any]:
        """The top screen, ignoring the command palette."""
        return next(screen for screen in reversed(self.screen_stack) if not isinstance(screen, CommandPalette))

    @property
    def page(self) -> BaseScreen | None:
        """The current page; None in a dialog."""
        screen = self._base_screen
        return screen if isinstance(screen, BaseScreen) else None

    @property
    def in_search(self) -> bool:
        return self.screen is self.search_screen

    @property
    def in_page(self) -> bool:
        return self.page is not None

    def _can_open(self, action: str) -> bool:
        """Return whether the action's page can be opened from here: not from a dialog or from itself."""
        return self.page is not None and action != self.page.OPENED_BY

    def action_go_to_field(self) -> None:
        """Focus the page's field, or go back to the search field."""
        field = next((field for field in self._base_screen.query(TextField) if field.focusable), None)
        if field is None:
            self._return_to(self.search_screen)
            field = self.search_screen.query_line
        field.focus()

    def begin_search(self) -> TextField:
        """Go back to the search and empty its field."""
        self._return_to(self.search_screen)
        self.search_screen.begin_query("")
        return self.search_screen.query_line

    def _return_to(self, target: Screen[Any]) -> None:
        """Close all screens above `target`, cancelling dialogs."""
        while (screen := self.screen) is not target:
            if screen is self.answers:
                self.context.context_pause.resume_contexts()
            self.pop_screen()

    # --- the library ---

    @property
    def library(self) -> "LibraryScreen | None":
        pages = (screen for screen in self.screen_stack if isinstance(screen, BaseScreen))
        return cast("LibraryScreen | None", next((page for page in pages if page.OPENED_BY == "open_library"), None))

    @property
    def library_is_open(self) -> bool:
        """Whether the library has been opened or has failed to open."""
        return self.search_screen.page.counts is not None or self.search_screen.page.error is not None

    def _push_library(self, address: str = "", *, takes_query: bool = False) -> None:
        """Open the library above the search, with `address` or the typed query in its field."""
        from subtitle_rag.tui.screens.library.library_screen import LibraryScreen

        if self.in_search:  # else the user has moved to another screen
            begin_query = self.search_screen.begin_query
            typed = self.search_screen.take_query if takes_query and not address else lambda: address
            library = LibraryScreen(self.context, self.search_screen.page.counts, typed, begin_query=begin_query)
            self.push_screen(library)
            self.context.opening.begin()  # a screen above the search keeps its first refresh from coming
            self.context.background.retry_transient()

    @property
    def can_switch_library(self) -> bool:
        """Whether the user can switch now: in the sample everywhere, else in the library or while it is empty."""
        if self.screen.is_modal:
            return False
        counts = self.search_screen.page.counts
        is_empty = self.in_search and counts is not None and counts.videos == 0
        return self.context.settings.is_sample or is_empty or self.screen is self.library

    def action_switch_library(self) -> None:
        """Switch between the sample and the user's library."""
        library = self.library
        self._leave(LibrarySwitch(library.field.path.value if library else ""))

    def action_open_library(self, address: str = "") -> None:
        """Open the library or go back to it, with `address` in its field."""
        library = self.library
        self._return_to(library or self.search_screen)
        if library is None:
            self._push_library(address)
        elif address:
            library.take_address(address)

    @property
    def shows_offer(self) -> bool:
        """Whether the screen has a line that offers models."""
        return self.search_screen.page.is_idle if self.in_search else self.screen is self.library

    def action_sync(self) -> None:
        """Look for new videos, in the chosen channel or all. After a failure, reopen the library instead."""
        library = self.library
        channel = library.tables.row.channel if library and self.screen is library else None
        if self.search_screen.page.error:
            self.search_screen.page.retry()
        elif channel and channel.urls:
            for url in channel.urls:
                self.context.jobs.start(JobRequest.of_address(url))
        else:
            self.context.jobs.sync()

    # --- answers ---

    async def action_ask(self) -> None:
        """Open the answers. If they are open already, begin a new question."""
        if self.answers is not None and self.screen is self.answers:
            self.answers.page.begin_question()
        else:
            await self.open_answers()

    async def open_answers(self) -> None:
        """Open the answers or go back to them, with the search query as the next question."""
        from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen

        if self.answers is not None and self.answers in self.screen_stack:
            self._return_to(self.answers)
            return
        self._return_to(self.search_screen)
        if self.answers is None:
            self.answers = AnswerScreen(self.context, self.search_screen.page.counts)
            self.install_screen(self.answers, "answers")
        query = self.search_screen.query_line.typed
        await self.push_screen(self.answers)
        self.answers.page.take(query)

    def query_changed(self) -> None:
        """Update the next question if it came from the query, which has just changed."""
        if self.answers is not None and self.answers in self.screen_stack:
            self.answers.page.take(self.search_screen.query_line.typed)

    # --- transcripts ---

    def action_open_transcript(self) -> None:
        """Open the transcript of the chosen video."""
        from subtitle_rag.tui.screens.transcript.transcript_screen import TranscriptScreen

        moment = self.page.chosen_moment if self.page else None
        if moment is None:
            self.notify(_("No video is chosen yet."), markup=False)
        else:
            self.push_screen(TranscriptScreen(self.context, moment))

    # --- overviews ---

    def action_open_overview(self) -> None:
        """Open the overview of the chosen channel or video."""
        from subtitle_rag.tui.screens.overview.overview_screen import OverviewScreen

        page = self.page
        moment = page.chosen_moment if page else None
        channel = self.library.chosen_channel if self.library and page is self.library else None
        if subject := channel or (moment.video if moment else None):
            self.push_screen(OverviewScreen(self.context, subject))
        else:
            self.notify(_("No video is chosen yet."), markup=False)

    # --- marks and export ---

    def action_open_marks(self) -> None:
        from subtitle_rag.tui.screens.marks.marks_screen import MarksScreen

        self.context.marks.read()
        self.push_screen(MarksScreen(self.context))

    def show_marks(self) -> None:
        """Redraw the marks on all screens that show them."""
        for screen in self.screen_stack:
            if isinstance(screen, BaseScreen) and screen.is_mounted:
                screen.show_marks()

    # --- help and checks ---

    def action_open_help(self) -> None:
        if page := self.page:
            self.push_screen(HelpScreen(page))

    def action_open_checks(self) -> None:
        from subtitle_rag.tui.screens.checks.checks_screen import ChecksScreen

        self.push_screen(ChecksScreen(self.context))

    # --- settings ---

    def action_open_settings(self) -> None:
        from subtitle_rag.tui.screens.settings.settings_screen import SettingsScreen

        self.push_screen(SettingsScreen(self.context, reopen=self._reopen))

    def _reopen(self) -> None:
        self._leave(LibrarySwitch(is_same=True))

    # --- dialogs ---

    def action_stop_job(self) -> None:
        self.context.jobs.stop()

    def action_leave(self) -> None:
        """Quit. If a job is running, ask first; a second call quits at once."""
        self._leave(None)

    def _leave(self, switch: LibrarySwitch | None) -> None:
        jobs, screen = self.context.jobs, self.screen
        if not jobs.busy or (isinstance(screen, ConfirmScreen) and screen.stops_job):
            self.exit(switch)
        else:
            confirmation = leave_confirmation(len(jobs.queue.waiting))
            self.push_screen(ConfirmScreen(confirmation, partial(self.exit, switch), stops_job=True))

    def choose_player(self, message: PlayersFound) -> None:
        """Let the user choose a player, unless another dialog is open."""
        playback = self.context.playback

        def play(player: str | None) -> None:
            if player:
                playback.play(message.scene, player)

        if not self.screen.is_modal:
            self.push_screen(PlayerScreen(message), play)

    def open_scene_menu(self) -> None:
        """Open the menu of the chosen scene."""
        screen = self.screen
        acts = acts_of(screen)
        offers = {id: acts[id] for id in SCENE_COMMANDS if id in acts}

        def run(id: str | None) -> None:
            if id:
                node, binding = offers[id]
                self.call_later(self.run_action, binding.action, node)

        if not screen.is_modal and offers:
            self.push_screen(SceneMenu(list(offers)), run)

    # --- what a model could add ---

    def action_toggle_background(self) -> None:
        """Pause or resume the background work. If there is none, write the offered contexts or ask whether to."""
        background = self.context.background
        if background.context_offer and self.in_search and self.search_screen.page.is_idle:
            background.answer_context_offer(wanted=True)
        elif background.can_toggle or not background.can_ask_for_contexts:
            is_retry = any(stage.state == "failed" for stage in self.stages.values() if stage.name != "offer")
            self.context.toggle_background()
            if self.screen is not self.library:  # which shows it in its border
                line = toggled_line(self.stages, is_active=background.is_active, is_retry=is_retry)
                self.notify(line, markup=False)
        else:
            background.ask_for_contexts()

    def action_dismiss_offer(self) -> None:
        """Hide the displayed offer for good."""
        if self.context.background.context_offer:
            self.context.background.answer_context_offer(wanted=False)
        else:
            self.context.models.dismiss()

    def confirm_contexts(self, offer: "ContextOffer") -> None:
        begin = partial(self.context.background.answer_context_offer, wanted=True)
        self.push_screen(ConfirmScreen(context_confirmation(offer), begin))

    def confirm_listening(self, offer: "ListeningOffer", begin: "Callable[[ListeningOffer], object]") -> None:
        self.push_screen(ConfirmScreen(listening_confirmation(offer), partial(begin, offer)))

    def confirm_removal(self, removal: Removal) -> None:
        remove = partial(self.context.removals.remove, removal)
        self.push_screen(ConfirmScreen(removal_confirmation(removal), remove))

    def action_download_models(self) -> None:
        """Start or stop the download of packages and models. Before installing packages, ask for the way."""
        models, offer = self.context.models, ModelDownload.among(self.stages)
        if offer is None or not models.needs_consent:
            models.toggle()
            return
        self.push_screen(InstallScreen(offer), lambda name: models.start(name) if name else None)
