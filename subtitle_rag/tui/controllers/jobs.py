"""Runs job requests one at a time, and publishes their progress."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.message import Message

from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.domain.events import Resting
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.i18n import _
from subtitle_rag.base.log_file import counts_of
from subtitle_rag.tui.controllers.app_port import AppPort, Stoppable
from subtitle_rag.tui.controllers.background import BackgroundController
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.jobs.job_lines import job_outcome, sample_refusal
from subtitle_rag.tui.shared.jobs.job_queue import JobQueue, request_name
from subtitle_rag.tui.shared.messages import (
    FirstWindowsArrived,
    JobAdvanced,
    JobEnded,
    LibraryChanged,
    LibraryOpened,
)
from subtitle_rag.tui.threads import AppThread, to_app_error
from subtitle_rag.workflows.requests import JobRequest

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)
REPORT_S = 0.1
"""Shortest interval of a job's reports: repaints can make an input method's window flicker."""
COUNT_S = 2.0
"""Shortest interval of counting the library."""


def _new_job(request: JobRequest) -> Job:
    return Job(request_name(request), fetches=not request.paths)


class JobRun(AppThread):
    """Runs one job request and posts its progress until `stop` is set. A kill loses at most the current video."""

    def __init__(self, request: JobRequest, runtime: "Runtime", post: Callable[[Message], object]) -> None:
        super().__init__("job", runtime, post)
        self.request = request
        self.stop = threading.Event()
        self._job = _new_job(request)
        self._blocked: Resting | None = None

    def run(self) -> None:
        failure: AppError | None = None
        logger.info("job begins: %s", self._job_kind())
        try:
            self._carry_out()
        except Exception as error:  # no failure may end the app
            failure = to_app_error(error)
        if self.stop.is_set():  # the stop ended the run, not a failure
            failure = None
        elif self._blocked:
            failure = AppError(self._blocked.code, **self._blocked.details)
        end = "stopped" if self.stop.is_set() else failure.code if failure else "done"
        self._runtime.back_up()
        logger.info("job ends: %s, %s", end, " ".join(f"{key} {n}" for key, n in counts_of(self._job).items()))
        self._post(JobEnded(self._job, failure, self.stop.is_set()))

    def _job_kind(self) -> str:
        """Return the kind of source for the log, which must contain no names."""
        if self.request.paths:
            return "files"
        return self.request.source.kind if self.request.source else "sync"

    def _carry_out(self) -> None:
        from subtitle_rag.workflows.pipeline import run_request

        with closing(run_request(self._runtime, self.request, self.stop)) as events:
            for event in events:
                self._job = self._job.after(event)
                if isinstance(event, Progress):
                    self._resolve_name()
                if isinstance(event, Resting) and not event.goes_on:
                    self._blocked = event
                self._post(JobAdvanced(self._job))
                if self.request.paths and self.stop.is_set():  # finished files stay; the next run resumes
                    return

    def _resolve_name(self) -> None:
        """Name the job after the source or video in the library, not by its address."""
        source, library = self.request.source, self._runtime.library
        if source and self._job.source == request_name(self.request):
            followed = library.sources.find(source.url)
            video = library.video(source.key) if source.kind == "video" else None
            name = followed.name if followed else video.title if video else self._job.source
            self._job = replace(self._job, source=clean(name))


class JobController:
    """Owns the queue and the thread of the running job."""

    def __init__(self, app: AppPort, runtime: "Runtime", background: BackgroundController) -> None:
        self._app = app
        self._runtime = runtime
        self._background = background
        self.queue = JobQueue()
        self._has_sources = False
        """Whether `sync` has sources to check or videos to retry."""
        self._run: JobRun | None = None
        self._gives_way = False
        """Whether a removal is waiting or running; no job starts until `go_on`."""
        self._withdrawn: JobRequest | None = None
        """The stopped request whose videos are being removed."""
        self._interrupted: JobRequest | None = None
        """The request that resumes after a removal."""
        self._latest: Job | None = None
        """The newest progress; `app.job` is updated less often."""
        self._reported = 0.0
        self._report_timer: Stoppable | None = None
        self._count_due = False

    # --- starting ---

    @property
    def busy(self) -> bool:
        return self.queue.current is not None

    def library_opened(self, message: LibraryOpened) -> None:
        self._has_sources = bool(message.followed or message.counts.due or message.counts.failed)

    @property
    def can_sync(self) -> bool:
        return self._has_sources or bool(self.queue.stopped)

    def start(self, request: JobRequest) -> bool:
        """Run or queue a request. Return False if it is running or queued already, or in the sample library."""
        if self._runtime.settings.is_sample:
            self._app.tell(sample_refusal())
            return False
        if not self.queue.add(request):
            if request != self._withdrawn or request in self.queue.waiting:
                self._app.notify(_("This is already running or waiting."), markup=False)
                return False
            self.queue.waiting.append(request)  # its withdrawn run has not ended yet
        self._requests_came()
        return True

    def sync(self) -> None:
        """Resume stopped requests. If there are none, look for new videos and retry due ones."""
        if self.queue.stopped:
            self.queue.release()
            self._requests_came()
        else:
            self.start(JobRequest())

    def _requests_came(self) -> None:
        if self.busy:
            self._show(self._latest)
        else:
            self.start_next()

    def stop(self) -> None:
        if self._run:
            self._run.stop.set()
            self._show(self._latest)

    def start_next(self) -> None:
        """Start the queue's next request, unless a job is running or a removal is in the way."""
        if self.busy:
            return
        if self._gives_way:
            return
        request = self.queue.next()
        if request is not None:
            self._run = JobRun(request, self._runtime, self._app.post_message)
            self._show(_new_job(request))
            self._run.start()
        self._app.refresh_keys()

    # --- removals ---

    def make_way(self, brings_back: Callable[[JobRequest], bool]) -> None:
        """Stop the current job and block others until `go_on`, for a removal.

        Requests that would restore what is removed (`brings_back`) are dropped.
        """
        queue = self.queue
        self._gives_way = True
        queue.waiting = [request for request in queue.waiting if not brings_back(request)]
        queue.stopped = [request for request in queue.stopped if not brings_back(request)]
        if queue.current and self._run:
            if brings_back(queue.current):
                self._withdrawn, self._interrupted = queue.current, None
            elif not self._run.stop.is_set():
                self._interrupted = queue.current
            self._run.stop.set()
        self._show(self._latest)
        self._forget_stopped()

    def go_on(self) -> None:
        """Resume the interrupted job, then the waiting ones."""
        self._gives_way = False
        self.start_next()

    def _forget_stopped(self) -> None:
        """Hide a stopped job that has nothing to resume."""
        job = self._app.job
        if job and job.stopped and not self.busy and not self.queue.stopped:
            self._app.job = self._latest = None
        self._app.refresh_keys()

    # --- progress ---

    def advanced(self, message: JobAdvanced) -> None:
        before, job = self._latest, message.job
        first = job.searchable and not (before and before.searchable)
        if first:
            self._count()
            self._app.post_message(FirstWindowsArrived())
        elif before and job.library_sums != before.library_sums:
            self._count_soon()
        if job.fetches and job.searchable > (before.searchable if before else 0):
            self._background.windows_came()
        self._show(job, now=bool(first or job.resting))

    def _show(self, job: Job | None, *, now: bool = True) -> None:
        """Publish a job's progress, throttled unless `now`."""
        if job is None:
            return
        stopping = not job.ended and self._run is not None and self._run.stop.is_set()
        self._latest = replace(job, waiting=len(self.queue.waiting), stopping=stopping)
        if now or time.monotonic() - self._reported > REPORT_S:
            self._report()
        elif self._report_timer is None:
            self._report_timer = self._app.set_timer(REPORT_S, self._report)

    def _report(self) -> None:
        if self._report_timer is not None:
            self._report_timer.stop()
            self._report_timer = None
        self._reported = time.monotonic()
        self._app.job = self._latest

    def _count_soon(self) -> None:
        """Count the library, throttled: a list can have thousands of videos."""
        if not self._count_due:
            self._count_due = True
            self._app.set_timer(COUNT_S, self._count)

    def _count(self) -> None:
        self._count_due = False
        self._app.post_message(LibraryChanged())

    def ended(self, message: JobEnded, *, in_library: bool) -> Job:
        """Publish the job's end and return its final state; the caller starts the next one.

        With `in_library`, show no toast for a failure: the library screen shows the reason.
        """
        halted = message.stopped or (message.error is not None and not isinstance(message.error, UsageError))
        made_way = self._take_from_way()
        self._run = None
        if halted and not made_way:
            self.queue.hold()
        self.queue.current = None
        job = replace(message.job, ended=True, stopped=halted, reason=message.error if halted else None)
        if made_way:
            self._app.job = self._latest = None
        else:
            self._show(job)
            self._notify_end(job, message, in_library=in_library)
        self._count()
        return job

    def _take_from_way(self) -> bool:
        """Return whether the job was stopped by a removal, and queue it again if it was only interrupted."""
        current, withdrawn, interrupted = self.queue.current, self._withdrawn, self._interrupted
        self._withdrawn = self._interrupted = None
        if interrupted and interrupted == current:
            self.queue.waiting.insert(0, interrupted)
            return True
        return withdrawn is not None and withdrawn == current

    def _notify_end(self, job: Job, message: JobEnded, *, in_library: bool) -> None:
        if message.stopped:
            sentence = _("Stopped. Finished videos are kept. Press {key} to resume.")
            self._app.notify(sentence.format(key=key("library.sync")), markup=False)
        elif message.error is None:
            self._app.notify(job_outcome(job), markup=False)
        elif self.queue.waiting or not in_library:  # else the library screen shows it
            self._app.tell(message.error)

    # --- the end ---

    def halt(self) -> None:
        if self._run:
            self._run.stop.set()

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` until a halted job has closed its files."""
        if self._run and self._run.is_alive():
            self._run.join(seconds)
