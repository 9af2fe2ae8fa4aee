"""YouTube's channels, playlists and videos: list entries, video metadata and caption tracks.

Extraction stops at `process=False`: only then does a private or blocked video raise while a video without playable
formats still has its captions. Caption bytes use the same session, since yt-dlp's own downloader neither retries nor
throttles.
"""

import hashlib
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cache
from itertools import chain, islice

from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.base.domain.errors import FetchError
from subtitle_rag.base.domain.values import TABS, Details, Track, Video
from subtitle_rag.captions import metadata
from subtitle_rag.captions.addresses import SITE, Source, is_video_id, video_url
from subtitle_rag.youtube import refusals
from subtitle_rag.youtube.request_rules import LIMIT, is_page
from subtitle_rag.youtube.session import PAGE_CLIENT, Info, Session
from subtitle_rag.youtube.track_selection import SelectedTrack, TrackSelecting
from subtitle_rag.youtube.tracks import TrackChoice, has_tracks, track_candidates

logger = logging.getLogger(__name__)

ATTEMPTS = 5
"""Maximum number of requests for one track."""
CLIENTS = (PAGE_CLIENT, "visionos", "tv_samsung")
"""yt-dlp's player clients to ask for captions, in order; see `docs/dev/architecture.md`."""
PAGE_CODES = (*refusals.FINAL, "upcoming", "live")
"""Codes in a video's page after which no other client is asked."""
MAX_PAUSE_S = 60
"""Longest pause between requests. If a longer one is needed, the video fails until its retry in a later run."""
UPLOADS = {"videos": "UULF", "shorts": "UUSH", "streams": "UULV"}
"""Id prefixes of a channel's upload lists, by tab."""
TAB_PAGE = 30
"""Entries on a tab's first page. A tab with fewer cannot end early."""
UNKNOWN_CHANNEL, UNKNOWN_NAME = "youtube", "YouTube"
"""Id and name for the channel of videos whose channel is unknown."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A video on a list.

    Its title may be a translation. `about` is the latest possible day of publication; `refusal` is the code of a
    refusal in the list itself.
    """

    video: Video
    about: date | None = None
    refusal: str = ""
    begins_at: int | None = None


@dataclass(slots=True)
class Listing:
    """A source with its lists.

    Iterating over `lists` fetches their pages, which can raise FetchError; with `by_date` the newest video comes first.
    """

    url: str
    name: str
    channel_id: str | None
    lists: list[Iterator[Entry]]
    by_date: bool = True
    tabs: tuple[str, ...] = ()
    """The requested tabs that the channel has."""
    counted: int | None = None
    """YouTube's own count of videos on the lists, or None."""
    second: "Callable[[], Listing | None] | None" = None
    """Requests the first page of other lists of the same videos, once.

    A channel's tabs lack videos that its list of uploads has (yt-dlp issue #8096), which ends after 20,000.
    """

    def count(self) -> int | None:
        """Return YouTube's count of videos on these lists, else on the second ones, which may cost a request."""
        second = self.second() if self.counted is None and self.second else None
        return second.counted if second else self.counted


@dataclass(frozen=True, slots=True)
class Page:
    """A video's page, with one player client's caption tracks in `info`.

    `withheld`: YouTube has more tracks, but only for a token. `is_last`: no other client is left to ask. `is_unsteady`:
    another client might have had tracks, but its connection broke.
    """

    video: Video
    details: Details
    info: Info
    client: str
    withheld: bool = False
    is_last: bool = False
    is_unsteady: bool = False

    @property
    def is_live(self) -> bool:
        return self.info.get("live_status") in ("is_live", "post_live", "is_upcoming")


@dataclass
class _PageAnswers:
    """The player clients' answers about one video."""

    page: Page | None = None
    """The latest page."""
    is_given: bool = False
    """Whether any page had caption tracks."""
    stated: FetchError | None = None
    """The refusal in the page itself."""
    refusal: FetchError | None = None
    """The first client's refusal."""
    withheld: bool = False
    is_unsteady: bool = False

    def refuse(self, error: FetchError) -> None:
        self.refusal = self.refusal or error
        self.is_unsteady = self.is_unsteady or error.code == "network"

    def without_tracks(self) -> Page | None:
        """Return the last page if none had tracks. Raises the FetchError that explains why."""
        refusal = self.stated or self.refusal
        if refusal and (self.stated or self.page is None or refusal.code in ("rate_limited", "bot_check")):
            raise refusal
        return self.page and replace(self.page, withheld=self.withheld, is_unsteady=self.is_unsteady)


class YouTube:
    """A session. Close it, or use it as a context manager.

    Methods raise FetchError with a code of `refusals.RULES` or `cookies_unreadable`. A session must stay in one thread.
    """

    def __init__(self, settings: YoutubeSettings, wait: Callable[[float], object] = time.sleep) -> None:
        """Open a session; `wait` sleeps for a number of seconds between retries."""
        self._session = Session(settings)
        self._back_off_s = settings.back_off_s
        self._pause_s = settings.request_pause_s
        self._is_guest = not (settings.cookie_file or settings.cookies_from_browser)
        self._wait = wait

    def __enter__(self) -> "YouTube":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._session.close()

    # Lists

    def listing(self, source: Source, tabs: Sequence[str], channel_id: str | None = None) -> Listing:
        """Request the first page of a playlist, or of a channel's `tabs`. A known `channel_id` saves a request.

        A channel's uploads are one playlist, by date, with a hundred videos a page.
        """
        if source.kind == "playlist":
            info = self._list(source.url)
            name = metadata.text(info, "title") or source.key
            listing = Listing(source.url, name, None, [self._entries(info)], by_date=source.key.startswith("UU"))
            listing.counted = metadata.count(info, "playlist_count")
            if re.fullmatch(r"UU[\w-]{22}", source.key):
                channel = Source("channel", f"UC{source.key[2:]}")
                listing.second = self._second(lambda: self._tabs(channel, TABS))
            return listing
        tabs = source.tabs or tabs
        if set(tabs) == set(TABS):
            return self._uploads(source, channel_id)
        listing = self._tabs(source, tabs)
        heads = [list(islice(entries, TAB_PAGE)) for entries in listing.lists]
        listing.lists = [chain(head, rest) for head, rest in zip(heads, listing.lists, strict=True)]
        has_pages = any(len(head) == TAB_PAGE for head in heads)
        if has_pages and listing.by_date and str(listing.channel_id).startswith("UC"):
            listing.second = self._second(lambda: self._uploads_of(listing))
        return listing

    def _second(self, request: Callable[[], Listing]) -> Callable[[], Listing | None]:
        """Return a request that raises only for blocks: a list must not fail because a second one is missing."""

        @cache
        def second() -> Listing | None:
            try:
                return request()
            except FetchError as error:
                if error.code in refusals.RULES and not refusals.RULES[error.code].rests_after:
                    logger.info("there is no second list", exc_info=True)
                    return None
                raise

        return second

    def _uploads_of(self, listing: Listing) -> Listing:
        """Request the upload list of each of these tabs, else the list of all uploads without other tabs' videos."""
        owner = str(listing.channel_id)[2:]
        infos = []
        for tab in listing.tabs:
            try:
                infos.append(self._list(f"{SITE}/playlist?list={UPLOADS[tab]}{owner}"))
            except FetchError as error:
                if error.code != "not_found":
                    raise
                info = self._list(f"{SITE}/playlist?list=UU{owner}")
                return replace(listing, lists=[self._entries(info, of_tabs=listing.tabs)])
        counts = [metadata.count(info, "playlist_count") for info in infos]
        counted = None if None in counts else sum(count or 0 for count in counts)
        return replace(listing, lists=[self._entries(info) for info in infos], counted=counted)

    def _uploads(self, source: Source, channel_id: str | None) -> Listing:
        about = {} if channel_id else self._list(f"{source.url}/about")
        channel_id = channel_id or metadata.channel_id(about)
        if not channel_id or not channel_id.startswith("UC"):
            return self._tabs(source, TABS)
        try:
            info = self._list(f"{SITE}/playlist?list=UU{channel_id[2:]}")
        except FetchError as error:
            if error.code != "not_found":
                raise
            return self._tabs(source, TABS)
        if not about and metadata.handle(info) not in (None, source.key) and source.key.startswith("@"):
            try:
                return self._uploads(source, None)  # the channel's handle has changed
            except FetchError as error:
                if error.code != "not_found":
                    raise
                logger.info("nobody has the handle any more", exc_info=True)
        name = metadata.channel_name(about) or metadata.channel_name(info) or source.key
        counted = metadata.count(info, "playlist_count")
        second = self._second(lambda: self._tabs(source, TABS))
        url = f"{SITE}/channel/{channel_id}"
        return Listing(url, name, channel_id, [self._entries(info)], counted=counted, second=second)

    def _tabs(self, source: Source, tabs: Sequence[str]) -> Listing:
        infos: dict[str, Info] = {}
        for tab in tabs:
            try:
                infos[tab] = self._list(replace(source, tabs=(tab,)).url)
            except FetchError as error:
                if error.code != "empty_tab" or len(tabs) == 1:
                    raise
        if not infos:
            raise FetchError("empty_tab", title=source.url)
        first = next(iter(infos.values()))
        channel_id = metadata.channel_id(first)
        url = replace(source, key=channel_id or source.key).url
        name = metadata.channel_name(first) or source.key
        by_date = all(tab in TABS for tab in tabs)
        lists = [self._entries(info) for info in infos.values()]
        return Listing(url, name, channel_id, lists, by_date, tabs=tuple(infos))

    def _list(self, url: str) -> Info:
        """Return the first page of a list, after redirects inside YouTube."""
        for _hop in range(3):
            info = self._session.info(url, url)
            if info.get("_type") not in ("url", "url_transparent"):
                return info
            if info.get("ie_key") == "Youtube":
                return {**info, "entries": [info]}
            url = str(info.get("url"))
        raise FetchError("not_found", title=url)

    def _entries(self, info: Info, depth: int = 0, *, of_tabs: Sequence[str] = TABS) -> Iterator[Entry]:
        entries = iter(info.get("entries") or ())
        while entry := self._session.take(entries, str(info.get("webpage_url") or info.get("id"))):
            if entry.get("ie_key") == "Youtube":
                if is_video_id(str(entry.get("id"))) and _tab(entry) in of_tabs:
                    yield _entry(entry, info, guest=self._is_guest)
            elif depth == 0 and str(entry.get("url")).startswith(f"{SITE}/playlist?list="):
                try:
                    yield from self._entries(self._list(entry["url"]), depth + 1)
                except FetchError as error:
                    if error.code not in ("not_found", "private"):  # one list of many may be empty or hidden
                        raise

    # Videos

    def pages(self, video_id: str, title: str, client: str = "") -> Iterator[Page]:
        """Yield a video's page with the caption tracks of each player client in turn, beginning with `client`.

        Take the first useful page and drop the rest: a client is asked only when its page is wanted. If no client has
        tracks, the last page comes without. `title` names the video in errors. Raises FetchError for a refusal in the
        page itself, and for a block of this machine.
        """
        self._session.forget_answers()
        url = video_url(video_id)
        answers = _PageAnswers()
        order = sorted(CLIENTS, key=lambda name: name != client)
        for name in order:
            try:
                info = self._session.video_info(url, title, name)
            except FetchError as error:
                if not self._session.has_page:
                    raise
                answers.refuse(error)
            else:
                is_withheld, is_last = self._session.withheld, name == order[-1]
                video, details = _video(info, video_id, title), metadata.details(info)
                answers.page = Page(video, details, info, name, is_withheld, is_last)
                answers.withheld = answers.withheld or is_withheld
                if has_tracks(info):
                    answers.is_given = True
                    yield answers.page
            if name == order[0] and not answers.is_given:
                stated = answers.stated = self._session.page_refusal(url, title)
                if stated and stated.code == "age_restricted":
                    order[1:] = [PAGE_CLIENT]  # yt-dlp has already asked the embedded player
                elif stated and stated.code in PAGE_CODES:
                    raise stated
            if answers.page and answers.page.is_live:
                break
        if not answers.is_given and (page := answers.without_tracks()):
            yield page

    def best_track(
        self, page: Page, languages: Sequence[str], selecting: TrackSelecting, *, translated: bool
    ) -> SelectedTrack | None:
        """Fetch the track with the most speech; None if the page has none in these languages.

        One request, if the preferred track has enough speech.

        Args:
            page: the page with the tracks.
            languages: languages in order of preference.
            selecting: the tracks that earlier clients gave.
            translated: whether machine translations are allowed.

        Returns:
            The track to store, or None.

        Raises:
            FetchError: no track can be fetched; one without cues is returned only if there is no other.
        """
        candidates = track_candidates(page.info, languages, translated=translated)
        selecting.duration_ms = page.video.duration_ms
        for number, choice in enumerate(candidates):
            if not selecting.needs(choice):
                continue
            if number:
                self._wait(self._pause_s)
            try:
                is_last = page.is_last and number == len(candidates) - 1
                selecting.add(choice, self.track(choice, page.video.title, is_last=is_last), page.video.title)
            except FetchError as error:
                selecting.add_refusal(choice, error)
                if error.code not in refusals.RULES or refusals.RULES[error.code].rests_after == 1:
                    break
        return selecting.selected(page.video.title, withheld=page.withheld) if candidates else None

    def track(self, choice: TrackChoice, title: str, *, is_last: bool = True) -> Track:
        """Fetch a track's bytes, with exponential backoff after 429, 5xx and, if it `is_last`, empty responses.

        An empty response may be all there is; the next track shows whether YouTube sends any.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                raw = self._body(choice.url, title)
                break
            except FetchError as error:
                retry_at = error.details.get("retry_at")
                pause = max(self._back_off_s * 2 ** (attempt - 1), retry_at - int(time.time()) if retry_at else 0)
                again = ("rate_limited", "network", *(["caption_blocked"] if is_last else []))
                is_final = error.code not in again or pause > MAX_PAUSE_S or "page" in error.details
                if is_final or attempt == ATTEMPTS:
                    raise
                logger.info("the track is asked for again in %g s, attempt %d", pause, attempt, exc_info=True)
                if self._wait(pause):
                    raise
        digest = hashlib.sha256(raw).hexdigest()
        return Track(choice.language, choice.kind, choice.format, raw, digest, int(time.time()), choice.flag)

    def _body(self, url: str, title: str) -> bytes:
        try:
            raw = self._session.body(url, title)
        except FetchError as error:
            if error.code == "not_found":  # only the track: its video's page exists
                raise FetchError("caption_damaged", title=title, reason=error.details["reason"]) from error
            raise
        if not raw:
            raise FetchError("caption_blocked", title=title)
        if is_page(raw):  # the answer of proxies and YouTube to blocked clients
            raise FetchError("caption_blocked", title=title, page=True)
        if len(raw) > LIMIT:
            raise FetchError("caption_damaged", title=title, reason=f"> {LIMIT >> 20} MB")
        return raw

    def reach(self) -> None:
        """Request YouTube's empty page to test the connection."""
        self._session.body(f"{SITE}/generate_204", SITE)


def _video(info: Info, video_id: str, title: str) -> Video:
    return Video(
        id=video_id,
        title=metadata.text(info, "title") or title,
        channel_id=metadata.channel_id(info) or UNKNOWN_CHANNEL,
        channel=metadata.channel_name(info) or UNKNOWN_NAME,
        url=video_url(video_id),
        published=metadata.day(info.get("upload_date")),
        duration_ms=metadata.ms(info.get("duration")),
        chapters=metadata.chapters(info.get("chapters")),
        kind=metadata.kind(info),
    )


def _tab(entry: Info) -> str:
    """Return the channel tab of an entry of its uploads."""
    if "/shorts/" in str(entry.get("url")):
        return "shorts"
    return "streams" if entry.get("live_status") in ("is_live", "was_live", "post_live") else "videos"


def _entry(entry: Info, listed_by: Info, *, guest: bool) -> Entry:
    live = str(entry.get("live_status"))
    refusal = "members_only" if guest and entry.get("availability") == "subscriber_only" else ""
    refusal = refusal or {"is_upcoming": "upcoming", "is_live": "live"}.get(live, "")
    stamp, begins = entry.get("timestamp"), entry.get("release_timestamp")
    video = Video(
        id=entry["id"],
        title=metadata.text(entry, "title") or entry["id"],
        channel_id=metadata.channel_id(entry) or metadata.channel_id(listed_by) or UNKNOWN_CHANNEL,
        channel=metadata.channel_name(entry) or metadata.channel_name(listed_by) or UNKNOWN_NAME,
        url=video_url(entry["id"]),
        duration_ms=metadata.ms(entry.get("duration")),
        kind="short" if "/shorts/" in str(entry.get("url")) else "",
    )
    about = datetime.fromtimestamp(stamp, UTC).date() if isinstance(stamp, int | float) and stamp > 0 else None
    return Entry(video, about, refusal, int(begins) if isinstance(begins, int | float) else None)
