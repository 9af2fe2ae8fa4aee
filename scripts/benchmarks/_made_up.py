"""Neural vectors like an encoder's, without the cost of encoding."""

from collections.abc import Sequence

import numpy as np

from subtitle_rag.base.vectors.points import DenseVector, SparseVector
from subtitle_rag.models.neural.protocols import Encoded

TOPICS, NOISE = 200, 0.8
VOCABULARY, TERMS = 250_000, 100
"""Tokens in the vocabulary, and in a window."""


class MadeUpEncoder:
    """`Models` and its encoder in one: dense vectors around topics, and sparse ones with frequent terms."""

    has_sparse, is_light, must_wait = True, False, False

    def __init__(self, dimensions: int, *, pieces: bool) -> None:
        self.id = "made-up@00000000"
        self.dimensions, self.has_pieces = dimensions, pieces
        self._random = np.random.default_rng(1)
        self._topics = self._random.normal(size=(TOPICS, dimensions))
        self._queries: dict[str, Encoded] = {}

    def encoder(self, id: str | None = None) -> "MadeUpEncoder | None":
        return self if id in (None, self.id) else None

    def reranker(self) -> None:
        return None

    def query(self, text: str) -> Encoded:
        if text not in self._queries:
            self._queries[text] = self._encoded(10)
        return self._queries[text]

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        return [self._encoded(TERMS) for _text in texts]

    def _encoded(self, terms: int) -> Encoded:
        noise = NOISE * self._random.normal(size=self.dimensions)
        dense = DenseVector(tuple((self._topics[self._random.integers(TOPICS)] + noise).tolist()))
        draws = self._random.zipf(1.3, size=3 * terms) % VOCABULARY
        ids = tuple(sorted(dict.fromkeys(draws.tolist())))[:terms]
        return Encoded(dense, SparseVector(ids, tuple(self._random.uniform(0.05, 0.4, size=len(ids)).tolist())))
