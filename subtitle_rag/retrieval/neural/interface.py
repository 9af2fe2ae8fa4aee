"""Protocols of the neural models: an encoder for windows and queries, and a reranker.

Each has two implementations: one holds the model (`encoder`, `reranker`), the other calls the process with the shared
model (`neural_client`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from subtitle_rag.retrieval.named_vectors import vector_names
from subtitle_rag.retrieval.values import DenseVector, SparseVector

PATIENCE_S = 2.0
"""Longest time for reranking in a search. `Reranker.depth` counts the windows that it reads in this time."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The vectors of a text from one pass."""

    dense: DenseVector
    """A unit vector; empty for a model that makes none."""
    sparse: SparseVector | None
    """Token id → lexical weight; None for a model without that head."""
    is_cut: bool = False
    """Whether a server refused the text for its length, and it lost its end."""


class Encoder(Protocol):
    """Encodes texts. Thread-safe; a query goes before waiting batches of passages.

    Raises:
        AppError: `model_missing`, `model_damaged`, `model_memory`.
        BusyError: `model_unreachable` if the process with the model has ended.
    """

    @property
    def id(self) -> str:
        """Return the id of the vector space: `bge-m3@5617a9f6`.

        Prompts from outside of the model's own files follow it (`models.Prompts`).
        """

    @property
    def dimensions(self) -> int:
        """Return the length of the dense vector; 0 if the encoder makes none."""

    @property
    def has_sparse(self) -> bool: ...

    @property
    def is_light(self) -> bool:
        """Whether it reads a window in hundredths of a second on a processor: vectors of its pieces cost little."""

    @property
    def has_pieces(self) -> bool:
        """Whether windows get vectors of their pieces, beside their own."""

    @property
    def must_wait(self) -> bool:
        """Whether passages wait, since this model would unload the one that is writing contexts."""

    def passages(self, texts: Sequence[str]) -> Sequence[Encoded | None]:
        """Return the texts' vectors in their order; None for a text that the model cannot encode.

        Large batches need less padding; small ones stay interruptible.
        """

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


def makes_pieces(encoder: "Encoder") -> bool:
    """Return whether an encoder makes vectors of pieces: a light one does, if it makes dense vectors."""
    return encoder.is_light and encoder.dimensions > 0


def main_name(encoder: Encoder) -> str:
    """Return the name of the vectors that every window of this encoder has: dense where it makes them."""
    dense, sparse = vector_names(encoder.id)
    return dense if encoder.dimensions else sparse


class Models(Protocol):
    """The available models; nothing is loaded before its first use."""

    def encoder(self, id: str | None = None) -> Encoder | None:
        """Return the encoder of this id, by default that of the settings, or None if its files are missing."""

    def reranker(self) -> Reranker | None:
        """Return the reranker of the settings, or None if its files are missing."""
