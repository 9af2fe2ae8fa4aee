"""Work in threads: an exception becomes an `AppError`, and its traceback goes to the log."""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual.dom import DOMNode
from textual.message import Message
from textual.worker import get_current_worker

from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.log_file import log_path

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


def run_in_thread(
    owner: DOMNode,
    work: Callable[[], Any],
    failed: Callable[[AppError], object],
    *,
    take: Callable[[Any], object] | None = None,
    group: str,
    exclusive: bool = False,
) -> None:
    """Run `work` in a Textual worker of `owner`, and post its message, or the one that `failed` makes of a failure.

    With `take` the result is no message: `take` is called with it in the event loop. Nothing comes after the worker was
    cancelled: by a later one of its exclusive group, or by the end of `owner`. `failed` is called in the worker.
    """

    def receive(result: Any) -> None:
        if take and owner.app.is_running:  # else its screens lose their widgets
            take(result)

    def body() -> None:
        worker, is_value = get_current_worker(), take is not None
        try:
            result = work()
        except Exception as error:  # whatever a door throws, the app stays up
            result, is_value = failed(to_app_error(error)), False
        if worker.is_cancelled:
            return
        if is_value:
            owner.call_later(receive, result)
        elif isinstance(result, Message):
            owner.post_message(result)

    owner.run_worker(body, thread=True, group=group, exclusive=exclusive, exit_on_error=False)


def to_app_error(error: Exception) -> AppError:
    """Convert an exception to an `AppError`, and log it. Call this in a worker thread: it writes a file."""
    if isinstance(error, AppError):
        # half of a query is wrong at every other key
        logger.log(logging.DEBUG if isinstance(error, UsageError) else logging.INFO, "failed", exc_info=error)
        return error
    logger.error("unexpected", exc_info=error)
    return AppError("unexpected", reason=f"{type(error).__name__}: {error}"[:200], log=log_path() or "stderr")


class AppThread(threading.Thread):
    """A daemon thread that posts messages, for work that may hang.

    It is no Textual worker: the end of the app waits for its workers, and a request to YouTube or a model's answer can
    take a minute. Dying anywhere costs the work at hand.
    """

    def __init__(self, name: str, runtime: "Runtime", post: Callable[[Message], object]) -> None:
        super().__init__(name=name, daemon=True)
        self._runtime = runtime
        self._post_message = post

    def _post(self, message: Message) -> None:
        with suppress(RuntimeError):  # the app has ended
            self._post_message(message)
