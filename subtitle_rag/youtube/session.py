"""Session with YouTube through yt-dlp: options, cookies, and errors as `FetchError`.

The only module that imports yt-dlp. A session must stay in one thread.
"""

import json
import logging
import math
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.base.domain.errors import AppError, BusyError, FetchError
from subtitle_rag.base.i18n import _
from subtitle_rag.base.installation.extras import YOUTUBE
from subtitle_rag.base.installation.package_installer import install_steps
from subtitle_rag.captions import metadata
from subtitle_rag.youtube import refusals, request_rules
from subtitle_rag.youtube.tracks import has_tracks

logger = logging.getLogger(__name__)

PAGE_CLIENT = "web"
"""yt-dlp's player client whose answer is part of the video's page, so it costs no extra request."""

BROKEN = 0
"""Stands for an HTTP status after a broken connection."""
SHUT = (400, 401, 403, 404, 410)
"""HTTP statuses of a player client no longer served, while YouTube still serves the video's page."""

CHUNK = 8 * 2**20
"""Bytes of sound per request."""
SPARE = 200 * 10**6
"""Disk space to leave free when downloading sound, in bytes."""
LEAST_KBPS = 40
"""Lowest bit rate at which speech can still be transcribed."""

COOKIE_LIMIT = 8 * 2**20
"""Maximum number of characters of a cookie file."""

Info = dict[str, Any]


@dataclass(frozen=True, slots=True)
class JavaScriptRuntime:
    """A program to run the JavaScript of YouTube's player, if yt-dlp accepts its version."""

    name: str
    version: str
    is_accepted: bool


def javascript_runtimes() -> list[JavaScriptRuntime]:
    """Return this computer's JavaScript runtimes that yt-dlp knows, accepted ones first."""
    from yt_dlp.globals import supported_js_runtimes

    infos = [runtime().info for runtime in supported_js_runtimes.value.values()]
    runtimes = [JavaScriptRuntime(info.name, info.version, info.supported) for info in infos if info]
    return sorted(runtimes, key=lambda runtime: not runtime.is_accepted)


class Session:
    """Requests to YouTube only.

    Every method but `close` can raise FetchError, with a code of `refusals.RULES` or `cookies_unreadable`, and the
    argument `title` as a detail.
    """

    def __init__(self, settings: YoutubeSettings) -> None:
        self._settings = settings
        self._closing = ExitStack()
        self._log = _RequestLog()

    def close(self) -> None:
        self.__dict__.pop("_ydl", None)
        self._closing.close()

    def info(self, url: str, title: str) -> Info:
        """Return the unprocessed result of yt-dlp's extractor. Iterating over its lists fetches their pages."""
        with self._translate_errors(title):
            return self._ydl.extract_info(url, download=False, process=False) or {}

    def video_info(self, url: str, title: str, client: str) -> Info:
        """Return the unprocessed result of a video, with the caption tracks that a player client gets.

        A client that may not play the video can still have tracks, so its refusal raises nothing: see `page_refusal`.
        Answers are cached across clients until `forget_answers`.

        Raises:
            FetchError: `not_served` for a client that is shut, or whose refusal only the page could make final.
        """
        try:
            with self._translate_errors(title):
                info = self._video_info(url, client, playable=False)
                self._log.require_whole(info)
                return info
        except FetchError as error:
            is_shut = self.has_page and self._log.refused and self._log.refused[0] in SHUT
            if is_shut or error.code in refusals.FINAL:
                raise _not_served(error) from error
            raise

    def page_refusal(self, url: str, title: str) -> FetchError | None:
        """Return the refusal in the video's page, or None. Costs no request after `video_info`.

        If the page has none, the refusal is another client's and not final: `not_served`.
        """
        try:
            with self._translate_errors(title):
                self._video_info(url, PAGE_CLIENT, playable=True)
        except FetchError as error:
            is_own = self._log.page is not None and _states_playability(self._log.page)
            return error if is_own or error.code not in refusals.FINAL else _not_served(error)
        return None

    def _video_info(self, url: str, client: str, *, playable: bool) -> Info:
        params = self._ydl.params
        params["extractor_args"]["youtube"]["player_client"] = [client]
        params["ignore_no_formats_error"] = not playable
        with self._log.keep_answers():
            return self._ydl.extract_info(url, download=False, process=False, ie_key="Youtube") or {}

    @property
    def has_page(self) -> bool:
        """Whether the latest `video_info` got the video's page."""
        return self._log.page is not None

    def forget_answers(self) -> None:
        """Drop cached answers, so that everything is requested again."""
        self._log.answers.clear()

    @property
    def withheld(self) -> bool:
        """Whether the latest `video_info` lacks caption tracks because they need a proof-of-origin token."""
        return any("PO token" in text for text in self._log.warnings)

    def take(self, entries: Iterator[Info], title: str) -> Info | None:
        """Return the next entry of a list of `info`. Each new page is a request."""
        with self._translate_errors(title):
            entry = next(entries, None)
            # yt-dlp ends the list at an unreadable page
            if entry is None and (lacking := [text for text in self._log.warnings if "Incomplete data" in text]):
                raise _IncompleteError(lacking[-1])
            return entry

    def body(self, url: str, title: str) -> bytes:
        """Return the body of a response, cut after `request_rules.LIMIT` + 1 bytes."""
        from yt_dlp.networking import Request
        from yt_dlp.networking.exceptions import RequestError
        from yt_dlp.networking.impersonate import ImpersonateTarget

        with self._translate_errors(title):
            if not request_rules.is_youtube(url):
                raise RequestError(f"{_host(url)} is not of YouTube")
            extensions = {"impersonate": ImpersonateTarget()} if self.can_impersonate else {}
            with self._ydl.urlopen(Request(url, extensions=extensions)) as response:
                raw: bytes = response.read(request_rules.LIMIT + 1)
        return raw

    def section(
        self, url: str, title: str, span_s: tuple[float, float], folder: Path, *, height: int, exact: bool
    ) -> Path:
        """Download a section of a video into a folder, and return its file.

        ffmpeg fetches the media from the address that YouTube gives.

        Args:
            url: address of the video.
            title: the video's name in errors.
            span_s: start and end in seconds.
            folder: where to put the file.
            height: most lines of the picture.
            exact: encode the ends again; otherwise the section begins at the previous key frame.

        Returns:
            The path of the downloaded file.
        """
        from yt_dlp.utils import download_range_func

        with self._translate_errors(title):
            params = {
                **self._download_params(folder, "section"),
                "format": f"bv*[height<={height}]+ba/b[height<={height}]/ba",
                "merge_output_format": "mkv",
                "download_ranges": download_range_func(None, [span_s]),
                "force_keyframes_at_cuts": exact,
            }
            with _logging_class(self._log)(params) as ydl, redirect_stderr(StringIO()), redirect_stdout(StringIO()):
                info = ydl.extract_info(url, ie_key="Youtube")
            downloads = info.get("requested_downloads") or []
            return Path(downloads[0]["filepath"])

    def sound(self, url: str, title: str, folder: Path, progress: Callable[[int, int], object]) -> Path:
        """Download a video's sound into a folder, and return its file.

        Continues an interrupted download. `progress` gets the bytes so far and the total or 0; an exception from it
        ends the download. Also raises FetchError `live` and BusyError `disk_full`.
        """

        def advance(state: dict[str, Any]) -> None:
            all_bytes = state.get("total_bytes") or state.get("total_bytes_estimate") or 0
            progress(int(state.get("downloaded_bytes") or 0), int(all_bytes))

        params = {
            **self._download_params(folder, "sound"),
            "allowed_extractors": ["youtube"],
            # the original language first, then the smallest format good enough to transcribe
            "format": f"ba[abr>=?{LEAST_KBPS}]/ba/b",
            "format_sort": ["lang", "+size", "+br"],
            "format_sort_force": True,
            "fixup": "never",
            "http_chunk_size": CHUNK,
            "progress_hooks": [advance],
            "ffmpeg_location": str(folder / "none"),  # ffmpeg would send requests of its own
        }
        with (
            self._translate_errors(title),
            _logging_class(self._log, request_rules.MEDIA_HOSTS)(params) as ydl,
            redirect_stderr(StringIO()),
            redirect_stdout(StringIO()),
        ):
            info: Info = ydl.extract_info(url, download=False, process=False, ie_key="Youtube") or {}
            if info.get("is_live") or info.get("live_status") in ("is_live", "is_upcoming"):
                raise FetchError("live", title=title)
            if info.get("_type", "video") != "video":  # the trailer of a paid video
                raise FetchError("payment_required", title=title)
            about = ydl.process_ie_result(info, download=False)
            size = about.get("filesize") or about.get("filesize_approx") or 0
            if shutil.disk_usage(folder).free < size + SPARE:
                raise BusyError("disk_full", path=str(folder))
            ydl.process_info(about)
            downloads = about.get("requested_downloads") or [{"filepath": ydl.prepare_filename(about)}]
            return Path(downloads[0]["filepath"])

    @property
    def can_impersonate(self) -> bool:
        """Whether yt-dlp accepts the library that imitates browsers. Sends nothing."""
        from yt_dlp.networking.impersonate import ImpersonateTarget

        return bool(self._ydl._impersonate_target_available(ImpersonateTarget()))

    def cookies(self) -> int:
        """Count the cookies for YouTube. Sends nothing."""
        try:
            return sum(cookie.domain.endswith("youtube.com") for cookie in self._ydl.cookiejar)
        except FetchError:
            raise
        except Exception as error:  # every browser stores them in its own way, with its own errors
            raise FetchError("cookies_unreadable", reason=_reason(error)) from error

    @contextmanager
    def _translate_errors(self, title: str) -> Iterator[None]:
        """Turn every exception of yt-dlp into `FetchError`."""
        self._log.clear()
        try:
            yield
        except AppError:
            raise
        except Exception as error:  # extractors break in all ways when YouTube changes
            logger.info("YouTube gave no answer that can be used", exc_info=True)
            raise _to_fetch_error(error, self._log, title) from error

    @cached_property
    def _ydl(self) -> Any:
        params = {
            **self._params(),
            # else a runtime on the PATH decides which extra clients yt-dlp asks
            "js_runtimes": {},
            "extractor_args": {
                # captions need no player script
                "youtube": {"player_skip": ["js"], "skip": ["hls", "dash"]},
                "youtubetab": {"approximate_date": ["1"]},
            },
        }
        ydl = _logging_class(self._log)(params)
        with redirect_stderr(StringIO()):  # yt-dlp prints the unreadable lines of a cookie file
            _ = ydl.cookiejar
        self._closing.callback(ydl.close)
        return ydl

    def _params(self) -> Any:
        settings = self._settings
        params: dict[str, Any] = {
            "quiet": True,
            "noprogress": True,
            "color": "no_color",
            "logger": self._log,
            "skip_download": True,
            "cachedir": False,
            # not the generic extractor, which fetches any address
            "allowed_extractors": [r"youtube(:(tab|playlist|truncated_id|truncated_url|consent))?", "youtubeytbe"],
            "compat_opts": {
                "no-youtube-unavailable-videos",  # requesting them costs a request
                # else yt-dlp ignores the user's own certificate authorities
                *(("no-certifi",) if os.environ.get("SSL_CERT_FILE") else ()),
            },
            # nothing is written, but yt-dlp reports translated and withheld tracks only with these
            "writesubtitles": True,
            "writeautomaticsub": True,
            "extractor_retries": 2,
            "retries": 2,
            "socket_timeout": 20,
            "retry_sleep_functions": {"extractor": lambda n: min(30, settings.back_off_s * 2**n)},
            "sleep_interval_requests": settings.request_pause_s,
        }
        if settings.proxy:
            params["proxy"] = settings.proxy
        if settings.cookie_file:
            params["cookiefile"] = self._cookies()
        if settings.cookies_from_browser:
            params["cookiesfrombrowser"] = _browser(settings.cookies_from_browser)
        return params

    def _download_params(self, folder: Path, name: str) -> dict[str, Any]:
        """Return the parameters to download a video's media into a folder, under this file name."""
        from yt_dlp.globals import supported_js_runtimes

        return {
            **self._params(),
            "skip_download": False,
            "writesubtitles": False,
            "writeautomaticsub": False,
            "noplaylist": True,
            "paths": {"home": str(folder)},
            "outtmpl": {"default": f"{name}.%(ext)s"},
            "updatetime": False,
            # media need the player's script, and yt-dlp itself looks only for deno
            "js_runtimes": {name: {} for name in supported_js_runtimes.value},
            "extractor_args": {"youtube": {"skip": ["hls", "dash"]}},
        }

    def _cookies(self) -> StringIO:
        """Read the cookie file. yt-dlp would write to a named file, and a copy of it would survive a kill."""
        path = Path(self._settings.cookie_file).expanduser()
        try:
            if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would block forever
                raise FetchError("cookies_unreadable", reason=_("{path} is not a regular file").format(path=path))
            with path.open(encoding="utf-8") as stream:
                text = stream.read(COOKIE_LIMIT + 1)
        except (OSError, UnicodeDecodeError) as error:
            errno = getattr(error, "errno", None)
            raise FetchError(
                "cookies_unreadable", reason=f"{path}: {os.strerror(errno) if errno else error}"
            ) from error
        if len(text) > COOKIE_LIMIT:
            raise FetchError("cookies_unreadable", reason=_("{path} is too large for cookies").format(path=path))
        return StringIO(text)


class _IncompleteError(Exception):
    """The response lacks the basic metadata of a video."""


_Key = tuple[str, str, bytes]
"""Method, address and data of a request."""
_Answer = tuple[bytes, str, dict[str, str], int]
"""Body, address, headers and status of a response."""


@dataclass(slots=True)
class _RequestLog:
    """Warnings and refusals of one request; also yt-dlp's logger.

    A warning can say more than the exception after it, and extractors may ignore a refusal silently.
    """

    warnings: list[str] = field(default_factory=list)
    refusals: list[tuple[int, str | None]] = field(default_factory=list)
    """HTTP status and `Retry-After` of the refusals, or `BROKEN`."""
    answers: dict[_Key, _Answer] = field(default_factory=dict)
    """Answers about one video, shared by all clients."""
    new_answers: dict[_Key, _Answer] | None = None
    """Answers of the current client, hidden from its own retries. None: keep none."""

    @property
    def refused(self) -> tuple[int, str | None] | None:
        """The most telling refusal: a block of this machine before others."""
        return max(self.refusals, key=lambda refusal: _weight(refusal[0]), default=None)

    @property
    def page(self) -> bytes | None:
        """The page of the video."""
        for (method, url, _data), (body, *_rest) in self.answers.items():
            if method == "GET" and urlsplit(url).path == "/watch":
                return body
        return None

    @contextmanager
    def keep_answers(self) -> Iterator[None]:
        self.new_answers = {}
        try:
            yield
        finally:
            self.answers.update(self.new_answers)
            self.new_answers = None

    def clear(self) -> None:
        self.warnings.clear()
        self.refusals.clear()

    def require_whole(self, info: Info) -> None:
        """Raise if the video's page is missing, or its tracks after a refusal that yt-dlp ignored.

        The page has the date and the chapters.
        """
        warnings = [text for text in self.warnings if "Unable to download webpage" in text]
        if not info.get("title"):
            warnings.append("no title was found")
        if self.refusals and not has_tracks(info):
            warnings += self.warnings[-1:] or ["a request was refused"]
        if warnings:
            raise _IncompleteError(warnings[0])

    def debug(self, text: str) -> None:
        """Ignore progress messages."""

    def warning(self, text: str) -> None:
        logger.debug("yt-dlp: %s", text)
        self.warnings.append(text)

    error = warning


def _weight(status: int) -> int:
    return refusals.BLOCKS[::-1].index(status) + 1 if status in refusals.BLOCKS else 0


def _states_playability(page: bytes) -> bool:
    """Whether a video's page itself says if the video can be played.

    If it does not, yt-dlp asks a client and does not say which of the two answered.
    """
    match = re.search(r"ytInitialPlayerResponse\s*=\s*", text := page.decode(errors="replace"))
    try:
        answer, _end = json.JSONDecoder().raw_decode(text, match.end()) if match else ({}, 0)
        return bool(answer["playabilityStatus"]["status"])
    except (ValueError, TypeError, LookupError, RecursionError):
        return False


def _not_served(error: FetchError) -> FetchError:
    """Return a player client's refusal, which says nothing final about the video."""
    return FetchError("not_served", title=error.details["title"], reason=error.details["reason"])


def _logging_class(log: _RequestLog, hosts: tuple[str, ...] = ()) -> Any:
    """Return a YoutubeDL class that logs its requests and reads no answer from outside YouTube.

    With `hosts`, requests go to no other host, and HTTP becomes HTTPS. Extractors turn a 429 into an exception without
    status and `Retry-After`, so the log keeps both.
    """
    from yt_dlp import YoutubeDL
    from yt_dlp.networking import Request, Response
    from yt_dlp.networking.exceptions import HTTPError, RequestError

    class LoggingYoutubeDL(YoutubeDL):  # type: ignore[misc]
        def urlopen(self, req: Any) -> Any:
            req = req if isinstance(req, Request) else Request(req)
            if hosts:
                req.url = re.sub(r"^http:", "https:", req.url)
                if not request_rules.is_allowed(req.url, hosts):
                    raise RequestError(f"{_host(req.url)} is none of the hosts that this may ask")
            key = (req.method, req.url, bytes(req.data or b""))
            answer = None if log.new_answers is None else log.answers.get(key)
            if answer is None:
                with self._log_request(req) as response:
                    answer = self._read(response), response.url, dict(response.headers), response.status
                if log.new_answers is not None:
                    log.new_answers[key] = answer
            return Response(BytesIO(answer[0]), *answer[1:])

        def _read(self, response: Any) -> bytes:
            try:
                raw: bytes = response.read(request_rules.LIMIT + 1)
            except RequestError:
                log.refusals.append((BROKEN, None))
                raise
            return raw

        def _log_request(self, req: Any) -> Any:
            request_line, started = _describe(req), time.monotonic()
            try:
                response = super().urlopen(req)
            except HTTPError as error:
                after = error.response.headers.get("Retry-After")
                log.refusals.append((error.status, after))
                suffix = f", Retry-After {after}" if after else ""
                logger.warning("%s %d in %.0f ms%s", request_line, error.status, _elapsed_ms(started), suffix)
                raise
            except Exception:
                log.refusals.append((BROKEN, None))
                logger.warning("%s failed after %.0f ms", request_line, _elapsed_ms(started), exc_info=True)
                raise
            logger.info("%s %s in %.0f ms", request_line, response.status, _elapsed_ms(started))
            if not request_rules.may_answer(req.url, response.url, hosts or request_rules.HOSTS):
                response.close()
                _refuse_answer(response.url, log)
            return response

    return LoggingYoutubeDL


def _refuse_answer(url: str, log: _RequestLog) -> None:
    """Raise TransportError for a request redirected away from YouTube."""
    from yt_dlp.networking.exceptions import TransportError

    host = _host(url)
    logger.warning("an answer of %s is not read", host)
    if request_rules.is_block_page(url):
        log.refusals.append((refusals.BLOCKS[0], None))
    raise TransportError(f"redirected to {host}, which is not of YouTube")


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "no host")[:100]
    except ValueError:
        return "no address"


def _elapsed_ms(started: float) -> float:
    return (time.monotonic() - started) * 1000


def _describe(request: Any) -> str:
    """Return method, host, path and video id of a request. The rest of the query may have keys and signatures."""
    try:
        url = urlsplit(request.url)
    except ValueError:  # yt-dlp will report it
        return f"{request.method} (no address)"
    video = parse_qs(url.query).get("v", [""])[0]
    return f"{request.method} {url.hostname or ''}{url.path}" + (f"?v={video}" if video else "")


def _browser(text: str) -> Any:
    """Parse a value of yt-dlp's --cookies-from-browser, such as `firefox` or `chrome:Profile 1`."""
    from optparse import OptParseError

    from yt_dlp import parse_options

    try:
        return parse_options(["--ignore-config", "--cookies-from-browser", text]).ydl_opts["cookiesfrombrowser"]
    except OptParseError:
        logger.info("cookies_from_browser cannot be read", exc_info=True)
        raise FetchError("cookies_unreadable", reason=f"cookies_from_browser = {text!r}") from None


def _to_fetch_error(error: Exception, log: _RequestLog, title: str) -> FetchError:
    """Translate an exception of yt-dlp, and close the responses it leaves open."""
    from yt_dlp.cookies import CookieLoadError
    from yt_dlp.networking.exceptions import HTTPError, RequestError
    from yt_dlp.utils import GeoRestrictedError
    from yt_dlp.version import __version__

    reason, causes = _reason(error), list(_causes(error))
    for cause in causes:
        if isinstance(cause, HTTPError):
            cause.response.close()
    if any(isinstance(cause, CookieLoadError) for cause in causes):
        return FetchError("cookies_unreadable", reason=reason)
    text = f"{reason}\n{error}"
    status, after = log.refused or (None, None)
    code = refusals.failure_code(
        text,
        status,
        transport=any(isinstance(cause, RequestError | ConnectionError | TimeoutError) for cause in causes),
        geo=any(isinstance(cause, GeoRestrictedError) for cause in causes),
    )
    now, seconds = math.ceil(time.time()), _seconds(after)
    retry_at = now + seconds if seconds is not None else None
    if code == "upcoming":
        retry_at = refusals.begins_at(text, now)
    details = {"title": title, "reason": reason, "version": __version__}
    if status is not None:
        details["status"] = status
    if code == "script_required":
        details["line"] = install_steps(YOUTUBE)
    return FetchError(code, **details) if retry_at is None else FetchError(code, retry_at=retry_at, **details)


def _reason(error: Exception) -> str:
    """Return yt-dlp's message without prefixes and the request to report a bug."""
    text = re.sub(r"^(?:ERROR: )?(?:\[[\w:+]+\] )?(?:[\w@%-]+: )?", "", metadata.clean_name(str(error)))
    return re.sub(r"[;.] please report this issue on.*", ".", text).rstrip(". ")[:200]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and its causes, which yt-dlp stores in three attributes."""
    visited: set[int] = set()
    queue = [error]
    while queue:
        cause = queue.pop(0)
        if isinstance(cause, BaseException) and id(cause) not in visited:
            visited.add(id(cause))
            yield cause
            info = getattr(cause, "exc_info", None)
            queue += [info[1] if isinstance(info, tuple) else None, getattr(cause, "cause", None), cause.__cause__]


def _seconds(retry_after: str | None) -> int | None:
    """Return `Retry-After` (RFC 9110, 10.2.3) in seconds from now."""
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
