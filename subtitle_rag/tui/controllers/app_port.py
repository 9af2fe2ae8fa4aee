"""The app as seen by controllers: displayed values, toasts and threads."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.reactive import var
from textual.timer import Timer

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.progress.stage import Stages
from subtitle_rag.tui.threads import run_in_thread

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

Stoppable = Timer
"""A timer that a controller can stop."""
TOAST_LENGTH = 300
"""Longest toast, in characters."""


class AppPort(App[object]):
    job: var[Job | None] = var(None)
    """The displayed job."""
    stages: var[Stages] = var(dict)
    """Progress of the background stages. Absent: contexts until Ollama is configured and has answered, the offer if
    there is nothing to download, the update if yt-dlp is recent."""
    removal_line: var[str] = var("")
    """Running removals; empty without any."""
    other_run_line: var[str] = var("")
    """What another process is doing in the library; empty without one."""

    def __init__(self, runtime: "Runtime") -> None:
        super().__init__()
        self.runtime = runtime
        self.settings = runtime.settings
        self.run_in_thread: Callable[..., None] = partial(run_in_thread, self)
        """Runs work in a thread; see `threads.run_in_thread`."""
        self._footer_state: tuple[bool | None, ...] = ()

    def notify(self, message: str, *, title: str = "", **options: Any) -> None:
        """Show a toast, shortened so that a long title does not fill the screen.

        Replaces a toast with the same text.
        """
        for toast in [toast for toast in self._notifications if toast.message == shorten(message)]:
            self._unnotify(toast)
        super().notify(shorten(message), title=shorten(title), **options)

    def tell(self, error: AppError) -> None:
        """Show a toast with the failure and its remedy."""
        self.notify(clean(error.hint), title=clean(error.message), markup=False, severity="warning", timeout=8)

    def refresh_keys(self) -> None:
        """Redraw the footer only if its keys changed, to avoid flicker."""
        if not self.screen_stack:  # the app is ending
            return
        state = tuple(self.check_action(action, ()) for action in ("sync", "stop_job"))
        if state != self._footer_state:
            self._footer_state = state
            self.refresh_bindings()


def shorten(text: str) -> str:
    return text if len(text) <= TOAST_LENGTH else f"{text[: TOAST_LENGTH - 1]}…"
