"""What every part of the app stands on: the runtime, the lock on its doors, and the way to tell a failure."""

import threading
from typing import TYPE_CHECKING

from textual.app import App

from subtitle_rag.errors import AppError
from subtitle_rag.tui.text import clean

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime


class BaseApp(App[object]):
    def __init__(self, runtime: "Runtime") -> None:
        super().__init__()
        self.runtime = runtime
        self.settings = runtime.settings
        self.doors = threading.Lock()
        """Keeps two threads from opening the same door of the runtime."""

    def tell(self, error: AppError) -> None:
        """A toast with the failure and what to do."""
        self.notify(clean(error.hint), title=clean(error.message), markup=False, severity="warning", timeout=8)
