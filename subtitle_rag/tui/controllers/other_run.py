"""Shows that another process is indexing the same library, until it ends."""

from typing import TYPE_CHECKING

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.tui.controllers.app_port import AppPort
from subtitle_rag.tui.controllers.jobs import JobController
from subtitle_rag.tui.shared.messages import LibraryChanged, NotRemembered

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

LOOK_S = 3.0
"""Interval of checks on the other process."""


class OtherRunWatch:
    def __init__(self, app: AppPort, runtime: "Runtime", jobs: JobController) -> None:
        self._app = app
        self._runtime = runtime
        self._jobs = jobs

    def show(self, sentence: str) -> None:
        """Show what the other process is doing, and check again later. Empty if there is none."""
        if sentence != self._app.other_run_line:
            self._app.other_run_line = sentence
            self._app.post_message(LibraryChanged(lists_videos=True))
        self._app.set_timer(LOOK_S, self._look)

    def _look(self) -> None:
        if self._jobs.busy:  # this process holds the lock, so no other one can index
            self.show("")
        else:
            self._app.run_in_thread(self._sentence, self._failed, take=self.show, group="other run", exclusive=True)

    def _failed(self, error: AppError) -> NotRemembered:
        self._app.set_timer(LOOK_S, self._look)
        return NotRemembered(error)

    def _sentence(self) -> str:
        from subtitle_rag.workflows.lock_holder import other_run_sentence

        return other_run_sentence(self._runtime.library)
