"""The analyzer in the index host (`analysis_service`), for texts of the index and for queries."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from subtitle_rag.base.domain.values import Morphemes
from subtitle_rag.base.vectors.batches import split_batches
from subtitle_rag.base.vectors.points import Filter, Hit, Searched
from subtitle_rag.index.index_client import HostedPoints
from subtitle_rag.korean.lexical import LexicalQuery

TEXTS = 16
"""Texts per request: enough for both of Kiwi's workers, and a short wait for an exiting client."""


class HostedAnalyzer:
    """`TextMorphemes` by an index host, with a lower priority than queries."""

    def __init__(self, host: HostedPoints) -> None:
        self._host = host

    def load_soon(self) -> None:
        self._host.load_soon()

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """Like `Analyzer.morphemes`; the host works ahead while the results are consumed.

        Raises the failures of calls to the host; each request may restart the host once.
        """
        executor = ThreadPoolExecutor(1, "analysis")
        try:
            parts = split_batches(texts, TEXTS)
            futures = [executor.submit(self._host.call, "text_morphemes", part) for part in parts]
            for future in futures:
                yield from future.result()
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


class HostedQueryAnalyzer:
    """`LexicalSearch` by an index host, with the vocabulary of the library at `library`."""

    def __init__(self, host: HostedPoints, library: Path) -> None:
        self._host = host
        self._library = str(library.absolute())

    def analyze(self, text: str) -> LexicalQuery:
        lexical: LexicalQuery = self._host.call("analyze", self._library, text)
        return lexical

    def search(
        self,
        index: Searched,  # noqa: ARG002 - the host has its own
        text: str,
        *,
        limit: int,
        where: Filter,
    ) -> tuple[LexicalQuery, list[Hit]]:
        """Analyse and search in one call."""
        answer: tuple[LexicalQuery, list[Hit]] = self._host.call(
            "search_text", self._library, text, limit=limit, where=where
        )
        return answer
