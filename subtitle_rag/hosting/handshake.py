"""The handshake of client and host: that of `multiprocessing.connection`, which waits without an end, given one.

Else a process that is stopped in its midst holds up whoever talks to it: a host every client, a client the host's door.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

HANDSHAKE_S = 10.0
"""Longest wait for a part of it; it takes a millisecond where both are well."""


class _BoundedConnection:
    """What the handshake needs of a connection; reading raises TimeoutError where nothing comes."""

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
