"""Puts back windows that a shared index has lost, in the background."""

import logging
import time
from typing import TYPE_CHECKING

from subtitle_rag.domain import AppError
from subtitle_rag.tui.controllers.app_thread import AppThread
from subtitle_rag.tui.messages import WindowsRestored

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.runtime import Runtime

RETRY_S = 60.0
"""Seconds between two looks: a search for each key may ask for one."""
logger = logging.getLogger(__name__)


class IndexRestore(AppThread):
    """Looks for missing windows, puts them back, and posts `WindowsRestored`; a failure waits for the next look."""

    def __init__(self, runtime: "Runtime", post: "Callable[[Message], object]") -> None:
        super().__init__("index-restore", runtime, post)

    def run(self) -> None:
        try:
            if self._runtime.missing_windows is None:
                return
            count = sum(event.count for event in self._runtime.indexer.finish())
            self._post(WindowsRestored(count))
        except (AppError, RuntimeError):  # RuntimeError: the app has ended meanwhile
            logger.info("missing windows were not put back", exc_info=True)


class IndexRestoreController:
    """Starts one `IndexRestore` at a time."""

    def __init__(self, runtime: "Runtime", post: "Callable[[Message], object]") -> None:
        self._runtime = runtime
        self._post = post
        self._next_look = 0.0
        self._restore: IndexRestore | None = None

    def begin(self) -> None:
        """Look for missing windows, unless a look is under way or has just been. Only a server's index is shared."""
        if not self._runtime.settings.qdrant.url or (self._restore is not None and self._restore.is_alive()):
            return
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + RETRY_S
        self._restore = IndexRestore(self._runtime, self._post)
        self._restore.start()
