"""YouTube → captions → windows, politely and resumably: the use case behind `index URL` and `sync`.

One run at a time asks for one video after another, and makes each searchable while the next one waits for its turn;
the pauses between videos are used to read on in the lists. What a list names is due in the library at once. A refusal
that is about the video is remembered with the time to ask again; one that is about us stops the queue for a while.
"""

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from subtitle_rag.captions import refusals
from subtitle_rag.captions.addresses import Source
from subtitle_rag.captions.tracks import choose
from subtitle_rag.captions.youtube import ELSEWHERE, SITE, Page, YouTube
from subtitle_rag.config import YoutubeSettings
from subtitle_rag.domain import Video
from subtitle_rag.errors import BusyError, CaptionError, FetchError
from subtitle_rag.events import Found, IndexEvent, IndexReport, Resting, VideoDone, VideoFailed
from subtitle_rag.fetching.lister import Lister, pattern
from subtitle_rag.indexing import Indexer
from subtitle_rag.library.locks import alone
from subtitle_rag.library.sources import Wishes
from subtitle_rag.library.store import Library
from subtitle_rag.log_file import counts_of, logged_stage
from subtitle_rag.platforms import wait_for

logger = logging.getLogger(__name__)

RESTS = 3
"""Rests in a row without a video between them; then the run ends."""
NETWORK_REST_S = 60
"""First rest where the way to YouTube is broken; that mends itself sooner than a block."""
YOUNG = timedelta(days=2)
"""YouTube's recognition of speech can take so long after a video is published."""
SOON_AGAIN_S = 6 * refusals.HOUR
"""Until a video that is new, and has no captions yet, is asked for again."""
REMEMBERED = ("rate_limited", "bot_check", "caption_blocked")
"""Blocks that the next run has to respect too."""


@dataclass(frozen=True, slots=True)
class Order:
    """A source to fetch, and what of it."""

    source: Source
    wishes: Wishes | None = None
    """None: those by which it is followed already, or the usual ones."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a run goes about it."""

    patient: bool = True
    """Rest where YouTube refuses, and go on; else end there."""
    retry: bool = False
    """Ask again for whatever failed, whenever its time is, and do not wait for the end of a rest."""
    refresh: bool = False
    """Ask again for the videos that are there."""
    leftovers: bool = False
    """Ask also for what is due of other sources."""


class _EndedError(Exception):
    """The run is over before its work is."""


class Fetcher:
    """Brings captions from YouTube into a library; one at a time works on a library."""

    def __init__(
        self, library: Library, indexer: Indexer, settings: YoutubeSettings, stop: threading.Event | None = None
    ) -> None:
        """Setting `stop` from another thread ends a run at the next video, and every wait at once."""
        self._library = library
        self._indexer = indexer
        self._settings = settings
        self._stop = stop or threading.Event()

    def run(self, orders: Iterable[Order], manner: Manner | None = None) -> Iterator[IndexEvent]:
        """Fetch what the orders name. The last event is the `IndexReport`.

        Raises:
            BusyError: `youtube_busy`, and what the library raises.
            FetchError: `cookies_unreadable`.
        """
        report = IndexReport()
        with (
            self._alone(),
            YouTube(self._settings, self._stop.wait) as door,
            logged_stage(logger, "fetching") as counts,
        ):
            run = _Run(self._library, self._indexer, door, self._settings, self._stop, manner or Manner())
            for event in run.events(orders):
                report.count(event)
                counts.update(counts_of(report))
                yield event
        yield report

    def _alone(self) -> AbstractContextManager[None]:
        """Two runs would ask twice as often."""
        path = self._library.path
        return alone(path.with_name("youtube.lock"), BusyError("youtube_busy", path=str(path.parent)))


@dataclass(slots=True)
class _Run:
    """One run: its pace, its rests, and what it has asked for."""

    library: Library
    indexer: Indexer
    youtube: YouTube
    settings: YoutubeSettings
    stop: threading.Event
    manner: Manner
    asked: set[str] = field(default_factory=set)
    put_off: deque[tuple[str, Wishes]] = field(default_factory=deque)
    """Videos at which the queue had to rest. They go to its end, for it may be one of them that is refused for ever."""
    found: set[str] = field(default_factory=set)
    ready_at: float = 0.0
    """When the next video has its turn (monotonic)."""
    refused: tuple[str, int] = ("", 0)
    """The code of the latest refusals, and how many of it there were in a row."""
    rests: int = 0

    def events(self, orders: Iterable[Order]) -> Iterator[IndexEvent]:
        try:
            yield from self.indexer.finish()
            orders = list(orders)
            self._note(orders)
            yield from self._rest_of_before()
            for order in orders:
                yield from self._video_order(order) if order.source.kind == "video" else self._list_order(order)
            if self.manner.leftovers:
                yield from self._due(None, Wishes())
            while self.put_off:
                yield from self._video(*self.put_off.popleft())
        except _EndedError:
            return

    # What is asked for

    def _note(self, orders: Iterable[Order]) -> None:
        """Videos that are named one by one are due at once, so that a run that ends early leaves them to the next."""
        for order in orders:
            if order.source.kind == "video" and self.library.video(order.source.key) is None:
                self.library.sources.put_due(_unknown(order.source.key))

    def _video_order(self, order: Order) -> Iterator[IndexEvent]:
        video_id = order.source.key
        yield from self._find([video_id])
        stage = self.library.sources.stage(video_id)
        video = self.library.video(video_id)
        if video and stage and stage.state == "done" and not self.manner.refresh:
            yield VideoDone(video.id, video.title, "unchanged", self.library.window_count(video.id))
        else:
            yield from self._video(video_id, order.wishes or Wishes())

    def _list_order(self, order: Order) -> Iterator[IndexEvent]:
        """A list whose paging was refused is read anew after the rest: what it has named is known by then."""
        while True:
            try:
                yield from self._listed(order)
                break
            except FetchError as error:
                logger.info("a list was refused", exc_info=True)
                if not (yield from self._rested(error)):
                    yield VideoFailed(order.source.url, order.source.url, error.code, error.details)
                    break
        if followed := self.library.sources.find(order.source.url):
            yield from self._due(followed.id, followed.wishes)

    def _listed(self, order: Order) -> Iterator[IndexEvent]:
        sources, source = self.library.sources, order.source
        known = sources.find(source.url)
        wishes = order.wishes or (known.wishes if known else Wishes())
        listing = self.youtube.listing(source, wishes.tabs or self.settings.tabs, known.channel_id if known else None)
        followed = sources.follow(
            listing.url,
            name=known.name if known and listing.name == source.key else listing.name,
            channel_id=listing.channel_id,
            wishes=wishes,
            aliases=[source.url],
        )
        lister = Lister(self.library, followed, listing, retry=self.manner.retry, refresh=self.manner.refresh)
        before = frozenset(self.found)
        while True:
            for event in lister.pull(self._may_read_on):
                if not isinstance(event, VideoDone) or event.video not in before:
                    yield event
            yield from self._find(lister.accepted)
            if not lister.queue:
                break
            yield from self._video(lister.queue.popleft(), wishes)

    def _due(self, source_id: int | None, wishes: Wishes) -> Iterator[IndexEvent]:
        due = self.library.sources.due(int(time.time()), source_id=source_id, all_failed=self.manner.retry)
        left = [video_id for video_id in due if video_id not in self.asked]
        yield from self._find(left)
        for video_id in left:
            yield from self._video(video_id, wishes)

    def _find(self, video_ids: Iterable[str]) -> Iterator[Found]:
        before = len(self.found)
        self.found.update(video_ids)
        if len(self.found) > before:
            yield Found(len(self.found))

    def _may_read_on(self) -> bool:
        """Whether there is time to read on in the lists before the next video has its turn."""
        if self.stop.is_set():
            raise _EndedError
        return time.monotonic() < self.ready_at

    # One video

    def _video(self, video_id: str, wishes: Wishes) -> Iterator[IndexEvent]:
        if video_id in self.asked:
            return
        self.asked.add(video_id)
        video = self.library.video(video_id) or _unknown(video_id)
        self._await_turn()
        try:
            yield from self._take(video, wishes)
        except FetchError as error:
            logger.info("%s was refused", video_id, exc_info=True)
            failure = self._remember(video, error)
            if (yield from self._rested(error)):
                self.asked.discard(video_id)
                self.put_off.append((video_id, wishes))
            else:
                yield failure
        else:
            self.refused, self.rests = ("", 0), 0

    def _take(self, video: Video, wishes: Wishes) -> Iterator[IndexEvent]:
        """Ask for a video and its track, and make it searchable."""
        try:
            page = self.youtube.video(video.id, video.title)
            if not _is_wished(page.video, wishes, listed_as=video.title):
                self.library.sources.pass_over(video.id)
                return
            title, languages = page.video.title, ", ".join(wishes.languages)
            offer = choose(page.info, wishes.languages, translated=wishes.translated)
            if offer is None:
                self.library.sources.put_title(page.video)
                raise _without_captions(page, languages)
            track = self.youtube.track(offer, title)
        finally:
            self.ready_at = time.monotonic() + random.uniform(self.settings.pause_min, self._longest_pause())
        try:
            yield from self.indexer.add(page.video, track, page.details)
        except CaptionError as error:
            if error.code == "no_cues":
                raise FetchError("no_captions", title=title, languages=languages) from error
            raise FetchError("caption_damaged", title=title, reason=error.message.rstrip(".")) from error

    def _longest_pause(self) -> float:
        return max(self.settings.pause_min, self.settings.pause_max)

    def _await_turn(self) -> None:
        if wait_for(self.stop, max(0.0, self.ready_at - time.monotonic())):
            raise _EndedError

    def _remember(self, video: Video, error: FetchError) -> VideoFailed:
        """Write down a refusal and when to ask again."""
        if error.code not in refusals.RULES:
            raise error
        if refusals.RULES[error.code].rests_after == 1:  # it says nothing about the video
            again: int | None = self._rest_until(error)
        else:
            stage = self.library.sources.stage(video.id)
            tries = 1 + (stage.tries if stage and stage.failure == error.code else 0)
            told = error.details.get("retry_at")
            again = refusals.retry_at(error.code, tries=tries, now=int(time.time()), told=told)
        details = {**error.details, "retry_at": again}
        self.library.sources.put_refused(video, error.code, details, again)
        return VideoFailed(video.id, video.title, error.code, details)

    # Rests

    def _rested(self, error: FetchError) -> Generator[IndexEvent, None, bool]:
        """After enough refusals in a row: rest, and say that it is to be tried again."""
        if error.code not in refusals.RULES:
            raise error
        code, count = self.refused
        self.refused = error.code, count + 1 if error.code == code else 1
        rests_after = refusals.RULES[error.code].rests_after
        if not rests_after or self.refused[1] < rests_after:
            return False
        yield from self._rest(error)
        return True

    def _rest(self, error: FetchError) -> Iterator[IndexEvent]:
        until = self._rest_until(error)
        if error.code in REMEMBERED:
            self.library.sources.put_rest(until, error.code)
        self.rests += 1
        logger.info("resting for %d s: %s", until - int(time.time()), error.code)
        yield from self._wait_until(until, error.code, error.details)

    def _rest_until(self, error: FetchError) -> int:
        first = min(self.settings.rest, NETWORK_REST_S) if error.code == "network" else self.settings.rest
        own, told = int(time.time()) + (first << self.rests), error.details.get("retry_at")
        return own if told is None else max(told, own if self.rests else 0)  # it may name the same time for ever

    def _rest_of_before(self) -> Iterator[IndexEvent]:
        """A block does not end with the run that met it."""
        until, code = self.library.sources.rest()
        if self.manner.retry:
            self.library.sources.end_rest()
        elif until > time.time():
            yield from self._wait_until(until, code, {"title": "YouTube"})

    def _wait_until(self, until: int, code: str, details: dict[str, Any]) -> Iterator[IndexEvent]:
        goes_on = self.manner.patient and self.rests <= RESTS and code != "yt_dlp_outdated"
        yield Resting(until, code, details, goes_on)
        if not goes_on or wait_for(self.stop, max(0.0, until - time.time())):
            raise _EndedError
        self.library.sources.end_rest()


def _is_wished(video: Video, wishes: Wishes, *, listed_as: str) -> bool:
    """What a list leaves open is decided by what the video says of itself."""
    if wishes.since and video.published and video.published < wishes.since:
        return False
    return not wishes.match or any(pattern(wishes.match).search(title) for title in (listed_as, video.title))


def _unknown(video_id: str) -> Video:
    return Video(video_id, video_id, ELSEWHERE, "YouTube", url=f"{SITE}/watch?v={video_id}")


def _without_captions(page: Page, languages: str) -> FetchError:
    """Why a video has no track that can be taken, and when that may change."""
    title, published = page.video.title, page.video.published
    if page.is_live:
        return FetchError("live", title=title)
    if page.withheld:
        return FetchError("caption_blocked", title=title)
    young = published is not None and date.today() - published <= YOUNG
    again = int(time.time()) + SOON_AGAIN_S if young else None
    return FetchError("no_captions", title=title, languages=languages, retry_at=again)
