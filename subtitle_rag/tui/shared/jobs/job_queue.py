"""Queue of the user's requests."""

import logging
from dataclasses import dataclass, field

from subtitle_rag.base.i18n import _
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.workflows.requests import JobRequest

logger = logging.getLogger(__name__)


def request_name(request: JobRequest) -> str:
    if request.paths:
        return ", ".join(clean(str(path)) for path in request.paths)
    if request.source is None:
        return _("the channels that are followed")
    return clean(" ".join((request.source.key, *request.source.tabs)))


@dataclass(slots=True)
class JobQueue:
    """Requests, run one at a time: the current one, waiting ones, and stopped ones."""

    current: JobRequest | None = None
    waiting: list[JobRequest] = field(default_factory=list)
    stopped: list[JobRequest] = field(default_factory=list)
    """Waiting for the user to resume them."""

    def add(self, request: JobRequest) -> bool:
        """Queue a request. Returns False if it is running or waiting already."""
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
