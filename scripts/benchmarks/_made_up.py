"""Neural vectors like an encoder's, without the cost of encoding."""

from collections.abc import Sequence

import numpy as np

from subtitle_rag.base.vectors.points import DenseVector, SparseVector
from subtitle_rag.models.neural.protocols import Encoded

TOPICS, NOISE = 200, 0.8
VOCABULARY, TERMS = 250_000, 100
"""Tokens in the vocabulary, and in a window."""


class MadeUpVectors:
    """Dense vectors around topics, and sparse ones with frequent terms."""

    def __init__(self, dimensions: int) -> None:
        self.random = np.random.default_rng(1)
        self._topics = self.random.normal(size=(TOPICS, dimensions))

    def dense(self) -> DenseVector:
        noise = NOISE * self.random.normal(size=self._topics.shape[1])
        return DenseVector(tuple((self._topics[self.random.integers(TOPICS)] + noise).tolist()))

    def sparse(self, vocabulary: int = VOCABULARY, terms: int = TERMS) -> SparseVector:
        draws = self.random.zipf(1.3, size=3 * terms) % vocabulary
        ids = tuple(sorted(dict.fromkeys(draws.tolist())))[:terms]
        return SparseVector(ids, tuple(self.random.uniform(0.05, 0.4, size=len(ids)).tolist()))


class MadeUpEncoder(MadeUpVectors):
    """`Models` and its encoder in one."""

    has_sparse, is_light, must_wait = True, False, False

    def __init__(self, dimensions: int, *, pieces: bool) -> None:
        super().__init__(dimensions)
        self.id = "made-up@00000000"
        self.dimensions, self.has_pieces = dimensions, pieces
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
        return Encoded(self.dense(), self.sparse(terms=terms))
