"""The app as controllers see it: the values that are shown, toasts, threads."""

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
"""What controllers keep of a timer."""
TOAST_LENGTH = 300
"""Characters of a toast."""


class AppPort(App[object]):
    job: var[Job | None] = var(None)
    """The sums of the job on the screen."""
    stages: var[Stages] = var(dict)
    """Progress in the background. Contexts are missing without Ollama in the settings, and until its state is known;
    the offer without anything to download; the update if yt-dlp is recent."""
    removal_line: var[str] = var("")
    """The removals that are under way; empty without any."""
    other_run_line: var[str] = var("")
    """What another process does in the library; empty without one."""

    def __init__(self, runtime: "Runtime") -> None:
        super().__init__()
        self.runtime = runtime
        self.settings = runtime.settings
        self.run_in_thread: Callable[..., None] = partial(run_in_thread, self)
        """Runs work in a thread; see `threads.run_in_thread`."""
        self._footer_state: tuple[bool | None, ...] = ()

    def notify(self, message: str, *, title: str = "", **options: Any) -> None:
        """Show a toast, cut so that it does not cover its subject: it may hold a long title.

        Replaces a toast with the same text.
        """
        for toast in [toast for toast in self._notifications if toast.message == shorten(message)]:
            self._unnotify(toast)
        super().notify(shorten(message), title=shorten(title), **options)

    def tell(self, error: AppError) -> None:
        """Show a toast with the failure and its remedy."""
        self.notify(clean(error.hint), title=clean(error.message), markup=False, severity="warning", timeout=8)

    def refresh_keys(self) -> None:
        """Redraw the footer only if a key came or went: every repaint can make it flicker."""
        if not self.screen_stack:  # the app is ending
            return
        state = tuple(self.check_action(action, ()) for action in ("sync", "stop_job"))
        if state != self._footer_state:
            self._footer_state = state
            self.refresh_bindings()


def shorten(text: str) -> str:
    return text if len(text) <= TOAST_LENGTH else f"{text[: TOAST_LENGTH - 1]}…"
