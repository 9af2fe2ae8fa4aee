"""What the user has asked for, and the queue in which requests wait."""

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.captions.addresses import Source, parse
from subtitle_rag.errors import UsageError
from subtitle_rag.events import IndexEvent
from subtitle_rag.i18n import _
from subtitle_rag.library.app_state import unfinished_jobs
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.job import Job

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JobRequest:
    """Files to take in, or a source to fetch; with neither, what is new in the sources that are followed."""

    paths: tuple[Path, ...] = ()
    source: Source | None = None
    without: frozenset[int] = frozenset()
    """Ids of followed sources that are left out, for they are about to leave the library."""

    @property
    def name(self) -> str:
        if self.paths:
            return ", ".join(clean(str(path)) for path in self.paths)
        if self.source is None:
            return _("the channels that are followed")
        return clean(" ".join((self.source.key, *self.source.tabs)))

    def job(self) -> Job:
        return Job(self.name, fetches=not self.paths)

    def written(self) -> dict[str, Any]:
        """As the library keeps it."""
        source = self.source
        told = {"url": source.url, "tabs": source.tabs, "playlist": source.playlist} if source else None
        return {"paths": [str(path) for path in self.paths], "source": told}

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> "JobRequest":
        """What `written` gave.

        Raises:
            UsageError: The address cannot be read any more.
        """
        source = None
        if told := written["source"]:
            source = replace(parse(told["url"]), tabs=tuple(told["tabs"]), playlist=told["playlist"])
        return cls(tuple(Path(path) for path in written["paths"]), source)

    def events(self, runtime: "Runtime", stop: threading.Event) -> Iterator[IndexEvent]:
        """Run it, and yield its events. The doors that it needs are opened before this returns."""
        if self.paths:
            return runtime.indexer.index(self.paths)
        from subtitle_rag.fetching.fetcher import FetchRequest, RunOptions, followed_requests

        fetcher = runtime.fetcher(stop)
        if self.source:
            return fetcher.run([FetchRequest(self.source)])
        sources = [source for source in runtime.library.sources.followed() if source.id not in self.without]
        # a due video without a source may be of one that is left out
        return fetcher.run(followed_requests(sources), RunOptions(include_due=not self.without))


def sample_request() -> JobRequest:
    """The captions that come with the program."""
    return JobRequest((Path(str(files("subtitle_rag") / "sample")),))


def restore_unfinished(library: "Library") -> list[JobRequest]:
    """What was not done yet when the app ended."""
    found = []
    for written in unfinished_jobs(library):
        try:
            found.append(JobRequest.read(written))
        except UsageError:  # it must not keep the others from their turn
            logger.info("a job that was left cannot be read any more", exc_info=True)
    return found


@dataclass(slots=True)
class JobQueue:
    """One request at a time: the current one, those that wait for it, and those that were stopped."""

    current: JobRequest | None = None
    waiting: list[JobRequest] = field(default_factory=list)
    held: list[JobRequest] = field(default_factory=list)
    """They begin again only when the user says so."""

    def add(self, request: JobRequest) -> bool:
        """False if it is there already."""
        if request == self.current or request in self.waiting:
            return False
        if request in self.held:
            self.held.remove(request)
        self.waiting.append(request)
        return True

    def next(self) -> JobRequest | None:
        self.current = self.waiting.pop(0) if self.waiting else None
        return self.current

    def hold(self) -> None:
        """Put aside what is under way and all that waits."""
        stopped = [self.current] if self.current else []
        self.held = [*stopped, *self.waiting, *self.held]
        self.waiting, self.current = [], None

    def release(self) -> None:
        self.waiting, self.held = [*self.waiting, *self.held], []

    def hold_kept(self, requests: Iterable[JobRequest]) -> bool:
        """Put aside what was left when the app ended; False if there is nothing of it."""
        there = {self.current, *self.waiting, *self.held}
        left = [request for request in dict.fromkeys(requests) if request not in there]
        self.held += left
        return bool(left)

    @property
    def undone(self) -> tuple[JobRequest, ...]:
        """All that is left if the app ends at this moment."""
        return (*([self.current] if self.current else []), *self.waiting, *self.held)
