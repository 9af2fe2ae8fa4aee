"""Offers an update of an aged yt-dlp, and installs it."""

from typing import TYPE_CHECKING

from subtitle_rag.i18n import _
from subtitle_rag.tui.state import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from subtitle_rag.tui.app_port import AppPort
    from subtitle_rag.tui.controllers.background import BackgroundController
    from subtitle_rag.tui.state import ExtractorUpdate, StageProgress


class ExtractorUpdateController:
    def __init__(
        self, app: "AppPort", background: "BackgroundController", *, start_job: "Callable[[], object]"
    ) -> None:
        """`start_job` is called at the end of a run: jobs wait for it."""
        self._app = app
        self._background = background
        self._start_job = start_job
        background.on_end["update"] = self._ended

    @property
    def is_running(self) -> bool:
        return "update" in self._background.runs

    @property
    def can_start(self) -> bool:
        return bool(self._app.update and self._app.update.can_start)

    def update_read(self, update: "ExtractorUpdate | None") -> None:
        """Publish the result of `find_update`. A failure stays until no update is due."""
        before = self._app.update
        if not self.is_running and not (before and before.state == "failed" and update):
            self._app.update = update

    def start(self, *, busy: bool) -> None:
        """Install the newest yt-dlp, unless a job is `busy` with the installed one."""
        if busy:
            sentence = _("Stop the job first, or wait for its end: it uses yt-dlp.")
            self._app.notify(sentence, markup=False, severity="warning")
        elif self.can_start:
            self._background.resume("update")

    def _ended(self, progress: "StageProgress") -> None:
        if progress.state == "done":
            self._notify_end()
        self._start_job()

    def _notify_end(self) -> None:
        update = self._app.update
        self._app.update = None
        if update and update.processed:
            template = _("yt-dlp {version} is installed.")
        else:
            template = _("yt-dlp {version} is the newest version.")
        self._app.notify(clean(template.format(version=update.version if update else "")), markup=False)
