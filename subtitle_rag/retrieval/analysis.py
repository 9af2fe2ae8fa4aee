"""Morphemes from a process of their own, for programs that must not stand still.

What would surprise: threads do not help. Kiwi holds the interpreter while it loads (0.6 s), and its tokens are objects
whose reading does too. The process is started by the first text, ends when nothing was analysed for a while, and ends
with its parent, however that ends.
"""

import logging
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import redirect_stderr
from itertools import chain

from subtitle_rag.domain import Morphemes
from subtitle_rag.retrieval.morphemes import Analyzer

logger = logging.getLogger(__name__)

CHUNK = 32
"""Texts for one errand of the process: enough for all of Kiwi's workers."""
IDLE_S = 30.0
"""Without a text, after which the process ends; it holds 300 MB."""


class ApartAnalyzer:
    """Gives what `Analyzer` gives. Close it; any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: ProcessPoolExecutor | None = None
        self._idle: threading.Timer | None = None
        self._users = 0

    def load_soon(self) -> None:
        """Begin to load, once."""
        with self._lock:
            if self._pool is None:
                self._submit([])
                self._rest()

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """As `Analyzer.morphemes`; the process goes on with the next texts while these are looked at.

        Raises:
            BrokenProcessPool: where the process has died twice over the same texts.
        """
        chunks = [list(texts[at : at + CHUNK]) for at in range(0, len(texts), CHUNK)]
        with self._lock:
            self._users += 1
            asked = [self._submit(chunk) for chunk in chunks]
        try:
            yield from chain.from_iterable(
                self._answer(chunk, future) for chunk, future in zip(chunks, asked, strict=True)
            )
        finally:
            for future in asked:
                future.cancel()
            with self._lock:
                self._users -= 1
                self._rest()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, chunk: list[str], future: "Future[list[Morphemes]]") -> list[Morphemes]:
        """One that died is begun anew, once for each errand."""
        try:
            return future.result()
        except BrokenProcessPool:
            logger.warning("the analyzer's process died and is begun anew", exc_info=True)
            with self._lock:
                again = self._submit(chunk)
            return again.result()

    def _submit(self, chunk: list[str]) -> "Future[list[Morphemes]]":
        # starting a process needs the number of the file that sys.stderr is, and an app's has none
        with redirect_stderr(sys.__stderr__):
            try:
                return self._open().submit(_analysed, chunk)
            except BrokenProcessPool:
                logger.warning("the analyzer's process died and is begun anew", exc_info=True)
                self._pool = None
                return self._open().submit(_analysed, chunk)

    def _open(self) -> ProcessPoolExecutor:
        if self._pool is None:
            spawn = multiprocessing.get_context("spawn")  # a fork would take the locks of other threads along
            self._pool = ProcessPoolExecutor(1, mp_context=spawn, initializer=_begin)
        return self._pool

    def _rest(self) -> None:
        """Let the process end when it has had nothing to do for a while."""
        if self._idle is not None:
            self._idle.cancel()
        self._idle = threading.Timer(IDLE_S, self._close_unused)
        self._idle.daemon = True
        self._idle.start()

    def _close_unused(self) -> None:
        with self._lock:
            if self._users:
                return
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False)


_analyzer = Analyzer()
"""Of the process that analyses."""


def _begin() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


def _analysed(texts: list[str]) -> list[Morphemes]:
    return list(_analyzer.morphemes(texts))
