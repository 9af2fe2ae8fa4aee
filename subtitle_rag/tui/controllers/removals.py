"""Removes videos, channels and playlists from the library after confirmation.

No job runs during a removal, since it could fetch the channel again. The removal stops the running job, which resumes
afterwards. Quitting carries out confirmed removals; a killed app leaves them undone.
"""

from typing import TYPE_CHECKING

from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.i18n import _
from subtitle_rag.tui.controllers.app_port import AppPort
from subtitle_rag.tui.controllers.jobs import JobController
from subtitle_rag.tui.shared.content import short_name
from subtitle_rag.tui.shared.jobs.job_lines import sample_refusal
from subtitle_rag.tui.shared.jobs.removal import Removal
from subtitle_rag.tui.shared.messages import ActionFailed, LibraryChanged, RemovalEnded, RemovalPlanned, ScenesChanged

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.workflows.removing import RemovalTarget


class RemovalController:
    def __init__(self, app: AppPort, runtime: "Runtime", jobs: JobController) -> None:
        self._app = app
        self._runtime = runtime
        self._jobs = jobs
        self._waiting: list[RemovalTarget] = []
        self._current: RemovalTarget | None = None

    def ask(self, target: "RemovalTarget") -> None:
        """Find out what would be removed. Posts `RemovalPlanned`, which asks the user. The sample library refuses."""
        if self._runtime.settings.is_sample:
            self._app.tell(sample_refusal())
            return
        library = self._runtime.library
        self._app.run_in_thread(lambda: RemovalPlanned(Removal.of(target, library)), ActionFailed, group="removal")

    def remove(self, removal: Removal) -> None:
        """Queue a confirmed removal, and drop the requests that would restore its content."""
        self._waiting.append(removal.target)
        self._jobs.make_way(removal.named_by)
        self.carry_out_next()
        self._show_line()

    def carry_out_next(self) -> None:
        """Start the next removal, unless a removal or a job is running."""
        if self._current is None and self._waiting and not self._jobs.busy:
            target = self._current = self._waiting.pop(0)
            self._app.run_in_thread(lambda: self._carry_out(target), RemovalEnded, group="removal")

    def _carry_out(self, target: "RemovalTarget") -> RemovalEnded:
        from subtitle_rag.workflows import removing

        library = self._runtime.library
        removing.remove(library, self._runtime.indexer, removing.plan_removal(library, target))
        return RemovalEnded(None)

    def ended(self, message: RemovalEnded) -> None:
        target, self._current = self._current, None
        if message.error:
            self._app.tell(message.error)
        elif target:
            self._app.notify(_("Removed: {title}").format(title=short_name(target.name)), markup=False)
        self._app.post_message(LibraryChanged(lists_videos=True))
        self._app.post_message(ScenesChanged())
        self.carry_out_next()
        if self._current is None:
            self._jobs.go_on()
        self._show_line()

    def _show_line(self) -> None:
        targets = [*([self._current] if self._current else []), *self._waiting]
        names = ", ".join(f"“{short_name(target.name)}”" for target in targets)
        self._app.removal_line = _("Removing {names}…").format(names=names) if names else ""

    def finish(self) -> None:
        """Carry out all confirmed removals, on exit."""
        for target in [*([self._current] if self._current else []), *self._waiting]:
            try:
                self._carry_out(target)
            except AppError as error:
                output.say_error(error)  # which logs it
