"""Reading a source's lists into the library, as far as the options go and no page further than is needed."""

import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from subtitle_rag.captions import refusals
from subtitle_rag.captions.youtube import ELSEWHERE, Entry, Listing
from subtitle_rag.errors import UsageError
from subtitle_rag.events import Listed, VideoDone, VideoFailed
from subtitle_rag.library.sources import FollowedSource, Stage
from subtitle_rag.library.store import Library

KNOWN_IN_A_ROW = 30
"""Then the rest of a list that is by date is known too. Not the first: what is pinned, announced or for members
stands above what is new."""
HANGUL = re.compile("[가-힣]")
STATED = ("upcoming", "live")
"""Refusals that end by themselves, and that lists tell of."""

ListEvent = Listed | VideoDone | VideoFailed


@dataclass(slots=True)
class _Row:
    """One of the lists of a source, and how many entries in a row there were known, or too old."""

    entries: Iterator[Entry]
    known: int = 0
    old: int = 0


class Lister:
    """Takes the entries of a listing; `queue` holds the videos that are to be asked for, in the order of the lists."""

    def __init__(
        self,
        library: Library,
        followed: FollowedSource,
        listing: Listing,
        *,
        retry: bool = False,
        refresh: bool = False,
    ) -> None:
        """`retry`: what failed is asked for whenever its time is; `refresh`: what is there, too.

        Raises:
            UsageError: `bad_pattern`.
        """
        self._library = library
        self._followed = followed
        self._listing = listing
        self._retry = retry
        self._refresh = refresh
        self._rows = deque(_Row(entries) for entries in listing.lists)
        self._seen: set[str] = set()
        self._pattern = pattern(followed.options.match) if followed.options.match else None
        # all that is new stands above what is known, so nothing is left to look for below
        self._news_only = followed.complete and listing.by_date and not refresh
        # what a limit has left out is not known, and begins right below what is
        few = max(1, followed.videos // 2) if followed.options.limit else KNOWN_IN_A_ROW
        self._enough = min(KNOWN_IN_A_ROW, few)
        self._begun = False
        # of several lists one may hold nothing that is known
        is_one = len(listing.lists) == 1
        self._limit = None if self._news_only and is_one else followed.options.limit
        self.accepted: set[str] = set()
        """Videos that the options let in."""
        self.queue: deque[str] = deque()

    def pull(self, more: Callable[[], bool]) -> Iterator[ListEvent]:
        """Take entries until a video is queued, and for as long as there may be `more`; several lists take turns.

        Raises FetchError where a page is refused, and what `more` raises; what was taken before is kept.
        """
        while self._rows and (more() or not self.queue):
            row = self._rows[0]
            self._rows.rotate(-1)
            entry = next(row.entries, None)
            if entry is not None and entry.video.id not in self._seen:
                self._seen.add(entry.video.id)
                yield from self._take(entry, row)
            if entry is None or self._is_over(row):
                self._rows.remove(row)
            if self._limit is not None and len(self.accepted) >= self._limit:
                self._rows.clear()
            if not self._rows:
                self._library.sources.mark_complete(self._followed.id)

    def _is_over(self, row: _Row) -> bool:
        known = self._news_only and row.known >= self._enough
        return known or (self._listing.by_date and row.old >= KNOWN_IN_A_ROW)

    def _take(self, entry: Entry, row: _Row) -> Iterator[ListEvent]:
        sources, id = self._library.sources, entry.video.id
        stage, listed = sources.stage(id), id in sources.listed(self._followed.id, [id])
        known = listed or stage is not None
        row.known = row.known + 1 if known else 0
        if not known and self._news_only and not self._begun:
            sources.mark_incomplete(self._followed.id)
            self._begun = True
        if not self._is_wished(entry, row):
            if not known:
                sources.put_listed(self._followed.id, [], passed_over=[id])
            return
        if known and stage is None:  # it was taken out of the library, or passed over when its date was known
            return
        self.accepted.add(id)
        video = entry.video
        if video.channel_id == ELSEWHERE and self._listing.channel_id:
            video = replace(video, channel_id=self._listing.channel_id, channel=self._listing.name)
        entry = replace(entry, video=video)
        if not listed:
            sources.put_listed(self._followed.id, [video])
        if stage is None:
            yield Listed(video.id, video.title)
        yield from self._queued(entry, stage or Stage("due"))

    def _queued(self, entry: Entry, stage: Stage) -> Iterator[ListEvent]:
        """Queue a video that is due; what the list says will be refused costs no request."""
        video, now = entry.video, int(time.time())
        if stage.state == "done" and not self._refresh:
            yield VideoDone(video.id, video.title, "unchanged", self._library.window_count(video.id))
        elif entry.refusal and stage.state != "done":
            again = refusals.retry_at(entry.refusal, tries=1, now=now, stated_at=entry.begins_at)
            details = {"title": video.title, "retry_at": again}
            is_news = stage.failure != entry.refusal
            if is_news or entry.begins_at not in (None, stage.retry_at) or (stage.retry_at or now + 1) <= now:
                self._library.sources.put_refused(video, entry.refusal, details, again)
            if is_news:
                yield VideoFailed(video.id, video.title, entry.refusal, details)
        elif (
            stage.state != "failed"
            or self._retry
            or stage.failure in STATED
            or (stage.retry_at is not None and stage.retry_at <= now)
        ):
            self.queue.append(video.id)

    def _is_wished(self, entry: Entry, row: _Row) -> bool:
        since = self._followed.options.since
        # "3 weeks ago" is the latest day possible; a day more for the clocks' zones
        if since and entry.about and entry.about + timedelta(days=1) < since:
            row.old += 1
            return False
        row.old = 0
        return self._pattern is None or may_match(self._pattern, entry.video.title)


def may_match(pattern: re.Pattern[str], title: str) -> bool:
    """Whether a title from a list holds the pattern, or its original may: lists can name Korean videos in English."""
    return pattern.search(title) is not None or (bool(HANGUL.search(pattern.pattern)) and not HANGUL.search(title))


def pattern(text: str) -> re.Pattern[str]:
    """Raises UsageError `bad_pattern`."""
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise UsageError("bad_pattern", pattern=text, reason=str(error)) from error
