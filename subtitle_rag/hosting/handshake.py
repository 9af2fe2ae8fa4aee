"""The handshake of client and host: that of `multiprocessing.connection`, with a timeout.

Without one, a process stopped in the middle of a handshake would block its peer for ever.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

HANDSHAKE_S = 10.0
"""Timeout of each part; a part takes about a millisecond."""


class _BoundedConnection:
    """The methods of a connection that the handshake uses; reading raises TimeoutError."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self.send_bytes = connection.send_bytes

    def recv_bytes(self, maxlength: int | None = None) -> bytes:
        if not self._connection.poll(HANDSHAKE_S):
            raise TimeoutError(f"no handshake in {HANDSHAKE_S:g} s")
        return self._connection.recv_bytes(maxlength)


def greet_host(connection: "Connection", key: bytes) -> None:
    """Do the client's half. Raises OSError, EOFError, AuthenticationError."""
    from multiprocessing.connection import answer_challenge, deliver_challenge

    bounded = _BoundedConnection(connection)
    answer_challenge(bounded, key)  # type: ignore[arg-type]
    deliver_challenge(bounded, key)  # type: ignore[arg-type]


def greet_client(connection: "Connection", key: bytes) -> None:
    """Do the host's half. Raises OSError, EOFError, AuthenticationError."""
    from multiprocessing.connection import answer_challenge, deliver_challenge

    bounded = _BoundedConnection(connection)
    deliver_challenge(bounded, key)  # type: ignore[arg-type]
    answer_challenge(bounded, key)  # type: ignore[arg-type]
