"""Protocols of the neural models: an encoder for windows and queries, and a reranker.

Each has two implementations: one holds the model (`encoder`, `reranker`), the other calls the process with the shared
model (`neural_client`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from subtitle_rag.retrieval.index import DenseVector, SparseVector

NEURAL = ("dense", "sparse")
"""The retrievers of an encoder's vectors."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The vectors of a text from one pass."""

    dense: DenseVector
    """A unit vector."""
    sparse: SparseVector | None
    """Token id → lexical weight; None for a model without that head."""


class Encoder(Protocol):
    """Encodes texts. Thread-safe; a query goes before waiting batches of passages.

    Raises:
        AppError: `model_missing`, `model_damaged`, `model_memory`.
        BusyError: `model_unreachable` if the process with the model has ended.
    """

    @property
    def id(self) -> str:
        """Return the id of the vector space: `bge-m3@5617a9f6`, with `/int8` for rounded weights."""

    @property
    def dimensions(self) -> int:
        """Return the length of the dense vector."""

    @property
    def has_sparse(self) -> bool: ...

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        """Return the texts' vectors in their order. Large batches need less padding; small ones stay interruptible."""

    def query(self, text: str) -> Encoded:
        """Return the vectors of a query; the last ones are cached."""


class Reranker(Protocol):
    """A cross-encoder: it reads query and passage together. Raises the errors of `Encoder`."""

    @property
    def id(self) -> str:
        """Return the model's id, like an encoder's."""

    @property
    def depth(self) -> int | None:
        """Return the windows read in two seconds on this machine; None until measured."""

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """Score each passage, 0 to 1. Small batches stay interruptible."""


def vector_names(encoder_id: str) -> tuple[str, str]:
    """Return the names of an encoder's dense and sparse vectors in the collection."""
    digest = hashlib.sha256(encoder_id.encode()).hexdigest()[:8]
    return f"dense-{digest}", f"sparse-{digest}"


class Models(Protocol):
    """The available models; nothing is loaded before its first use."""

    def encoder(self, id: str | None = None) -> Encoder | None:
        """Return the encoder of this id, by default that of the settings, or None if its files are missing."""

    def reranker(self) -> Reranker | None:
        """Return the reranker of the settings, or None if its files are missing."""
