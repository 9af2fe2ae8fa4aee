"""The part of the app that tells of a job outside of its own screen, where the settings ask for it."""

import os
from typing import TYPE_CHECKING

from subtitle_rag.tui import in_browser
from subtitle_rag.tui.controllers import terminal
from subtitle_rag.tui.job_app import JobApp
from subtitle_rag.tui.text import job_lines

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.state.job import Job


class NoticeApp(JobApp):
    def __init__(self, runtime: "Runtime") -> None:
        super().__init__(runtime)
        self._title = terminal.TerminalTitle(self._to_terminal)

    def _to_terminal(self, sequence: str) -> None:
        if self._driver is not None:
            self._driver.write(sequence)
            self._driver.flush()

    @property
    def _notifies(self) -> bool:
        return self.settings.tui.notify and not in_browser()

    def watch_job(self, before: "Job | None", job: "Job | None") -> None:
        if not self._notifies or job is None or job.left:
            return
        if not job.ended:
            self._title.tell(f"{job.taken}/{job.videos}" if job.videos else "…")
        elif before is None or not before.ended:
            self._tell_outside(job)

    def _tell_outside(self, job: "Job") -> None:
        """A job has ended: the title says so until somebody looks here."""
        said = job_lines.line(job) if job.stopped else job_lines.outcome(job)
        if self.app_focus:
            self._title.give_back()
            return
        self._title.tell(said)
        if job.seconds >= terminal.LONG_S:
            self._to_terminal(terminal.BELL + terminal.notice(said, os.environ))

    def on_app_focus(self) -> None:
        if not self.busy:
            self._title.give_back()

    def on_unmount(self) -> None:
        self._title.give_back()
