"""The parts of a search that can be chosen, by name."""

from subtitle_rag.retrieval.named_vectors import PIECES

LEXICAL = ("bm25",)
"""Retrievers without a model."""
NEURAL = ("dense", "sparse")
"""The retrievers of an encoder's vectors."""
RETRIEVERS = (*LEXICAL, *NEURAL)
SEARCH_PARTS = (*RETRIEVERS, PIECES)
"""Retrievers, and what orders the windows that they find."""
