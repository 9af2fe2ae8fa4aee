"""Text analysis in a thread that works ahead, so that indexing is as fast as the analyzer."""

import logging
import threading
from collections.abc import Iterator, Sequence
from queue import SimpleQueue

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Morphemes
from subtitle_rag.korean.morphemes import TextMorphemes

logger = logging.getLogger(__name__)

FAILURES = 8
"""Most failing texts in a call; after more, the analyzer counts as broken."""


class AnalysisAhead:
    """Analyses texts in order, in advance of `take`.

    All waiting texts go to the analyzer in one call, because Kiwi's workers idle between calls. A text on which the
    analyzer fails gets no morphemes; the others are not affected.
    """

    def __init__(self, analyzer: TextMorphemes) -> None:
        self._analyzer = analyzer
        self._stop = threading.Event()
        self._waiting: SimpleQueue[Sequence[str] | None] = SimpleQueue()
        self._results: SimpleQueue[Morphemes | Exception] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def begin(self, texts: Sequence[str]) -> None:
        """Queue texts for analysis."""
        if not texts:
            return
        if self._thread is None:
            # a daemon: nothing is lost if the interpreter exits before it ends
            thread = threading.Thread(target=self._run, name="analysis-ahead", daemon=True)
            thread.start()  # may raise after Ctrl+C or for lack of threads: `close` joins only a started thread
            self._thread = thread
        self._waiting.put(texts)

    def take(self, count: int) -> list[Morphemes]:
        """Wait for the analyses of the next `count` texts. Raises the analyzer's failure."""
        analyses: list[Morphemes] = []
        while len(analyses) < count:
            analysis = self._results.get()
            if isinstance(analysis, Exception):
                self._results.put(analysis)  # any later call raises it too
                raise analysis
            analyses.append(analysis)
        return analyses

    def close(self) -> None:
        """Drop the waiting texts, and wait for the current one."""
        self._stop.set()
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while texts := self._next_texts():
                for analysis in self._analyses(texts):
                    if self._stop.is_set():
                        return
                    self._results.put(analysis)
        except Exception as error:  # `take` raises it
            self._results.put(error)

    def _next_texts(self) -> list[str]:
        """Wait for texts and return all of them; empty at the end."""
        texts: list[str] = []
        while not texts or not self._waiting.empty():
            more = self._waiting.get()
            if more is None:
                return []
            texts += more
        return texts

    def _analyses(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """Yield the analyses. After a failure, analyse the remaining texts one by one."""
        count = 0
        try:
            for analysis in self._analyzer.morphemes(texts):
                count += 1
                yield analysis
        except _RUN_ENDING_ERRORS:
            raise
        except Exception:
            logger.info("a text of %d cannot be analysed with the others", len(texts), exc_info=True)
        failures = 0
        for text in texts[count:]:
            try:
                (analysis,) = self._analyzer.morphemes([text])
            except _RUN_ENDING_ERRORS:
                raise
            except Exception:
                failures += 1
                if failures > FAILURES:
                    raise
                logger.exception("a text of %d characters has no morphemes", len(text))
                analysis = Morphemes((), (), ())
            yield analysis


_RUN_ENDING_ERRORS = (AppError, OSError, MemoryError)
"""Failures of the host or the machine, not of a text."""
