"""The thread that runs one job. Dying anywhere costs it one video."""

import logging
import threading
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from subtitle_rag.domain import AppError, Found, IndexEvent, Resting
from subtitle_rag.log_file import counts_of
from subtitle_rag.tui.controllers.app_thread import AppThread
from subtitle_rag.tui.messages import JobAdvanced, JobEnded
from subtitle_rag.tui.state import JobRequest, clean
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from textual.message import Message

    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


class JobRun(AppThread):
    """Runs one job request and posts its progress; setting `stop` ends it."""

    def __init__(self, request: JobRequest, runtime: "Runtime", post: "Callable[[Message], object]") -> None:
        super().__init__("job", runtime, post)
        self.request = request
        self.stop = threading.Event()
        self._job = request.job()
        self._blocked: Resting | None = None

    def run(self) -> None:
        failure: AppError | None = None
        logger.info("job begins: %s", self._job_kind())
        try:
            self._carry_out()
        except Exception as error:  # whatever a door throws, the app stays up
            failure = to_app_error(error, self._runtime.settings.paths)
        if self.stop.is_set():  # the stop ended the run, not a failure
            failure = None
        elif self._blocked:
            failure = AppError(self._blocked.code, **self._blocked.details)
        end = "stopped" if self.stop.is_set() else failure.code if failure else "done"
        self._runtime.back_up()
        logger.info("job ends: %s, %s", end, " ".join(f"{key} {n}" for key, n in counts_of(self._job).items()))
        self._post(JobEnded(self._job, failure, self.stop.is_set()))

    def _job_kind(self) -> str:
        """Return the kind of source for the log, which holds no names."""
        if self.request.paths:
            return "files"
        return self.request.source.kind if self.request.source else "sync"

    def _carry_out(self) -> None:
        began = time.monotonic()
        events = self.request.events(self._runtime, self.stop)
        with closing(cast("Generator[IndexEvent]", events)):
            for event in events:
                self._job = self._job.after(event, time.monotonic() - began)
                if isinstance(event, Found):
                    self._resolve_name()
                if isinstance(event, Resting) and not event.goes_on:
                    self._blocked = event
                self._post(JobAdvanced(self._job))
                if self.request.paths and self.stop.is_set():  # finished files stay; the next run resumes
                    return

    def _resolve_name(self) -> None:
        """Name the job after the followed source or the video in the library, instead of its address."""
        source, library = self.request.source, self._runtime.library
        if source and self._job.source == self.request.name:
            followed = library.sources.find(source.url)
            video = library.video(source.key) if source.kind == "video" else None
            name = followed.name if followed else video.title if video else self._job.source
            self._job = replace(self._job, source=clean(name))
