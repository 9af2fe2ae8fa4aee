"""A yt-dlp plugin: while STAND_IN_YOUTUBE names a server, it gets what is meant for YouTube, and nothing else is sent.

Only the connection is turned aside. URL, `Host` header and cookies stay those of the real site.
"""

import http.client
import io
import os
import urllib.request
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlsplit
from urllib.response import addinfourl

from yt_dlp.networking import _urllib
from yt_dlp.networking.common import (
    _REQUEST_HANDLERS,
    Request,
    Response,
    register_preference,
    register_rh,
)
from yt_dlp.networking.exceptions import UnsupportedRequest

VARIABLE = "STAND_IN_YOUTUBE"

BLOCK_HOST = "www.google.com"
"""Has the page for those who are blocked."""
_HOSTS = ("youtube.com", "youtu.be", "ytimg.com", "youtube-nocookie.com", "googlevideo.com", BLOCK_HOST)


def _require_youtube(url: str) -> None:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not any(host == end or host.endswith(f".{end}") for end in _HOSTS):
        raise ValueError(f"the stand-in of YouTube does not answer for {url}")


class _Body(io.BytesIO):
    """A body that has been read; reading it again shows how that ended."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.failure: http.client.IncompleteRead | None = None
        try:
            super().__init__(answer.read())
        except http.client.IncompleteRead as failure:
            self.failure = failure
            super().__init__(failure.partial)

    def read(self, size: int | None = -1, /) -> bytes:
        if self.failure:
            raise self.failure
        return super().read(size)


class _ToStandIn(_urllib.HTTPHandler):  # type: ignore[misc]
    """Connects to the stand-in; an answer is read at once, so that nobody leaves a socket open."""

    def http_open(self, request: urllib.request.Request) -> addinfourl:
        _require_youtube(request.full_url)
        if request.host == BLOCK_HOST:
            page = addinfourl(
                io.BytesIO(b"<html>Who are you?</html>"), http.client.HTTPMessage(), request.full_url, 200
            )
            page.msg = "OK"  # type: ignore[attr-defined]
            return page
        place = urlsplit(os.environ[VARIABLE])

        def connection(_host: str, **options: Any) -> http.client.HTTPConnection:
            return http.client.HTTPConnection(place.hostname or "", place.port, **options)

        with self.do_open(connection, request) as answer:
            read = addinfourl(_Body(answer), answer.headers, request.full_url, answer.status)
            read.msg = answer.reason  # type: ignore[attr-defined]
            read._closer.close_called = True  # it is memory, and Python 3.14 warns of any that nobody closes
            return read

    https_open = http_open


class StandInYoutubeRH(_urllib.UrllibRH):  # type: ignore[misc]
    """Takes every request, so that no other handler sends one that is refused here."""

    _SUPPORTED_URL_SCHEMES = None
    _SUPPORTED_PROXY_SCHEMES = None
    RH_NAME = "stand-in"

    def _validate(self, request: Request) -> None:
        if not os.environ.get(VARIABLE):
            raise UnsupportedRequest(f"{VARIABLE} is not set")

    def _create_instance(self, cookiejar: CookieJar, **_options: Any) -> urllib.request.OpenerDirector:
        opener = urllib.request.OpenerDirector()
        opener.addheaders = []
        for handler in (
            _ToStandIn(),
            urllib.request.HTTPCookieProcessor(cookiejar),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
            _urllib.RedirectHandler(),
        ):
            opener.add_handler(handler)
        return opener

    def _send(self, request: Request) -> Response:
        try:
            _require_youtube(request.url)
        except ValueError as failure:
            raise _urllib.RequestError(cause=failure) from failure
        return super()._send(request)


if StandInYoutubeRH.RH_KEY not in _REQUEST_HANDLERS:  # one process may load this file twice
    register_rh(StandInYoutubeRH)

    @register_preference(StandInYoutubeRH)  # type: ignore[untyped-decorator]
    def _prefer(_handler: StandInYoutubeRH, _request: Request) -> int:
        return 1_000_000
