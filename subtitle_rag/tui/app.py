"""The app: its keys, the values that are shown, and its threads. `wiring` builds and connects all other parts.

Only worker threads use the doors (SQLite, the index's process, Kiwi). They post the messages of `messages`; handlers,
in `wiring` and in the screens, change the screen.
"""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import App, SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.message import Message
from textual.reactive import var
from textual.screen import Screen
from textual.theme import Theme
from textual.worker import Worker, WorkerFailed, WorkerState

from subtitle_rag import i18n
from subtitle_rag.domain.errors import AppError
from subtitle_rag.i18n import _
from subtitle_rag.library.app_state import THEME
from subtitle_rag.tui import messages, palette, textual_fixes, themes
from subtitle_rag.tui.key_router import KeyRouter
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.keys.commands import bindings
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.job import Job
from subtitle_rag.tui.state.stage_progress import Stages
from subtitle_rag.tui.threads import run_in_thread
from subtitle_rag.tui.wiring import AppWiring, app_commands

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

ENDING_SIGNALS = () if sys.platform == "win32" else (signal.SIGTERM, signal.SIGHUP)
"""Signals after which Python would leave the terminal in the app's mode."""

CLOSE_DELAY_S = 0.5
"""Time after which a screen that was left is closed, with all its widgets."""
TOAST_LENGTH = 300
"""Characters of a toast."""
LEAVING_ANSWER_S = 1.0
"""Longest wait at the end until an answer that was stopped is in the library."""


class SubtitleApp(App[object]):
    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "subtitle-rag"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar = {palette.OrderedCommands}
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "app.help app.search app.library app.checks app.transcript app.overview app.marks",
        "library.sample app.quit app.commands library.sync library.stop app.ask library.background",
        "models.fetch models.dismiss app.settings",
    )

    job: var[Job | None] = var(None)
    stages: var[Stages] = var(dict)
    removal_line: var[str] = var("")
    other_run_line: var[str] = var("")

    def __init__(
        self,
        runtime: "Runtime",
        *,
        show_times: bool = True,
        address: str = "",
        typed: Iterable[events.Key | events.Paste] = (),
    ) -> None:
        """Take an open or yet unopened `runtime`; the caller closes it.

        `show_times=False` leaves out times and paths, which differ from run to run, for pictures. An `address` opens
        the library, with it in the field; `typed` is what the user has typed since the app before this one ended.
        """
        i18n.activate(runtime.settings.language)
        textual_fixes.activate()
        super().__init__()
        for theme in themes.OWN_THEMES:
            self.register_theme(theme)
        self.runtime = runtime
        self.settings = runtime.settings
        keymap.activate(self.settings.keys)
        self.freezes_objects = False
        """The process is this app's own."""
        self.first_theme = ""
        """The theme at the start, unless the settings name one."""
        self.run_in_thread = partial(run_in_thread, self)
        """See `AppPort`."""
        self._footer_state: tuple[bool, ...] = ()
        self.wiring = AppWiring(self, runtime, show_times=show_times, address=address)
        self.context = self.wiring.context
        self.jobs, self.background = self.context.jobs, self.context.background
        self.search_screen = self.wiring.search
        self._commands = app_commands(self.wiring)
        self.key_router = KeyRouter(self, self.wiring.navigation, super().on_event, typed)

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
        self.call_after_refresh(self.wiring.opening.open)
        self.call_later(self.key_router.hand_on)
        if not self.is_headless:
            self._end_on_signals()

    def _end_on_signals(self) -> None:
        """End as by Ctrl+Q where a signal ends the process, so that the terminal is as before. A second one kills."""
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
        self.wiring.halt()
        super().exit(*arguments, **options)

    def post_message(self, message: Message) -> bool:
        if isinstance(message, events.Key | events.Paste) and self.key_router.is_closed:
            self.key_router.waiting.append(message)
            return False
        return super().post_message(message)

    def on_unmount(self) -> None:
        self.wiring.halt()

    def wait_for_threads(self, seconds: float) -> None:
        """After the end: wait at most `seconds` for a job to close its files, and a moment for other threads."""
        self.wiring.wait(seconds, LEAVING_ANSWER_S)

    # --- what controllers need (`AppPort`) ---

    def notify(self, message: str, *, title: str = "", **options: Any) -> None:
        """Show a toast, cut so that it does not cover its subject: it may hold a long title.

        It takes the place of an equal one.
        """
        for toast in [toast for toast in self._notifications if toast.message == shorten(message)]:
            self._unnotify(toast)
        super().notify(shorten(message), title=shorten(title), **options)

    def tell(self, error: AppError) -> None:
        self.notify(clean(error.hint), title=clean(error.message), markup=False, severity="warning", timeout=8)

    def refresh_keys(self) -> None:
        """Redraw the footer only if a key came or went: every repaint can make it flicker."""
        if not self.screen_stack:  # the app is ending
            return
        state = tuple(self._commands[id].is_enabled() for id in ("library.sync", "library.stop", "library.background"))
        state += (self.background.is_active,)  # what pauses then resumes
        if state != self._footer_state:
            self._footer_state = state
            self.refresh_bindings()

    @on(messages.AppMessage)
    def _handle_message(self, message: messages.AppMessage) -> None:
        if self.is_running:  # else its screens lose their widgets
            self.wiring.handle(message)

    @on(messages.SearchReady)
    def _freeze_objects(self) -> None:
        """Have Python never look through what is loaded for garbage: 90 ms, in the middle of answering a key."""
        if self.freezes_objects:
            gc.freeze()

    # --- the focus ---

    def watch_app_focus(self, has_focus: bool) -> None:
        """Focus the screen's first field if it opened while the app had no focus (Textual 8.2.8 only restores one)."""
        if has_focus and self.screen.focused is None:
            self.screen.focus_next(self.screen.AUTO_FOCUS or "*")

    # --- commands ---

    def action_run(self, command: str) -> object:
        """Run a command of `app_commands` by its id."""
        return self._commands[command].run()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "run":
            return self._commands[str(parameters[0])].is_enabled()
        return super().check_action(action, parameters)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self.key_router.take(event)
        else:
            await super().on_event(event)

    def get_key_display(self, binding: Binding) -> str:
        """Write keys in footers and command palette as everywhere."""
        return keymap.key_text(binding.key)

    def action_help_quit(self) -> None:
        """Say how to quit. Textual binds this to Ctrl+C where nothing is selected."""
        self.notify(_("{key} quits.").format(key=keymap.key("app.quit")), markup=False)

    def action_command_palette(self) -> None:
        if not CommandPalette.is_open(self):
            self.push_screen(CommandPalette(placeholder=_("Search for a command")))

    def search_themes(self) -> None:
        palette.open_themes(self)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        return palette.entries(self, self.context, screen, self.wiring.navigation.switch_library)

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
        """Log the exception of a worker with `exit_on_error=False`; the others reach `_handle_exception`."""
        if event.state is WorkerState.ERROR and not event.worker.exit_on_error:
            logger.error("uncaught exception in worker %s", event.worker.name, exc_info=event.worker.error)

    def pop_screen(self) -> AwaitComplete:
        self.set_timer(CLOSE_DELAY_S, lambda: textual_fixes.forget_closed(self))
        return super().pop_screen()


def shorten(text: str) -> str:
    return text if len(text) <= TOAST_LENGTH else f"{text[: TOAST_LENGTH - 1]}…"
