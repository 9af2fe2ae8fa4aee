"""Pauses the writing of contexts while a model answers a question.

A model server works on one request after the other, and a context takes seconds or a minute: the current one is given
up for the question. The pause outlasts the answer, since the next question finds the scenes in the server's prompt
cache only without requests in between.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.app_port import AppPort, Stoppable
    from subtitle_rag.tui.controllers.background import BackgroundController

QUIET_S = 60.0
"""Pause after an answer, before contexts are resumed."""


class ContextPause:
    """Pauses contexts for answers, unless the user has paused them already."""

    def __init__(
        self,
        app: "AppPort",
        runtime: "Runtime",
        background: "BackgroundController",
        *,
        is_answering: "Callable[[], bool]",
    ) -> None:
        self._app = app
        self._runtime = runtime
        self._background = background
        self._is_answering = is_answering
        self._paused = False
        self._timer: Stoppable | None = None

    def pause_contexts_for_answer(self) -> None:
        self._stop_timer()
        if "contexts" not in self._background.paused and self._runtime.settings.llm.hosts:
            self._paused = True
            self._background.pause("contexts")

    def resume_contexts_later(self) -> None:
        """Resume contexts when no further question has come for a while."""
        self._stop_timer()
        self._timer = self._app.set_timer(QUIET_S, self.resume_contexts)

    def resume_contexts(self) -> None:
        if not self._paused or self._is_answering():
            return
        self._paused = False
        progress = self._background.progress("contexts")
        if progress and progress.state == "failed":
            self._background.paused.discard("contexts")
        else:
            self._background.resume("contexts")

    def forget(self) -> None:
        """Leave contexts to the user, who has paused or resumed them."""
        self._paused = False

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.stop()
