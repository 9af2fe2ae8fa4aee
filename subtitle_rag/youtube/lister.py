"""Reader of a source's lists into the library, with as few page requests as its options allow."""

import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.events import ListCutShort, Listed, VideoDone, VideoFailed
from subtitle_rag.library.sources import FetchState, FollowedSource
from subtitle_rag.library.store import Library
from subtitle_rag.youtube import refusals
from subtitle_rag.youtube.youtube import UNKNOWN_CHANNEL, UNKNOWN_NAME, Entry, Listing

KNOWN_IN_A_ROW = 30
"""Known entries in a row that end a list by date; pinned, announced and members' videos come first."""
HANGUL = re.compile("[가-힣]")
STATED = ("upcoming", "live")
"""Temporary refusals in lists."""

ListEvent = Listed | ListCutShort | VideoDone | VideoFailed


@dataclass(slots=True)
class _Row:
    """One list of a source, counting its latest known and too old entries in a row."""

    entries: Iterator[Entry]
    known_in_row: int = 0
    old_in_row: int = 0


@dataclass(eq=False)
class Lister:
    """Reader of a listing's entries.

    `queue` has the videos to fetch in the order of the lists, then those refused earlier.
    """

    library: Library
    followed: FollowedSource
    listing: Listing
    retry: bool = False
    """Also queue failed videos ahead of time."""
    refresh: bool = False
    """Also queue videos in the library."""

    def __post_init__(self) -> None:
        """Prepare the reading; raise UsageError `bad_pattern`."""
        self._rows = deque(_Row(entries) for entries in self.listing.lists)
        self._seen: set[str] = set()
        self._pattern = compile_pattern(self.followed.options.match) if self.followed.options.match else None
        # in a complete list by date, new entries come before known ones
        self._news_only = self.followed.complete and self.listing.by_date and not self.refresh
        # entries beyond a limit are unknown, and start right after the known ones
        few = max(1, self.followed.videos // 2) if self.followed.options.limit else KNOWN_IN_A_ROW
        self._enough = min(KNOWN_IN_A_ROW, few)
        self._begun = False
        # one of several lists may have no known entry
        is_one = len(self.listing.lists) == 1
        self._limit = None if self._news_only and is_one else self.followed.options.limit
        self._is_whole = not self._news_only
        """Whether every list is read to its end."""
        self._counted = self.listing.counted
        self._second_began = False
        self._repeats = 0
        """Number of entries for videos already on the list."""
        self.accepted: set[str] = set()
        """Videos selected by the options."""
        self.queue: deque[str] = deque()
        self._refused_ids: list[str] = []
        """Videos refused in an earlier run, queued after all others."""

    def pull(self, more: Callable[[], bool]) -> Iterator[ListEvent]:
        """Read entries until a video is queued, then on while `more()` is true. Several lists take turns.

        Raises FetchError for a refused page, and the errors of `more`. Entries read before stay queued.
        """
        while self._rows and (more() or not self.queue):
            row = self._rows[0]
            self._rows.rotate(-1)
            entry = next(row.entries, None)
            if entry is not None and entry.video.id not in self._seen:
                self._seen.add(entry.video.id)
                yield from self._take(entry, row)
            elif entry is not None and not self._second_began:
                self._repeats += 1
            if entry is None or self._is_over(row):
                self._rows.remove(row)
                self._is_whole = self._is_whole and entry is None
            if self._limit is not None and len(self.accepted) >= self._limit:
                self._rows.clear()
                self._is_whole = False
            if self._second_began and not self._lacks:
                self._rows.clear()
            if not self._rows:
                yield from self._finish()
        if not self._rows and not self.queue:
            self.queue.extend(self._refused_ids)
            self._refused_ids.clear()

    @property
    def is_empty(self) -> bool:
        """Whether the lists were read to the end and have no videos."""
        return self.is_read and self._is_whole and not self._seen

    @property
    def is_read(self) -> bool:
        return not self._rows

    @property
    def _lacks(self) -> bool:
        """Whether the lists ended before YouTube's video count, or there is no count."""
        return self._counted is None or self._unlisted > 0

    @property
    def _unlisted(self) -> int:
        return max(0, (self._counted or 0) - len(self._seen) - self._repeats)

    def _finish(self) -> Iterator[ListCutShort]:
        """Continue with the second lists if the first ones ended early; otherwise record the lists as read."""
        if self._is_whole and self._lacks and self.listing.second and not self._second_began:
            second = self.listing.second()
            self._second_began = True
            if second and self._counted is None:
                self._counted = second.counted
            if second and self._lacks:
                self._rows.extend(_Row(entries) for entries in second.lists)
                return
        unlisted = self._unlisted if self._is_whole else None
        self.library.sources.mark_complete(self.followed.id, unlisted)
        if unlisted and unlisted != self.followed.unlisted:
            source, listed = self.listing, len(self._seen) + self._repeats
            yield ListCutShort(source.url, source.name, listed, listed + unlisted)

    def _is_over(self, row: _Row) -> bool:
        no_news = self._news_only and row.known_in_row >= self._enough
        return no_news or (self.listing.by_date and row.old_in_row >= KNOWN_IN_A_ROW)

    def _take(self, entry: Entry, row: _Row) -> Iterator[ListEvent]:
        sources, id = self.library.sources, entry.video.id
        stage, listed = sources.stage(id), id in sources.listed(self.followed.id, [id])
        is_known = listed or stage is not None
        row.known_in_row = row.known_in_row + 1 if is_known else 0
        if not is_known and self._news_only and not self._begun:
            sources.mark_incomplete(self.followed.id)
            self._begun = True
        if not self._is_selected(entry, row):
            if not is_known:
                sources.put_listed(self.followed.id, [], passed_over=[id])
            return
        if is_known and stage is None:  # deleted from the library, or skipped for its date
            return
        self.accepted.add(id)
        video = entry.video
        if self.listing.channel_id and {video.channel_id, video.channel} & {UNKNOWN_CHANNEL, UNKNOWN_NAME}:
            video = replace(video, channel_id=self.listing.channel_id, channel=self.listing.name)
        entry = replace(entry, video=video)
        if not listed:
            sources.put_listed(self.followed.id, [video])
        if stage is None:
            yield Listed(video.id, video.title)
        yield from self._queued(entry, stage or FetchState("due"))

    def _queued(self, entry: Entry, stage: FetchState) -> Iterator[ListEvent]:
        """Queue a due video. A refusal in the list is stored without a request."""
        video, now = entry.video, int(time.time())
        if stage.state == "done" and not self.refresh:
            yield VideoDone(video.id, video.title, "unchanged", self.library.window_count(video.id))
        elif entry.refusal and stage.state != "done":
            retry_at = refusals.retry_at(entry.refusal, tries=1, now=now, stated_at=entry.begins_at)
            details = {"title": video.title, "retry_at": retry_at}
            is_news = stage.failure != entry.refusal
            if is_news or entry.begins_at not in (None, stage.retry_at) or (stage.retry_at or now + 1) <= now:
                self.library.sources.put_refused(video, entry.refusal, details, retry_at)
            if is_news:
                yield VideoFailed(video.id, video.title, entry.refusal, details)
        elif (
            stage.state != "failed"
            or self.retry
            or stage.failure in STATED
            or self._may_be_open(video.id, stage, now)
            or (self.refresh and self.library.window_count(video.id) > 0)
            or (stage.retry_at is not None and stage.retry_at <= now and stage.failure not in refusals.FINAL)
        ):
            (self._refused_ids if stage.state == "failed" else self.queue).append(video.id)

    def _may_be_open(self, video_id: str, stage: FetchState, now: int) -> bool:
        """Whether a listed video may be public by now, although its refusal was final.

        Many videos are first for members, and the list says so. It leaves private videos out, but may be out of date.
        """
        if stage.failure not in ("members_only", "private"):
            return False
        since, is_stated = self.library.sources.refusal(video_id)
        if stage.failure == "members_only":
            return is_stated
        return now >= since + (refusals.DAY << min(stage.tries - 1, 16))

    def _is_selected(self, entry: Entry, row: _Row) -> bool:
        since = self.followed.options.since
        # "3 weeks ago" is the latest possible day; one more day for time zones
        if since and entry.about and entry.about + timedelta(days=1) < since:
            row.old_in_row += 1
            return False
        row.old_in_row = 0
        if self._pattern is None or self._pattern.search(entry.video.title):
            return True
        # the original title may match: lists translate Korean titles into English
        return HANGUL.search(self._pattern.pattern) is not None and not HANGUL.search(entry.video.title)


def compile_pattern(text: str) -> re.Pattern[str]:
    """Compile a user's pattern. Raises UsageError `bad_pattern`."""
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise UsageError("bad_pattern", pattern=text, reason=str(error)) from error
