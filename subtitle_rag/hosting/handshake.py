"""The handshake of client and host: that of `multiprocessing.connection`, with a timeout.

Without one, a process that is stopped in the middle of a handshake, or of one message of it, would block its peer for
ever.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

HANDSHAKE_S = 10.0
"""Timeout of a handshake, and of each part of it on Windows; it takes about a millisecond."""


class _BoundedConnection:
    """The methods of a connection that the handshake uses; reading raises TimeoutError."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self.send_bytes = connection.send_bytes

    def recv_bytes(self, maxlength: int | None = None) -> bytes:
        if not self._connection.poll(HANDSHAKE_S):
            raise TimeoutError(f"no handshake in {HANDSHAKE_S:g} s")
        return self._connection.recv_bytes(maxlength)


@contextmanager
def _deadline(connection: "Connection") -> Iterator[_BoundedConnection]:
    """Hang up after `HANDSHAKE_S`: a read that waits for the rest of a message ends with an EOFError or OSError."""
    if sys.platform == "win32":  # a pipe there has whole messages
        yield _BoundedConnection(connection)
        return
    import socket

    lock, done = threading.Lock(), False

    def hang_up() -> None:
        with lock:
            if not done:  # else the descriptor may be another file's
                with socket.socket(fileno=os.dup(connection.fileno())) as peer:
                    peer.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(HANDSHAKE_S, hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield _BoundedConnection(connection)
    finally:
        timer.cancel()
        with lock:
            done = True


def shake_hands(connection: "Connection", key: bytes, *, as_host: bool) -> None:
    """Do the host's or the client's half. Raises OSError, EOFError, AuthenticationError, RuntimeError (no threads)."""
    from multiprocessing.connection import answer_challenge, deliver_challenge

    first, second = (deliver_challenge, answer_challenge) if as_host else (answer_challenge, deliver_challenge)
    with _deadline(connection) as bounded:
        first(bounded, key)  # type: ignore[arg-type]
        second(bounded, key)  # type: ignore[arg-type]
