"""Base of the stand-ins: a loopback server that can be stopped and started again on the same port."""

import sys
import threading
import time
import traceback
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, stand_in: "Loopback", port: int) -> None:
        self.stand_in: Any = stand_in
        super().__init__(("127.0.0.1", port), stand_in.HANDLER)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client may disconnect at any time
            self.stand_in.failures.append(traceback.format_exc())


class Hold:
    """Holds requests before they are answered; the first sets `arrived`, `release` lets all continue."""

    def __init__(self) -> None:
        self.arrived = threading.Event()
        self._open = threading.Event()

    def release(self) -> None:
        self._open.set()

    def wait(self, gone: Callable[[], bool] = lambda: False) -> bool:
        """Wait for the release; return whether the client is still there."""
        self.arrived.set()
        patience = time.monotonic() + 60
        while not self._open.wait(0.005) and time.monotonic() < patience:
            if gone():
                return False
        return True


class Loopback:
    """A server to use in `with`, which raises the server's errors at the end."""

    HANDLER: ClassVar[type[BaseHTTPRequestHandler]]

    def __init__(self) -> None:
        self.failures: list[str] = []  # tracebacks of its own errors
        self._lock = threading.Lock()
        self._server: Server | None = None
        self._port = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, at: TracebackType | None
    ) -> None:
        self.stop()
        if kind is None and self.failures:
            raise AssertionError(f"{type(self).__module__} failed:\n" + "\n".join(self.failures))

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        if self._server is None:
            self._server = Server(self, self._port)
            self._port = self._server.server_port
            threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Stop, so that the port refuses connections."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
