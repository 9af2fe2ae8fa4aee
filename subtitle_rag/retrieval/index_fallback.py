"""Search on a server, with the embedded index as the fallback while the server cannot be reached."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from subtitle_rag.domain import BusyError
from subtitle_rag.retrieval.index import DenseVector, Hit, Index, SharedIndex, VectorSearch

logger = logging.getLogger(__name__)

RETRY_S = 30.0
"""Seconds until an unreachable server is tried again."""

T = TypeVar("T")


class FallbackIndex:
    """`Searched` by a server or, while that is down, by the embedded index. Thread-safe.

    `server` and `embedded` open the two indexes; `embedded` returns None if that index does not exist. A search raises
    `qdrant_unreachable` if neither can answer.
    """

    def __init__(self, server: Callable[[], Index], embedded: Callable[[], Index | None]) -> None:
        self._server = server
        self._embedded = embedded
        self._lock = threading.Lock()
        self._degraded_reason: BusyError | None = None
        self._retry_at = 0.0

    @property
    def degraded_reason(self) -> BusyError | None:
        """The failure for which the embedded index answers; None while the server does."""
        with self._lock:
            return self._degraded_reason

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        return self.query(lambda index: index.search_all(searches), lambda index: index.search_all(searches))

    def nearest_parts(self, name: str, query: DenseVector, ids: Collection[str]) -> dict[str, int]:
        return self.query(
            lambda index: index.nearest_parts(name, query, ids), lambda index: index.nearest_parts(name, query, ids)
        )

    def shared_payloads(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        """See `SharedIndex.shared_payloads`; points that the embedded index alone has are removed ones of its own."""

        def ask_server(index: Index) -> dict[str, dict[str, Any]]:
            return index.shared_payloads(ids) if isinstance(index, SharedIndex) else {}

        return self.query(ask_server, lambda _embedded: {}) if ids else {}

    def query(self, ask_server: Callable[[Index], T], ask_embedded: Callable[[Index], T]) -> T:
        """Return the server's answer or, while it cannot be reached, the embedded index's.

        Raises the server's failure where no embedded index can answer.
        """
        with self._lock:
            reason = self._degraded_reason if time.monotonic() < self._retry_at else None
        if reason is None:
            try:
                answer = ask_server(self._server())
            except BusyError as error:
                if error.code != "qdrant_unreachable":
                    raise
                logger.info("the server's index cannot be reached", exc_info=True)
                reason = error
            else:
                self._note(None)
                return answer
        embedded = self._embedded()
        if embedded is None:
            raise reason
        self._note(reason)
        return ask_embedded(embedded)

    def _note(self, reason: BusyError | None) -> None:
        with self._lock:
            if reason is not self._degraded_reason:
                self._degraded_reason, self._retry_at = reason, time.monotonic() + RETRY_S
