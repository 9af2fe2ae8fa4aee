"""The part of the app that has contexts written in the background, whatever else goes on."""

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.reactive import var

from subtitle_rag.i18n import N_
from subtitle_rag.tui import messages
from subtitle_rag.tui.contexts import PASSING, Progress, Run, line

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

AGAIN_S = 5.0
"""Least time between two searches for what new contexts may have brought."""
LEAVING_S = 1.0
"""Longest wait at the end for a run that was halted; only an Ollama that hangs makes it so long."""


class ContextApp(App[object]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "contexts", N_("Contexts on/off"), priority=True, id="library.contexts"),
    ]

    contexts: var[Progress | None] = var(None)
    """None where the settings name no Ollama, and before the first word of how things stand."""

    def __init__(self, runtime: "Runtime") -> None:
        super().__init__()
        self.runtime = runtime
        self.settings = runtime.settings
        self._doors = threading.Lock()
        self._writing: Run | None = None
        self._more = False
        """Windows may have come that the run under way does not know of."""
        self._paused = False
        self._scenes_due = False

    def search_again(self) -> None:
        """The scenes on the screen may be others now."""

    def write_contexts(self) -> None:
        """Have those written that are missing, unless the user has paused it; after a run that is under way."""
        self._more = self._writing is not None
        if self.settings.llm.hosts and not self._writing and not self._paused:
            self._writing = Run(self.runtime, self._doors, self.post_message)
            self._writing.start()

    def windows_came(self) -> None:
        """A job that takes long has brought some; where contexts have failed, its end is soon enough."""
        if self.contexts is None or self.contexts.state != "failed":
            self.write_contexts()

    def look_for_ollama(self) -> None:
        """Try again where all that was missing is something that the user may have mended meanwhile."""
        error = self.contexts.error if self.contexts else None
        if error and error.code in PASSING:
            self.write_contexts()

    @property
    def contexts_wanted(self) -> bool:
        """They are being written, or soon will be; else they are paused, cannot be written, or are all there."""
        return self._writing is not None and not self._paused

    @property
    def contexts_told(self) -> bool:
        """There is something to pause, to go on with, or to try again."""
        return self.contexts is not None and bool(line(self.contexts))

    def action_contexts(self) -> None:
        """Pause, or go on."""
        if self.contexts is None:
            return
        if self.contexts_wanted:
            self._paused = True
            self.halt_contexts()
            self.contexts = replace(self.contexts, state="paused")
        else:
            self._paused = False
            self.contexts = replace(self.contexts, state="asking")
            self.write_contexts()

    @on(messages.ContextsAdvanced)
    def _contexts_advanced(self, message: messages.ContextsAdvanced) -> None:
        if not self._paused:
            self.contexts = message.progress
        if message.progress.taken:
            self._search_soon()

    @on(messages.ContextsEnded)
    def _contexts_ended(self, message: messages.ContextsEnded) -> None:
        self._writing = None
        progress = message.progress
        again = message.halted and not self._paused  # the user went on before the run had ended
        self.contexts = replace(progress, state="asking") if again else progress
        if progress.taken:
            self._search_soon()
        if again or (self._more and progress.state == "done"):
            self.write_contexts()

    def _search_soon(self) -> None:
        if not self._scenes_due:
            self._scenes_due = True
            self.set_timer(AGAIN_S, self._search_again)

    def _search_again(self) -> None:
        self._scenes_due = False
        self.search_again()

    def halt_contexts(self) -> None:
        if self._writing:
            self._writing.halt()

    def await_contexts(self) -> None:
        """After `halt_contexts`: give the run a moment to close what it holds."""
        if self._writing and self._writing.is_alive():
            self._writing.join(LEAVING_S)
