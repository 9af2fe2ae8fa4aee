"""Search on a server, with the embedded index as the fallback while the server cannot be reached."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar, cast

from subtitle_rag.domain import BusyError
from subtitle_rag.retrieval.index import Filter, Hit, Index, Vector, VectorSearch

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

    def search(
        self,
        name: str,
        query: Vector,
        *,
        limit: int,
        where: Filter | None = None,
        payload: Sequence[str] | None = None,
    ) -> list[Hit]:
        return self._query(lambda index: index.search(name, query, limit=limit, where=where, payload=payload))

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        return self._query(lambda index: index.search_all(searches))

    def shared_payloads(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        return self._query(lambda index: index.shared_payloads(ids)) if ids else {}

    def ask_server(self, call: Callable[[], T]) -> T | None:
        """Return the answer of a call that reaches the server on its own way; None while the embedded index answers.

        Raises the failure of the call where no embedded index can answer.
        """
        answer, reason = self._ask_server(lambda _server: call())
        if reason is not None:
            self._note_fallback(reason)
        return answer

    def _ask_server(self, call: Callable[[Index], T]) -> tuple[T | None, BusyError | None]:
        """Return the server's answer, or the reason for which it cannot be asked."""
        with self._lock:
            reason = self._degraded_reason if time.monotonic() < self._retry_at else None
        if reason is None:
            try:
                answer = call(self._server())
            except BusyError as error:
                if error.code != "qdrant_unreachable":
                    raise
                logger.info("the server's index cannot be reached", exc_info=True)
                reason = error
            else:
                self._note(None)
                return answer, None
        return None, reason

    def _note_fallback(self, reason: BusyError) -> Index:
        embedded = self._embedded()
        if embedded is None:
            raise reason
        self._note(reason)
        return embedded

    def _query(self, call: Callable[[Index], T]) -> T:
        answer, reason = self._ask_server(call)
        return cast("T", answer) if reason is None else call(self._note_fallback(reason))

    def _note(self, reason: BusyError | None) -> None:
        with self._lock:
            if reason is not self._degraded_reason:
                self._degraded_reason, self._retry_at = reason, time.monotonic() + RETRY_S
