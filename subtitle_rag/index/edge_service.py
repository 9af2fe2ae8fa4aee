"""Service of the index host that owns an index folder (`index_host`)."""

import logging
import threading
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.garbage import return_memory
from subtitle_rag.index.analysis_service import AnalysisService
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.index_rules import mismatch, record_of

logger = logging.getLogger(__name__)

IDLE_S = 5.0
"""Seconds without a call before the host optimizes."""


class EdgeService(AnalysisService):
    """An `EdgeIndex` that runs one call at a time, and the analyzer.

    A client's order is a meta record that must match the index's; None (for a rescue) matches any. The index is opened
    by the first call, so that a failure fails the call instead of the host.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._index: EdgeIndex | None = None
        self._calls = threading.Lock()

    def _call_index(self, order: dict[str, Any], method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        with self._calls:
            if method == "clear":
                self._clear(order["meta"])
                return None
            index = self._opened(order["meta"])
            return None if method == "open" else getattr(index, method)(*args, **options)

    def _opened(self, meta: dict[str, Any] | None) -> EdgeIndex:
        if self._index is None:
            self._index = EdgeIndex(self._folder, meta, is_checked=True)
        if meta is not None and record_of(meta) != self._index.record:  # another client's, or another record
            raise mismatch(self._folder, self._index.record, record_of(meta))
        return self._index

    def _clear(self, meta: dict[str, Any] | None) -> None:
        """Empty the index in any state, and give it this record."""
        if self._index is None:
            self._index = EdgeIndex(self._folder, meta, fresh=True, is_checked=True)
        else:
            self._index.clear(meta=meta)

    def rest(self, quiet_s: float, *, leaving: bool) -> bool:
        super().rest(quiet_s, leaving=leaving)
        if leaving or quiet_s >= IDLE_S:
            self._optimize()
        return False

    def _optimize(self) -> None:
        with self._calls:
            try:
                if self._index is not None and self._index.optimize():
                    return_memory()  # 300 MB at 20,000 windows of 390 terms
            except AppError:
                logger.warning("optimizing failed", exc_info=True)

    def close(self) -> None:
        super().close()
        self._calls.acquire()
        if self._index is not None:
            self._index.close()
