"""Models: what the app offers (`manifest`), which files are here (`store`), and how they come (`download`)."""

from subtitle_rag.models.manifest import (
    ENCODER,
    RERANKER,
    Kind,
    Neural,
    Offered,
    default,
    encoders,
    memory,
    neural,
    offered,
    rerankers,
)

__all__ = [
    "ENCODER",
    "RERANKER",
    "Kind",
    "Neural",
    "Offered",
    "default",
    "encoders",
    "memory",
    "neural",
    "offered",
    "rerankers",
]
