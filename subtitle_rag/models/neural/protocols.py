"""Protocols of the neural models: an encoder for windows and queries, and a reranker.

Each has two implementations: one has the model (`encoder`, `reranker`), the other calls the process with the shared
model (`neural_client`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from subtitle_rag.base.vectors.named_vectors import vector_names
from subtitle_rag.base.vectors.points import DenseVector, SparseVector

PATIENCE_S = 2.0
"""Longest time for reranking in a search. `Reranker.depth` is the number of windows read in this time."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The vectors of a text, from one pass."""

    dense: DenseVector
    """A unit vector; empty for a model without dense vectors."""
    sparse: SparseVector | None
    """Token id → lexical weight; None for a model without this head."""
    is_cut: bool = False
    """Whether the text lost its end because a server refused its length."""


class Encoder(Protocol):
    """Encodes texts. Thread-safe; queries precede waiting batches of passages.

    Raises:
        AppError: `model_missing`, `model_damaged`, `model_memory`.
        BusyError: `model_unreachable` if the process with the model has ended.
    """

    @property
    def id(self) -> str:
        """Return the id of the vector space: `bge-m3@5617a9f6`.

        Prompts from outside the model's own files follow it (`models.Prompts`).
        """

    @property
    def dimensions(self) -> int:
        """Return the length of the dense vector; 0 without one."""

    @property
    def has_sparse(self) -> bool: ...

    @property
    def is_light(self) -> bool:
        """Whether it encodes a window in hundredths of a second on a CPU, so that vectors of pieces cost little."""

    @property
    def has_pieces(self) -> bool:
        """Whether windows get vectors of their pieces besides their own."""

    @property
    def must_wait(self) -> bool:
        """Whether passages must wait, because this model would unload the one writing contexts."""

    def passages(self, texts: Sequence[str]) -> Sequence[Encoded | None]:
        """Return the texts' vectors in order; None for a text that the model cannot encode.

        Large batches need less padding; small ones can be interrupted sooner.
        """

    def query(self, text: str) -> Encoded:
        """Return the vectors of a query; recent ones are cached."""


@runtime_checkable
class EncoderSource(Protocol):
    """Opens encoders by their names: an entry point of `plugins.ENCODERS`, of this program or of a plug-in."""

    def open_encoder(self, name: str, models: Any) -> Encoder | None:
        """Return the encoder of a name in the settings, or of an id; None if it is not on this machine.

        `models` are the `neural_client.HostedModels` that ask.
        """


class Reranker(Protocol):
    """A cross-encoder: it reads query and passage together. Raises the errors of `Encoder`."""

    @property
    def id(self) -> str:
        """Return the model's id, like an encoder's."""

    @property
    def depth(self) -> int | None:
        """Return the number of windows read in two seconds on this machine; None until measured."""

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """Score each passage, 0 to 1. Small batches can be interrupted sooner."""


def makes_pieces(encoder: "Encoder") -> bool:
    """Whether an encoder makes vectors of pieces: it must be light, and dense."""
    return encoder.is_light and encoder.dimensions > 0


def main_name(encoder: Encoder) -> str:
    """Return the name of the vectors that every window of this encoder has: dense if it makes them."""
    dense, sparse = vector_names(encoder.id)
    return dense if encoder.dimensions else sparse


class Models(Protocol):
    """The available models; each is loaded at its first use."""

    def encoder(self, id: str | None = None) -> Encoder | None:
        """Return the encoder of this id, by default the one in the settings, or None if its files are missing."""

    def reranker(self) -> Reranker | None:
        """Return the reranker in the settings, or None if its files are missing."""
