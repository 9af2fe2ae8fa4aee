"""A plain object in the app's place, for controllers. Its threads run at once, and its timers when a test says so."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from textual.message import Message

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.progress.stage import Stages


@dataclass(eq=False)
class FakeTimer:
    seconds: float
    callback: Callable[[], object]
    stopped: bool = False

    def stop(self) -> None:
        self.stopped = True


_Anything: Any = object
"""A base with which it passes for an `AppPort`."""


@dataclass
class FakeApp(_Anything):  # type: ignore[misc]
    """What controllers use of `AppPort`."""

    job: Job | None = None
    stages: Stages = field(default_factory=dict)
    removal_line: str = ""
    other_run_line: str = ""
    posted: list[Message] = field(default_factory=list)
    toasts: list[str] = field(default_factory=list)
    errors: list[AppError] = field(default_factory=list)
    timers: list[FakeTimer] = field(default_factory=list)
    copied: list[str] = field(default_factory=list)

    def post_message(self, message: Message) -> bool:
        self.posted.append(message)
        return True

    def notify(self, message: str, *, title: str = "", **options: Any) -> None:
        self.toasts.append(f"{title} {message}".strip())

    def tell(self, error: AppError) -> None:
        self.errors.append(error)

    def refresh_bindings(self) -> None:
        pass

    def refresh_keys(self) -> None:
        pass

    def set_timer(self, delay: float, callback: Callable[[], object]) -> FakeTimer:
        self.timers.append(FakeTimer(delay, callback))
        return self.timers[-1]

    def set_interval(self, interval: float, callback: Callable[[], object]) -> FakeTimer:
        return self.set_timer(interval, callback)

    def run_in_thread(
        self,
        work: Callable[[], Any],
        failed: Callable[[AppError], object],
        *,
        take: Callable[[Any], object] | None = None,
        group: str,
        exclusive: bool = False,
    ) -> None:
        try:
            result, deliver = work(), take
        except AppError as error:
            result, deliver = failed(error), None
        if deliver:
            deliver(result)
        elif isinstance(result, Message):
            self.posted.append(result)

    def copy_to_clipboard(self, text: str) -> None:
        self.copied.append(text)

    def fire(self) -> None:
        """Let the timers that are set end, but for those that they set."""
        due, self.timers = self.timers, []
        for timer in due:
            if not timer.stopped:
                timer.callback()
