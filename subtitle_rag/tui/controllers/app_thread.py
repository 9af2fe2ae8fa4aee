"""The base of the app's plain threads, for work that may hang.

Such a thread is no Textual worker: the end of the app waits for its workers, and a request to YouTube or a model's
answer can take a minute. Dying anywhere costs the work at hand.
"""

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.runtime import Runtime


class AppThread(threading.Thread):
    """A daemon thread that posts messages."""

    def __init__(self, name: str, runtime: "Runtime", post: "Callable[[Message], object]") -> None:
        super().__init__(name=name, daemon=True)
        self._runtime = runtime
        self._post_message = post

    def _post(self, message: "Message") -> None:
        with suppress(RuntimeError):  # the app has ended
            self._post_message(message)
