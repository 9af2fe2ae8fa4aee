"""What every part of the app stands on: the runtime, the lock on its doors, the user's keys and themes, and the way to
tell a failure."""

import logging
import threading
from typing import TYPE_CHECKING, Any

from textual import on, work
from textual.app import App
from textual.worker import Worker, WorkerFailed, WorkerState

from subtitle_rag.errors import AppError
from subtitle_rag.library.theme import remember_theme
from subtitle_rag.tui import keymap, themes
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.threads import to_app_error
from subtitle_rag.tui.watchers import forget_closed

if TYPE_CHECKING:
    from textual.await_complete import AwaitComplete
    from textual.theme import Theme

    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

CLOSED_S = 0.5
"""After which a screen that was left is closed, with all that is on it."""
LONGEST = 300
"""Characters of a toast."""


class BaseApp(App[object]):
    def __init__(self, runtime: "Runtime") -> None:
        super().__init__()
        self.runtime = runtime
        self.settings = runtime.settings
        self.doors = threading.Lock()
        """Keeps two threads from opening the same door of the runtime."""
        self.first_theme = ""
        """The theme to begin with where the settings name none."""
        keymap.activate(self.settings.keys)
        for theme in themes.made(self.settings).values():
            self.register_theme(theme)

    def on_mount(self) -> None:
        self.set_keymap(keymap.in_force())
        begin = self.settings.tui.theme or self.first_theme
        if begin in self.available_themes:
            self.theme = begin
        self._shown_theme = self.theme
        self.theme_changed_signal.subscribe(self, self._theme_changed)

    def _theme_changed(self, theme: "Theme") -> None:
        if theme.name != self._shown_theme:
            self._shown_theme = theme.name
            self._remember_theme(theme.name)

    @work(thread=True, group="theme", exclusive=True, exit_on_error=False)
    def _remember_theme(self, name: str) -> None:
        try:
            remember_theme(self.runtime.library, name)
        except Exception as error:  # whatever a door throws, the app stays up, in another theme the next time
            self.notify(clean(to_app_error(error, self.settings.paths).message), markup=False, severity="warning")

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

    def notify(self, message: str, *, title: str = "", **options: Any) -> None:
        """A toast, of such a length that it does not cover what it is about: titles that others wrote are in it."""
        super().notify(brief(message), title=brief(title), **options)

    def tell(self, error: AppError) -> None:
        """A toast with the failure and what to do."""
        self.notify(clean(error.hint), title=clean(error.message), markup=False, severity="warning", timeout=8)


def brief(said: str) -> str:
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"
