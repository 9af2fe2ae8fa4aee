"""The handshake of `multiprocessing.connection`, with a timeout.

Without one, a process stopped during a handshake would block its peer forever.
"""

import os
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


class _BoundedConnection:
    """The connection methods that the handshake uses; reading raises TimeoutError."""

    def __init__(self, connection: "Connection", limit_s: float) -> None:
        self._connection = connection
        self._limit_s = limit_s
        self.send_bytes = connection.send_bytes

    def recv_bytes(self, maxlength: int | None = None) -> bytes:
        if not self._connection.poll(self._limit_s):
            raise TimeoutError(f"no handshake in {self._limit_s:g} s")
        return self._connection.recv_bytes(maxlength)


def shake_hands(connection: "Connection", key: bytes, *, as_host: bool, limit_s: float) -> None:
    """Do the host's or the client's half of the handshake.

    Raises OSError, EOFError, AuthenticationError; TimeoutError if the other half takes longer than `limit_s`.
    """
    from multiprocessing.connection import answer_challenge, deliver_challenge

    first, second = (deliver_challenge, answer_challenge) if as_host else (answer_challenge, deliver_challenge)
    bounded = _BoundedConnection(connection, limit_s)
    _limit_reads(connection, limit_s)
    try:
        first(bounded, key)  # type: ignore[arg-type]
        second(bounded, key)  # type: ignore[arg-type]
    except BlockingIOError as error:
        raise TimeoutError(f"half a message in {limit_s:g} s") from error
    _limit_reads(connection, 0)


def _limit_reads(connection: "Connection", limit_s: float) -> None:
    """Make a read raise BlockingIOError after waiting this long for the rest of a message; 0 waits forever."""
    if sys.platform == "win32":  # a pipe there has whole messages
        return
    import socket

    seconds, part = divmod(limit_s, 1)
    with socket.socket(fileno=os.dup(connection.fileno())) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", int(seconds), int(part * 1e6)))
