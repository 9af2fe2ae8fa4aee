"""Work in threads. Exceptions become `AppError`s, and their tracebacks are logged."""

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
    """Run `work` in a Textual worker thread and post the message that it returns.

    A cancelled worker posts nothing: it is cancelled when a later one of its exclusive group starts, or when `owner`
    closes.

    Args:
        owner: The widget or app that owns the worker and receives the message.
        work: The function to run in the thread.
        failed: Makes a message of an error; called in the thread.
        take: Called in the event loop with the result of `work`, which is then no message.
        group: The worker's group.
        exclusive: Cancel earlier workers of the group.
    """

    def receive(result: Any) -> None:
        if take and owner.app.is_running:  # on exit the screens lose their widgets
            take(result)

    def body() -> None:
        worker, is_value = get_current_worker(), take is not None
        try:
            result = work()
        except Exception as error:  # no failure may end the app
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
        # while the user types, half-written queries are often invalid
        logger.log(logging.DEBUG if isinstance(error, UsageError) else logging.INFO, "failed", exc_info=error)
        return error
    logger.error("unexpected", exc_info=error)
    return AppError("unexpected", reason=f"{type(error).__name__}: {error}"[:200], log=log_path() or "stderr")


class AppThread(threading.Thread):
    """A daemon thread that posts messages, for work that may hang.

    A Textual worker would block the app's exit while a request to YouTube or a model's answer takes a minute. A daemon
    thread is killed, which loses only the current unit of work.
    """

    def __init__(self, name: str, runtime: "Runtime", post: Callable[[Message], object]) -> None:
        super().__init__(name=name, daemon=True)
        self._runtime = runtime
        self._post_message = post

    def _post(self, message: Message) -> None:
        with suppress(RuntimeError):  # the app has ended
            self._post_message(message)
