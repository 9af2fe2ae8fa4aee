"""YouTube's channels, playlists and videos: what a list holds, what a video says of itself, and its caption tracks.

What would surprise: nothing is "extracted" to the end. `process=False` is the one mode in which a private or blocked
video raises while a video without playable formats still shows its captions; and caption bytes are read by the same
session, for yt-dlp's own downloader neither repeats a refused request nor paces itself.
"""

import hashlib
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from types import TracebackType
from urllib.parse import urlsplit

from subtitle_rag.captions import metadata
from subtitle_rag.captions.addresses import Source
from subtitle_rag.captions.session import LIMIT, Info, Session
from subtitle_rag.captions.tracks import Offer
from subtitle_rag.config import YoutubeSettings
from subtitle_rag.domain import TABS, Details, Track, Video
from subtitle_rag.errors import FetchError

logger = logging.getLogger(__name__)

SITE = "https://www.youtube.com"
PICTURES = ".ytimg.com"
"""What the hosts of its pictures end in."""
ATTEMPTS = 5
"""Requests for one track, all in all."""
PATIENCE_S = 60
"""Longest wait between them; whoever is to wait longer gives the video up for this time."""
ELSEWHERE = "youtube"
"""Channel of videos of which no channel is known."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A video as a list has it. The title may be a translation; `about` is the latest day on which it can have been
    published; `refusal` is the code of what the list itself says will happen."""

    video: Video
    about: date | None = None
    refusal: str = ""
    begins_at: int | None = None


@dataclass(slots=True)
class Listing:
    """A source that answered. Each of its `lists` fetches the next page when it is asked for an entry there; where
    they are `by_date` the newest comes first. Taking an entry raises FetchError."""

    url: str
    name: str
    channel_id: str | None
    lists: list[Iterator[Entry]]
    by_date: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """What a video says of itself; `info` is what tracks are chosen from, and it may have some `withheld`."""

    video: Video
    details: Details
    info: Info
    withheld: bool = False

    @property
    def is_live(self) -> bool:
        return self.info.get("live_status") in ("is_live", "post_live", "is_upcoming")


class YouTube:
    """A session. Close it, or use it as a context manager.

    Its methods raise FetchError, with a code of `refusals.RULES` or `cookies_unreadable`. Only one thread may use it.
    """

    def __init__(self, settings: YoutubeSettings, wait: Callable[[float], object] = time.sleep) -> None:
        """`wait` sleeps for so many seconds between the repetitions of a refused request."""
        self._session = Session(settings)
        self._back_off = settings.back_off
        self._is_guest = not (settings.cookie_file or settings.cookies_from_browser)
        self._wait = wait

    def __enter__(self) -> "YouTube":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._session.close()

    # Lists

    def listing(self, source: Source, tabs: Sequence[str], channel_id: str | None = None) -> Listing:
        """Ask for a source's first page: of a playlist, or of `tabs` of a channel, whose id saves a request.

        All of a channel's uploads are one playlist, by date and with a hundred videos to the page.
        """
        if source.kind == "playlist":
            info = self._list(source.url)
            name = metadata.text(info, "title") or source.key
            by_date = source.key.startswith("UU")
            return Listing(source.url, name, None, [self._entries(info)], by_date)
        wanted = source.tabs or tabs
        if set(wanted) == set(TABS):
            return self._uploads(source, channel_id)
        return self._tabs(source, wanted)

    def _uploads(self, source: Source, channel_id: str | None) -> Listing:
        about = {} if channel_id else self._list(f"{source.url}/about")
        known = channel_id or metadata.channel_id(about)
        if not known or not known.startswith("UC"):
            return self._tabs(source, TABS)
        try:
            info = self._list(f"{SITE}/playlist?list=UU{known[2:]}")
        except FetchError as error:
            if error.code != "not_found":
                raise
            return self._tabs(source, TABS)
        name = metadata.channel_name(about) or metadata.channel_name(info) or source.key
        return Listing(f"{SITE}/channel/{known}", name, known, [self._entries(info)])

    def _tabs(self, source: Source, tabs: Sequence[str]) -> Listing:
        found: list[Info] = []
        for tab in tabs:
            try:
                found.append(self._list(replace(source, tabs=(tab,)).url))
            except FetchError as error:
                if error.code != "empty_tab" or len(tabs) == 1:
                    raise
        if not found:
            raise FetchError("empty_tab", title=source.url)
        channel_id = metadata.channel_id(found[0])
        url = replace(source, key=channel_id or source.key).url
        name = metadata.channel_name(found[0]) or source.key
        by_date = all(tab in TABS for tab in tabs)
        return Listing(url, name, channel_id, [self._entries(info) for info in found], by_date)

    def _list(self, url: str) -> Info:
        """The first page of a list; what only points somewhere else on YouTube is followed."""
        for _hop in range(3):
            info = self._session.info(url, url)
            if info.get("_type") not in ("url", "url_transparent"):
                return info
            if info.get("ie_key") == "Youtube":
                return {**info, "entries": [info]}
            url = str(info.get("url"))
        raise FetchError("not_found", title=url)

    def _entries(self, info: Info, depth: int = 0) -> Iterator[Entry]:
        entries = iter(info.get("entries") or ())
        while entry := self._session.take(entries, str(info.get("webpage_url") or info.get("id"))):
            if entry.get("ie_key") == "Youtube":
                if re.fullmatch(r"[A-Za-z0-9_-]{11}", str(entry.get("id"))):
                    yield _entry(entry, info, guest=self._is_guest)
            elif depth == 0 and str(entry.get("url")).startswith(f"{SITE}/playlist?list="):
                try:
                    yield from self._entries(self._list(entry["url"]), depth + 1)
                except FetchError as error:
                    if error.code not in ("not_found", "private"):  # one list of many may be empty or hidden
                        raise

    # Videos

    def video(self, video_id: str, title: str) -> Page:
        """Ask what a video says of itself: two requests. `title` names it if it is refused."""
        url = f"{SITE}/watch?v={video_id}"
        info = self._session.info(url, title, ie_key="Youtube")
        video = Video(
            id=video_id,
            title=metadata.text(info, "title") or title,
            channel_id=metadata.channel_id(info) or ELSEWHERE,
            channel=metadata.channel_name(info) or "YouTube",
            url=url,
            published=metadata.day(info.get("upload_date")),
            duration_ms=metadata.ms(info.get("duration")),
            chapters=metadata.chapters(info.get("chapters")),
            kind=metadata.kind(info),
        )
        return Page(video, metadata.details(info), info, self._session.withheld)

    def track(self, offer: Offer, title: str) -> Track:
        """Fetch a track's bytes; what is refused with 429, 5xx or an empty answer is asked for again, ever slower."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                raw = self._body(offer.url, title)
                break
            except FetchError as error:
                told = error.details.get("retry_at")
                pause = max(self._back_off << attempt - 1, told - int(time.time()) if told else 0)
                lasting = error.code not in ("rate_limited", "network", "caption_blocked") or pause > PATIENCE_S
                if lasting or attempt == ATTEMPTS:
                    raise
                logger.info("the track is asked for again in %g s, attempt %d", pause, attempt, exc_info=True)
                if self._wait(pause):
                    raise
        digest = hashlib.sha256(raw).hexdigest()
        return Track(offer.language, offer.kind, offer.format, raw, digest, int(time.time()), offer.flag)

    def _body(self, url: str, title: str) -> bytes:
        try:
            raw = self._session.body(url, title)
        except FetchError as error:
            if error.code == "not_found":  # of the track alone: the video was there a moment ago
                raise FetchError("caption_damaged", title=title, reason=error.details["reason"]) from error
            raise
        if not raw:
            raise FetchError("caption_blocked", title=title)
        if len(raw) > LIMIT:
            raise FetchError("caption_damaged", title=title, reason=f"> {LIMIT >> 20} MB")
        return raw

    def sheet(self, url: str, title: str) -> bytes:
        """The bytes of a storyboard's sheet, which may be any; `not_found` where the address has expired."""
        parts = urlsplit(url)
        if parts.scheme != "https" or not (parts.hostname or "").endswith(PICTURES):
            raise FetchError("not_found", title=title, reason=parts.netloc)
        return self._session.body(url, title)

    def reach(self) -> None:
        """Ask for YouTube's empty page, to see whether there is a way there."""
        self._session.body(f"{SITE}/generate_204", SITE)


def _entry(entry: Info, listed_by: Info, *, guest: bool) -> Entry:
    live = str(entry.get("live_status"))
    refusal = "members_only" if guest and entry.get("availability") == "subscriber_only" else ""
    refusal = refusal or {"is_upcoming": "upcoming", "is_live": "live"}.get(live, "")
    stamp, begins = entry.get("timestamp"), entry.get("release_timestamp")
    video = Video(
        id=entry["id"],
        title=metadata.text(entry, "title") or entry["id"],
        channel_id=metadata.channel_id(entry) or metadata.channel_id(listed_by) or ELSEWHERE,
        channel=metadata.channel_name(entry) or metadata.channel_name(listed_by) or "YouTube",
        url=f"{SITE}/watch?v={entry['id']}",
        duration_ms=metadata.ms(entry.get("duration")),
        kind="short" if "/shorts/" in str(entry.get("url")) else "",
    )
    about = datetime.fromtimestamp(stamp, UTC).date() if isinstance(stamp, int | float) and stamp > 0 else None
    return Entry(video, about, refusal, int(begins) if isinstance(begins, int | float) else None)
