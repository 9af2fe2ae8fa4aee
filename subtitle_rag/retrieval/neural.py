"""The neural models as the rest of the program sees them: an encoder for windows and queries, and a reranker.

Each is met twice: by the object that holds the model (`encoder`, `reranker`) and by one that asks the process which
holds it for everybody (`neural_client`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from subtitle_rag.retrieval.index import DenseVector, SparseVector

NEURAL = ("dense", "sparse")
"""The retrievers that an encoder feeds."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """What an encoder makes of a text in one pass."""

    dense: DenseVector
    """Of unit length."""
    sparse: SparseVector | None
    """Token id → lexical weight; None where the model has no such head."""


class Encoder(Protocol):
    """Safe from several threads; a query goes before the batches of passages that wait.

    Raises:
        AppError: `model_missing`, `model_damaged`, `model_memory`.
        BusyError: `model_unreachable`, where another process holds the model and is gone.
    """

    @property
    def id(self) -> str:
        """Names the vectors' space: `bge-m3@5617a9f6`, with `/int8` where weights are so rounded."""

    @property
    def dimensions(self) -> int:
        """Of the dense vector."""

    @property
    def has_sparse(self) -> bool: ...

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        """The vectors of these texts, in their order. The more at once, the less padding; few stay interruptible."""

    def query(self, text: str) -> Encoded:
        """The vectors of a query; the last ones are remembered."""


class Reranker(Protocol):
    """A cross-encoder: reads query and passage together. Raises what `Encoder` raises."""

    @property
    def id(self) -> str:
        """Names the model as an encoder's id does."""

    @property
    def depth(self) -> int | None:
        """How many windows it reads in two seconds on this machine; None until that was measured."""

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers the query, 0 to 1. Hand over few to stay interruptible."""


def vector_names(encoder_id: str) -> tuple[str, str]:
    """The names of an encoder's dense and sparse vectors in the collection."""
    digest = hashlib.sha256(encoder_id.encode()).hexdigest()[:8]
    return f"dense-{digest}", f"sparse-{digest}"


class Models(Protocol):
    """What there is to search with; a door that asks nothing of a model before it is used."""

    def encoder(self, id: str | None = None) -> Encoder | None:
        """The encoder of this id, by default the one that the settings name; None where its files are not here."""

    def reranker(self) -> Reranker | None:
        """The reranker that the settings name; None where its files are not here."""
