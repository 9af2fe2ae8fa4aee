"""Analysis of texts in a thread, ahead of what is made of it: indexing is as fast as its analyzer."""

import logging
import threading
from collections.abc import Iterator, Sequence
from queue import SimpleQueue

from subtitle_rag.domain.errors import AppError
from subtitle_rag.domain.values import Morphemes
from subtitle_rag.retrieval.korean.morphemes import TextMorphemes

logger = logging.getLogger(__name__)

FAILURES = 8
"""Texts of a call that may fail one by one; with more the analyzer itself is broken."""


class AnalysisAhead:
    """Analyses texts in their order, however slowly the results are taken.

    All texts that wait go to the analyzer in one call: between two of its calls Kiwi's workers idle.
    A text that the analyzer cannot read has no morphemes, and stops no other.
    """

    def __init__(self, analyzer: TextMorphemes) -> None:
        self._analyzer = analyzer
        self._stop = threading.Event()
        self._waiting: SimpleQueue[Sequence[str] | None] = SimpleQueue()
        self._results: SimpleQueue[Morphemes | Exception] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def begin(self, texts: Sequence[str]) -> None:
        """Begin to analyse these texts after those before."""
        if not texts:
            return
        if self._thread is None:
            # a daemon: an indexer whose thread the interpreter leaves behind closes nothing
            thread = threading.Thread(target=self._run, name="analysis-ahead", daemon=True)
            thread.start()  # Ctrl+C or a want of threads may come here: `close` joins only what has started
            self._thread = thread
        self._waiting.put(texts)

    def take(self, count: int) -> list[Morphemes]:
        """Return the analyses of the next texts, once they are there; raises the analyzer's failure."""
        analyses: list[Morphemes] = []
        while len(analyses) < count:
            analysis = self._results.get()
            if isinstance(analysis, Exception):
                self._results.put(analysis)  # whoever takes more has it as well
                raise analysis
            analyses.append(analysis)
        return analyses

    def close(self) -> None:
        """Give up what is not analysed, and wait for the end of a text."""
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
        except Exception as error:  # raised where the analyses are taken
            self._results.put(error)

    def _next_texts(self) -> list[str]:
        """Wait for texts, and return all that wait; none at the end."""
        texts: list[str] = []
        while not texts or not self._waiting.empty():
            more = self._waiting.get()
            if more is None:
                return []
            texts += more
        return texts

    def _analyses(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """Yield the analyses; after a failure the remaining texts are analysed one by one."""
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
