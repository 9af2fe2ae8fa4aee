"""The app: keys, the values that are shown, which screen is seen, and which controller gets which message.

Doors (SQLite, the index's process, Kiwi) are used by worker threads alone. Threads post the messages of `messages`;
handlers, here and in the screens, change what is seen.
"""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import on, work
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.reactive import var
from textual.widgets import TextArea
from textual.worker import Worker, WorkerFailed, WorkerState

from subtitle_rag import i18n
from subtitle_rag.library.app_state import THEME
from subtitle_rag.retrieval.query import parse
from subtitle_rag.tui import keymap, messages, palette, themes
from subtitle_rag.tui.browser import in_browser
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.context import AppContext
from subtitle_rag.tui.controllers.background import BackgroundController
from subtitle_rag.tui.controllers.context_pause import ContextPause
from subtitle_rag.tui.controllers.extractor_updates import ExtractorUpdateController
from subtitle_rag.tui.controllers.jobs import JobController
from subtitle_rag.tui.controllers.model_download import ModelDownloadController
from subtitle_rag.tui.controllers.playback import PlaybackController
from subtitle_rag.tui.controllers.removals import RemovalController
from subtitle_rag.tui.controllers.terminal import TerminalController
from subtitle_rag.tui.dialogs.leave_screen import LeaveScreen
from subtitle_rag.tui.screens.search_screen import SearchScreen
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.extractor_update import ExtractorUpdate, find_update
from subtitle_rag.tui.state.job import Job
from subtitle_rag.tui.state.job_request import restore_unfinished
from subtitle_rag.tui.state.model_offer import ModelDownload, find_download
from subtitle_rag.tui.state.stage_progress import ContextProgress, VectorProgress
from subtitle_rag.tui.threads import run_in_thread, to_app_error
from subtitle_rag.tui.watchers import forget_closed

if TYPE_CHECKING:
    from textual.await_complete import AwaitComplete
    from textual.message import Message
    from textual.screen import Screen
    from textual.theme import Theme

    from subtitle_rag.errors import AppError
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.app_port import AppPort
    from subtitle_rag.tui.garbage import Garbage
    from subtitle_rag.tui.screens.answer_screen import AnswerScreen
    from subtitle_rag.tui.screens.library_screen import LibraryScreen

logger = logging.getLogger(__name__)

T = TypeVar("T")

WARM_UP = "장면"
CLOSED_S = 0.5
"""After which a screen that was left is closed, with all that is on it."""
TOAST_LENGTH = 300
"""Characters of a toast."""
LEAVING_ANSWER_S = 1.0
"""Longest wait at the end for an answer that was stopped to be kept."""


class SubtitleApp(App[object]):
    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "subtitle-rag"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "app.help",
        "app.library",
        "app.checks",
        "app.quit",
        "app.commands",
        "library.undo",
        "library.sync",
        "library.stop",
        "app.ask",
        "library.background",
        "models.fetch",
        "packages.update",
        "models.dismiss",
    )

    job: var[Job | None] = var(None)
    contexts: var[ContextProgress | None] = var(None)
    vectors: var[VectorProgress | None] = var(None)
    offer: var[ModelDownload | None] = var(None)
    update: var[ExtractorUpdate | None] = var(None)
    removal_line: var[str] = var("")

    def __init__(self, runtime: "Runtime", *, show_times: bool = True) -> None:
        """The app on an open or yet unopened `runtime`, which stays the caller's to close.

        `show_times=False` leaves out what differs from run to run, for pictures.
        """
        i18n.activate(runtime.settings.language)
        super().__init__()
        self.runtime = runtime
        self.settings = runtime.settings
        keymap.activate(self.settings.keys)
        for theme in themes.made(self.settings).values():
            self.register_theme(theme)
        self.show_times = show_times
        self.ready = False
        """Searching is possible."""
        self.garbage: Garbage | None = None
        """Collects garbage between two keys. Without it Python does, at any time."""
        self.trouble: AppError | None = None
        """Shown at the start."""
        self.first_theme = ""
        """The theme to begin with where the settings name none."""
        self._keys: tuple[bool | None, ...] = ()
        self._answer_screen: AnswerScreen | None = None
        self._make_controllers()
        self.search_screen = SearchScreen(self.context)

    def _make_controllers(self) -> None:
        port = cast("AppPort", self)  # mypy does not see through Textual's reactive attributes
        runtime = self.runtime
        self.background = BackgroundController(
            port, runtime, search_again=self.search_again, refresh_keys=self.refresh_keys
        )
        self.models = ModelDownloadController(port, runtime, self.background, look_up=self.look_up)
        self.updates = ExtractorUpdateController(port, self.background, start_job=self._start_waiting_job)
        self.jobs = JobController(port, runtime, self.background, self)
        self.removals = RemovalController(
            port,
            runtime,
            self.jobs,
            changed=self._show_removals,
            search_again=self.search_again,
            refresh_bindings=self.refresh_bindings,
        )
        self.jobs.gate = self.removals
        self.playback = PlaybackController(port, runtime)
        self.context_pause = ContextPause(port, runtime, self.background, is_answering=self._is_answering)
        self.terminal = TerminalController(self._to_terminal, enabled=self.settings.tui.notify and not in_browser())
        self.context = AppContext(
            port,
            runtime,
            self.show_times,
            self.background,
            self.jobs,
            self.removals,
            self.playback,
            self.models,
            self.context_pause,
            can_search=lambda: self.ready,
            collect_garbage=self._collect_garbage,
        )

    # --- start and end ---

    def get_default_screen(self) -> "Screen[None]":
        return self.search_screen

    def on_mount(self) -> None:
        self.set_keymap(keymap.in_force())
        begin = self.settings.tui.theme or self.first_theme
        if begin in self.available_themes:
            self.theme = begin
        self._shown_theme = self.theme
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        self.call_after_refresh(self._open)
        if self.trouble:
            self.tell(self.trouble)

    def action_leave(self) -> None:
        """Leave at once; asks first where that stops a job, unless that is the question already."""
        if not self.jobs.busy or isinstance(self.screen, LeaveScreen):
            self.exit()
        else:
            self.push_screen(LeaveScreen(self.job, len(self.jobs.queue.waiting)))

    def exit(self, *arguments: Any, **options: Any) -> None:
        self._halt()
        super().exit(*arguments, **options)

    def on_unmount(self) -> None:
        self.terminal.give_back_title()
        self._halt()

    def _halt(self) -> None:
        self.jobs.halt()
        self.background.halt()
        if self._answer_screen:
            self._answer_screen.halt()

    def wait_for_threads(self, seconds: float) -> None:
        """After the end: give a job so long to close what it holds, and other threads a moment."""
        self.jobs.wait(seconds)
        self.background.wait()
        if self._answer_screen:
            self._answer_screen.wait(LEAVING_ANSWER_S)
        self.removals.finish()

    # --- what controllers need ---

    def run_in_thread(
        self,
        work: Callable[[], T],
        done: "Callable[[T], Message | None]",
        failed: "Callable[[AppError], Message | None]",
        *,
        group: str,
        exclusive: bool = False,
    ) -> None:
        run_in_thread(self, work, done, failed, paths=self.settings.paths, group=group, exclusive=exclusive)

    def notify(self, message: str, *, title: str = "", **options: Any) -> None:
        """Show a toast that does not cover what it is about: titles that others wrote are in it."""
        super().notify(brief(message), title=brief(title), **options)

    def tell(self, error: "AppError") -> None:
        self.notify(clean(error.hint), title=clean(error.message), markup=False, severity="warning", timeout=8)

    def refresh_keys(self) -> None:
        """Draw the footer anew only where a key came or went: every repaint can make it flicker."""
        if not self.screen_stack:  # the app is ending
            return
        keys = tuple(self.check_action(action, ()) for action in ("sync", "stop", "background"))
        if keys != self._keys:
            self._keys = keys
            self.refresh_bindings()

    def search_again(self) -> None:
        self.search_screen.search_again()

    def _collect_garbage(self) -> None:
        if self.garbage:
            self.garbage.collect(self)

    # --- the library ---

    @on(messages.LibraryRetried)
    def _retry_library(self) -> None:
        self._open()

    @work(thread=True, group="open", exclusive=True, exit_on_error=False)
    def _open(self) -> None:
        try:
            self.post_message(self._counted())
            self.post_message(messages.RequestsRestored(restore_unfinished(self.runtime.library)))
            # the first search reads the analyzer's model and the vocabulary, for about a second
            next(self.runtime.searcher.stages(parse(WARM_UP), limit=1))
            self.post_message(messages.SearchReady())
        except Exception as error:  # whatever a door throws, the app stays up
            self.post_message(messages.LibraryFailed(to_app_error(error, self.settings.paths)))

    def _counted(self) -> messages.LibraryOpened:
        library = self.runtime.library
        followed = len(library.sources.followed())
        missing = find_download(self.runtime), find_update(self.runtime)
        return messages.LibraryOpened(self.removals.counts(library), followed, *missing)

    def look_up(self) -> None:
        """Read anew how much the library holds, and what is not installed."""
        self.run_in_thread(
            self._counted, lambda counted: counted, messages.LibraryFailed, group="count", exclusive=True
        )

    @on(messages.LibraryOpened)
    def _library_opened(self, message: messages.LibraryOpened) -> None:
        if not self.search_screen.query("#counter"):  # the app is ending
            return
        self.jobs.followed = message.followed
        self.models.looked_up(message.offer)
        self.updates.looked_up(message.update)
        self.search_screen.library_opened(message.counts)
        self.refresh_keys()
        if library := self._library_screen:
            library.counts = message.counts
        elif message.counts.videos == 0 and self.job is None and self.screen is self.search_screen:
            self.action_library()

    @on(messages.SearchReady)
    def _search_ready(self) -> None:
        if self.garbage:
            self.garbage.keep()
        self.ready = True
        self.search_screen.search_ready()
        self.background.begin_all()

    @on(messages.LibraryFailed)
    def _library_failed(self, message: messages.LibraryFailed) -> None:
        if library := self._library_screen:
            library.dismiss()
        self.search_screen.library_failed(message.error)

    @on(messages.ActionFailed)
    def _action_failed(self, message: messages.ActionFailed) -> None:
        self.tell(message.error)

    @on(messages.NotRemembered)
    def _not_remembered(self, message: messages.NotRemembered) -> None:
        self.notify(clean(message.error.message), markup=False, severity="warning")

    # --- jobs ---

    @property
    def _library_screen(self) -> "LibraryScreen | None":
        from subtitle_rag.tui.screens.library_screen import LibraryScreen

        return next((screen for screen in self.screen_stack if isinstance(screen, LibraryScreen)), None)

    @on(messages.RequestsRestored)
    def _requests_restored(self, message: messages.RequestsRestored) -> None:
        self.jobs.restore(message.requests)

    @on(messages.JobAdvanced)
    def _job_advanced(self, message: messages.JobAdvanced) -> None:
        self.jobs.advanced(message)

    @on(messages.JobEnded)
    def _job_ended(self, message: messages.JobEnded) -> None:
        self.jobs.ended(message)
        self.search_screen.search_now()
        self.jobs.start_next()
        self.background.begin_all()

    def first_windows(self) -> None:
        if library := self._library_screen:
            library.first_windows()

    def show_job_end(self, job: Job, error: "AppError | None") -> bool:
        library = self._library_screen
        if library:
            library.job_ended(job, error)
        return library is not None

    def watch_job(self, before: Job | None, job: Job | None) -> None:
        self.terminal.job_changed(before, job, focused=self.app_focus)

    def on_app_focus(self) -> None:
        if not self.jobs.busy:
            self.terminal.give_back_title()

    def _to_terminal(self, sequence: str) -> None:
        if self._driver is not None:
            self._driver.write(sequence)
            self._driver.flush()

    # --- the background ---

    @on(messages.StageAdvanced)
    def _stage_advanced(self, message: messages.StageAdvanced) -> None:
        self.background.stage_advanced(message)

    @on(messages.StageEnded)
    def _stage_ended(self, message: messages.StageEnded) -> None:
        self.background.stage_ended(message)

    @property
    def _offer_seen(self) -> bool:
        """What is said of models is on the screen."""
        if self.screen is self.search_screen:
            return self.search_screen.idle
        return self.screen is self._library_screen

    @on(messages.ChannelChanged)
    def _channel_changed(self, message: messages.ChannelChanged) -> None:
        from subtitle_rag.tui.text import channel_lines

        self.notify(clean(channel_lines.saved_text(message.changes, message.name)), markup=False, timeout=8)
        self.look_up()
        if message.changes.model:  # a run under way asks the models of before
            self.background.restart("contexts")

    # --- removals ---

    @on(messages.RemovalPlanned)
    def _removal_planned(self, message: messages.RemovalPlanned) -> None:
        from subtitle_rag.tui.dialogs.remove_screen import RemoveScreen

        def decided(remove: bool | None) -> None:
            if remove:
                self.removals.hide(message.removal)

        if message.removal.target.whole:
            self.push_screen(RemoveScreen(message.removal), decided)
        else:
            self.removals.hide(message.removal)

    @on(messages.RemovalEnded)
    def _removal_ended(self, message: messages.RemovalEnded) -> None:
        self.removals.ended(message)

    def _show_removals(self) -> None:
        self.search_screen.show_again()
        self.look_up()
        if library := self._library_screen:
            library.list_videos()

    # --- playing ---

    @on(messages.Jumped)
    def _jumped(self, message: messages.Jumped) -> None:
        self.playback.played(message)

    @on(messages.VideoOpened)
    def _video_opened(self, message: messages.VideoOpened) -> None:
        self.playback.video_opened(message)

    @on(messages.LinkCopied)
    def _link_copied(self, message: messages.LinkCopied) -> None:
        self.playback.link_copied(message)

    @on(messages.PlayersFound)
    def _players_found(self, message: messages.PlayersFound) -> None:
        from subtitle_rag.tui.dialogs.player_screen import PlayerScreen

        def play(name: str | None) -> None:
            if name:
                self.playback.play(message.scene, name)

        if not self.screen.is_modal:
            self.push_screen(PlayerScreen(message, prefer=self.playback.prefer), play)

    @on(messages.PlayerPreferred)
    def _player_preferred(self, message: messages.PlayerPreferred) -> None:
        self.playback.preferred(message)

    # --- answers ---

    async def action_ask(self) -> None:
        """Show the answers, with the query that is typed as the question to come."""
        from subtitle_rag.tui.screens.answer_screen import AnswerScreen

        if self._answer_screen is None:
            self._answer_screen = AnswerScreen(self.context)
            self.install_screen(self._answer_screen, "answers")
        typed = self.search_screen.typed
        await self.push_screen(self._answer_screen)
        self._answer_screen.take(typed)

    @on(messages.AnswersLeft)
    def _answers_left(self) -> None:
        self.pop_screen()
        self.context_pause.resume_contexts()

    def _start_waiting_job(self) -> None:
        if not self.jobs.busy:
            self.jobs.start_next()

    def _is_answering(self) -> bool:
        return self._answer_screen is not None and self._answer_screen.running

    # --- keys and commands ---

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Help, checks and library do not open over themselves: their own screens bind the same keys to close."""
        match action:
            case "help":
                return not self.screen.is_modal
            case "checks":
                return not self.screen.is_modal and not self.screen.query("#all-checks")
            case "library":
                return self.screen is self.search_screen
            case "ask":
                return self.screen is self.search_screen and not self.search_screen.failed
            case "background":
                return self.background.can_toggle
            case "models":
                return self.models.is_running or (self.models.can_start and self._offer_seen)
            case "dismiss_offer":
                return self.models.can_dismiss and self._offer_seen
            case "update":
                return self.updates.can_start
            case "sync":
                return self.jobs.can_sync(self.search_screen.counts) and not self.search_screen.failed
            case "stop":
                return self.jobs.is_running
            case "undo_removal":
                return self.removals.can_undo and not isinstance(self.focused, TextArea)
        return super().check_action(action, parameters)

    def action_background(self) -> None:
        self.context.toggle_background()

    def action_models(self) -> None:
        """Bring packages and models that are missing, or stop that; packages only after the user has agreed."""
        if self.models.needs_consent and self.offer:
            from subtitle_rag.tui.dialogs.install_screen import InstallScreen

            self.push_screen(InstallScreen(self.offer), lambda way: self.models.start() if way else None)
        else:
            self.models.toggle()

    def action_dismiss_offer(self) -> None:
        self.models.dismiss()

    def action_update(self) -> None:
        self.updates.start(busy=self.jobs.busy)

    def action_sync(self) -> None:
        self.jobs.sync()

    def action_stop(self) -> None:
        self.jobs.stop()

    def action_undo_removal(self) -> None:
        self.removals.undo()

    def action_help(self) -> None:
        from subtitle_rag.tui.screens.help_screen import HelpScreen

        self.push_screen(HelpScreen(self.screen))

    def action_checks(self) -> None:
        from subtitle_rag.tui.screens.checks_screen import ChecksScreen

        self.push_screen(ChecksScreen(self.context))

    def action_library(self) -> None:
        self.open_library()

    @on(messages.AddressGiven)
    def _address_given(self, message: messages.AddressGiven) -> None:
        self.open_library(message.address)

    def open_library(self, typed: str = "") -> None:
        """Show the library, with this in its field."""
        from subtitle_rag.tui.screens.library_screen import LibraryScreen

        if self.screen is self.search_screen:  # it may be called from anywhere
            self.push_screen(LibraryScreen(self.context, self.search_screen.counts, typed))
            self.background.retry_transient()

    @on(messages.VideoChosen)
    def _video_chosen(self, message: messages.VideoChosen) -> None:
        self.search_screen.prefill(message.query)

    def action_command_palette(self) -> None:
        palette.open_palette(self)

    def search_themes(self) -> None:
        palette.open_themes(self)

    def get_system_commands(self, screen: "Screen[object]") -> Iterable[SystemCommand]:
        yield from palette.entries(self, self.context, screen, themes=self.search_themes)

    # --- themes ---

    def _theme_changed(self, theme: "Theme") -> None:
        if theme.name != self._shown_theme:
            self._shown_theme = theme.name
            self.run_in_thread(
                lambda: self.runtime.library.database.put_setting(THEME, theme.name),
                lambda _none: None,
                messages.NotRemembered,
                group="theme",
                exclusive=True,
            )

    # --- Textual ---

    def _handle_exception(self, error: Exception) -> None:
        """Textual's last resort for handlers and workers: it ends the app and prints the traceback."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        logger.critical("uncaught exception in the app", exc_info=cause)
        super()._handle_exception(error)

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        """Log what a worker let through that may not end the app; the others come to `_handle_exception`."""
        if event.state is WorkerState.ERROR and not event.worker.exit_on_error:
            logger.error("uncaught exception in worker %s", event.worker.name, exc_info=event.worker.error)

    def pop_screen(self) -> "AwaitComplete":
        self.set_timer(CLOSED_S, lambda: forget_closed(self))
        return super().pop_screen()


def brief(said: str) -> str:
    return said if len(said) <= TOAST_LENGTH else f"{said[: TOAST_LENGTH - 1]}…"
