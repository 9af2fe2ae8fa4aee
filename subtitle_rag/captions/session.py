"""The session with YouTube: yt-dlp's, with its options, cookies and failures in our own words.

The only module that imports yt-dlp. Only one thread may use a session.
"""

import logging
import math
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from subtitle_rag.captions import metadata, refusals
from subtitle_rag.captions.refusals import Trouble
from subtitle_rag.config import YoutubeSettings
from subtitle_rag.errors import FetchError

if TYPE_CHECKING:
    from yt_dlp import YoutubeDL

logger = logging.getLogger(__name__)

LIMIT = 64 * 2**20
"""Bytes of an answer; the largest caption track has less than a tenth."""

Info = dict[str, Any]


def forget_extractor() -> None:
    """Have the next session import yt-dlp anew: its files have changed. No session may be open."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "yt_dlp"]:
        del sys.modules[name]


class Session:
    """Requests to YouTube and nowhere else. Every method but `close` raises FetchError, with a code of
    `refusals.RULES` or `cookies_unreadable`; `title` names there what was asked for."""

    def __init__(self, settings: YoutubeSettings) -> None:
        self._settings = settings
        self._closing = ExitStack()
        self._heard = _Heard()

    def close(self) -> None:
        self.__dict__.pop("_ydl", None)
        self._closing.close()

    def info(self, url: str, title: str, *, ie_key: str | None = None) -> Info:
        """What yt-dlp's extractor makes of an address, unprocessed: the lists in it are still to be fetched."""
        with self._asking(title):
            info: Info = self._ydl.extract_info(url, download=False, process=False, ie_key=ie_key) or {}
            if ie_key == "Youtube":
                self._heard.require_whole(info)
        return info

    @property
    def withheld(self) -> bool:
        """Whether the latest `info` lacks caption tracks for want of a proof-of-origin token."""
        return any("PO token" in text for text in self._heard.warnings)

    def take(self, entries: Iterator[Info], title: str) -> Info | None:
        """The next entry of a list that `info` gave; a new page is a request."""
        with self._asking(title):
            entry = next(entries, None)
            # yt-dlp takes a page that it could not read for the end
            if entry is None and (lacking := [text for text in self._heard.warnings if "Incomplete data" in text]):
                raise _IncompleteError(lacking[-1])
            return entry

    def body(self, url: str, title: str) -> bytes:
        """The bytes of an answer, `LIMIT` and one at most."""
        from yt_dlp.networking import Request

        with self._asking(title):
            response = self._ydl.urlopen(Request(url, extensions=_impersonation()))
            with response:
                raw: bytes = response.read(LIMIT + 1)
        return raw

    def cookies(self) -> int:
        """How many cookies for YouTube there are; sends nothing."""
        try:
            return sum(cookie.domain.endswith("youtube.com") for cookie in self._ydl.cookiejar)
        except FetchError:
            raise
        except Exception as error:  # browsers keep them in many ways, and yt-dlp fails in as many
            raise FetchError("cookies_unreadable", reason=_reason(error)) from error

    @contextmanager
    def _asking(self, title: str) -> Iterator[None]:
        """Whatever yt-dlp throws, as one of our codes."""
        self._heard.clear()
        try:
            yield
        except FetchError:
            raise
        except Exception as error:  # extractors break in every way when YouTube changes
            logger.info("YouTube gave no answer that can be used", exc_info=True)
            raise _refused(error, self._heard, title) from error

    @cached_property
    def _ydl(self) -> "YoutubeDL":
        ydl = _listening(self._heard)(self._params())
        with redirect_stderr(StringIO()):  # the lines of a file of cookies that cannot be read would be shown there
            _ = ydl.cookiejar
        self._closing.callback(ydl.close)
        return ydl

    def _params(self) -> Any:
        own = self._settings
        params: dict[str, Any] = {
            "quiet": True,
            "noprogress": True,
            "color": "no_color",
            "logger": self._heard,
            "skip_download": True,
            "cachedir": False,
            # anything else that is pasted would be fetched by the generic extractor
            "allowed_extractors": [r"youtube(:(tab|playlist|truncated_id|truncated_url|consent))?", "youtubeytbe"],
            "compat_opts": {"no-youtube-unavailable-videos"},  # asking for them costs a request
            "ignore_no_formats_error": False,
            # nothing is written; but without these translations of manual tracks, and tracks withheld, are not told of
            "writesubtitles": True,
            "writeautomaticsub": True,
            "extractor_retries": 2,
            "retries": 2,
            "socket_timeout": 20,
            "retry_sleep_functions": {"extractor": lambda n: min(30, own.back_off << n)},
            "sleep_interval_requests": own.pause_request,
            "extractor_args": {
                # the web client's answer comes with the page; no player script is needed for captions
                "youtube": {"player_client": ["default", "web"], "player_skip": ["js"], "skip": ["hls", "dash"]},
                "youtubetab": {"approximate_date": ["1"]},
            },
        }
        if own.proxy:
            params["proxy"] = own.proxy
        if own.cookie_file:
            params["cookiefile"] = self._cookies()
        if own.cookies_from_browser:
            params["cookiesfrombrowser"] = _browser(own.cookies_from_browser)
        return params

    def _cookies(self) -> str:
        """A copy of the cookie file: yt-dlp writes to the one it is given, and takes a missing one for an empty one."""
        path = Path(self._settings.cookie_file).expanduser()
        folder = tempfile.mkdtemp(prefix="subtitle-rag-")
        self._closing.callback(shutil.rmtree, folder, ignore_errors=True)
        copy = Path(folder) / "cookies.txt"
        try:
            shutil.copyfile(path, copy)
        except OSError as error:
            reason = f"{path}: {os.strerror(error.errno) if error.errno else error}"
            raise FetchError("cookies_unreadable", reason=reason) from error
        return str(copy)


class _IncompleteError(Exception):
    """An answer without what every video has."""


@dataclass(slots=True)
class _Heard:
    """What happened on the way to an answer. It is yt-dlp's logger: its warnings can say more than the failure that
    follows, and an extractor that meets a refusal may go on without a word of it."""

    warnings: list[str] = field(default_factory=list)
    refusals: list[tuple[int, str | None]] = field(default_factory=list)
    """HTTP status and `Retry-After` of the answers that were none."""

    def clear(self) -> None:
        self.warnings.clear()
        self.refusals.clear()

    def require_whole(self, info: Info) -> None:
        """Without its page a video has no date, no chapters and no storyboard."""
        lacking = [text for text in self.warnings if "Unable to download webpage" in text]
        if not info.get("title"):
            lacking.append("no title was found")
        if lacking:
            raise _IncompleteError(lacking[0])

    def debug(self, text: str) -> None:
        """What yt-dlp says of its progress is of no interest."""

    def warning(self, text: str) -> None:
        logger.debug("yt-dlp: %s", text)
        self.warnings.append(text)

    error = warning


def _listening(heard: _Heard) -> "type[YoutubeDL]":
    """yt-dlp with an ear on its requests: extractors turn a 429 into a failure that names neither it nor its
    `Retry-After`."""
    from yt_dlp import YoutubeDL
    from yt_dlp.networking.exceptions import HTTPError

    class Listening(YoutubeDL):  # type: ignore[misc]
        def urlopen(self, req: Any) -> Any:
            place, began = _place(req), time.monotonic()
            try:
                response = super().urlopen(req)
            except HTTPError as error:
                after = error.response.headers.get("Retry-After")
                heard.refusals.append((error.status, after))
                told = f", Retry-After {after}" if after else ""
                logger.warning("%s %d in %.0f ms%s", place, error.status, (time.monotonic() - began) * 1000, told)
                raise
            except Exception:
                logger.warning("%s failed after %.0f ms", place, (time.monotonic() - began) * 1000, exc_info=True)
                raise
            logger.info("%s %s in %.0f ms", place, response.status, (time.monotonic() - began) * 1000)
            return response

    return Listening


def _place(request: Any) -> str:
    """Method, host and path of a request to yt-dlp, and the video's id; a query may hold keys and signatures."""
    method = "GET" if isinstance(request, str) else request.method
    try:
        url = urlsplit(request if isinstance(request, str) else str(request.url))
    except ValueError:  # yt-dlp says what is wrong with it
        return f"{method} (no address)"
    video = parse_qs(url.query).get("v", [""])[0]
    return f"{method} {url.hostname or ''}{url.path}" + (f"?v={video}" if video else "")


def _impersonation() -> dict[str, Any]:
    """YouTube is readier to give captions to what looks like a browser; that takes an optional package."""
    from importlib.util import find_spec

    if find_spec("curl_cffi") is None:
        return {}
    from yt_dlp.networking.impersonate import ImpersonateTarget

    return {"impersonate": ImpersonateTarget()}


def _browser(text: str) -> Any:
    """`firefox`, `chrome:Profile 1` or whatever else yt-dlp's --cookies-from-browser takes."""
    from optparse import OptParseError

    from yt_dlp import parse_options

    try:
        return parse_options(["--ignore-config", "--cookies-from-browser", text]).ydl_opts["cookiesfrombrowser"]
    except OptParseError:
        logger.info("cookies_from_browser cannot be read", exc_info=True)
        raise FetchError("cookies_unreadable", reason=f"cookies_from_browser = {text!r}") from None


def _refused(error: Exception, heard: _Heard, title: str) -> FetchError:
    """What yt-dlp threw, in our words."""
    from yt_dlp.cookies import CookieLoadError
    from yt_dlp.version import __version__

    reason = _reason(error)
    if any(isinstance(one, CookieLoadError) for one in _causes(error)):
        return FetchError("cookies_unreadable", reason=reason)
    trouble = _trouble(error, reason, heard)
    code, now = refusals.recognise(trouble), math.ceil(time.time())
    told = now + trouble.retry_after if trouble.retry_after is not None else None
    if code == "upcoming":
        told = refusals.begins_at(trouble.text, now)
    details = {"title": title, "reason": reason, "version": __version__}
    return FetchError(code, **details) if told is None else FetchError(code, retry_at=told, **details)


def _reason(error: Exception) -> str:
    """yt-dlp's words without its prefixes and its invitation to report a bug."""
    text = re.sub(r"^(?:ERROR: )?(?:\[[\w:+]+\] )?(?:[\w@%-]+: )?", "", metadata.named(str(error)))
    return re.sub(r"[;.] please report this issue on.*", ".", text).rstrip(". ")[:200]


def _trouble(error: Exception, text: str, heard: _Heard) -> Trouble:
    from yt_dlp.networking.exceptions import RequestError
    from yt_dlp.utils import GeoRestrictedError

    chain = list(_causes(error))
    status, after = max(heard.refusals, key=lambda refusal: refusal[0] in refusals.BLOCKS, default=(None, None))
    return Trouble(
        text=f"{text}\n{error}",
        status=status,
        retry_after=_seconds(after),
        transport=any(isinstance(one, RequestError | ConnectionError | TimeoutError) for one in chain),
        geo=any(isinstance(one, GeoRestrictedError) for one in chain),
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from; yt-dlp keeps that in three places."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, BaseException) and id(one) not in seen:
            seen.add(id(one))
            yield one
            info = getattr(one, "exc_info", None)
            waiting += [info[1] if isinstance(info, tuple) else None, getattr(one, "cause", None), one.__cause__]


def _seconds(retry_after: str | None) -> int | None:
    """`Retry-After` (RFC 9110, 10.2.3) in seconds from the present moment."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return min(int(retry_after), refusals.DAY)
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return min(max(0, int(moment.timestamp() - time.time())), refusals.DAY)
