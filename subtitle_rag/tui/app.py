"""The app: start, end, and the handlers of its messages.

Only worker threads touch SQLite, the index process and Kiwi. They post messages (`tui/shared/messages.py`); handlers
here and in the screens update the display.
"""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.command import CommandPalette
from textual.message import Message
from textual.screen import Screen
from textual.theme import Theme
from textual.worker import Worker, WorkerFailed, WorkerState

from subtitle_rag.base import i18n
from subtitle_rag.base.i18n import _
from subtitle_rag.library.app_state import THEME
from subtitle_rag.tui import palette, textual_fixes, themes
from subtitle_rag.tui.key_router import KeyRouter
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.navigation import PagesApp
from subtitle_rag.tui.shared import messages
from subtitle_rag.tui.shared.clean_text import clean

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.workflows.pipeline import ListeningOffer

logger = logging.getLogger(__name__)

ENDING_SIGNALS = () if sys.platform == "win32" else (signal.SIGTERM, signal.SIGHUP)
"""Signals that would end Python without restoring the terminal."""

CLOSE_DELAY_S = 0.5
"""Delay after popping a screen; by then it and its widgets are closed."""
LEAVING_ANSWER_S = 1.0
"""Longest wait on exit for a stopped answer to be saved."""


class SubtitleApp(PagesApp):
    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "subtitle-rag"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar = {palette.OrderedCommands}

    def __init__(
        self,
        runtime: "Runtime",
        *,
        show_times: bool = True,
        address: str = "",
        typed: Iterable[events.Key | events.Paste] = (),
    ) -> None:
        """Create the app.

        Args:
            runtime: Open or not yet open. The caller closes it.
            show_times: False hides times and paths, which differ between runs, for reproducible pictures.
            address: If given, start in the library with this address in its field.
            typed: Keys and pastes that arrived between the previous app and this one.
        """
        i18n.activate(runtime.settings.language)
        textual_fixes.activate()
        super().__init__(runtime, show_times=show_times)
        for theme in themes.OWN_THEMES:
            self.register_theme(theme)
        keymap.activate(self.settings.keys)
        self.freezes_objects = False
        """Whether the process runs this app only, so that its objects may be frozen."""
        self.first_theme = ""
        """The theme to start with, unless the settings name one."""
        self._address = address
        self.jobs, self.background = self.context.jobs, self.context.background
        self._handlers = self._connect()
        self.key_router = KeyRouter(self, super().on_event, typed)

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        self.theme_variables = variables | themes.colour_roles(self.current_theme, variables)
        return self.theme_variables

    # --- start and end ---

    def get_default_screen(self) -> Screen[None]:
        return self.search_screen

    def on_mount(self) -> None:
        self.set_keymap(keymap.in_force())
        self.theme = themes.theme_at_start(self.settings, self.first_theme, self.console.color_system)
        self._stored_theme = self.theme
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        self.call_after_refresh(self.context.opening.begin)
        self.call_later(self.key_router.hand_on)
        if not self.is_headless:
            self._end_on_signals()

    def _end_on_signals(self) -> None:
        """Quit cleanly on a signal, to restore the terminal. A second signal kills the process."""
        loop = asyncio.get_running_loop()

        def end(number: signal.Signals) -> None:
            for each in ENDING_SIGNALS:
                loop.remove_signal_handler(each)
            logger.info("ended by %s", number.name)
            self.exit(return_code=128 + number)

        for number in ENDING_SIGNALS:
            loop.add_signal_handler(number, end, number)

    def exit(self, *arguments: Any, **options: Any) -> None:
        self.key_router.is_closed = True
        self.halt()
        super().exit(*arguments, **options)

    def post_message(self, message: Message) -> bool:
        if isinstance(message, events.Key | events.Paste) and self.key_router.is_closed:
            self.key_router.waiting.append(message)
            return False
        return super().post_message(message)

    def on_unmount(self) -> None:
        self.halt()

    def wait_for_threads(self, seconds: float) -> None:
        """After the app's end, wait at most `seconds` for the job to close its files, and briefly for other threads.

        Also carries out pending removals.
        """
        self.jobs.wait(seconds)
        self.background.wait()
        if self.answers:
            self.answers.page.dialogue.wait(LEAVING_ANSWER_S)
        self.context.removals.finish()

    def halt(self) -> None:
        """Ask all threads to stop."""
        self.context.opening.halt()
        self.jobs.halt()
        self.background.halt()
        if self.answers:
            self.answers.page.dialogue.halt()

    # --- messages ---

    def _connect(self) -> dict[type[messages.AppMessage], Callable[[Any], object]]:
        context, page = self.context, self.search_screen.page
        return {
            messages.LibraryOpened: self._library_opened,
            messages.SearchReady: self._search_ready,
            messages.LibraryFailed: self._library_failed,
            messages.IndexGrown: lambda message: page.draw_index(message.windows, message.all_windows),
            messages.LibraryChanged: self._library_changed,
            messages.ScenesChanged: lambda _message: page.search_again(),
            messages.MarksRead: lambda _message: self.show_marks(),
            messages.AddressEntered: lambda message: self.action_open_library(message.address),
            messages.Jumped: self._jumped,
            messages.VideoOpened: context.playback.video_opened,
            messages.TextCopied: context.playback.text_copied,
            messages.SceneMenuAsked: lambda _message: self.open_scene_menu(),
            messages.PlayersFound: self.choose_player,
            messages.ActionFailed: lambda message: self.tell(message.error),
            messages.NotRemembered: self._not_remembered,
            messages.ListeningOffered: lambda message: self.confirm_listening(message.offer, self._listen),
            messages.ContextsOffered: lambda message: self.confirm_contexts(message.offer),
            messages.RemovalPlanned: lambda message: self.confirm_removal(message.removal),
            messages.RemovalEnded: context.removals.ended,
            messages.JobAdvanced: self.jobs.advanced,
            messages.FirstWindowsArrived: self._first_windows_arrived,
            messages.JobEnded: self._job_ended,
            messages.StageAdvanced: self.background.stage_advanced,
            messages.StageEnded: self.background.stage_ended,
        }

    @on(messages.AppMessage)
    def _handle_message(self, message: messages.AppMessage) -> None:
        if self.is_running:  # on exit the screens lose their widgets
            self._handlers[type(message)](message)

    # --- the library ---

    def _library_opened(self, message: messages.LibraryOpened) -> None:
        self.jobs.library_opened(message)
        self.context.models.download_read(message.offer)
        self.search_screen.page.library_opened(message)
        self.refresh_keys()
        if self.answers:
            self.answers.page.counts = message.counts
        if library := self.library:
            library.counts = message.counts
        elif self._address or (message.counts.videos == 0 and self.job is None):
            self._push_library(self._address, takes_query=True)
        self._address = ""

    def _search_ready(self, message: messages.SearchReady) -> None:
        self.context.other_run.show(message.other_run)
        self.context.opening.ready = True
        self.context.opening.note_look()
        self.context.opening.catch_up()
        self.search_screen.page.search_ready()
        self.background.begin_all()
        self.background.begin("listening")
        self.context.marks.read()

    def _listen(self, offer: "ListeningOffer") -> None:
        """Request the transcriptions that the user has agreed to."""
        from subtitle_rag.listening.listening_plan import request_listening

        runtime = self.runtime
        runtime.may_fetch_speech_model = True

        def begin(_asked: object) -> None:
            self.background.restart("listening")
            self._list_videos()

        self.run_in_thread(
            lambda: request_listening(runtime.library, offer.plan), messages.ActionFailed, take=begin, group="listening"
        )

    def _library_changed(self, message: messages.LibraryChanged) -> None:
        self.context.opening.look_up()
        if message.lists_videos:
            self._list_videos()

    def _list_videos(self) -> None:
        if library := self.library:
            library.list_videos()

    def _jumped(self, message: messages.Jumped) -> None:
        self.context.playback.played(message)
        self.search_screen.page.note_place(message)

    def _library_failed(self, message: messages.LibraryFailed) -> None:
        if library := self.library:
            library.dismiss()
        self.search_screen.page.fail(message.error)

    def _not_remembered(self, message: messages.NotRemembered) -> None:
        self.notify(clean(message.error.message), markup=False, severity="warning")

    # --- jobs ---

    def _first_windows_arrived(self, _message: messages.FirstWindowsArrived) -> None:
        if library := self.library:
            library.first_windows()

    def _job_ended(self, message: messages.JobEnded) -> None:
        library = self.library
        job = self.jobs.ended(message, in_library=library is not None)
        if library:
            library.job_ended(job, message.error)
        self.search_screen.page.search_now()
        self.context.removals.carry_out_next()
        self.jobs.start_next()
        self.background.begin_all()

    @on(messages.SearchReady)
    def _freeze_objects(self) -> None:
        """Exclude loaded objects from garbage collection, which would take 90 ms while the user types."""
        if self.freezes_objects:
            gc.freeze()

    # --- the focus ---

    def watch_app_focus(self, has_focus: bool) -> None:
        """Focus the screen's first field if it opened while the app had no focus (Textual 8.2.8 only restores one)."""
        if has_focus and self.screen.focused is None:
            self.screen.focus_next(self.screen.AUTO_FOCUS or "*")

    # --- commands ---

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self.key_router.take(event)
        else:
            await super().on_event(event)

    def get_key_display(self, binding: Binding) -> str:
        """Write keys in footer and palette like everywhere else."""
        return keymap.key_text(binding.key)

    def action_help_quit(self) -> None:
        """Say how to quit. Textual binds Ctrl+C to this if nothing is selected."""
        self.notify(_("{key} quits.").format(key=keymap.key("app.quit")), markup=False)

    def action_command_palette(self) -> None:
        if not CommandPalette.is_open(self):
            self.push_screen(palette.Palette(placeholder=_("Search for a command")))

    def search_themes(self) -> None:
        palette.open_themes(self)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        return palette.entries(self, screen)

    def _theme_changed(self, theme: Theme) -> None:
        if theme.name != self._stored_theme:
            self._stored_theme = theme.name
            self.run_in_thread(
                lambda: self.runtime.library.database.put_setting(THEME, theme.name),
                messages.NotRemembered,
                group="theme",
                exclusive=True,
            )

    # --- Textual ---

    def _handle_exception(self, error: Exception) -> None:
        """Log the cause. Textual then ends the app and prints the traceback."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        logger.critical("uncaught exception in the app", exc_info=cause)
        super()._handle_exception(error)

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        """Log exceptions of workers with `exit_on_error=False`; all others reach `_handle_exception`."""
        if event.state is WorkerState.ERROR and not event.worker.exit_on_error:
            logger.error("uncaught exception in worker %s", event.worker.name, exc_info=event.worker.error)

    def pop_screen(self) -> AwaitComplete:
        self.set_timer(CLOSE_DELAY_S, lambda: textual_fixes.forget_closed(self))
        return super().pop_screen()
