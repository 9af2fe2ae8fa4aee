"""Analysis of texts in a thread, ahead of what is made of it: indexing is as fast as its analyzer."""

import logging
import threading
from collections.abc import Iterator, Sequence
from queue import SimpleQueue

from subtitle_rag.domain import AppError, Morphemes
from subtitle_rag.retrieval.morphemes import TextMorphemes

logger = logging.getLogger(__name__)

Results = SimpleQueue[Morphemes | Exception]

FAILURES = 8
"""Texts of a call that may fail one by one; with more the analyzer itself is broken."""


class AnalysisAhead:
    """Analyses the texts of several calls in their order, however slowly the results are taken.

    A text that the analyzer cannot read has no morphemes, and stops no other.
    Kiwi reads 32 texts ahead of its consumer, less than a batch takes to be written.
    """

    def __init__(self, analyzer: TextMorphemes) -> None:
        self._analyzer = analyzer
        self._stop = threading.Event()
        self._waiting: SimpleQueue[tuple[Sequence[str], Results] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def begin(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """Begin to analyse these texts behind those before, and return their analyses; these raise its failure."""
        if not texts:
            return iter(())
        if self._thread is None:
            # a daemon: an indexer whose thread the interpreter leaves behind closes nothing
            self._thread = threading.Thread(target=self._run, name="analysis-ahead", daemon=True)
            self._thread.start()
        results: Results = SimpleQueue()
        self._waiting.put((texts, results))
        return _taken(results, len(texts))

    def close(self) -> None:
        """Give up what is not analysed, and wait for the end of a text."""
        self._stop.set()
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while (order := self._waiting.get()) is not None:
            texts, results = order
            try:
                for analysis in self._analyses(texts):
                    if self._stop.is_set():
                        return
                    results.put(analysis)
            except Exception as error:  # raised where the analyses are taken
                results.put(error)

    def _analyses(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """Yield the analyses; after a failure the remaining texts are analysed one by one."""
        count = 0
        try:
            for analysis in self._analyzer.morphemes(texts):
                count += 1
                yield analysis
        except _OF_ALL:
            raise
        except Exception:
            logger.info("a text of %d cannot be analysed with the others", len(texts), exc_info=True)
        failures = 0
        for text in texts[count:]:
            try:
                (analysis,) = self._analyzer.morphemes([text])
            except _OF_ALL:
                raise
            except Exception:
                failures += 1
                if failures > FAILURES:
                    raise
                logger.exception("a text of %d characters has no morphemes", len(text))
                analysis = Morphemes((), (), ())
            yield analysis


_OF_ALL = (AppError, OSError, MemoryError)
"""Failures of the host or the machine, not of a text."""


def _taken(results: Results, count: int) -> Iterator[Morphemes]:
    for _number in range(count):
        analysis = results.get()
        if isinstance(analysis, Exception):
            raise analysis
        yield analysis
