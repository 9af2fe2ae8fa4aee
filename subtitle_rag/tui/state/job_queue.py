"""Requests of the user, and their queue."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from subtitle_rag.domain import UsageError
from subtitle_rag.i18n import _
from subtitle_rag.library import put_unfinished_jobs, unfinished_jobs
from subtitle_rag.requests import JobRequest
from subtitle_rag.tui.state.clean_text import clean

if TYPE_CHECKING:
    from subtitle_rag.library import Library

logger = logging.getLogger(__name__)


def request_name(request: JobRequest) -> str:
    if request.paths:
        return ", ".join(clean(str(path)) for path in request.paths)
    if request.source is None:
        return _("the channels that are followed")
    return clean(" ".join((request.source.key, *request.source.tabs)))


def restore_unfinished(library: "Library") -> list[JobRequest]:
    """Return the unfinished requests of the app's last run."""
    requests = []
    for record in unfinished_jobs(library):
        try:
            requests.append(JobRequest.from_record(record))
        except UsageError:  # one bad address must not stop the others
            logger.info("a job that was left cannot be read any more", exc_info=True)
    return requests


def store_unfinished(library: "Library", requests: Iterable[JobRequest]) -> None:
    """Keep the requests for `restore_unfinished`, in the place of those before."""
    put_unfinished_jobs(library, [request.to_record() for request in requests])


@dataclass(slots=True)
class JobQueue:
    """One request at a time: the current one, waiting ones, and stopped ones."""

    current: JobRequest | None = None
    waiting: list[JobRequest] = field(default_factory=list)
    stopped: list[JobRequest] = field(default_factory=list)
    """They wait for the user to resume them."""

    def add(self, request: JobRequest) -> bool:
        """Queue a request. False if it runs or waits already."""
        if request == self.current or request in self.waiting:
            return False
        if request in self.stopped:
            self.stopped.remove(request)
        self.waiting.append(request)
        return True

    def next(self) -> JobRequest | None:
        self.current = self.waiting.pop(0) if self.waiting else None
        return self.current

    def hold(self) -> None:
        """Stop the current request and all waiting ones."""
        current = [self.current] if self.current else []
        self.stopped = [*current, *self.waiting, *self.stopped]
        self.waiting, self.current = [], None

    def release(self) -> None:
        self.waiting, self.stopped = [*self.waiting, *self.stopped], []

    def restore(self, requests: Iterable[JobRequest]) -> bool:
        """Add unfinished requests of the app's last run as stopped ones. False without new ones."""
        queue = {self.current, *self.waiting, *self.stopped}
        missing = [request for request in dict.fromkeys(requests) if request not in queue]
        self.stopped += missing
        return bool(missing)

    @property
    def unfinished(self) -> tuple[JobRequest, ...]:
        """All requests to resume if the app ends at this moment."""
        return (*([self.current] if self.current else []), *self.waiting, *self.stopped)
