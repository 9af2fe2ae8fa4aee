from . import (
    fusion as fusion,
    highlights as highlights,
    parts as parts,
    place_counts as place_counts,
    query as query,
    reasons as reasons,
    reranking as reranking,
    scenes as scenes,
    suggestions as suggestions,
    window_reads as window_reads,
)
from .searcher import (
    DEPTH as DEPTH,
    Searcher as Searcher,
    SearchResult as SearchResult,
    shares_text as shares_text,
    undated_sentence as undated_sentence,
)
