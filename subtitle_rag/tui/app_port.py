"""What controllers need of the app, as a protocol: a test puts a plain object in its place."""

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.errors import AppError
    from subtitle_rag.tui.state.extractor_update import ExtractorUpdate
    from subtitle_rag.tui.state.job import Job
    from subtitle_rag.tui.state.model_offer import ModelDownload
    from subtitle_rag.tui.state.stage_progress import ContextProgress, VectorProgress

T = TypeVar("T")


class Stoppable(Protocol):
    """A timer."""

    def stop(self) -> None: ...


class AppPort(Protocol):
    """Messages, toasts, timers and threads; and the values that bars and tables watch."""

    job: "Job | None"
    """The sums of the job that is shown."""
    contexts: "ContextProgress | None"
    """None where the settings name no Ollama, and until its state is known."""
    vectors: "VectorProgress | None"
    offer: "ModelDownload | None"
    """None where there is nothing to download."""
    update: "ExtractorUpdate | None"
    """None where yt-dlp is recent."""
    removal_line: str
    """The newest removal, and how long it can be undone; empty where there is none."""

    def post_message(self, message: "Message") -> bool: ...

    def notify(self, message: str, *, title: str = "", **options: Any) -> None: ...

    def tell(self, error: "AppError") -> None:
        """Show a toast with the failure and what to do."""
        ...

    def set_timer(self, delay: float, callback: "Callable[[], object]") -> Stoppable: ...

    def set_interval(self, interval: float, callback: "Callable[[], object]") -> Stoppable: ...

    def run_in_thread(
        self,
        work: "Callable[[], T]",
        done: "Callable[[T], Message | None]",
        failed: "Callable[[AppError], Message | None]",
        *,
        group: str,
        exclusive: bool = False,
    ) -> None:
        """Run `work` in a thread and post the message that `done` or `failed` makes of its end."""
        ...

    def open_url(self, url: str) -> None: ...

    def copy_to_clipboard(self, text: str) -> None: ...

    @property
    def is_web(self) -> bool:
        """The app is shown in a browser, which may be on another machine."""
        ...
