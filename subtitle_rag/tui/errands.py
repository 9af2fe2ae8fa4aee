"""What the user has asked for: errands, the queue in which they wait, and the thread that carries one out.

What would surprise: the thread is no worker of Textual. A request to YouTube can hang for a minute, and the end of the
app waits for its workers; for this thread it waits a moment only. Dying anywhere costs the thread's run one video.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from subtitle_rag.captions.sources import Source, parse
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.events import Found, IndexEvent, Resting
from subtitle_rag.i18n import _
from subtitle_rag.library.errands import kept_errands
from subtitle_rag.log_file import counts_of
from subtitle_rag.tui.failures import told
from subtitle_rag.tui.jobs import Job
from subtitle_rag.tui.messages import JobAdvanced, JobEnded
from subtitle_rag.tui.text import clean

if TYPE_CHECKING:
    from textual.message import Message

    from subtitle_rag.fetching.run import Order
    from subtitle_rag.library.sources import Wishes
    from subtitle_rag.library.store import Library
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Errand:
    """Files to take in, or a source to fetch; with neither, what is new in the sources that are followed."""

    paths: tuple[Path, ...] = ()
    source: Source | None = None

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
    def read(cls, written: Mapping[str, Any]) -> "Errand":
        """What `written` gave.

        Raises:
            UsageError: The address cannot be read any more.
        """
        source = None
        if told := written["source"]:
            source = replace(parse(told["url"]), tabs=tuple(told["tabs"]), playlist=told["playlist"])
        return cls(tuple(Path(path) for path in written["paths"]), source)

    def events(self, runtime: "Runtime", stop: threading.Event) -> Iterator[IndexEvent]:
        """Carry it out. The doors that it needs are opened before this returns."""
        if self.paths:
            return runtime.indexer.index(self.paths)
        from subtitle_rag.fetching.run import Manner, Order

        fetcher = runtime.fetcher(stop)
        if self.source:
            return fetcher.run([Order(self.source, _languages(runtime, self.source))])
        return fetcher.run(followed_orders(runtime), Manner(leftovers=True))


def left(library: "Library") -> list[Errand]:
    """What was not done yet when the app ended."""
    found = []
    for written in kept_errands(library):
        try:
            found.append(Errand.read(written))
        except UsageError:  # as below
            logger.info("a job that was left cannot be read any more", exc_info=True)
    return found


def _languages(runtime: "Runtime", source: Source) -> "Wishes | None":
    """A video is taken in the languages of the list that names it, whatever else that leaves out."""
    from subtitle_rag.library.sources import Wishes

    lister = runtime.library.sources.lister(source.key) if source.kind == "video" else None
    return Wishes(languages=lister.wishes.languages, translated=lister.wishes.translated) if lister else None


def followed_orders(runtime: "Runtime", *, without: Collection[int] = ()) -> "list[Order]":
    """What `sync` asks for; `without` are ids of sources that are left out."""
    from subtitle_rag.fetching.run import Order

    orders = []
    for followed in runtime.library.sources.followed():
        if followed.id not in without:
            try:
                orders.append(Order(parse(followed.url), followed.wishes))
            except UsageError:  # one that cannot be read any more must not keep the others from their turn
                logger.info("source %d cannot be read any more", followed.id, exc_info=True)
    return orders


@dataclass(slots=True)
class Queue:
    """One errand at a time: the one that is under way, those that wait for it, and those that were stopped."""

    current: Errand | None = None
    waiting: list[Errand] = field(default_factory=list)
    held: list[Errand] = field(default_factory=list)
    """They begin again only when the user says so."""

    def add(self, errand: Errand) -> bool:
        """False if it is there already."""
        if errand == self.current or errand in self.waiting:
            return False
        if errand in self.held:
            self.held.remove(errand)
        self.waiting.append(errand)
        return True

    def next(self) -> Errand | None:
        self.current = self.waiting.pop(0) if self.waiting else None
        return self.current

    def hold(self) -> None:
        """Put aside what is under way and all that waits."""
        stopped = [self.current] if self.current else []
        self.held = [*stopped, *self.waiting, *self.held]
        self.waiting, self.current = [], None

    def release(self) -> None:
        self.waiting, self.held = [*self.waiting, *self.held], []

    def hold_kept(self, errands: Iterable[Errand]) -> bool:
        """Put aside what was left when the app ended; False if there is nothing of it."""
        there = {self.current, *self.waiting, *self.held}
        left = [errand for errand in dict.fromkeys(errands) if errand not in there]
        self.held += left
        return bool(left)

    @property
    def undone(self) -> tuple[Errand, ...]:
        """All that is left if the app ends at this moment."""
        return (*([self.current] if self.current else []), *self.waiting, *self.held)


class Run(threading.Thread):
    """Carries out one errand and posts how far it has come; setting `stop` ends it."""

    def __init__(
        self, errand: Errand, runtime: "Runtime", doors: threading.Lock, post: "Callable[[Message], object]"
    ) -> None:
        """`doors` keeps two threads from opening the same door of `runtime`."""
        super().__init__(name="errand", daemon=True)
        self.errand = errand
        self.stop = threading.Event()
        self._runtime = runtime
        self._doors = doors
        self._to_app = post
        self._job = errand.job()
        self._blocked: Resting | None = None

    def run(self) -> None:
        failure: AppError | None = None
        logger.info("job begins: %s", self._job_kind())
        try:
            self._carry_out()
        except Exception as error:  # whatever a door throws, the app stays up
            failure = told(error, self._runtime.settings.paths)
        if self.stop.is_set():  # whatever went wrong meanwhile, it was not what ended the run
            failure = None
        elif self._blocked:
            failure = AppError(self._blocked.code, **self._blocked.details)
        end = "stopped" if self.stop.is_set() else failure.code if failure else "done"
        logger.info("job ends: %s, %s", end, " ".join(f"{key} {n}" for key, n in counts_of(self._job).items()))
        self._post(JobEnded(self._job, failure, self.stop.is_set()))

    def _job_kind(self) -> str:
        """For the log, which holds no names."""
        if self.errand.paths:
            return "files"
        return self.errand.source.kind if self.errand.source else "sync"

    def _carry_out(self) -> None:
        began = time.monotonic()
        with self._doors:
            events = self.errand.events(self._runtime, self.stop)
        with closing(cast("Generator[IndexEvent]", events)):
            for event in events:
                self._job = self._job.after(event, time.monotonic() - began)
                if isinstance(event, Found):
                    self._know_name()
                if isinstance(event, Resting) and not event.goes_on:
                    self._blocked = event
                self._post(JobAdvanced(self._job))
                if self.errand.paths and self.stop.is_set():  # what is done stays; the next run goes on
                    return

    def _know_name(self) -> None:
        """A source that has answered has a better name than its address, and so has a video that is known."""
        source, library = self.errand.source, self._runtime.library
        if source and self._job.source == self.errand.name:
            known = library.sources.find(source.url)
            video = library.video(source.key) if source.kind == "video" else None
            name = known.name if known else video.title if video else self._job.source
            self._job = replace(self._job, source=clean(name))

    def _post(self, message: "Message") -> None:
        with suppress(RuntimeError):  # the app has gone
            self._to_app(message)
