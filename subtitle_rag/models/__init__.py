"""Models: the manifest, the files on this machine (`model_store`), and their `download`."""

from subtitle_rag.models.manifest import (
    ENCODER,
    RERANKER,
    ContextModel,
    Kind,
    NeuralModel,
    context_models,
    default,
    encoders,
    memory,
    neural,
    rerankers,
)

__all__ = [
    "ENCODER",
    "RERANKER",
    "ContextModel",
    "Kind",
    "NeuralModel",
    "context_models",
    "default",
    "encoders",
    "memory",
    "neural",
    "rerankers",
]
