"""Models that run in the test's own process, and record their inputs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.models.neural.calibration import korean_pairs
from subtitle_rag.models.neural.device import Plan
from subtitle_rag.models.neural.encoder import FlagEncoder
from subtitle_rag.models.neural.protocols import Encoded
from subtitle_rag.models.neural.reranker import CrossReranker

EXACT = Plan("cpu", "float32", "this one", 2, "float32")


class Asked(FlagEncoder):
    """Encoder that records its queries and passages, except the pairs for calibration.

    `passages` raises `failure` if it is set.
    """

    failure: AppError | None = None

    def __init__(self, path: Path, id: str) -> None:
        super().__init__(path, id, EXACT)
        self.queries: list[str] = []
        self.read: list[str] = []
        self._pairs = {pair.caption for pair in korean_pairs()}

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        if self.failure is not None:
            raise self.failure
        self.read += [text for text in texts if text not in self._pairs]
        return super().passages(texts)

    def query(self, text: str) -> Encoded:
        self.queries.append(text)
        return super().query(text)


class Read(CrossReranker):
    """Reranker that records the number of passages in each call."""

    def __init__(self, path: Path, depth: int | None = None) -> None:
        super().__init__(path, "tiny-reranker@00000000", EXACT)
        self.depth = depth
        self.calls: list[int] = []

    def scores(self, query: str, passages: Sequence[str], **options: object) -> list[float]:
        self.calls.append(len(passages))
        return super().scores(query, passages)


@dataclass
class Here:
    """`Models` with these models, the configured ones first."""

    encoders: list[Any] = field(default_factory=list)
    read: Read | None = None

    def encoder(self, id: str | None = None) -> Any:
        return next((encoder for encoder in self.encoders if id in (None, encoder.id)), None)

    def reranker(self) -> Read | None:
        return self.read

    def close(self) -> None:
        """Do nothing: the next test uses the loaded models too."""
