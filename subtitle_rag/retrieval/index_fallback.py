"""Search on a server, and in the embedded index while the server cannot be reached."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from subtitle_rag.errors import BusyError
from subtitle_rag.retrieval.index import Filter, Hit, Index, Vector, VectorSearch

logger = logging.getLogger(__name__)

AGAIN_S = 30.0
"""After this long a server that could not be reached is asked again."""

T = TypeVar("T")


class Fallback:
    """`Searched` by a server; safe from several threads.

    `server` and `embedded` open the two; `embedded` gives None where there is no such index. A search raises
    `qdrant_unreachable` where neither can answer.
    """

    def __init__(self, server: Callable[[], Index], embedded: Callable[[], Index | None]) -> None:
        self._server = server
        self._embedded = embedded
        self._lock = threading.Lock()
        self._trouble: BusyError | None = None
        self._again = 0.0

    @property
    def trouble(self) -> BusyError | None:
        """Why the embedded index answers at the moment; None while the server does."""
        with self._lock:
            return self._trouble

    def search(
        self,
        name: str,
        query: Vector,
        *,
        limit: int,
        where: Filter | None = None,
        payload: Sequence[str] | None = None,
    ) -> list[Hit]:
        return self._asked(lambda index: index.search(name, query, limit=limit, where=where, payload=payload))

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        return self._asked(lambda index: index.search_all(searches))

    def foreign(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        return self._asked(lambda index: index.foreign(ids)) if ids else {}

    def _asked(self, question: Callable[[Index], T]) -> T:
        with self._lock:
            trouble = self._trouble if time.monotonic() < self._again else None
        if trouble is None:
            try:
                answer = question(self._server())
            except BusyError as error:
                if error.code != "qdrant_unreachable":
                    raise
                logger.info("the server's index cannot be reached", exc_info=True)
                trouble = error
            else:
                self._note(None)
                return answer
        embedded = self._embedded()
        if embedded is None:
            raise trouble
        self._note(trouble)
        return question(embedded)

    def _note(self, trouble: BusyError | None) -> None:
        with self._lock:
            if trouble is not self._trouble:
                self._trouble, self._again = trouble, time.monotonic() + AGAIN_S
