"""Requests of the user, and their queue."""

import logging
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.captions import Source, parse_address
from subtitle_rag.domain import IndexEvent, UsageError
from subtitle_rag.i18n import _
from subtitle_rag.library import put_unfinished_jobs, unfinished_jobs
from subtitle_rag.requests import IndexRequest
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.job import Job

if TYPE_CHECKING:
    from collections.abc import Generator

    from subtitle_rag.library import Library
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JobRequest:
    """Files to index, or a source to fetch; with neither, a sync of all followed sources."""

    paths: tuple[Path, ...] = ()
    source: Source | None = None
    without: frozenset[int] = frozenset()
    """Ids of followed sources that a sync leaves out: they are being removed."""

    @classmethod
    def of_address(cls, url: str) -> "JobRequest":
        return cls(source=parse_address(url))

    @property
    def name(self) -> str:
        if self.paths:
            return ", ".join(clean(str(path)) for path in self.paths)
        if self.source is None:
            return _("the channels that are followed")
        return clean(" ".join((self.source.key, *self.source.tabs)))

    def job(self) -> Job:
        return Job(self.name, fetches=not self.paths)

    def to_record(self) -> dict[str, Any]:
        """Return the library's record of the request."""
        source = self.source
        address = {"url": source.url, "tabs": source.tabs, "playlist": source.playlist} if source else None
        return {"paths": [str(path) for path in self.paths], "source": address}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "JobRequest":
        """Read a record of `to_record`.

        Raises:
            UsageError: This version does not accept the address.
        """
        source = None
        if address := record["source"]:
            source = replace(parse_address(address["url"]), tabs=tuple(address["tabs"]), playlist=address["playlist"])
        return cls(tuple(Path(path) for path in record["paths"]), source)

    def events(self, runtime: "Runtime", stop: threading.Event) -> "Generator[IndexEvent, None, None]":
        """Return the events of its run."""
        from subtitle_rag import pipeline

        if not self.paths and self.source is None:
            return pipeline.sync_sources(runtime, without=self.without, stop=stop)
        sources = (self.source,) if self.source else ()
        return pipeline.read_captions(runtime, IndexRequest(self.paths, sources), stop=stop)


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
