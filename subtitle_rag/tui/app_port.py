"""The app as controllers see it: a protocol, so that a test can put a plain object in its place."""

from collections.abc import Callable
from typing import Any, Protocol

from textual.message import Message

from subtitle_rag.domain.errors import AppError
from subtitle_rag.tui.state.job import Job
from subtitle_rag.tui.state.stage_progress import Stages


class Stoppable(Protocol):
    """A timer."""

    def stop(self) -> None: ...


class AppPort(Protocol):
    """Messages, toasts, timers, threads, and the values for bars and tables."""

    job: Job | None
    """The sums of the job on the screen."""
    stages: Stages
    """Progress in the background. Contexts are missing without Ollama in the settings, and until its state is known;
    the offer without anything to download; the update if yt-dlp is recent."""
    removal_line: str
    """The removals that are under way; empty without any."""
    other_run_line: str
    """What another process does in the library; empty without one."""

    def post_message(self, message: Message) -> bool: ...

    def notify(self, message: str, *, title: str = "", **options: Any) -> None: ...

    def tell(self, error: AppError) -> None:
        """Show a toast with the failure and its remedy."""
        ...

    def refresh_bindings(self) -> None:
        """Redraw the footer."""
        ...

    def refresh_keys(self) -> None:
        """Redraw the footer if other keys work now."""
        ...

    def set_timer(self, delay: float, callback: Callable[[], object]) -> Stoppable: ...

    def set_interval(self, interval: float, callback: Callable[[], object]) -> Stoppable: ...

    def run_in_thread(
        self,
        work: Callable[[], Any],
        failed: Callable[[AppError], object],
        *,
        take: Callable[[Any], object] | None = None,
        group: str,
        exclusive: bool = False,
    ) -> None:
        """Run `work` in a thread, and post its message or that of `failed`; see `threads.run_in_thread` for `take`."""
        ...

    def copy_to_clipboard(self, text: str) -> None: ...
