"""Names of the parts of a search that users can choose."""

from subtitle_rag.base.vectors.named_vectors import PIECES

LEXICAL = ("bm25",)
"""Retrievers without a model."""
NEURAL = ("dense", "sparse")
"""The retrievers of an encoder's vectors."""
RETRIEVERS = (*LEXICAL, *NEURAL)
SEARCH_PARTS = (*RETRIEVERS, PIECES)
"""Retrievers, and parts that reorder their windows."""
