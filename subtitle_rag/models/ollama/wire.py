"""Connection to one Ollama server: the official client, with our own errors.

The only module that imports `ollama` and `httpx`. It uses the client's own request method with plain dictionaries,
because the typed methods drop fields needed here: `truncate` in requests, `remote_host`, `prompt_eval_cached_count` and
the server's version in responses. Overridden: the missing default timeout, proxies and other settings from the
environment, and `OLLAMA_API_KEY` for every host.
"""

import logging
import socket
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from subtitle_rag.base.domain.errors import LlmError
from subtitle_rag.models.ollama.server_errors import from_response, tidy

if TYPE_CHECKING:
    import ssl

    import httpx

logger = logging.getLogger(__name__)

CONNECT = 5
"""Timeout of a connection in seconds; after it, the host counts as not running."""
QUESTION = 30
"""Timeout in seconds of requests that run no model."""
_CONNECTING = 0.01  # seconds between two checks of a connection being made
_POLL = 0.1  # seconds within which the thread waiting for `stop` ends after an answer

Json = dict[str, Any]


class Call:
    """One request, cancellable from another thread.

    No data arrives between the prompt and the first token, which can be minutes, so `stop` closes the connection from
    another thread. Ollama stops the model when its client disconnects.
    """

    def __init__(self, host: str, model: str = "", *, patience: float = QUESTION, stop: threading.Event | None = None):
        self.host, self.model, self.patience = host, model, patience
        self._stop = stop
        self._over = threading.Event()
        self._socket: socket.socket | None = None

    @property
    def stopped(self) -> bool:
        return self._stop is not None and self._stop.is_set()

    @contextmanager
    def watched(self) -> Iterator[None]:
        if self._stop is not None:
            threading.Thread(target=self._watch, args=(self._stop,), daemon=True).start()
        try:
            yield
        finally:
            self._over.set()

    def trace(self, event: str, info: Json) -> None:
        """Remember the socket; httpcore calls this for each of its events."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = info["return_value"].get_extra_info("socket")

    def failure(self, code: str, **details: Any) -> LlmError:
        return LlmError(code, host=self.host, model=self.model, **details)

    def _watch(self, stop: threading.Event) -> None:
        while not self._over.is_set():
            if not stop.wait(_POLL):
                continue
            if self._socket is not None:
                with suppress(OSError):  # it has ended meanwhile
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
                return
            self._over.wait(_CONNECTING)


@cache
def _trusted() -> "ssl.SSLContext":
    """Load the trusted certificates once for all hosts, since it takes 20 ms."""
    import httpx

    return httpx.create_ssl_context(trust_env=False)


class Wire:
    """Requests to one host. `url` has passed the guard; redirects are not followed."""

    def __init__(self, url: str, origin: str = "") -> None:
        """Prepare the client; `origin` is the setting with the host, for errors."""
        import httpx
        import ollama

        self.url = url
        self._origin = origin
        self._client = ollama.Client(
            url,
            timeout=httpx.Timeout(QUESTION, connect=CONNECT),
            trust_env=False,
            verify=_trusted(),
            follow_redirects=False,
            limits=httpx.Limits(max_keepalive_connections=0),  # so that a call knows its own connection
            event_hooks={"request": [_without_key], "response": [_log_response]},
        )

    def close(self) -> None:
        self._client.close()  # type: ignore[no-untyped-call]

    def ask(self, method: str, path: str, body: Json | None = None, call: Call | None = None) -> Json:
        """Return a whole answer, within the call's timeout."""
        call = call or Call(self.url)
        with _as_llm_errors(call, method, path, self._origin), call.watched():
            answer: Json = self._send(call, method, path, body, stream=False)
            return answer

    def stream(self, path: str, body: Json, call: Call) -> Generator[Json, None, None]:
        """Yield the lines of an answer until the server ends it."""
        parts: Generator[Json, None, None] = self._send(call, "POST", path, body, stream=True)
        with _as_llm_errors(call, "POST", path, self._origin), call.watched(), closing(parts):
            for part in parts:
                if call.stopped:
                    raise call.failure("llm_stopped")
                yield part

    def _send(self, call: Call, method: str, path: str, body: Json | None, *, stream: bool) -> Any:
        """Send a request with the official client.

        Args:
            call: timeout and cancellation.
            method: HTTP method.
            path: path on the host.
            body: JSON of the request, if any.
            stream: whether to return the lines of the answer one by one.

        Returns:
            The answer as a dictionary, or an iterator of its lines.
        """
        import httpx

        timeout = httpx.Timeout(call.patience, connect=CONNECT)
        request = self._client._request
        return request(dict, method, path, stream=stream, json=body, timeout=timeout, extensions={"trace": call.trace})


@contextmanager
def _as_llm_errors(call: Call, method: str, path: str, origin: str) -> Iterator[None]:
    """Turn the client's errors, and httpx errors of streams, into `LlmError`s."""
    import httpx
    import ollama

    started = time.monotonic()
    try:
        if call.stopped:
            raise call.failure("llm_stopped")
        yield
    except (httpx.HTTPError, ConnectionError, ollama.ResponseError, ValueError, TypeError, AttributeError) as error:
        if call.stopped:
            raise call.failure("llm_stopped") from error
        if isinstance(error, ollama.ResponseError):
            raise from_response(error.status_code, error.error, host=call.host, model=call.model) from error
        took = (time.monotonic() - started) * 1000
        logger.warning("%s %s%s failed after %.0f ms", method, call.host, path, took, exc_info=True)
        raise _transport_failure(error, call, origin) from error


def _transport_failure(error: Exception, call: Call, origin: str) -> LlmError:
    import httpx

    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, ConnectionError)):
        host = f"{call.host} ({origin})" if origin else call.host
        return LlmError("llm_not_running", host=host, model=call.model)
    if isinstance(error, httpx.TimeoutException):
        return call.failure("llm_timeout", seconds=round(call.patience))
    if isinstance(error, httpx.TransportError):
        return call.failure("llm_broke_off", reason=tidy(str(error)))
    return call.failure("llm_nonsense", reason=tidy(str(error)))  # not JSON, or not the expected JSON


def _without_key(request: "httpx.Request") -> None:
    request.headers.pop("Authorization", None)
    request.extensions["started"] = time.monotonic()


def _log_response(response: "httpx.Response") -> None:
    """Log a response with its time to the first byte, which for a model's answer is the first token."""
    request = response.request
    took = (time.monotonic() - request.extensions["started"]) * 1000
    level = logging.WARNING if response.is_error else logging.INFO
    target = f"{request.url.host}:{request.url.port}{request.url.path}"
    logger.log(level, "%s %s %d in %.0f ms", request.method, target, response.status_code, took)
