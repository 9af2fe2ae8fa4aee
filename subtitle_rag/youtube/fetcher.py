"""YouTube → captions → windows, throttled and resumable: the use case behind `index URL` and `sync`.

One run at a time works on a library. It requests one video after another, and uses the pause before the next to make
each searchable and to read on in the lists. A listed video is stored as due at once. After a refusal of one video, the
time of its retry is stored; after a block of this machine, the queue rests.
"""

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.base.domain.errors import CaptionError, FetchError, UsageError
from subtitle_rag.base.domain.events import (
    FetchEstimate,
    FileNotice,
    Found,
    IndexEvent,
    IndexReport,
    Resting,
    VideoDone,
    VideoFailed,
)
from subtitle_rag.base.domain.values import Track, Video
from subtitle_rag.base.log_file import counts_of, logged_stage
from subtitle_rag.base.platforms import wait_for
from subtitle_rag.captions.addresses import Source, parse_address, video_url
from subtitle_rag.index.indexing import Indexer
from subtitle_rag.library.connection import hold_lock
from subtitle_rag.library.sources import FollowedSource, SourceOptions
from subtitle_rag.library.store import Library
from subtitle_rag.youtube import refusals
from subtitle_rag.youtube.lister import Lister, compile_pattern
from subtitle_rag.youtube.track_selection import TrackSelecting
from subtitle_rag.youtube.youtube import CLIENTS, UNKNOWN_CHANNEL, UNKNOWN_NAME, Listing, Page, YouTube

logger = logging.getLogger(__name__)

ESTIMATED_FROM = 2
"""Minimum number of videos of a list to estimate its time."""
RESTS = 3
"""Rests in a row without a video between them before the run ends."""
NETWORK_REST_S = 60
"""First rest after a network error, shorter than after a block."""
RECOGNITION_TIME = timedelta(days=2)
"""Longest time that YouTube's speech recognition takes after publication."""
NEW_VIDEO_RETRY_S = 6 * refusals.HOUR
"""Delay before the retry of a new video without captions."""
TRACK_FAILURES = ("caption_blocked", "caption_damaged", "captions_withheld")
"""Codes of a failed track that another player client may have."""


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A source to fetch, with its options."""

    source: Source
    options: SourceOptions | None = None
    """None: the followed source's options, the languages of the list with the video, or the defaults."""


def followed_requests(sources: Iterable[FollowedSource]) -> list[FetchRequest]:
    """Return a request for each followed source. A stored address that cannot be parsed is logged and skipped."""
    requests = []
    for source in sources:
        try:
            requests.append(FetchRequest(parse_address(source.url), source.options))
        except UsageError:
            logger.warning("source %d cannot be parsed", source.id, exc_info=True)
    return requests


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of one run, for all its requests."""

    patient: bool = True
    """Wait through a rest when YouTube refuses; otherwise end the run."""
    retry: bool = False
    """Retry all failed videos ahead of time, and end the current rest."""
    refresh: bool = False
    """Fetch videos again that are in the library."""
    include_due: bool = False
    """Also fetch the due videos of other sources."""


class _EndedError(Exception):
    """The run ends early."""


@dataclass(slots=True)
class Fetcher:
    """One run that fetches captions from YouTube into a library: throttle, rests and queue."""

    library: Library
    indexer: Indexer
    settings: YoutubeSettings
    stop: threading.Event
    """Set by another thread, ends the run at the next video and every wait at once."""
    options: RunOptions = field(default=RunOptions(), init=False)
    youtube: YouTube = field(init=False)
    """The session of the run."""
    requested_ids: set[str] = field(default_factory=set)
    deferred: deque[tuple[str, SourceOptions]] = field(default_factory=deque)
    """Videos whose refusal made the queue rest, now at its end: one of them may be refused forever."""
    counted_ids: set[str] = field(default_factory=set)
    """Videos counted in the total of `Found`."""
    ready_at: float = 0.0
    """Earliest time of the next video request, on the monotonic clock."""
    refusals_in_row: tuple[str, int] = ("", 0)
    """Code of the latest refusals, and their number."""
    rests: int = 0
    suspected_ids: set[str] = field(default_factory=set)
    """Videos refused on their own, to be tried once more after the others."""
    suspect: tuple[str, FetchError] | None = None
    """The last refused request and its error, if nothing has been fetched since."""
    has_fetched: bool = False
    """Whether this run has fetched a video."""

    def run(
        self, requests: Iterable[FetchRequest], options: RunOptions | None = None
    ) -> Generator[IndexEvent, None, None]:
        """Carry out the requests, once. The last event is the `IndexReport`.

        Raises:
            BusyError: `busy`, and the library's codes.
            FetchError: `cookies_unreadable`.
        """
        self.options = options or self.options
        report = IndexReport()
        with (
            # two runs would double the rate of requests
            hold_lock(self.library.path.parent, "youtube"),
            YouTube(self.settings, self.stop.wait) as self.youtube,
            logged_stage(logger, "fetching") as counts,
        ):
            for event in self._events(list(requests)):
                report.count(event)
                counts.update(counts_of(report))
                yield event
        yield report

    @property
    def _usual_options(self) -> SourceOptions:
        """Options for requests without their own."""
        return SourceOptions(languages=self.settings.languages)

    def _events(self, requests: Sequence[FetchRequest]) -> Iterator[IndexEvent]:
        try:
            yield from self.indexer.finish()
            self._put_due(requests)
            yield from self._wait_for_stored_rest()
            for request in requests:
                fetch = self._video_request if request.source.kind == "video" else self._list_request
                yield from fetch(request)
            if self.options.include_due:
                yield from self._due(None, self._usual_options)
            while self.deferred:
                yield from self._video(*self.deferred.popleft())
            if self.suspect and not self.has_fetched:  # it may not be the video's fault
                yield from self._rested(self.suspect[1])
            yield from self.indexer.recut()
        except _EndedError:
            return

    # Requests

    def _put_due(self, requests: Iterable[FetchRequest]) -> None:
        """Make single videos due at once, so that the next run fetches them if this one ends early."""
        for request in requests:
            if request.source.kind == "video" and self.library.video(request.source.key) is None:
                self.library.sources.put_due(_placeholder(request.source.key))

    def _video_request(self, request: FetchRequest) -> Iterator[IndexEvent]:
        video_id = request.source.key
        yield from self._count([video_id])
        stage = self.library.sources.stage(video_id)
        video = self.library.video(video_id)
        if video and stage and stage.state == "done" and not self.options.refresh:
            yield VideoDone(video.id, video.title, "unchanged", self.library.window_count(video.id))
        else:
            yield from self._video(video_id, request.options or self._list_languages(video_id))

    def _list_languages(self, video_id: str) -> SourceOptions:
        """Return the languages of the list with this video. The list's other options do not apply to single videos."""
        lister = self.library.sources.lister(video_id)
        listed = lister.options if lister else self._usual_options
        return SourceOptions(languages=listed.languages, translated=listed.translated)

    def _list_request(self, request: FetchRequest) -> Iterator[IndexEvent]:
        """Fetch a list. If a page is refused, read the list again after the rest; its first videos are stored."""
        url = request.source.url
        while True:
            try:
                yield from self._list(request)
                break
            except FetchError as error:
                logger.info("a list was refused", exc_info=True)
                if self._is_alone(url, error) or not (yield from self._rested(error)):
                    followed = self.library.sources.find(url)
                    name = followed.name if followed else url
                    yield VideoFailed(url, name, error.code, {**error.details, "title": name})
                    break
        if followed := self.library.sources.find(url):
            yield from self._due(followed.id, followed.options)

    def _list(self, request: FetchRequest) -> Iterator[IndexEvent]:
        sources, source = self.library.sources, request.source
        stored = sources.find(source.url)
        options = request.options or (stored.options if stored else self._usual_options)
        listing = self.youtube.listing(
            source, options.tabs or self.settings.tabs, stored.channel_id if stored else None
        )
        followed = sources.follow(
            listing.url,
            name=stored.name if stored and listing.name == source.key else listing.name,
            channel_id=listing.channel_id,
            options=options,
            aliases=[source.url],
        )
        lister = Lister(self.library, followed, listing, retry=self.options.retry, refresh=self.options.refresh)
        before = frozenset(self.counted_ids)
        estimate = self._estimate(followed, listing)
        if estimate:
            yield estimate
        while True:
            for event in lister.pull(self._may_read_on):
                if not isinstance(event, VideoDone) or event.video not in before:
                    yield event
            yield from self._count(lister.accepted)
            if estimate is None and lister.is_read:
                estimate = self._estimate_of(followed, len(lister.queue), at_most=False)
                yield from [estimate] if estimate else []
            if not lister.queue:
                break
            yield from self._video(lister.queue.popleft(), options)
        if lister.is_empty:
            yield FileNotice("empty_tab", {"title": listing.name})

    def _estimate(self, followed: FollowedSource, listing: Listing) -> FetchEstimate | None:
        """Estimate the time for a list from YouTube's video count; None if unknown before reading it."""
        options, counted = followed.options, listing.counted
        videos = len(self.library.sources.due(int(time.time()), source_id=followed.id, all_failed=self.options.retry))
        if self.options.refresh or not followed.complete:
            if counted is None and not (options.limit or options.since) and listing.second:
                self._may_read_on()
                counted = listing.count()
            if counted is None and options.limit is None:
                return None
            if counted is not None:
                videos += max(0, counted - (0 if self.options.refresh else followed.videos))
            if options.limit is not None:
                videos = min(videos, options.limit) if counted is not None else options.limit
        return self._estimate_of(followed, videos, at_most=bool(options.since or options.match))

    def _estimate_of(self, followed: FollowedSource, videos: int, *, at_most: bool) -> FetchEstimate | None:
        if videos < ESTIMATED_FROM:
            return None
        return FetchEstimate(followed.name, videos, round(videos * self.settings.video_s), at_most)

    def _due(self, source_id: int | None, options: SourceOptions) -> Iterator[IndexEvent]:
        due_ids = self.library.sources.due(int(time.time()), source_id=source_id, all_failed=self.options.retry)
        video_ids = [video_id for video_id in due_ids if video_id not in self.requested_ids]
        yield from self._count(video_ids)
        for video_id in video_ids:
            yield from self._video(video_id, options)

    def _count(self, video_ids: Iterable[str]) -> Iterator[Found]:
        before = len(self.counted_ids)
        self.counted_ids.update(video_ids)
        if len(self.counted_ids) > before:
            yield Found(len(self.counted_ids))

    def _may_read_on(self) -> bool:
        """Whether there is time to read lists before the next video request."""
        if self.stop.is_set():
            raise _EndedError
        return time.monotonic() < self.ready_at

    # One video

    def _video(self, video_id: str, options: SourceOptions) -> Iterator[IndexEvent]:
        if video_id in self.requested_ids:
            return
        self.requested_ids.add(video_id)
        video = self.library.video(video_id) or _placeholder(video_id)
        if wait_for(self.stop, max(0.0, self.ready_at - time.monotonic())):
            raise _EndedError
        try:
            yield from self._fetch(video, options)
        except FetchError as error:
            logger.info("%s was refused", video_id, exc_info=True)
            is_alone = self._is_alone(video_id, error)
            failure = self._store_refusal(video, error, is_alone=is_alone)
            if is_alone and video_id in self.suspected_ids:
                yield failure
            elif is_alone or (yield from self._rested(error)):
                if is_alone:
                    self.suspected_ids.add(video_id)
                self.requested_ids.discard(video_id)
                self.deferred.append((video_id, options))
            else:
                yield failure
        else:
            self.refusals_in_row, self.rests = ("", 0), 0
            self.suspect, self.has_fetched = None, True

    def _is_alone(self, asked: str, error: FetchError) -> bool:
        """Whether an impatient run should continue: only this request was refused since the last fetched video."""
        if self.options.patient or not refusals.is_ambiguous(error):
            return False
        if self.suspect and self.suspect[0] != asked:
            return False
        self.suspect = asked, error
        return True

    def _fetch(self, video: Video, options: SourceOptions) -> Iterator[IndexEvent]:
        """Fetch a video's page and the first track that a player client gives, and make the video searchable."""
        sources, languages = self.library.sources, ", ".join(options.languages)
        usual_client = sources.player_client(video.channel_id)
        pages = self.youtube.pages(video.id, video.title, usual_client)
        selecting, best, refusal = TrackSelecting(), None, None
        while True:
            try:
                page = next(pages, None)
                if page is None:
                    break
                page = _with_channel(page, video)
                if not _is_selected(page.video, options, listed_title=video.title):
                    sources.pass_over(video.id)
                    return
                selected = self.youtube.best_track(page, options.languages, selecting, translated=options.translated)
            except FetchError as error:
                refusal = error
                if error.code in TRACK_FAILURES:
                    continue
                break
            finally:
                self.ready_at = time.monotonic() + random.uniform(self.settings.pause, self.settings.longest_pause_s)
            if selected is None:
                sources.put_title(page.video)
                refusal = refusal or _without_captions(page, languages)
                if page.withheld:
                    continue
                break
            best, refusal = (page, selected.track), selected.refusal
            if refusal is None or refusal.code not in TRACK_FAILURES:
                break
        if best:
            yield from self._store_track(*best, languages)
            if best[0].client != (usual_client or CLIENTS[0]):
                sources.put_player_client(best[0].video.channel_id, best[0].client)
        if refusal and best and refusals.RULES[refusal.code].rests_after != 1:
            yield self._store_refusal(best[0].video, refusal)  # it has captions: no reason to rest
        elif refusal:
            raise refusal

    def _store_track(self, page: Page, track: Track, languages: str) -> Iterator[IndexEvent]:
        """Make a video searchable by a track, which also replaces a local transcription."""
        title = page.video.title
        try:
            yield from self.indexer.add(page.video, track, page.details)
        except CaptionError as error:
            if error.code == "no_cues":
                raise FetchError("no_captions", title=title, languages=languages) from error
            reason = error.details.get("reason") or error.message.rstrip(".")
            raise FetchError("caption_damaged", title=title, reason=reason) from error

    def _store_refusal(self, video: Video, error: FetchError, *, is_alone: bool = False) -> VideoFailed:
        if error.code not in refusals.RULES:
            raise error
        if refusals.RULES[error.code].rests_after == 1 and not is_alone:  # a block says nothing about the video
            retry_at: int | None = self._rest_until(error)
        else:
            stage = self.library.sources.stage(video.id)
            tries = 1 + (stage.tries if stage and stage.failure == error.code else 0)
            stated_at = error.details.get("retry_at")
            retry_at = refusals.retry_at(error.code, tries=tries, now=int(time.time()), stated_at=stated_at)
        details = {**error.details, "retry_at": retry_at}
        if self.library.listenings.is_heard(video.id):
            self.library.listenings.look_again(video.id, retry_at)
        else:
            self.library.sources.put_refused(video, error.code, details, retry_at)
        return VideoFailed(video.id, video.title, error.code, details)

    # Rests

    def _rested(self, error: FetchError) -> Generator[IndexEvent, None, bool]:
        """Rest after enough refusals in a row. Return whether to try again."""
        if error.code not in refusals.RULES:
            raise error
        code, count = self.refusals_in_row
        count = count + 1 if error.code == code else 1
        self.refusals_in_row = error.code, count
        rests_after = refusals.RULES[error.code].rests_after
        if not rests_after or count < rests_after:
            return False
        until = self._rest_until(error)
        if error.code in refusals.STORED_RESTS:
            self.library.sources.put_rest(until, error.code)
        self.rests += 1
        logger.info("resting for %d s: %s", until - int(time.time()), error.code)
        yield from self._wait_until(until, error.code, error.details)
        return True

    def _rest_until(self, error: FetchError) -> int:
        first = min(self.settings.rest, NETWORK_REST_S) if error.code == "network" else self.settings.rest
        backoff_until = int(time.time()) + (first << self.rests)
        stated_at: int | None = error.details.get("retry_at")
        if stated_at is None:
            return backoff_until
        return max(stated_at, backoff_until if self.rests else 0)  # YouTube may give the same time forever

    def _wait_for_stored_rest(self) -> Iterator[IndexEvent]:
        """Wait for the end of an earlier run's rest, since its block may still hold."""
        until, code = self.library.sources.current_rest(self.settings.rest)
        if self.options.retry or not until:
            self.library.sources.end_rest()
        else:
            yield from self._wait_until(until, code, {"title": "YouTube"})

    def _wait_until(self, until: int, code: str, details: dict[str, Any]) -> Iterator[IndexEvent]:
        goes_on = self.options.patient and self.rests <= RESTS and code != "yt_dlp_outdated"
        yield Resting(until, code, details, goes_on)
        if not goes_on or wait_for(self.stop, max(0.0, until - time.time())):
            raise _EndedError
        self.library.sources.end_rest()


def _is_selected(video: Video, options: SourceOptions, *, listed_title: str) -> bool:
    """Apply the options to the date and title on the video's page; lists may lack the date or translate the title."""
    if options.since and video.published and video.published < options.since:
        return False
    return not options.match or any(
        compile_pattern(options.match).search(title) for title in (listed_title, video.title)
    )


def _placeholder(video_id: str) -> Video:
    return Video(video_id, video_id, UNKNOWN_CHANNEL, UNKNOWN_NAME, url=video_url(video_id))


def _with_channel(page: Page, listed: Video) -> Page:
    """Return a page with the list's channel if YouTube leaves the channel's id or name out of the page."""
    video = page.video
    is_other = video.channel_id not in (UNKNOWN_CHANNEL, listed.channel_id)
    if video.channel != UNKNOWN_NAME or is_other:
        return page
    return replace(page, video=replace(video, channel_id=listed.channel_id, channel=listed.channel))


def _without_captions(page: Page, languages: str) -> FetchError:
    """Return the error of a video without a usable track, with the time of its retry."""
    title, published = page.video.title, page.video.published
    if page.is_live:
        return FetchError("live", title=title)
    if page.withheld:
        soon = int(time.time()) + refusals.HOUR if page.is_unsteady else None
        return FetchError("captions_withheld", title=title, retry_at=soon)
    is_new = published is not None and date.today() - published <= RECOGNITION_TIME
    retry_at = int(time.time()) + NEW_VIDEO_RETRY_S if is_new else None
    return FetchError("no_captions", title=title, languages=languages, retry_at=retry_at)
