"""One analysis of each text, shared by all libraries of a test process: hundreds of tests index the same few captions.

Kiwi's result depends only on the text. Tests of the analysis itself have the marker `kiwi`, and are not shared.
"""

from collections.abc import Iterator, Sequence

from subtitle_rag.base.domain.values import Morphemes
from subtitle_rag.korean.morphemes import Analyzer


class SharedAnalyses:
    """A cache between all analyzers of this process and their Kiwi (`install`), unless `is_bypassed`."""

    def __init__(self) -> None:
        self.is_bypassed = False
        self._known: dict[str, Morphemes] = {}
        self._analyze = Analyzer.morphemes

    def install(self) -> None:
        def morphemes(analyzer: Analyzer, texts: Sequence[str]) -> Iterator[Morphemes]:
            return self._analyze(analyzer, texts) if self.is_bypassed else self._shared(analyzer, texts)

        Analyzer.morphemes = morphemes  # type: ignore[assignment, method-assign]

    def _shared(self, analyzer: Analyzer, texts: Sequence[str]) -> Iterator[Morphemes]:
        """Yield the analyses one by one, as Kiwi does; meanwhile another thread may have added some."""
        known = self._known
        new = list(dict.fromkeys(text for text in texts if text not in known))
        fresh = zip(new, self._analyze(analyzer, new), strict=True)
        for text in texts:
            while text not in known:
                read, analysis = next(fresh)
                known[read] = analysis
            yield known[text]


ANALYSES = SharedAnalyses()
