"""Builds the controllers and connects them: to each other, to screens, messages and the app's own commands."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from textual.app import App

from subtitle_rag.tui import messages
from subtitle_rag.tui.app_port import AppPort
from subtitle_rag.tui.controllers.background import BackgroundController, ContextPause
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.controllers.downloads import ModelDownloadController
from subtitle_rag.tui.controllers.jobs import JobController
from subtitle_rag.tui.controllers.library_opening import LibraryOpening
from subtitle_rag.tui.controllers.marks import MarkController
from subtitle_rag.tui.controllers.other_run import OtherRunWatch
from subtitle_rag.tui.controllers.playback import PlaybackController
from subtitle_rag.tui.controllers.removals import RemovalController
from subtitle_rag.tui.navigation import Navigation
from subtitle_rag.tui.screens.search_screen import SearchScreen
from subtitle_rag.tui.state.clean_text import clean

if TYPE_CHECKING:
    from subtitle_rag.pipeline import ListeningOffer
    from subtitle_rag.runtime import Runtime


class AppWiring:
    """The parts of one app."""

    def __init__(self, app: App[object], runtime: "Runtime", *, show_times: bool, address: str) -> None:
        """An `address` waits for the library to open."""
        # mypy does not see through Textual's reactive attributes
        self._port = port = cast("AppPort", app)
        self._address = address
        self._runtime = runtime
        self.background = BackgroundController(port, runtime)
        self.jobs = JobController(port, runtime, self.background)
        self.removals = RemovalController(port, runtime, self.jobs)
        self.opening = LibraryOpening(port, runtime)
        self.other_run = OtherRunWatch(port, runtime, self.jobs)
        self.context = AppContext(
            port,
            runtime,
            show_times,
            self.background,
            self.jobs,
            self.removals,
            PlaybackController(port, runtime),
            MarkController(port, runtime),
            ModelDownloadController(port, runtime, self.background),
            self.opening,
            ContextPause(port, runtime, self.background),
        )
        self.search = SearchScreen(self.context)
        self.navigation = Navigation(app, self.context, self.search)
        self._handlers = self._connect()

    def _connect(self) -> dict[type[messages.AppMessage], Callable[[Any], object]]:
        playback, navigation = self.context.playback, self.navigation
        return {
            messages.LibraryOpened: self._library_opened,
            messages.SearchReady: self._search_ready,
            messages.LibraryFailed: self._library_failed,
            messages.IndexGrown: lambda message: self.search.page.draw_index(message.windows, message.all_windows),
            messages.LibraryChanged: self._library_changed,
            messages.ScenesChanged: lambda _message: self.search.page.search_again(),
            messages.MarksRead: lambda _message: navigation.show_marks(),
            messages.AddressEntered: lambda message: navigation.show_library(message.address),
            messages.Jumped: self._jumped,
            messages.VideoOpened: playback.video_opened,
            messages.TextCopied: playback.text_copied,
            messages.SceneMenuAsked: lambda _message: navigation.open_scene_menu(),
            messages.PlayersFound: navigation.choose_player,
            messages.ActionFailed: lambda message: self._port.tell(message.error),
            messages.NotRemembered: self._not_remembered,
            messages.ListeningOffered: lambda message: navigation.confirm_listening(message.offer, self._listen),
            messages.ContextsOffered: lambda message: navigation.confirm_contexts(message.offer),
            messages.RemovalPlanned: lambda message: navigation.confirm_removal(message.removal),
            messages.RemovalEnded: self.removals.ended,
            messages.JobAdvanced: self.jobs.advanced,
            messages.FirstWindowsArrived: self._first_windows_arrived,
            messages.JobEnded: self._job_ended,
            messages.StageAdvanced: self.background.stage_advanced,
            messages.StageEnded: self.background.stage_ended,
        }

    def handle(self, message: messages.AppMessage) -> None:
        self._handlers[type(message)](message)

    # --- the library ---

    def _library_opened(self, message: messages.LibraryOpened) -> None:
        self.jobs.library_opened(message)
        self.context.models.download_read(message.offer)
        self.search.page.library_opened(message)
        self._port.refresh_keys()
        if self.navigation.answers:
            self.navigation.answers.page.counts = message.counts
        if library := self.navigation.library:
            library.counts = message.counts
        elif self._address or (message.counts.videos == 0 and self._port.job is None):
            self.navigation.open_library(self._address, takes_query=True)
        self._address = ""

    def _search_ready(self, message: messages.SearchReady) -> None:
        self.other_run.show(message.other_run)
        self.opening.ready = True
        self.opening.note_look()
        self.opening.catch_up()
        self.search.page.search_ready()
        self.background.begin_all()
        self.background.begin("listening")
        self.context.marks.read()

    def _listen(self, offer: "ListeningOffer") -> None:
        """Have listened to what the user has agreed to."""
        from subtitle_rag.transcribing.listening_plan import request_listening

        runtime = self.context.runtime
        runtime.may_fetch_speech_model = True

        def begin(_asked: object) -> None:
            self.background.restart("listening")
            self._list_videos()

        self._port.run_in_thread(
            lambda: request_listening(runtime.library, offer.plan), messages.ActionFailed, take=begin, group="listening"
        )

    def _library_changed(self, message: messages.LibraryChanged) -> None:
        self.opening.look_up()
        if message.lists_videos:
            self._list_videos()

    def _list_videos(self) -> None:
        if library := self.navigation.library:
            library.list_videos()

    def _jumped(self, message: messages.Jumped) -> None:
        self.context.playback.played(message)
        self.search.page.note_place(message)

    def _library_failed(self, message: messages.LibraryFailed) -> None:
        if library := self.navigation.library:
            library.dismiss()
        self.search.page.fail(message.error)

    def _not_remembered(self, message: messages.NotRemembered) -> None:
        self._port.notify(clean(message.error.message), markup=False, severity="warning")

    # --- jobs ---

    def _first_windows_arrived(self, _message: messages.FirstWindowsArrived) -> None:
        if library := self.navigation.library:
            library.first_windows()

    def _job_ended(self, message: messages.JobEnded) -> None:
        library = self.navigation.library
        job = self.jobs.ended(message, in_library=library is not None)
        if library:
            library.job_ended(job, message.error)
        self.search.page.search_now()
        self.removals.carry_out_next()
        self.jobs.start_next()
        self.background.begin_all()

    # --- the end ---

    def halt(self) -> None:
        """Ask all threads to stop."""
        self.opening.halt()
        self.jobs.halt()
        self.background.halt()
        if self.navigation.answers:
            self.navigation.answers.page.dialogue.halt()

    def wait(self, job_s: float, answer_s: float) -> None:
        """After `halt`: wait at most this long for a job and for an answer, and carry out removals that wait."""
        self.jobs.wait(job_s)
        self.background.wait()
        if self.navigation.answers:
            self.navigation.answers.page.dialogue.wait(answer_s)
        self.removals.finish()


class AppCommand(NamedTuple):
    run: Callable[[], object]
    """May return an awaitable."""
    is_enabled: Callable[[], bool] = lambda: True


def app_commands(wiring: AppWiring) -> dict[str, AppCommand]:
    """Return the app's commands by their ids."""
    context, navigation, search = wiring.context, wiring.navigation, wiring.search
    background, jobs, models = context.background, context.jobs, context.models

    def is_usable() -> bool:
        return search.page.error is None

    return {
        "app.help": AppCommand(navigation.open_help, lambda: navigation.in_page),
        "app.search": AppCommand(navigation.go_to_field, lambda: navigation.in_page),
        "app.library": AppCommand(navigation.show_library, lambda: navigation.can_open("app.library")),
        "app.checks": AppCommand(navigation.open_checks, lambda: navigation.can_open("app.checks")),
        "app.settings": AppCommand(navigation.open_settings, lambda: navigation.can_open("app.settings")),
        "app.ask": AppCommand(navigation.ask, lambda: navigation.in_page and is_usable()),
        "app.marks": AppCommand(navigation.open_marks, lambda: navigation.can_open("app.marks") and is_usable()),
        "app.transcript": AppCommand(
            navigation.open_transcript,
            lambda: navigation.shows_videos and navigation.can_open("app.transcript"),
        ),
        "app.overview": AppCommand(
            navigation.open_overview, lambda: navigation.shows_videos and navigation.can_open("app.overview")
        ),
        "app.quit": AppCommand(navigation.leave),
        "library.sample": AppCommand(navigation.switch_library, lambda: navigation.can_switch_library),
        "library.sync": AppCommand(navigation.sync, lambda: jobs.can_sync if is_usable() else navigation.in_search),
        "library.stop": AppCommand(jobs.stop, lambda: jobs.busy),
        "library.background": AppCommand(
            navigation.toggle_background, lambda: background.can_toggle or background.can_ask_for_contexts
        ),
        "models.fetch": AppCommand(
            navigation.download_models, lambda: models.is_running or (models.can_start and navigation.shows_offer)
        ),
        "models.dismiss": AppCommand(
            navigation.dismiss_offer,
            lambda: navigation.shows_offer and (background.context_offer is not None or models.can_dismiss),
        ),
    }
