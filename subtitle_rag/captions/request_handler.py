"""The way of yt-dlp's requests: each is sent once, and no redirect is followed.

yt-dlp's own handlers follow redirects, and none of its options forbids that. These are at the place that it offers
for others: subclasses of `RequestHandler`, which `YoutubeDL.build_request_director` is given.
"""

import io
import os
from collections.abc import Iterator
from typing import Any

import httpx
from yt_dlp.networking import Request, RequestHandler, Response
from yt_dlp.networking.common import Features
from yt_dlp.networking.exceptions import HTTPError, ProxyError, RequestError, TransportError
from yt_dlp.networking.impersonate import ImpersonateRequestHandler, ImpersonateTarget
from yt_dlp.utils.networking import HTTPHeaderDict, select_proxy, std_headers

from subtitle_rag.captions import request_rules


class YoutubeRH(RequestHandler):  # type: ignore[misc]
    """Send a request through httpx, and read its response, cut after `request_rules.LIMIT` + 1 bytes.

    Raises yt-dlp's `HTTPError` for every status but 2xx, redirects included, and its `RequestError` for any failure.
    """

    _SUPPORTED_URL_SCHEMES = ("http", "https")
    _SUPPORTED_PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")
    _SUPPORTED_FEATURES = (Features.NO_PROXY, Features.ALL_PROXY)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._transports: dict[str | None, httpx.BaseTransport] = {}

    def close(self) -> None:
        while self._transports:
            self._transports.popitem()[1].close()

    def _check_extensions(self, extensions: dict[str, Any]) -> None:
        super()._check_extensions(extensions)
        for name in ("cookiejar", "timeout"):
            extensions.pop(name, None)

    def _send(self, request: Request) -> Response:
        cookies = httpx.Cookies(request.extensions.get("cookiejar") or self.cookiejar)
        timeout = httpx.Timeout(float(request.extensions.get("timeout") or self.timeout))
        try:
            sent = httpx.Request(
                request.method,
                request.url,
                headers=self._to_headers(HTTPHeaderDict(self.headers, request.headers)),
                content=request.data,
                extensions={"timeout": timeout.as_dict()},
            )
            cookies.set_cookie_header(sent)
            proxy = select_proxy(request.url, request.proxies or self.proxies) or None
            if proxy not in self._transports:
                self._transports[proxy] = self._new_transport(proxy)
            received = self._transports[proxy].handle_request(sent)
            received.request = sent
            try:
                raw = _read(received)
            finally:
                received.close()
        except httpx.ProxyError as error:
            raise ProxyError(cause=error) from error
        except httpx.HTTPError as error:
            raise TransportError(cause=error) from error
        except (httpx.InvalidURL, ValueError) as error:
            raise RequestError(cause=error) from error
        cookies.extract_cookies(received)
        response = Response(
            io.BytesIO(raw), request.url, received.headers, received.status_code, received.reason_phrase
        )
        if not received.is_success:
            raise HTTPError(response)
        return response

    def _to_headers(self, headers: HTTPHeaderDict) -> dict[str, str]:
        return {"Accept-Encoding": "gzip, deflate", **headers}

    def _new_transport(self, proxy: str | None) -> httpx.BaseTransport:
        return httpx.HTTPTransport(proxy=proxy)


class ImpersonatingYoutubeRH(ImpersonateRequestHandler, YoutubeRH):  # type: ignore[misc]
    """Send a request as a browser does, through curl_cffi: YouTube refuses captions less often then.

    It takes the requests that ask for it by the extension `impersonate`, and those only.
    """

    _SUPPORTED_IMPERSONATE_TARGET_MAP = {ImpersonateTarget("chrome"): "chrome"}  # noqa: RUF012 - yt-dlp's own form

    def _check_extensions(self, extensions: dict[str, Any]) -> None:
        super()._check_extensions(extensions)
        extensions.pop("impersonate", None)

    def _to_headers(self, headers: HTTPHeaderDict) -> dict[str, str]:
        return {name: text for name, text in headers.items() if std_headers.get(name) != text}

    def _new_transport(self, proxy: str | None) -> httpx.BaseTransport:
        return _CurlTransport(proxy)


class _CurlTransport(httpx.BaseTransport):
    """A transport of httpx that speaks like Chrome, down to TLS."""

    def __init__(self, proxy: str | None) -> None:
        from curl_cffi.requests import Session

        authorities: Any = os.environ.get("SSL_CERT_FILE") or True  # as httpx reads it
        self._session: Any = Session(
            proxy=proxy,
            allow_redirects=False,
            impersonate="chrome",
            verify=authorities,
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        from curl_cffi.requests.exceptions import RequestException

        headers = [(name.decode(), text.decode()) for name, text in request.headers.raw]
        timeout = request.extensions["timeout"]
        try:
            response = self._session.request(
                request.method,
                str(request.url),
                headers=[(name, text) for name, text in headers if name.lower() not in ("host", "content-length")],
                data=request.read() or None,
                timeout=(timeout["connect"], timeout["read"]),
                stream=True,
            )
        except RequestException as error:
            raise httpx.TransportError(str(error)) from error
        # curl has decoded the body
        received = [(name, text) for name, text in response.headers.raw if name.lower() not in _ENCODED]
        return httpx.Response(response.status_code, headers=received, stream=_CurlStream(response))

    def close(self) -> None:
        self._session.close()


_ENCODED = (b"content-encoding", b"content-length", b"transfer-encoding")


class _CurlStream(httpx.SyncByteStream):
    def __init__(self, response: Any) -> None:
        self._curl_response = response

    def __iter__(self) -> Iterator[bytes]:
        from curl_cffi.requests.exceptions import RequestException

        try:
            yield from self._curl_response.iter_content()
        except RequestException as error:
            raise httpx.ReadError(str(error)) from error

    def close(self) -> None:
        self._curl_response.close()


def _read(response: httpx.Response) -> bytes:
    """Read the decoded body, cut after `LIMIT` + 1 bytes."""
    raw = bytearray()
    for chunk in response.iter_bytes():
        raw += chunk
        if len(raw) > request_rules.LIMIT:
            break
    return bytes(raw[: request_rules.LIMIT + 1])
