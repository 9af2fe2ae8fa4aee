"""Analysis of texts in a thread, ahead of what is made of it: indexing is as fast as its analyzer."""

import threading
from collections.abc import Iterator, Sequence
from queue import SimpleQueue

from subtitle_rag.domain import Morphemes
from subtitle_rag.retrieval.morphemes import TextMorphemes

Results = SimpleQueue[Morphemes | Exception]


class AnalysisAhead:
    """Analyses the texts of several calls in their order, however slowly the results are taken.

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
                for analysis in self._analyzer.morphemes(texts):
                    if self._stop.is_set():
                        return
                    results.put(analysis)
            except Exception as error:  # raised where the analyses are taken
                results.put(error)


def _taken(results: Results, count: int) -> Iterator[Morphemes]:
    for _number in range(count):
        analysis = results.get()
        if isinstance(analysis, Exception):
            raise analysis
        yield analysis
