"""Models that run in the test's own process, and remember what they were asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from subtitle_rag.retrieval.neural.device import Plan
from subtitle_rag.retrieval.neural.encoder import FlagEncoder
from subtitle_rag.retrieval.neural.interface import Encoded
from subtitle_rag.retrieval.neural.reranker import CrossReranker

EXACT = Plan("cpu", "float32", "this one", 2, "set")


class Asked(FlagEncoder):
    """Remembers the queries that were encoded."""

    def __init__(self, path: Path, id: str) -> None:
        super().__init__(path, id, EXACT)
        self.queries: list[str] = []

    def query(self, text: str) -> Encoded:
        self.queries.append(text)
        return super().query(text)


class Read(CrossReranker):
    """Remembers how many passages each call had."""

    def __init__(self, path: Path, depth: int | None = None) -> None:
        super().__init__(path, "tiny-reranker@00000000", EXACT)
        self.depth = depth
        self.calls: list[int] = []

    def scores(self, query: str, passages: Sequence[str], **options: object) -> list[float]:
        self.calls.append(len(passages))
        return super().scores(query, passages)


@dataclass
class Here:
    """`Models`, as far as they are here."""

    encoders: list[Asked] = field(default_factory=list)
    read: Read | None = None

    def encoder(self, id: str | None = None) -> Asked | None:
        return next((encoder for encoder in self.encoders if id in (None, encoder.id)), None)

    def reranker(self) -> Read | None:
        return self.read

    def close(self) -> None:
        """They stay loaded for the next test."""
