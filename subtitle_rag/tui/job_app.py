"""The part of the app that carries out errands, one at a time, and tells how far the job has come."""

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.reactive import var

from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.library.errands import keep_errands
from subtitle_rag.tui import messages
from subtitle_rag.tui.answer_app import AnswerApp
from subtitle_rag.tui.controllers.job_run import JobRun
from subtitle_rag.tui.dialogs.leave_screen import LeaveScreen
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.job import Job
from subtitle_rag.tui.state.job_request import JobQueue, JobRequest
from subtitle_rag.tui.text import job_lines
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from textual.timer import Timer

    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.screens.library_screen import LibraryScreen

REPORT_S = 0.1
"""Least time between two reports of a job: every repaint can make an input method's window flicker."""
COUNT_S = 2.0
"""And between two looks at what it has changed in the library."""


class JobApp(AnswerApp):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "sync", N_("New videos"), priority=True, id="library.sync"),
        Binding("ctrl+s", "stop", N_("Stop"), priority=True, id="library.stop"),
    ]

    job: var[Job | None] = var(None)

    def __init__(self, runtime: "Runtime") -> None:
        super().__init__(runtime)
        self._followed = 0
        self._queue = JobQueue()
        self._run: JobRun | None = None
        self._latest: Job | None = None
        """The newest sums; `job` has those that are shown."""
        self._reported = 0.0
        self._report_timer: Timer | None = None
        self._count_due = False
        self._keys: tuple[bool | None, ...] = ()
        self._keeping = threading.Lock()
        self._undone: tuple[JobRequest, ...] = ()
        self._kept: tuple[JobRequest, ...] | None = None
        """What the library was told last of errands that are not done; None before it could be asked."""

    def library_screen(self) -> "LibraryScreen | None":
        from subtitle_rag.tui.screens.library_screen import LibraryScreen

        return next((screen for screen in self.screen_stack if isinstance(screen, LibraryScreen)), None)

    def _count(self) -> None:
        self._count_due = False
        self.look_up()

    def start(self, errand: JobRequest) -> bool:
        """Carry out an errand, or let it wait for its turn; False if it is under way or waits already."""
        added = self._queue.add(errand)
        if not added:
            self.notify(_("That is under way already."), markup=False)
        elif self.busy:
            self._keep()
            self._show_job(self._latest)
        else:
            self._begin_next()
        return added

    def action_update(self) -> None:
        """Bring the newest yt-dlp, unless captions are being fetched with the one that is here."""
        if self.busy:
            self.notify(_("Stop the job first, or wait for its end: it uses yt-dlp."), markup=False, severity="warning")
        else:
            self.begin_update()

    @property
    def busy(self) -> bool:
        return self._queue.current is not None

    def _begin_next(self) -> None:
        errand = self._queue.next()
        if errand is not None:
            self._run = JobRun(errand, self.runtime, self.doors, self.post_message)
            self._show_job(errand.job())
            self._run.start()
        self._keep()
        self.show_keys()

    # --- what is left when the app ends ---

    @on(messages.ErrandsLeft)
    def _errands_left(self, message: messages.ErrandsLeft) -> None:
        self._kept = ()
        if self._queue.hold_kept(message.errands) and not self.busy:
            first, *others = self._queue.held
            job = replace(first.job(), ended=True, stopped=True, left=True, waiting=len(others))
            self.job = self._latest = job
        self._keep()
        self.show_keys()

    def _keep(self) -> None:
        """Write down what is not done: whatever ends the app, it is offered again at the next start."""
        self._undone = self._queue.undone
        self._write_undone()

    @work(thread=True, group="keep", exit_on_error=False)
    def _write_undone(self) -> None:
        with self._keeping:
            undone = self._undone
            if self._kept is None or undone == self._kept:
                return
            try:
                keep_errands(self.runtime.library, [errand.written() for errand in undone])
                self._kept = undone
            except Exception as error:  # whatever a door throws, the app stays up
                self.notify(clean(to_app_error(error, self.settings.paths).message), markup=False, severity="warning")

    def show_keys(self) -> None:
        """The footer is drawn anew only where a key came or went: every repaint can make it flicker."""
        if not self.screen_stack:  # the app is ending
            return
        keys = tuple(self.check_action(action, ()) for action in ("sync", "stop", "background"))
        if keys != self._keys:
            self._keys = keys
            self.refresh_bindings()

    @on(messages.JobAdvanced)
    def _job_advanced(self, message: messages.JobAdvanced) -> None:
        before, job = self._latest, message.job
        first = job.searchable and not (before and before.searchable)
        if first:
            self._count()
            if library := self.library_screen():
                library.first_windows()
        elif before and (job.listed, job.taken, job.searchable) != (before.listed, before.taken, before.searchable):
            self._count_soon()
        if job.fetches and job.searchable > (before.searchable if before else 0):
            self.windows_came()
        self._show_job(job, now=bool(first or job.resting))

    def _show_job(self, job: Job | None, *, now: bool = True) -> None:
        """Show the sums of a job: at once, or when the last ones have stood for a moment."""
        if job is None:
            return
        stopping = not job.ended and self._run is not None and self._run.stop.is_set()
        self._latest = replace(job, waiting=len(self._queue.waiting), stopping=stopping)
        if now or time.monotonic() - self._reported > REPORT_S:
            self._report()
        elif self._report_timer is None:
            self._report_timer = self.set_timer(REPORT_S, self._report)

    def _report(self) -> None:
        if self._report_timer is not None:
            self._report_timer.stop()
            self._report_timer = None
        self._reported = time.monotonic()
        self.job = self._latest

    def _count_soon(self) -> None:
        """What a job changes in the library is looked up from time to time: a list can name thousands of videos."""
        if not self._count_due:
            self._count_due = True
            self.set_timer(COUNT_S, self._count)

    @on(messages.JobEnded)
    def _job_ended(self, message: messages.JobEnded) -> None:
        halted = message.stopped or (message.error is not None and not isinstance(message.error, UsageError))
        self._run = None
        if halted:
            self._queue.hold()
        self._queue.current = None
        job = replace(message.job, ended=True, stopped=halted, reason=message.error if halted else None)
        self._show_job(job)
        self._count()
        if library := self.library_screen():
            library.job_ended(job, message.error)
        self._tell_end(job, message)
        self.search_screen.search_now()
        self._begin_next()
        self.begin_all()

    def _tell_end(self, job: Job, message: messages.JobEnded) -> None:
        if message.stopped:
            said = _("Stopped. What is done stays; {key} goes on with the rest.")
            self.notify(said.format(key=key("library.sync")), markup=False)
        elif message.error is None:
            self.notify(job_lines.outcome(job), markup=False)
        elif self._queue.waiting or not self.library_screen():  # the next job takes the library's place for it
            self.tell(message.error)

    def action_sync(self) -> None:
        """Go on with what was stopped; else look for new videos, and for those whose time to be asked for has come."""
        if self._queue.held:
            self._queue.release()
            if self.busy:
                self._keep()
                self._show_job(self._latest)
            else:
                self._begin_next()
        else:
            self.start(JobRequest())

    def action_stop(self) -> None:
        if self._run:
            self._run.stop.set()
            self._show_job(self._latest)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "sync":
            counts = self.search_screen.counts
            known = self._followed or self._queue.held or (counts and (counts.due or counts.failed))
            return bool(known) and not self.search_screen.failed
        if action == "stop":
            return self._run is not None
        return super().check_action(action, parameters)

    # --- the end ---

    def action_leave(self) -> None:
        """Leave at once; asks first where that stops a job, unless that is the question already."""
        if not self.busy or isinstance(self.screen, LeaveScreen):
            self.exit()
        else:
            self.push_screen(LeaveScreen(self.job, len(self._queue.waiting)))

    def exit(self, *arguments: Any, **options: Any) -> None:
        self._let_go()
        super().exit(*arguments, **options)

    def on_unmount(self) -> None:
        self._let_go()

    def _let_go(self) -> None:
        if self._run:
            self._run.stop.set()
        self.halt_runs()

    def await_job(self, seconds: float) -> None:
        """Give a job that was told to stop so long to put down what it holds."""
        if self._run and self._run.is_alive():
            self._run.join(seconds)
        self.await_runs()
