"""Shows that another process is indexing the same library, and continues what it has kept from working."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.tui.controllers.app_port import AppPort
from subtitle_rag.tui.controllers.background import BackgroundController
from subtitle_rag.tui.controllers.jobs import JobController
from subtitle_rag.tui.shared.messages import LibraryChanged, NotRemembered

if TYPE_CHECKING:
    from subtitle_rag.library.connection import LockName
    from subtitle_rag.runtime import Runtime

LOOK_S = 3.0
"""Interval of checks on the other process."""


class OtherRunWatch:
    def __init__(self, app: AppPort, runtime: "Runtime", jobs: JobController, background: BackgroundController) -> None:
        self._app = app
        self._runtime = runtime
        self._jobs = jobs
        self._background = background

    def show(self, sentence: str) -> None:
        """Show what the other process is doing, and check again later. Empty if there is none."""
        if sentence != self._app.other_run_line:
            self._app.other_run_line = sentence
            self._app.post_message(LibraryChanged(lists_videos=True))
        self._app.set_timer(LOOK_S, self._look)

    def _look(self) -> None:
        if self._jobs.busy:  # this process holds the lock, so no other one can index
            self.show("")
            return
        find = partial(self._find, tuple(self._blocked))
        self._app.run_in_thread(find, self._failed, take=self._found, group="other run", exclusive=True)

    @property
    def _blocked(self) -> "dict[LockName, Callable[[], object]]":
        """What to run once the other process has released a lock."""
        failed = (stage for stage in self._app.stages.values() if stage.state == "failed")
        runs: dict[LockName, Callable[[], object]] = {
            lock: partial(self._background.begin, stage.name) for stage in failed if (lock := _lock(stage.error))
        }
        job = self._app.job
        if job and job.stopped and (lock := _lock(job.reason)):
            runs[lock] = self._jobs.sync
        return runs

    def _failed(self, error: AppError) -> NotRemembered:
        self._app.set_timer(LOOK_S, self._look)
        return NotRemembered(error)

    def _find(self, locks: "Iterable[LockName]") -> "tuple[str, list[LockName]]":
        """Return what the other process is doing, and which of the locks are free."""
        from subtitle_rag.library.connection import is_locked_elsewhere
        from subtitle_rag.workflows.lock_holder import other_run_sentence

        library = self._runtime.library
        free = [lock for lock in locks if not is_locked_elsewhere(library.path.parent, lock)]
        return other_run_sentence(library), free

    def _found(self, found: "tuple[str, list[LockName]]") -> None:
        sentence, free = found
        self.show(sentence)
        blocked = self._blocked
        for lock in free:
            if run := blocked.get(lock):
                run()


def _lock(error: AppError | None) -> "LockName | None":
    """Return the lock that another process held."""
    return error.details.get("lock") if error and error.code == "busy" else None
